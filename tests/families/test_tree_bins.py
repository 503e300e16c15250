"""Bins cut by a tree: the cuts of `TreeDiscretiser`, the shares of bins, and leave-one-out by refitting."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import likely
from likely import BayesClassifier, TreeDiscretiser
from likely.families.tree_bins import LEVEL, cut_by_class
from likely.measures import confident_errors
from likely.models.export import numbers_of
from likely.stats import Histogram
from likely.stats.binning import cut

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(8)


def test_the_cuts_are_those_of_the_discretiser() -> None:
    cuts = TreeDiscretiser().fit(X, y)
    for _ in range(30):
        few, labels = np.round(rng.normal(size=40), 1), rng.integers(0, 3, 40).astype(np.int32)
        labels[few > 0.4] = 0
        found = cut_by_class(Histogram.observe(few, labels)).cuts
        np.testing.assert_allclose(found, TreeDiscretiser().fit(few[:, None], labels).edges_["x0"], rtol=1e-12)
    noisy = np.round(rng.normal(size=400), 1)
    for column, labels in [*((X[:, j], y) for j in range(4)), (noisy, (noisy > 0.3) ^ (rng.random(400) < 0.2))]:
        codes = np.asarray(labels).astype(np.int32)
        found = cut_by_class(Histogram.observe(np.ascontiguousarray(column), codes)).cuts
        expected = TreeDiscretiser().fit(column[:, None], codes).edges_["x0"]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert cuts.edges_["x2"].tolist() == [2.45, 4.75]


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_cut_that_saves_no_error_is_none_however_sure_it_is(mirrored: bool) -> None:
    """Twelve classes on one side, three times each; on the other the first of them: it wins in both, and in all."""
    side, codes = np.repeat([0.0, 1.0], [36, 31]), np.concatenate([np.arange(36) % 12, np.zeros(31)]).astype(np.int32)
    x = 1.0 - side if mirrored else side
    charges = confident_errors(np.array([36.0, 31.0, 67.0]), np.array([33.0, 0.0, 33.0]), LEVEL)
    assert charges[:2].sum() < charges[2] - 1.0
    assert len(cut_by_class(Histogram.observe(x, codes)).cuts) == 0
    assert len(TreeDiscretiser().fit(x[:, None], codes).edges_["x0"]) == 0
    codes[side == 1.0] = 12
    assert cut_by_class(Histogram.observe(x, codes)).cuts.tolist() == [0.5]


def test_it_is_categorical_bayes_of_the_intervals() -> None:
    bins = BayesClassifier(families="tree-bins").fit(X, y)
    words = TreeDiscretiser().fit_transform(X, y)
    np.testing.assert_allclose(bins.predict_proba(X), BayesClassifier().fit(words, y).predict_proba(words))


def test_it_lasts_and_is_explained(tmp_path: Path) -> None:
    clf = BayesClassifier(families={"x2": "tree-bins"}).fit(X, y)
    clf.save(tmp_path / "m.likely")
    np.testing.assert_array_equal(likely.load(tmp_path / "m.likely").predict_proba(X), clf.predict_proba(X))
    np.testing.assert_allclose(clf.explain(X[:3]).joint, clf.predict_joint_log_proba(X[:3]))
    assert (clf.partial_fit(X, y).predict(X) == y).mean() > 0.9
    assert clf.rank()["information"].max() > 1.0


@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_leave_one_out_is_refitting(missing: str) -> None:
    some = np.round(X[::5, [2, 3]], 0)
    some[rng.random(some.shape) < 0.15] = np.nan
    labels, n = y[::5], len(y[::5])
    clf = BayesClassifier(families="tree-bins", missing=missing)  # type: ignore[arg-type]
    closed = np.empty((n, 3))
    clf._leave_one_out(clf._task(some, labels), lambda block, shares: closed.__setitem__(block, shares))
    for row in range(n):
        kept = np.arange(n) != row
        refitted = BayesClassifier(families="tree-bins", missing=missing).fit(some[kept], labels[kept])  # type: ignore[arg-type]
        np.testing.assert_allclose(closed[row], refitted.predict_proba(some[[row]])[0], rtol=1e-9)


def test_nothing_to_cut() -> None:
    for nothing in ([np.nan, np.nan], [7.0, np.nan]):
        seen = Histogram.observe(np.array(nothing), np.array([0, 1], dtype=np.int32))
        found, same = cut_by_class(seen), cut(seen, 5)
        assert found.edges.tolist() == same.edges.tolist() and found.of_cell.tolist() == same.of_cell.tolist()
    assert cut_by_class(Histogram.observe(np.full(2, np.nan), np.zeros(2, dtype=np.int32))).edges.tolist() == [0.0, 1.0]
    clf = BayesClassifier(families="tree-bins").fit([[1.0], [1.0], [1.0]], ["a", "b", "a"])
    assert clf.predict([[1.0], [7.0], [np.nan]]).tolist() == ["a", "a", "a"]


def test_intervals_and_exports() -> None:
    """Shares of bins are uncertain in the same way, wherever the bins are cut."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 1)) + 2.0 * y[:, None]
    clf = BayesClassifier(families="tree-bins").fit(X, y)
    low, high = clf.predict_interval(X)
    believed = clf.predict_proba(X)
    assert ((low <= believed) & (believed <= high) & (low < high)).all()
    listed = [number for number in numbers_of(clf.model_) if number.family == "tree-bins" and number.label == 0]
    assert sum(number.number for number in listed) == pytest.approx(1.0) and len(listed) > 1
