"""Words of texts by hand: tokens, documents, what a word tells, and what cannot have been learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from likely.errors import DataError, NotMergeable
from likely.measures import information_gain
from likely.stats import FeatureCounts, TokenCounts, feature_counts
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

TEXTS = ["good good fun", "good", None, "bad", "bad fun", ""]
Y = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
WEIGHT = np.array([1.0, 2.0, 4.0, 1.0, 2.0, 4.0])
KNOWN = np.array([text is not None for text in TEXTS])


def seen(weight: np.ndarray | None = None) -> TokenCounts:
    return TokenCounts.observe(np.array(TEXTS, dtype=object), Y, weight, known=KNOWN)


def test_tokens_documents_and_texts_by_hand() -> None:
    found = seen(WEIGHT)
    assert found.words.to_list() == ["bad", "fun", "good"]
    assert found.counts.dense().tolist() == [[0.0, 1.0, 4.0], [3.0, 2.0, 0.0]]
    assert found.documents.dense().tolist() == [[0.0, 1.0, 3.0], [3.0, 2.0, 0.0]]
    assert found.texts.tolist() == [3.0, 7.0] and found.known_weights.tolist() == [[3.0], [7.0]]
    assert found.shape == (2, 1)
    everything = TokenCounts.observe(np.array(TEXTS, dtype=object), Y, WEIGHT)
    assert everything.texts.tolist() == [7.0, 7.0]


@pytest.mark.parametrize("cells", [1, 8, 1000])
def test_what_a_word_tells_whatever_is_looked_at_at_once(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_counts, "CELLS_AT_ONCE", cells)
    found = seen()
    expected = [information_gain(np.array(table)) for table in ([[0, 2], [2, 1]], [[1, 1], [1, 2]], [[2, 0], [0, 3]])]
    np.testing.assert_allclose(found.information_by_word(), expected, atol=1e-12)
    # The most telling word, as far as texts are known: five of six.
    np.testing.assert_allclose(found.information(np.array([3.0, 3.0])), [max(expected) * 5 / 6])
    words = [(word, held.shape[1], texts.tolist()) for block, held, texts in found.value_blocks() for word in block]
    assert [word for word, _, _ in words] == ["bad", "fun", "good"]
    assert {width for _, width, _ in words} == {1: {1}, 8: {1, 2}, 1000: {3}}[cells]
    held = np.concatenate([table for _, table, _ in found.value_blocks()], axis=1)
    assert held.tolist() == found.documents.dense().tolist() and words[0][2] == [2.0, 3.0]


def test_no_words_tell_nothing() -> None:
    none = TokenCounts.empty(n_classes=2)
    assert none.information(np.ones(2)).tolist() == [0.0] and none.information_by_word().tolist() == []
    assert none.difference(0, none, 1) is None and none.shape == (2, 1)


def test_how_classes_differ_is_told_by_tokens() -> None:
    assert seen().difference(0, seen(), 1) == ("share", "good", "0.7500", "0.0000")
    assert seen().difference(1, seen(), 0) == ("share", "good", "0.0000", "0.7500")
    assert seen().difference(0, seen(WEIGHT), 0) == ("share", "good", "0.7500", "0.8000")


@pytest.mark.parametrize("as_sparse", [False, True])
def test_new_words_find_their_places_and_leave_again(as_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if as_sparse:
        monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    other = TokenCounts.observe(np.array(["alas bad", "zest"], dtype=object), np.array([0, 2], dtype=np.int32))
    before = seen().counts.dense().tolist()
    both = seen() + other
    assert both.words.to_list() == ["alas", "bad", "fun", "good", "zest"]
    assert both.counts.dense().tolist() == [[1, 1, 1, 3, 0], [0, 2, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert both.documents.dense().tolist() == [[1, 1, 1, 2, 0], [0, 2, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert both.texts.tolist() == [3.0, 3.0, 1.0]
    left = both - other
    assert left.words.to_list() == ["bad", "fun", "good"] and left.texts.tolist() == [2.0, 3.0, 0.0]
    assert left.counts.dense()[:2].tolist() == before
    assert both.take_classes(np.array([2, -1])).counts.dense().tolist() == [[0, 0, 0, 0, 1], [0] * 5]


def test_what_never_came_cannot_leave() -> None:
    for texts in (["strange"], ["good good good good"], ["bad"]):
        with pytest.raises(NotMergeable):
            seen() - TokenCounts.observe(np.array(texts, dtype=object), np.zeros(1, dtype=np.int32))
    with pytest.raises(NotMergeable):  # more texts than there were, though none has a word
        seen() - TokenCounts.observe(np.array([""] * 3, dtype=object), np.zeros(3, dtype=np.int32))


def test_counts_under_another_tokenizer_do_not_add_up_unless_there_are_none() -> None:
    pairs = Tokenizer(ngram_range=(1, 2))
    other = TokenCounts.observe(np.array(["good fun"], dtype=object), Y[:1], tokenizer=pairs)
    for mix in (lambda: seen() + other, lambda: other + seen(), lambda: seen() - other):
        with pytest.raises(NotMergeable, match="two different ways"):
            mix()
    none = TokenCounts.empty(pairs, 1)
    assert (seen() + none).counts.dense().tolist() == seen().counts.dense().tolist()
    assert (none + none).texts.tolist() == [0.0]


def test_unsound_counts_of_words() -> None:
    found, wide, bad = seen(), FeatureCounts(np.ones((2, 4))), FeatureCounts(-np.ones((2, 3)))
    found.validate()
    sound = replace(found, counts=FeatureCounts(sparse.csr_array(found.counts.dense())))
    sound.validate()
    wrong = [{"counts": wide}, {"documents": wide}, {"counts": bad}, {"documents": bad}]
    wrong += [{"texts": np.array([1.0])}, {"texts": np.array([1.0, -1.0])}, {"words": Words.of(["a"])}]
    for change in wrong:
        with pytest.raises(DataError):
            replace(found, **change).validate()
