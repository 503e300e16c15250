"""One thread or two, any order of rows, any batches: the same model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

N_ROWS = 150_000
CLASSES = (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)


def data(cls: Any, *, as_sparse: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 6, N_ROWS)
    if cls is GaussianNB:
        return rng.normal(size=(N_ROWS, 20)) + 0.3 * y[:, None], y
    X = rng.poisson(1.0 + 0.1 * y[:, None], size=(N_ROWS, 20)).astype(np.float64)
    return (sparse.csr_array(X) if as_sparse else X), y


def bits(clf: Any, X: Any) -> list[bytes]:
    few = X[:5000]
    learned = [clf.theta_, clf.var_] if isinstance(clf, GaussianNB) else list(clf.feature_log_prob_)
    answers = [clf.predict(X), clf.predict_proba(few), clf.predict_joint_log_proba(few)]
    return [np.asarray(part).tobytes() for part in [clf.class_count_, *learned, *answers]]


CASES = [(cls, False) for cls in CLASSES] + [(cls, True) for cls in CLASSES[1:4]]


@pytest.mark.parametrize(("cls", "as_sparse"), CASES)
def test_threads_change_no_bit(cls: Any, as_sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(cls, as_sparse=as_sparse)
    weight = np.random.default_rng(2).random(N_ROWS)
    seen = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LIKELY_THREADS", threads)
        seen.append(bits(cls().fit(X, y, weight), X))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize(("cls", "as_sparse"), CASES)
def test_order_and_batches_change_no_count(cls: Any, as_sparse: bool) -> None:
    X, y = data(cls, as_sparse=as_sparse)
    whole = cls().fit(X, y)
    order = np.random.default_rng(3).permutation(N_ROWS)
    shuffled = cls().fit(X[order], y[order])
    batched = cls()
    for batch in np.array_split(np.arange(N_ROWS), [1, 1000, 80_000]):
        batched.partial_fit(X[batch], y[batch], classes=np.arange(6))
    for other in (shuffled, batched):
        assert other.class_count_.tobytes() == whole.class_count_.tobytes()
        if cls is GaussianNB:
            np.testing.assert_allclose(other.theta_, whole.theta_, rtol=1e-9)
            np.testing.assert_allclose(other.var_, whole.var_, rtol=1e-9)
        else:
            name = "category_count_" if cls is CategoricalNB else "feature_count_"
            for table, expected in zip(getattr(other, name), getattr(whole, name), strict=True):
                np.testing.assert_array_equal(table, expected)
            np.testing.assert_array_equal(other.predict_proba(X[:99]), whole.predict_proba(X[:99]))


def test_batches_of_different_scale_in_any_order() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    X[:100] *= 1e4
    X[100:200] *= 1e-4
    batches = [slice(0, 100), slice(100, 200), slice(200, 300)]
    forth, back = GaussianNB(var_smoothing=0.01), GaussianNB(var_smoothing=0.01)
    for batch in batches:
        forth.partial_fit(X[batch], y[batch], classes=[0, 1])
    for batch in batches[::-1]:
        back.partial_fit(X[batch], y[batch], classes=[0, 1])
    whole = GaussianNB(var_smoothing=0.01).fit(X, y)
    for clf in (forth, back):
        assert clf.epsilon_ == pytest.approx(whole.epsilon_, rel=1e-12)
        np.testing.assert_allclose(clf.var_, whole.var_, rtol=1e-12)
