"""Each family against the distribution it is named after, as SciPy computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats

from likely import BayesClassifier, DataError, FullBayesClassifier, Laplace, MEstimate, SettingsError
from likely.families import FAMILIES, Settings, bernoulli, counts
from likely.families.categorical import GapFactor
from likely.families.counts import own_counts
from likely.families.gaussian import Gaussian
from likely.families.gaussian_kernels import CAREFUL, INFINITE, PLAIN, add_gaussian, steep_square
from likely.families.protocol import HasParameters
from likely.stats import feature_counts

rng = np.random.default_rng(3)
y = np.repeat([0, 1, 2], 40)


def evidence(clf: BayesClassifier, X: Any) -> np.ndarray:
    """Log-likelihood of one-column rows under each class, the prior taken out."""
    return np.asarray(clf.predict_joint_log_proba(X) - np.log(clf.model_.prior))


def test_gaussian() -> None:
    x = rng.normal(size=120) * (1 + y) + y
    query = np.array([[-3.0], [0.0], [2.5]])
    for variance, ddof in (("unbiased", 1), ("ml", 0)):
        clf = BayesClassifier(variance=variance).fit(x[:, None], y)
        expected = [stats.norm(x[y == c].mean(), x[y == c].std(ddof=ddof)).logpdf(query[:, 0]) for c in range(3)]
        np.testing.assert_allclose(evidence(clf, query), np.array(expected).T, rtol=1e-10)


def test_a_distance_that_leaves_the_floats_is_bent() -> None:
    """From 1e100 deviations on it grows like a logarithm."""
    assert steep_square(3.0, 0.5) == 2.25 and steep_square(-3.0, 2.0) == 36.0
    assert steep_square(1e100, 1.0) == pytest.approx(1e200)
    assert steep_square(-4e99, 5.0) == pytest.approx(1e200 * (1.0 + np.log(2.0)), rel=1e-13)
    assert steep_square(1e300, 1e300) == pytest.approx(1e200 * (1.0 + 500.0 * np.log(10.0)))


def test_a_bell_says_what_cells_it_met() -> None:
    """Plain numbers, gaps and extreme ones, or an infinite one, in whichever row; of these only the last is refused."""
    one = np.ones((1, 2))
    cells = np.zeros((130, 2))
    for found, cell in ((PLAIN, 0.5), (CAREFUL, np.nan), (CAREFUL, 1e200), (INFINITE, np.inf), (INFINITE, -np.inf)):
        for row in (0, 64, 129):
            rows, joint = cells.copy(), np.zeros((130, 1))
            rows[row, 1], rows[100, 0] = cell, np.nan if found == INFINITE else 0.0
            assert add_gaussian(rows, 0.0 * one, one, 0.0 * one, joint) == found
            belief = Gaussian(("x", "y"), 0.0 * one, one)
            assert belief.add_density(rows, joint) == (found != INFINITE)
    assert len({PLAIN, CAREFUL, INFINITE}) == 3
    clf = BayesClassifier(families="gaussian").fit([[1.0], [2.0], [4.0]], [0, 0, 1])
    with pytest.raises(DataError, match="must be finite"):
        clf.predict([[1.0], [np.inf]])
    logs = BayesClassifier(families="lognormal").fit([[1.0], [2.0], [4.0]], [0, 0, 1])
    with pytest.raises(DataError, match="must be finite"):
        logs.predict([[1.0], [np.inf]])


@pytest.mark.parametrize("constant", [7.0, 0.1, 1 / 3, 1e8 + 0.1])
@pytest.mark.parametrize("make", [BayesClassifier, FullBayesClassifier])
def test_a_constant_column_says_nothing_even_where_a_row_has_another_value(make: Any, constant: float) -> None:
    """A spread that rounding left would make every other value a hundred sextillion deviations away."""
    for n in (90, 91, 1000):
        of_class, x = np.arange(n) % 3, rng.normal(size=n)
        clf, alone = make().fit(np.column_stack([x, np.full(n, constant)]), of_class), make().fit(x[:, None], of_class)
        for cell in (constant, constant + 0.5, 0.0):
            found = clf.predict_joint_log_proba([[0.3, cell]])
            np.testing.assert_allclose(found, alone.predict_joint_log_proba([[0.3]]), rtol=1e-12)


def test_lognormal() -> None:
    x = np.exp(rng.normal(size=120) + 0.3 * y)
    query = np.array([[0.1], [1.0], [25.0]])
    clf = BayesClassifier(families="lognormal").fit(x[:, None], y)
    logs = np.log(x)
    expected = [
        stats.lognorm(s=logs[y == c].std(ddof=1), scale=np.exp(logs[y == c].mean())).logpdf(query[:, 0])
        for c in range(3)
    ]
    np.testing.assert_allclose(evidence(clf, query), np.array(expected).T, rtol=1e-10)
    np.testing.assert_array_equal(evidence(clf, [[0.0], [-1.0]]), 0.0)


def test_poisson() -> None:
    x = rng.poisson(1 + 2 * y)
    query = np.array([[0.0], [3.0], [40.0]])
    clf = BayesClassifier(families="poisson", smoothing=0).fit(x[:, None], y)
    expected = [stats.poisson(x[y == c].mean()).logpmf(query[:, 0]) for c in range(3)]
    np.testing.assert_allclose(evidence(clf, query), np.array(expected).T, rtol=1e-10)
    np.testing.assert_array_equal(evidence(clf, [[-1.0]]), 0.0)


def test_poisson_smoothing_adds_rows_with_the_overall_mean() -> None:
    clf = BayesClassifier(families="poisson", smoothing=2).fit([[0], [0], [6]], ["never", "never", "often"])
    rate = (0 + 2 * 2.0) / (2 + 2)
    assert evidence(clf, [[1]])[0, 0] == pytest.approx(stats.poisson(rate).logpmf(1))
    strict = BayesClassifier(families="poisson", smoothing=0).fit([[0], [0], [6]], ["never", "never", "often"])
    assert evidence(strict, [[1]])[0, 0] == -np.inf
    assert evidence(strict, [[0]])[0, 0] == 0.0


def test_categorical_shares_sum_to_one_under_every_smoothing() -> None:
    values = rng.choice(["a", "b", "c"], 120)
    for smoothing in (0, 0.5, 1, Laplace(2), MEstimate(5), MEstimate(4, p={"a": 0.5, "b": 0.25, "c": 0.25})):
        clf = BayesClassifier(smoothing=smoothing).fit({"v": values}, y)
        np.testing.assert_allclose(np.exp(evidence(clf, {"v": ["a", "b", "c"]})).sum(axis=0), 1.0, rtol=1e-12)


def test_gaps_as_values_sum_to_one_with_them() -> None:
    values = rng.choice(["a", "b", None], 120)
    clf = BayesClassifier(missing="value", unseen="smooth").fit({"v": values}, y)
    shares = np.exp(evidence(clf, {"v": ["a", "b", None, "never seen"]}))
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)
    gaps = np.array([sum(v is None for v in values[y == c]) for c in range(3)])
    np.testing.assert_allclose(shares[2], (gaps + 1) / (40 + 4), rtol=1e-12)


def test_a_gap_in_a_number_is_evidence_if_asked() -> None:
    x = rng.normal(size=120)
    x[y == 2] = np.nan
    x[:10] = np.nan
    clf = BayesClassifier(missing="value").fit(x[:, None], y)
    gaps = np.array([10, 0, 40])
    np.testing.assert_allclose(np.exp(evidence(clf, [[np.nan]]))[0], (gaps + 1) / (40 + 2), rtol=1e-12)
    assert clf.predict([[np.nan]])[0] == 2
    ignoring = BayesClassifier().fit(x[:, None], y)
    np.testing.assert_array_equal(evidence(ignoring, [[np.nan]]), 0.0)


def lines_told(clf: BayesClassifier) -> list[tuple[str, np.ndarray]]:
    """The column and the numbers of every parameter."""
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasParameters)
    return [(each.column, each.numbers) for each in belief.parameters() or ()]


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize(("smoothing", "piece"), [(1.0, 1 << 20), (0.01, 7)])
def test_sparse_tables_of_weights_equal_dense_ones(
    family: str, smoothing: float, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the table is worked on as a whole or in pieces, and written out in as many lines or a few at a time."""
    monkeypatch.setattr(counts, "PIECE", piece)
    monkeypatch.setattr(counts, "LINES_AT_ONCE", min(piece, 4096))
    # Most columns were met in one class only: what is full is kept dense.
    cells = np.where(np.arange(15) % 3 == y[:, None], rng.poisson(0.9, size=(120, 15)), 0.0)
    cells[:, 0], cells[:, 1] = rng.poisson(0.9, size=120), 1.0
    order = rng.permutation(120)
    X, labels = sparse.csr_array(cells[order]), y[order]
    dense = BayesClassifier(families=family, smoothing=smoothing).fit(X, labels)
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    thin = BayesClassifier(families=family, smoothing=smoothing).fit(X[:60], labels[:60])
    thin.partial_fit(X[60:], labels[60:])
    (counted,) = thin.summary_.parts.values()
    assert sparse.issparse((counted.present if family == "bernoulli" else counted).table)
    np.testing.assert_allclose(thin.predict_joint_log_proba(X), dense.predict_joint_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(thin.explain(X).joint, dense.predict_joint_log_proba(X), rtol=1e-10)
    for (place, line), (same, other) in zip(lines_told(thin), lines_told(dense), strict=True):
        assert place == same
        np.testing.assert_allclose(line, other, rtol=1e-9)
    thin.forget(X[60:], labels[60:])
    alone = BayesClassifier(families=family, smoothing=smoothing).fit(X[:60], labels[:60])
    np.testing.assert_allclose(thin.predict_joint_log_proba(X), alone.predict_joint_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_without_smoothing_a_zero_rules_out(family: str) -> None:
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    for rows in (X, sparse.csr_array(X)):
        clf = BayesClassifier(families=family, smoothing=0).fit(rows, ["a", "a", "b"])
        posterior = clf.predict_proba(rows)
        np.testing.assert_array_equal(posterior, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("family", ["multinomial", "complement"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_an_infinite_count_is_refused_by_its_place(family: str, as_sparse: bool) -> None:
    X = np.array([[1.0, 0.0, 2.0], [2.0, 0.0, 0.0], [0.0, 3.0, 1.0]])
    clf = BayesClassifier(families=family).fit(X, ["a", "a", "b"])
    asked = np.array([[1.0, 0.0, 0.0], [0.0, 1e300, np.nan], [5.0, -np.inf, np.inf]])
    assert np.isfinite(clf.predict_proba(asked[:2])).all()
    with pytest.raises(DataError, match=r"Row 2 of column 'x1' holds -inf.*must be finite"):
        clf.predict_proba(sparse.csr_array(asked) if as_sparse else asked)


NOTHING = -np.inf
LINES = np.array([[0.5, -1.0], [0.0, NOTHING], [1.0, 2.0], [-3.0, 0.25], [0.0, 0.0], [2.0, -0.5]])


def test_counts_times_weights_by_hand() -> None:
    """No count and a gap add nothing, whatever the weight is; the bias goes to every row."""
    rows = np.array([
        [1.0, 0.0, 2.0, 0.0, 0.0, 0.0],
        [2.0, np.nan, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 1.0, 2.0, 3.0, 0.5],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ])  # fmt: skip
    bias = np.array([0.25, -0.75])
    expected = np.array([[2.5, 3.0], [3.0, -2.5], [0.0, NOTHING], [-3.5, 1.25], [0.0, 0.0]])
    for held in (rows, sparse.csr_array(rows)):
        for own in (bias, np.zeros(2)):
            joint = np.ones((5, 2))
            counts.DenseWeights(LINES, own).add(held, joint)
            np.testing.assert_allclose(joint, 1.0 + expected + own)
        joint = np.ones((5, 2))
        counts.DenseWeights(LINES, bias).only(2).add(held[:, [2]], joint)
        np.testing.assert_allclose(joint, 1.0 + np.nan_to_num(rows[:, [2]]) * LINES[2])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_row_that_is_far_away_leaves_the_others_as_they_are(as_sparse: bool) -> None:
    """It is divided by a power of two, so that its evidence is a float; the signs and the order of classes stay."""
    lines = np.array([[0.5, -1.0], [-2.0, 1.5]])
    rows = np.array([[1.0, 2.0], [1e305, 1.0], [3.0, 0.0], [0.0, -1e308], [np.nan, 1e300]])
    joint, near = np.zeros((5, 2)), np.zeros((2, 2))
    counts.DenseWeights(lines, np.zeros(2)).add(sparse.csr_array(rows) if as_sparse else rows, joint)
    counts.DenseWeights(lines, np.zeros(2)).add(rows[[0, 2]], near)
    np.testing.assert_array_equal(joint[[0, 2]], near)
    assert np.isfinite(joint).all() and (np.abs(joint[[1, 3, 4]]).min(axis=1) > 1e280).all()
    np.testing.assert_allclose(joint[1, 1] / joint[1, 0], -2.0)
    np.testing.assert_allclose(joint[[3, 4], 1] / joint[[3, 4], 0], -0.75)
    assert joint[1, 0] > 0.0 and joint[3, 0] > 0.0 and joint[4, 0] < 0.0


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 60.0])
def test_a_power_is_multiplied_in_or_its_logarithm_is_taken_out(power: float) -> None:
    for share, product in ((0.25, 1.0), (0.25, 3e-201), (0.75, 1.0), (1e-120, 1e-90), (1e-24, 2e-200)):
        left, logged = counts.log_power(share, power, product)
        assert np.log(left) + logged == pytest.approx(power * np.log(share) + np.log(product))
        assert left > 1e-300


def test_the_count_of_a_cell_in_the_class_of_its_row() -> None:
    """From a dense table or a sparse one, in which a column that the class never met lies before, between or behind."""
    table = np.array([[0.0, 2.0, 0.0, 3.0, 0.0], [4.0, 0.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 6.0]])
    rows, of_class = sparse.csr_array(np.ones((4, 5))), np.array([1, 0, 2, 1], dtype=np.int32)
    expected = table[of_class].ravel().tolist()
    assert own_counts(table, rows, of_class).tolist() == expected
    assert own_counts(sparse.csr_array(table), rows, of_class).tolist() == expected


@pytest.mark.parametrize("dense_cells", [0, 1 << 20], ids=["thin", "dense"])
def test_a_zero_that_is_stored_is_a_zero(dense_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", dense_cells)
    cells = np.where(np.arange(15) % 3 == y[:, None], rng.poisson(0.9, size=(120, 15)), 0.0)
    stored = sparse.csr_array((cells.ravel(), np.tile(np.arange(15), 120), np.arange(0, 1801, 15)), shape=(120, 15))
    assert stored.nnz == 1800
    for family in ("bernoulli", "multinomial", "complement"):
        clf = BayesClassifier(families=family).fit(sparse.csr_array(cells), y)
        np.testing.assert_allclose(clf.predict_joint_log_proba(stored), clf.predict_joint_log_proba(cells), rtol=1e-12)
        again = BayesClassifier(families=family).fit(stored, y)
        np.testing.assert_allclose(again.predict_joint_log_proba(cells), clf.predict_joint_log_proba(cells), rtol=1e-12)


def test_presence_and_gaps_lean_towards_the_proportions_given() -> None:
    """Of four rows that are added, three are present, or gaps."""
    leaning = MEstimate(4.0, {True: 0.75, False: 0.25})
    x, labels = [1.0, 1.0, 0.0, 1.0], list("aaab")
    presence = BayesClassifier(families="bernoulli", smoothing=leaning).fit({"x": x}, labels)
    np.testing.assert_allclose(np.exp(evidence(presence, {"x": [1.0, 0.0]})), [[5 / 7, 4 / 5], [2 / 7, 1 / 5]])
    texts = BayesClassifier(families={"t": "bernoulli"}, schema={"t": "text"}, smoothing=leaning)
    texts.fit({"t": ["ant", "ant ant", "bee", "ant"]}, labels)
    np.testing.assert_allclose(
        np.exp(evidence(texts, {"t": ["ant", "bee ant", "eel"]})),
        [[5 / 7 * 3 / 7, 4 / 5 * 2 / 5], [5 / 7 * 4 / 7, 4 / 5 * 3 / 5], [1.0, 1.0]],
    )
    known = np.array([[2.0], [1.0], [0.0]])
    gaps = GapFactor.settle(("x",), known, np.array([3.0, 1.0, 0.0]), Settings(smoothing={"x": leaning}))
    np.testing.assert_allclose(np.exp(gaps.gap[:, 0]), [4 / 7, 3 / 5, 3 / 4])
    np.testing.assert_allclose(np.exp(gaps.known[:, 0]), [3 / 7, 2 / 5, 1 / 4])
    none = GapFactor.settle(("x",), known, np.array([3.0, 1.0, 0.0]), Settings(smoothing={"x": Laplace(0.0)}))
    np.testing.assert_allclose(np.exp(none.gap[:, 0]), [1 / 3, 0.0, 1 / 2])
    np.testing.assert_allclose(np.exp(none.known[:, 0]), [2 / 3, 1.0, 1 / 2])


@pytest.mark.parametrize(
    "uneven", [{"x0": 2.0}, MEstimate(2.0, {True: 1.0, False: 0.0}), MEstimate(2.0, {True: 0.0, False: 1.0})], ids=str
)
def test_uneven_smoothing_of_sparse_presence(uneven: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where columns have different pseudo-counts, or one is zero, no class can share what it says of unseen ones."""
    cells = np.where(np.arange(15) % 3 == y[:, None], rng.poisson(0.9, size=(120, 15)), 0.0)
    alone = BayesClassifier(families="bernoulli").fit(cells[:, :1], y)
    dense = BayesClassifier(families="bernoulli", smoothing=uneven).fit(cells, y)
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    thin = BayesClassifier(families="bernoulli", smoothing=uneven).fit(sparse.csr_array(cells), y)
    np.testing.assert_allclose(
        thin.predict_joint_log_proba(sparse.csr_array(cells)), dense.predict_joint_log_proba(cells), rtol=1e-12
    )
    one = BayesClassifier(families="bernoulli").fit(sparse.csr_array(cells[:, :1]), y)
    (seen,) = one.summary_.parts.values()
    assert sparse.issparse(seen.present.table)  # type: ignore[attr-defined]
    np.testing.assert_allclose(
        one.predict_joint_log_proba(sparse.csr_array(cells[:, :1])), alone.predict_joint_log_proba(cells[:, :1])
    )


@pytest.mark.parametrize("smoothing", [1.0, 0.0])
def test_presence_in_sparse_rows_is_that_in_dense_ones(smoothing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With gaps, and where a share is 0 or 1, rows are written out a few at a time."""
    monkeypatch.setattr(bernoulli, "DENSE_ROWS", 7)
    cells = rng.poisson(0.4, (60, 5)).astype(float)
    cells[:, 0] = 1.0
    labels = np.arange(60) % 2
    holed = np.where(rng.random(cells.shape) < 0.1, np.nan, cells)
    for rows in (cells, holed):
        clf = BayesClassifier(families="bernoulli", smoothing=smoothing).fit(rows, labels)
        for asked in (cells, holed, holed - 1.0):
            found = clf.predict_joint_log_proba(sparse.csr_array(asked))
            np.testing.assert_allclose(found, clf.predict_joint_log_proba(asked), rtol=1e-12)


def test_bernoulli_gaps_say_nothing() -> None:
    table = {"on": [1.0, 0.0, np.nan, 1.0], "off": [0.0, 0.0, 1.0, 1.0]}
    clf = BayesClassifier(families="bernoulli").fit(table, [0, 0, 1, 1])
    # Class 1 knows one cell of "on": (1 + 1) / (1 + 2).
    assert np.exp(clf.explain({"on": [1.0], "off": [0.0]}).contributions[0, 0, 1]) == pytest.approx(2 / 3)
    assert clf.explain({"on": [np.nan], "off": [0.0]}).contributions[0, 0].tolist() == [0.0, 0.0]


def test_a_family_that_does_not_exist_is_refused_with_a_hint() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'gaussian'"):
        BayesClassifier(families="gausian").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SettingsError, match="Did you mean 'age'"):
        BayesClassifier(families={"aeg": "poisson"}).fit({"age": [1, 2]}, [0, 1])


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.reads != "text"])
def test_every_family_learns_and_tells_classes_apart(name: str) -> None:
    x = (rng.poisson(1 + 4 * y) + 1.0)[:, None]
    X = np.column_stack([x, rng.poisson(3, 120) + 1.0])
    if name == "bernoulli":
        X = (X > [[3.0, 3.0]]).astype(float)
    clf = BayesClassifier(families=name).fit(X, y)
    assert clf.score(X, y) > 0.45
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
