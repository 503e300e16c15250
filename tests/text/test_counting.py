"""Counts by class are the sums of rows, whatever the blocks, threads, weights and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse

from likely.errors import DataError
from likely.text import Tokenizer, class_counts, count_by_class, count_rows, documents

DOCS = st.lists(st.text(alphabet="ab é", max_size=12), min_size=1, max_size=12)
RECIPES = [Tokenizer(), Tokenizer(ngram_range=(1, 2), min_chars=1), Tokenizer(analyzer="char_wb", ngram_range=(2, 3))]


def dense(table: Any) -> np.ndarray:
    return np.asarray(table.toarray() if issparse(table) else table)


@pytest.mark.parametrize("recipe", RECIPES, ids=["words", "pairs", "chars"])
@pytest.mark.parametrize("always_dense", [0, 1 << 20])
@given(texts=DOCS, data=st.data())
def test_sums_of_rows(recipe: Tokenizer, always_dense: int, texts: list[str], data: st.DataObject) -> None:
    y = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(texts), max_size=len(texts))), dtype=np.int32)
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(texts), max_size=len(texts))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_counts, "ALWAYS_DENSE", always_dense)
        seen = count_by_class(texts, y, 4, weight, recipe)
    rows = count_rows(texts, recipe)
    matrix = rows.to_csr().toarray()
    assert seen.words == rows.words
    for label in range(4):
        own = y == label
        np.testing.assert_array_equal(dense(seen.counts)[label], weight[own] @ matrix[own])
        np.testing.assert_array_equal(dense(seen.documents)[label], weight[own] @ (matrix[own] > 0))


@pytest.mark.parametrize("recipe", RECIPES, ids=["words", "pairs", "chars"])
def test_threads_and_blocks_change_nothing(recipe: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    words = np.array(["".join(map(chr, rng.integers(97, 123, size=n))) for n in rng.integers(2, 20, size=3000)])
    texts = [" ".join(rng.choice(words, size=n)) for n in rng.integers(0, 60, size=700)]
    y = rng.integers(0, 5, size=len(texts)).astype(np.int32)
    weight = rng.random(len(texts))
    wanted, seen = count_rows(texts, recipe, n_jobs=1), count_by_class(texts, y, 5, weight, recipe, n_jobs=1)
    for block, n_jobs in ((1 << 12, 1), (1 << 12, 4), (1, 3)):
        monkeypatch.setattr(documents, "BLOCK_BYTES", block)
        rows = count_rows(texts, recipe, n_jobs=n_jobs)
        assert rows.words == wanted.words
        for part in ("columns", "counts", "starts"):
            np.testing.assert_array_equal(getattr(rows, part), getattr(wanted, part))
        again = count_by_class(texts, y, 5, weight, recipe, n_jobs=n_jobs)
        # Bit for bit, weights and all.
        np.testing.assert_array_equal(again.counts, seen.counts)
        np.testing.assert_array_equal(again.documents, seen.documents)


def test_given_words_keep_their_columns() -> None:
    words = count_rows(["to be or not"]).words
    rows = count_rows(["be be unseen to"], words=words)
    assert rows.words is words
    assert rows.to_csr().toarray().tolist() == [[2, 0, 0, 1]]
    seen = count_by_class(["be be unseen to", "to"], np.array([1, 0]), 2, words=words)
    assert seen.counts.tolist() == [[0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 1.0]]


def test_labels_and_weights_must_fit() -> None:
    with pytest.raises(DataError, match="2 texts, but 1 labels"):
        count_by_class(["a", "b"], np.array([0]), 1)
    with pytest.raises(DataError, match="1 texts, but 2 weights"):
        count_by_class(["a"], np.array([0]), 1, np.ones(2))
