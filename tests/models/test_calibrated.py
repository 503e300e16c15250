"""Calibrated classifiers: better probabilities, any classifier inside, saving, deciding, evaluating."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import (
    REFUSED,
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    FullBayesClassifier,
    Loss,
    ModelFileError,
    SettingsError,
    TreeClassifier,
)

rng = np.random.default_rng(7)
N = 600
HIDDEN = rng.normal(size=N)
X = np.column_stack([HIDDEN + 0.2 * rng.normal(size=N) for _ in range(5)])
Y = np.where(HIDDEN + rng.normal(size=N) > 0, "yes", "no")
METHODS = ("temperature", "isotonic", "venn-abers")


def unequal_folds(_: Any) -> dict[str, str]:
    """A row of weight 2 is in one fold, two equal rows may be in two."""
    reason = "rows are dealt into folds, weights are not"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [CalibratedClassifier(), CalibratedClassifier(method="venn-abers")], expected_failed_checks=unequal_folds
)
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_columns_said_five_times_are_calibrated(method: str) -> None:
    before = likely.evaluate(BayesClassifier(), X, Y, cv=5)
    after = likely.evaluate(CalibratedClassifier(BayesClassifier(), method=method), X, Y, cv=5)  # type: ignore[arg-type]
    assert after.log_loss < 0.8 * before.log_loss  # type: ignore[operator]
    assert after.calibration_error < 0.5 * before.calibration_error  # type: ignore[operator]


def test_temperature_from_leave_one_out() -> None:
    clf = CalibratedClassifier(BayesClassifier(), folds="loo").fit(X, Y)
    assert clf.calibrator_.power < 0.6  # type: ignore[union-attr]
    np.testing.assert_array_equal(clf.predict(X), clf.classifier_.predict(X))


@pytest.mark.parametrize(
    "inner",
    [BayesClassifier(families="bins"), FullBayesClassifier(), AODEClassifier(), TreeClassifier(), LogisticRegression()],
    ids=lambda clf: type(clf).__name__,
)
@pytest.mark.parametrize("method", METHODS)
def test_any_classifier(inner: Any, method: Any, tmp_path: Path) -> None:
    weight = rng.choice([1.0, 2.0], N)
    clf = CalibratedClassifier(inner, method=method, folds=3).fit(X, Y, weight)
    told = clf.predict_proba(X)
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    assert set(clf.decide(X, Loss.zero_one(["no", "yes"], refuse=0.1)).tolist()) <= {"no", "yes", REFUSED}
    if isinstance(inner, LogisticRegression):
        with pytest.raises(SettingsError, match="cannot be saved"):
            clf.save(tmp_path / "m.likely")
        return
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(X), told)
    assert type(again.classifier) is type(inner) and again.method == method


def test_tables_labels_and_explanations() -> None:
    table = {"a": rng.choice(["x", "y", None], 90), "b": rng.normal(size=90)}  # type: ignore[list-item]
    labels = rng.integers(0, 3, 90)
    clf = CalibratedClassifier(BayesClassifier(), method="isotonic").fit(table, labels)
    assert clf.predict_proba(table).shape == (90, 3)
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    assert clf.explain(table).columns == ("a", "b")
    assert set(clf.estimate_priors(table)) == {0, 1, 2}


def test_bounds() -> None:
    clf = CalibratedClassifier(method="venn-abers").fit(X, Y)
    low, high = clf.predict_bounds(X)
    assert (low <= clf.predict_proba(X)).all() and (clf.predict_proba(X) <= high).all()
    with pytest.raises(SettingsError, match="venn-abers"):
        CalibratedClassifier().fit(X, Y).predict_bounds(X)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="method is 'platt'"):
        CalibratedClassifier(method="platt").fit(X, Y)  # type: ignore[arg-type]
    folds: Any
    for folds in (1, 0, 2.5, "five", True):
        with pytest.raises(SettingsError, match="folds is"):
            CalibratedClassifier(folds=folds).fit(X, Y)
    twice = CalibratedClassifier(CalibratedClassifier()).fit(X[:60], Y[:60])
    with pytest.raises(SettingsError, match="cannot be saved"):
        twice.save(tmp_path / "m.likely")
    CalibratedClassifier().fit(X, Y).save(tmp_path / "m.likely")
    content = bytearray((tmp_path / "m.likely").read_bytes())
    content[-200] ^= 1
    (tmp_path / "m.likely").write_bytes(content)
    with pytest.raises(ModelFileError):
        likely.load(tmp_path / "m.likely")
