"""Tables of words become one vocabulary, whatever threads filled them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from likely.text import class_counts, joint_words
from likely.text.class_counts import count_by_class
from likely.text.documents import as_blocks
from likely.text.joint_words import join_words
from likely.text.vocabulary import Words, process_seed

rng = np.random.default_rng(5)
LETTERS = "abcdefghij\0é"


def made(n: int) -> list[str]:
    """Distinct words of all lengths; many share their first eight bytes, and one is empty."""
    words = {"".join(rng.choice(list(LETTERS), rng.integers(1, 14))) for _ in range(n)}
    return ["", *sorted(words | {f"beginning alike {word}" for word in words} | {"ab", "ab\0", "ab\0\0"})]


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n", [5, 3000])
def test_every_word_is_there_once_and_every_table_finds_its_own(
    n: int, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_words, "FEW_WORDS", 0)
    words = made(n)
    tables = [[words[k] for k in rng.permutation(len(words))[: size * len(words) // 4]] for size in (3, 0, 2, 4)]
    joint, places = join_words([Words.of(table) for table in tables], process_seed(), n_jobs)
    spelled = joint.to_list()
    assert len(set(spelled)) == len(spelled)
    assert set(spelled) == set(words)
    assert [[spelled[k] for k in own] for own in places] == tables


@pytest.mark.parametrize("many", [0, 1 << 15])
def test_words_are_ordered_by_bytes(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likely.text.vocabulary.MANY_WORDS", many)
    words = made(2000)
    shuffled = [words[k] for k in rng.permutation(len(words))]
    ordered = Words.of(shuffled).take(Words.of(shuffled).order(2)).to_list()
    assert ordered == sorted(words, key=lambda word: word.encode())


def test_a_class_of_many_tokens_is_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(rng.choice(["to", "be", "or", "not"], rng.integers(0, 9))) for _ in range(500)]
    y, weight = rng.integers(-1, 3, 500).astype(np.int32), rng.integers(0, 5, 500).astype(np.float64)
    whole = count_by_class(texts, y, 3, weight)
    monkeypatch.setattr(class_counts, "FEWEST_TOKENS", 50)
    for n_jobs in (1, 4):
        pieces = count_by_class(texts, y, 3, weight, n_jobs=n_jobs)
        assert np.array_equal(pieces.counts, whole.counts)
        assert np.array_equal(pieces.documents, whole.documents)


def test_a_list_is_read_in_pieces_and_a_bad_cell_keeps_its_row() -> None:
    texts: list[object] = [None if k % 7 == 0 else "long " * 900 + str(k) for k in range(1500)]
    found = b"|".join(block.data[a:b].tobytes() for block in as_blocks(texts) for a, b in pairwise([0, *block.ends]))
    assert found.decode().split("|") == ["" if text is None else text for text in texts]
    assert len(as_blocks(texts)) > 3
    texts[1200] = 7
    with pytest.raises(ValueError, match="Row 1200"):
        as_blocks(texts)
