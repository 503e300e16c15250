"""Every statistic adds up, whatever the order, the grouping, the classes and the categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likely.engines.memory import Rows as Counter
from likely.stats import (
    ClassWeights,
    Cuts,
    FeatureCounts,
    Histogram,
    Moments,
    PairCounts,
    Part,
    Presence,
    Scatter,
    Summary,
    TokenCounts,
    ValueCounts,
    feature_counts,
    histogram,
)
from likely.table import as_table, encode_labels
from tests.stats.laws import LAWS, Make, Rows, Same

WIDTH = 3
weights = st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.25])
classes = st.integers(0, 3)


def codes_of(rows: Rows) -> np.ndarray:
    return np.array([row[0] for row in rows], dtype=np.int32)


def weights_of(rows: Rows) -> np.ndarray:
    return np.array([row[-1] for row in rows], dtype=np.float64)


def padded(table: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    out = np.zeros((n_rows, n_columns))
    out[: table.shape[0], : table.shape[1]] = table
    return out


def same_table(a: np.ndarray, b: np.ndarray, *, rtol: float = 1e-9, atol: float = 1e-9) -> None:
    shape = tuple(np.maximum(a.shape, b.shape))
    np.testing.assert_allclose(padded(a, *shape), padded(b, *shape), rtol=rtol, atol=atol)


# ClassWeights


labels = st.sampled_from(["a", "b", 3, (1, 2), True])


def class_weights(rows: Rows) -> ClassWeights:
    coded = encode_labels([label for label, _ in rows])
    return ClassWeights.observe(coded.classes, coded.codes, weights_of(rows))


def same_class_weights(a: ClassWeights, b: ClassWeights) -> None:
    assert [repr(label) for label in a.labels.tolist()] == [repr(label) for label in b.labels.tolist()]
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_allclose(a.weights, b.weights)


# ValueCounts


def value_counts(rows: Rows) -> ValueCounts:
    levels: list[Any] = []
    for _, value, _ in rows:
        if value is not None and value not in levels:
            levels.append(value)
    codes = np.array([-1 if value is None else levels.index(value) for _, value, _ in rows], dtype=np.int32)
    return ValueCounts.observe(levels, codes, codes_of(rows), weights_of(rows))


def same_value_counts(a: ValueCounts, b: ValueCounts) -> None:
    assert a.values == b.values
    same_table(a.counts, b.counts)


# Histogram


def histograms(rows: Rows) -> Histogram:
    return Histogram.observe(np.array([row[1] for row in rows], dtype=float), codes_of(rows), weights_of(rows))


def same_histogram(a: Histogram, b: Histogram) -> None:
    """Equal on the coarser of two grids: once numbers were rounded they stay so, but nothing is lost or invented."""
    shift = max(a.shift, b.shift)
    tables = []
    for seen in (a, b):
        cells, places = np.unique(seen.cells >> (shift - seen.shift), return_inverse=True)
        table = np.zeros((len(seen.counts), len(cells)))
        np.add.at(table, (slice(None), places), seen.counts)
        tables.append((cells, table))
    np.testing.assert_array_equal(tables[0][0], tables[1][0])
    same_table(tables[0][1], tables[1][1])


def same_histogram_exactly(a: Histogram, b: Histogram) -> None:
    assert a.shift == b.shift == 0
    same_histogram(a, b)


histogram_cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False), st.integers(-3, 3).map(float), st.just(-0.0), st.just(5e-324)
)
histogram_rows = st.lists(st.tuples(classes, histogram_cells, weights), max_size=16)


# Moments


def moments(rows: Rows) -> Moments:
    cells = np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, WIDTH)
    return Moments.observe(cells, codes_of(rows), weights_of(rows))


def same_moments(scale: float, offset: float = 0.0) -> Same:
    # A deviation is a difference of numbers near the offset: that is where its last digits end.
    noise = 1e-12 + 100 * np.finfo(float).eps * abs(offset) / scale

    def same(a: Moments, b: Moments) -> None:
        same_table(a.n, b.n)
        same_table(a.mean / scale, b.mean / scale, rtol=1e-9, atol=noise)
        same_table((a.root / scale) ** 2, (b.root / scale) ** 2, rtol=1e-9, atol=noise)

    return same


def number_rows(scale: float, offset: float = 0.0) -> st.SearchStrategy[Rows]:
    whole = st.integers(-1000, 1000).map(lambda k: offset + scale * (k / 1000))
    cells = st.lists(st.one_of(whole, st.just(float("nan"))), min_size=WIDTH, max_size=WIDTH)
    return st.lists(st.tuples(classes, cells, weights), max_size=12)


# Scatter


def scatter(rows: Rows) -> Scatter:
    cells = np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, WIDTH)
    return Scatter.observe(cells, codes_of(rows), weights_of(rows))


def same_scatter(scale: float, offset: float = 0.0) -> Same:
    noise = 1e-12 + 100 * np.finfo(float).eps * abs(offset) / scale

    def products(seen: Scatter) -> np.ndarray:
        root = seen.moments.root / scale
        return root[:, :, None] * seen.cross * root[:, None, :]

    def same(a: Scatter, b: Scatter) -> None:
        same_moments(scale, offset)(a.moments, b.moments)
        n_classes = max(len(a.cross), len(b.cross))
        a, b = (seen.with_pairs().take_classes(_first(n_classes, len(seen.cross))) for seen in (a, b))
        assert a.pairs is not None
        assert b.pairs is not None
        np.testing.assert_allclose(a.pairs.n, b.pairs.n, rtol=1e-9, atol=1e-9)
        known = a.pairs.n > 1e-9
        np.testing.assert_allclose(a.pairs.mean[known] / scale, b.pairs.mean[known] / scale, rtol=1e-9, atol=noise)
        np.testing.assert_allclose(products(a), products(b), rtol=1e-9, atol=noise)

    return same


def _first(n_classes: int, known: int) -> np.ndarray:
    return np.where(np.arange(n_classes) < known, np.arange(n_classes), -1)


def complete_rows(scale: float, offset: float = 0.0) -> st.SearchStrategy[Rows]:
    return number_rows(scale, offset).map(lambda rows: [row for row in rows if not np.isnan(row[1]).any()])


# FeatureCounts and Presence


def matrix_of(rows: Rows, *, as_sparse: bool) -> Any:
    cells = np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, WIDTH)
    return sparse.csr_array(cells) if as_sparse else cells


def dense_or_sparse_counts(as_sparse: bool) -> Make:
    return lambda rows: FeatureCounts.observe(matrix_of(rows, as_sparse=as_sparse), codes_of(rows), weights_of(rows))


def presence(as_sparse: bool) -> Make:
    return lambda rows: Presence.observe(matrix_of(rows, as_sparse=as_sparse), codes_of(rows), weights_of(rows))


def same_feature_counts(a: FeatureCounts, b: FeatureCounts) -> None:
    same_table(a.dense(), b.dense())


def same_presence(a: Presence, b: Presence) -> None:
    same_feature_counts(a.present, b.present)
    same_feature_counts(a.gaps, b.gaps)


counts = st.one_of(st.integers(0, 5).map(float), st.just(float("nan")))
count_rows = st.lists(st.tuples(classes, st.lists(counts, min_size=WIDTH, max_size=WIDTH), weights), max_size=12)


# PairCounts


def pair_counts(rows: Rows) -> PairCounts:
    axes: list[Any] = []
    for k in range(2):
        axes.append(tuple(dict.fromkeys(row[1][k] for row in rows if row[1][k] is not None)))
    axes.append(Cuts(np.array([0.0, 2.0])))
    codes = np.full((len(rows), 3), -1, dtype=np.int32)
    for i, (_, cells, _) in enumerate(rows):
        codes[i, :2] = [-1 if cells[k] is None else axes[k].index(cells[k]) for k in range(2)]
    codes[:, 2] = axes[2].places(np.array([row[1][2] for row in rows], dtype=float))
    return PairCounts.observe(axes, codes, codes_of(rows), weights_of(rows))


def same_pair_counts(a: PairCounts, b: PairCounts) -> None:
    assert a.axes[:2] == b.axes[:2]
    same_table(a.counts, b.counts)


pair_cells = st.tuples(
    st.sampled_from(["x", "y", "z", 1, None]),
    st.sampled_from(["u", "v", None]),
    st.sampled_from([-1.0, 1.0, 2.0, np.nan]),
)
pair_rows = st.lists(st.tuples(classes, pair_cells, weights), max_size=10)


# TokenCounts


def token_counts(rows: Rows) -> TokenCounts:
    texts = [row[1] for row in rows]
    known = np.array([text is not None for text in texts], dtype=bool)
    return TokenCounts.observe(texts, codes_of(rows), weights_of(rows), known=known)


def same_token_counts(a: TokenCounts, b: TokenCounts) -> None:
    assert a.words.to_list() == b.words.to_list()
    same_feature_counts(a.counts, b.counts)
    same_feature_counts(a.documents, b.documents)
    same_table(a.texts[:, None], b.texts[:, None])


texts = st.one_of(
    st.none(), st.lists(st.sampled_from(["to", "be", "or", "not", "Über", "naïve"]), max_size=4).map(" ".join)
)
text_rows = st.lists(st.tuples(classes, texts, weights), max_size=8)


# Summary: all of them together, with labels


PLAN = (
    Part("values", ("town",)),
    Part("moments", ("age", "size")),
    Part("log moments", ("income",)),
    Part("counts", ("clicks",)),
    Part("presence", ("flag",)),
    Part("scatter", ("size", "age")),
    Part("histogram", ("size",)),
)


def summary(rows: Rows) -> Summary:
    town, age, size, income, clicks, flag = ([cells[k] for _, cells, _ in rows] for k in range(6))
    table = as_table(
        {
            "town": np.array(town, dtype=object),
            "age": np.array(age, dtype=float),
            "size": np.array(size, dtype=float),
            "income": np.array(income, dtype=float),
            "clicks": np.array(clicks, dtype=float),
            "flag": np.array(flag, dtype=float),
        }
    )
    coded = encode_labels([row[0] for row in rows])
    return Counter(table, coded.classes, coded.codes, weights_of(rows), None).summarise(PLAN)


def same_summary(a: Summary, b: Summary) -> None:
    same_class_weights(a.classes, b.classes)
    comparers: list[Same] = [
        same_value_counts,
        same_moments(1e3),
        same_moments(1e3),
        same_feature_counts,
        same_presence,
        same_scatter(1e3),
        same_histogram_exactly,
    ]
    for part, same in zip(PLAN, comparers, strict=True):
        same(a.parts[part], b.parts[part])


mixed_cells = st.tuples(
    st.sampled_from(["Ulm", "Bonn", "Kiel", None]),
    st.integers(0, 90).map(float),
    st.one_of(st.floats(-1e3, 1e3), st.just(float("nan"))),
    st.integers(1, 999).map(float),
    st.integers(0, 4).map(float),
    st.sampled_from([0.0, 1.0, float("nan")]),
)
mixed_rows = st.lists(st.tuples(labels, mixed_cells, weights), max_size=8)

value_rows = st.lists(st.tuples(classes, st.sampled_from(["x", "y", "z", 1, None]), weights), max_size=12)

STATISTICS: dict[str, tuple[Make, Same, st.SearchStrategy[Rows]]] = {
    "class weights": (class_weights, same_class_weights, st.lists(st.tuples(labels, weights), max_size=12)),
    "value counts": (value_counts, same_value_counts, value_rows),
    "histogram": (histograms, same_histogram_exactly, histogram_rows),
    "rounded histogram": (histograms, same_histogram, histogram_rows),
    "moments": (moments, same_moments(1.0), number_rows(1.0)),
    "moments at 1e8": (moments, same_moments(1.0, 1e8), number_rows(1.0, 1e8)),
    "moments of 1e154": (moments, same_moments(1e154), number_rows(1e154)),
    "moments of 1e-170": (moments, same_moments(1e-170), number_rows(1e-170)),
    "scatter": (scatter, same_scatter(1.0), number_rows(1.0)),
    "scatter without gaps": (scatter, same_scatter(1.0), complete_rows(1.0)),
    "scatter at 1e8": (scatter, same_scatter(1.0, 1e8), number_rows(1.0, 1e8)),
    "scatter of 1e154": (scatter, same_scatter(1e154), number_rows(1e154)),
    "scatter of 1e-170": (scatter, same_scatter(1e-170), number_rows(1e-170)),
    "dense feature counts": (dense_or_sparse_counts(False), same_feature_counts, count_rows),
    "sparse feature counts": (dense_or_sparse_counts(True), same_feature_counts, count_rows),
    "dense presence": (presence(False), same_presence, count_rows),
    "sparse presence": (presence(True), same_presence, count_rows),
    "pair counts": (pair_counts, same_pair_counts, pair_rows),
    "token counts": (token_counts, same_token_counts, text_rows),
    "sparse token counts": (token_counts, same_token_counts, text_rows),
    "summary": (summary, same_summary, mixed_rows),
}


@pytest.fixture(autouse=True)
def _small_tables_may_be_sparse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse tables are kept only when they are large; here a few cells are large enough."""
    if "sparse" in request.node.name:
        monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    if "rounded" in request.node.name:
        monkeypatch.setattr(histogram, "MOST_CELLS", 4)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("statistic", STATISTICS)
@given(data=st.data())
def test_law(statistic: str, law: Callable[..., None], data: st.DataObject) -> None:
    make, same, rows = STATISTICS[statistic]
    law(make, same, data.draw(rows), data.draw(rows), data.draw(rows))
