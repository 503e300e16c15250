"""As many rows, values and classes as 14, 15 or 16 bits number, and a few more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from likely import BayesClassifier, EvidenceClassifier, TreeClassifier, load
from likely.errors import DataError
from likely.evaluation.cross_validation import fold_summaries
from likely.evaluation.folds import by_fold
from likely.io.blocks import BLOCK, LONGEST_RECORD
from likely.models.registry import entry_named
from likely.models.svm.kernels import with_int32_indices
from likely.models.tree.data import bin_numbers, quantile_edges
from likely.numerics import MOST_PLACES
from likely.table import as_table
from likely.text.class_counts import count_rows
from likely.text.documents import DocumentBlock
from likely.text.token_stream import LONGEST_TEXT, read_stream
from likely.text.tokenizer import Tokenizer
from likely.text.vocabulary import Words

LIMITS = [1 << 14, 1 << 15, 1 << 16]


@pytest.mark.parametrize("limit", LIMITS)
def test_as_many_values_as_rows(limit: int) -> None:
    values = np.arange(limit + 2)
    clf = BayesClassifier(schema={"a": "nominal"}).fit({"a": values}, values % 2)
    some = np.array([0, 1, limit - 1, limit, limit + 1])
    assert np.allclose(clf.predict_proba({"a": some})[:, 1], np.where(some % 2, 2 / 3, 1 / 3))


@pytest.mark.parametrize("limit", LIMITS)
def test_as_many_classes_as_rows(limit: int) -> None:
    classes = np.arange(limit + 2)
    clf = BayesClassifier(schema={"a": "nominal"}).fit({"a": classes // (limit + 1)}, classes)
    found = clf.predict_proba({"a": [1, 0]})
    assert found.shape == (2, limit + 2)
    assert found.argmax(axis=1).tolist() == [limit + 1, 0]


@pytest.mark.parametrize("weight", [2.0**31, 2.0**32 + 1.0, 2.0**53])
@pytest.mark.parametrize("name", ["naive", "full", "aode", "tree", "evidence"])
def test_weights_beyond_every_integer(name: str, weight: float, tmp_path: Path) -> None:
    """Cases are counted in floats: weights of 2³¹ and more say what smaller ones say, before and after a file."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = {"number": rng.normal(size=300) + y, "letter": np.array(list("abc"))[(rng.integers(0, 3, 300) + y) % 3]}
    heavy = entry_named(name).make().fit(X, y, sample_weight=np.full(300, weight))
    heavy.save(tmp_path / "heavy.likely")
    shares = heavy.predict_proba(X)
    assert (shares.argmax(axis=1) == y).mean() > 0.6
    np.testing.assert_array_equal(load(tmp_path / "heavy.likely").predict_proba(X), shares)


def test_more_rows_than_32_bits_number() -> None:
    rows = np.broadcast_to(np.zeros((1, 1)), (MOST_PLACES, 1))  # one cell in memory
    assert as_table(rows).n_rows == MOST_PLACES
    with pytest.raises(DataError, match="There are 2,147,483,648 rows, but 2,147,483,647 are the most"):
        as_table(np.broadcast_to(np.zeros((1, 1)), (MOST_PLACES + 1, 1)))


def test_more_folds_and_classes_than_32_bits_number() -> None:
    y = np.arange(10) % 2
    task = BayesClassifier()._task({"a": y}, y)
    assert len(fold_summaries(task, y.astype(np.int32), 2)) == 2
    with pytest.raises(DataError, match="folds × classes"):
        fold_summaries(task, y.astype(np.int32), 2**30)


def test_blocks_of_files_are_shorter_than_offsets_of_arrow() -> None:
    assert 2 * LONGEST_RECORD + BLOCK <= MOST_PLACES


def test_a_text_longer_than_a_word_may_be() -> None:
    endless = DocumentBlock(np.broadcast_to(np.uint8(ord("a")), LONGEST_TEXT + 1), np.array([LONGEST_TEXT + 1]))
    with pytest.raises(DataError, match="cut it into several"):
        read_stream([endless], Tokenizer())


FEW = 40
"""So few things may be numbered where the true bound would need more memory than there is."""


def gaps_for_a_tree() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X[rng.random(X.shape) < 0.5] = np.nan  # these cases go down several branches
    TreeClassifier(prune=None, min_cases=1).fit(X, rng.integers(0, 2, 30))


def nodes_of_a_tree() -> None:
    TreeClassifier(prune=None, min_cases=1).fit(np.arange(30.0)[:, None], np.arange(30) % 2)


def words() -> None:
    count_rows([f"word{k}" for k in range(FEW + 1)])


def words_of_two_lists() -> None:
    Words.of(map(str, range(FEW - 9))).union(Words.of(map(str, range(FEW, FEW + 10))))


def pairs_of_words() -> None:
    count_rows([" ".join("abcdefgh")] * 3 + ["hgfedcba", "h g f e d c b a", "a c e g b d f h a d g"], PAIRS)


def one_long_text() -> None:
    count_rows(["be " * (FEW + 1)])


def cells_of_a_sparse_matrix() -> None:
    with_int32_indices(sparse.csr_array(np.ones((6, 7))))


def cells_of_evidence() -> None:
    rng = np.random.default_rng(0)
    EvidenceClassifier().fit(rng.normal(size=(FEW, 5)), rng.integers(0, 2, FEW))


PAIRS = Tokenizer(min_chars=1, ngram_range=(1, 3))
MANY = [gaps_for_a_tree, nodes_of_a_tree, words, words_of_two_lists, pairs_of_words, one_long_text,
        cells_of_a_sparse_matrix, cells_of_evidence]  # fmt: skip


@pytest.mark.parametrize("make", MANY, ids=lambda make: make.__name__)
def test_more_than_can_be_numbered(make: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    monkeypatch.setattr("likely.numerics.MOST_PLACES", FEW)
    with pytest.raises(DataError, match=f"but {FEW} are the most"):
        make()


@pytest.mark.parametrize("n_folds", [255, 256, 257, 300])
def test_as_many_folds_as_a_byte_numbers(n_folds: int) -> None:
    fold = (np.arange(900) * 7 % n_folds).astype(np.int32)
    rows = by_fold(fold, n_folds)
    assert [fold[some].tolist() for some in rows] == [[k] * len(some) for k, some in enumerate(rows)]
    assert sorted(np.concatenate(rows)) == list(range(900))


@pytest.mark.parametrize("n_values", [254, 255, 256, 257, 70_000])
def test_as_many_values_as_a_byte_numbers(n_values: int) -> None:
    """Bins of trees and codes of evidence are bytes: the last of them and the gap stay apart."""
    numbers = np.append(np.arange(n_values, dtype=np.float64), np.nan)
    codes = bin_numbers(numbers, quantile_edges(numbers))
    assert (np.diff(codes[:-1].astype(int)) >= 0).all() and codes[-2] < codes[-1] == 255
    y = np.arange(n_values + 1) % 2
    names = np.array([f"v{int(k)}" for k in np.nan_to_num(numbers)], dtype=object)
    names[-1] = None
    clf = EvidenceClassifier(max_pairs=0, max_triples=0).fit({"number": numbers, "name": names}, y)
    for column in clf.model_.evidence.encoding.columns:
        assert column.size <= 256
        assert column.codes(as_table({"number": numbers, "name": names}))[-1] == column.size - 1
