"""Folds by addition equal folds by fitting; all ways to hold rows out, for all kinds of classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import likely
from likely import BayesClassifier, CalibratedClassifier, FullBayesClassifier, MEstimate, SettingsError, TreeClassifier
from likely.evaluation.cross_validation import readable
from likely.evaluation.evaluate import Experiment
from likely.evaluation.folds import stratified
from likely.naive_bayes import GaussianNB
from likely.stats import feature_counts
from likely.table import as_table
from likely.teaching import datasets
from tests.evaluation.tables import (
    COUNTS,
    GAPPY,
    GAPPY_COUNTS,
    LABELS,
    NUMBERS,
    PRIORS,
    SMOOTHINGS,
    SPARSE,
    WEIGHTS,
    WORDS,
    refitted,
)

weighted = pytest.mark.parametrize("weights", WEIGHTS)
IRIS, SPECIES = load_iris(return_X_y=True)


def assert_equals_refitting(clf: Any, X: Any, weights: str = "none", cv: int = 4, atol: float = 1e-9) -> None:
    weight = WEIGHTS[weights]
    report = likely.evaluate(clf, X, LABELS, cv=cv, sample_weight=weight)
    expected = refitted(clf, X, LABELS, weight, stratified(LABELS_CODES, cv, 0))
    np.testing.assert_allclose(report.predictions.posterior, expected, rtol=0, atol=atol)


LABELS_CODES = np.unique(LABELS, return_inverse=True)[1].astype(np.int32)


@weighted
@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_categorical(weights: str, smoothing: Any) -> None:
    clf = BayesClassifier(smoothing=smoothing, missing="value", unseen="smooth", families="categorical")
    assert_equals_refitting(clf, WORDS, weights)


@pytest.mark.parametrize("cv", [2, 3, 10, 59])
@pytest.mark.parametrize("priors", PRIORS, ids=str)
def test_priors_and_numbers_of_folds(priors: Any, cv: int) -> None:
    assert_equals_refitting(BayesClassifier(priors=priors), WORDS, cv=cv)


@weighted
@pytest.mark.parametrize("missing", ["ignore", "value"])
@pytest.mark.parametrize("variance", ["unbiased", "ml"])
@pytest.mark.parametrize("X", [NUMBERS, GAPPY], ids=["full", "gappy"])
def test_gaussian(weights: str, missing: Any, variance: Any, X: np.ndarray) -> None:
    assert_equals_refitting(BayesClassifier(missing=missing, variance=variance), X, weights)


def test_an_outlier_that_holds_all_of_the_spread_leaves_nothing_behind() -> None:
    X = NUMBERS.copy()
    X[10, 0] = 1e12
    assert_equals_refitting(BayesClassifier(), X)


@weighted
@pytest.mark.parametrize("smoothing", [0, 1, MEstimate(2)], ids=str)
@pytest.mark.parametrize("family", ["poisson", "multinomial", "complement", "bernoulli", "lognormal"])
def test_counts(family: str, weights: str, smoothing: Any) -> None:
    X = GAPPY_COUNTS + 1.0 if family == "lognormal" else GAPPY_COUNTS
    assert_equals_refitting(BayesClassifier(families=family, smoothing=smoothing), X, weights)


@weighted
@pytest.mark.parametrize("cells", [feature_counts.DENSE_CELLS, 0], ids=["dense table", "sparse table"])
@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_sparse_counts(family: str, weights: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", cells)
    assert_equals_refitting(BayesClassifier(families=family), SPARSE, weights)


@pytest.mark.parametrize("covariance", ["full", "pooled", "shrunk"])
def test_full_bayes(covariance: Any) -> None:
    X = {"a": NUMBERS[:, 0], "b": NUMBERS[:, 2], **WORDS}
    assert_equals_refitting(FullBayesClassifier(covariance=covariance), X, atol=1e-7)


def test_a_mixed_table_with_its_target_and_weight_in_columns() -> None:
    table = {**WORDS, "size": GAPPY[:, 0], "calls": COUNTS[:, 0]}
    weight = WEIGHTS["whole"]
    whole = pd.DataFrame({**table, "weight": weight, "label": LABELS})
    inside = likely.evaluate(BayesClassifier(schema={"weight": "weight"}), whole, "label", cv=5)
    apart = likely.evaluate(BayesClassifier(), table, LABELS, cv=5, sample_weight=weight)
    np.testing.assert_allclose(inside.predictions.posterior, apart.predictions.posterior, atol=1e-12)
    assert inside.accuracy == apart.accuracy


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_any_table(make: Any) -> None:
    table = datasets.patients()
    report = likely.evaluate(BayesClassifier(), make(table), "drug", cv="loo")
    assert report.n_rows == 12
    assert report.classes == ["A", "B"]


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_threads_change_nothing(n_jobs: int | None) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(5000, 4)), rng.integers(0, 3, 5000)
    one = likely.evaluate(BayesClassifier(n_jobs=1), X, y, cv=3)
    other = likely.evaluate(BayesClassifier(), X, y, cv=3, n_jobs=n_jobs)
    np.testing.assert_array_equal(one.predictions.posterior, other.predictions.posterior)
    assert one.intervals == other.intervals


# Other classifiers


@pytest.mark.parametrize("clf", [LogisticRegression(max_iter=500), GaussianNB(), KNeighborsClassifier()], ids=repr)
def test_other_classifiers_are_fitted_on_the_same_folds(clf: Any) -> None:
    fold = stratified(SPECIES.astype(np.int32), 5, 3)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    expected = cross_val_predict(clf, IRIS, SPECIES, cv=splits, method="predict_proba")
    report = likely.evaluate(clf, IRIS, SPECIES, cv=5, random_state=3)
    np.testing.assert_allclose(report.predictions.posterior, expected, atol=1e-12)
    mine = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, random_state=3)
    np.testing.assert_array_equal(report.predictions.fold, mine.predictions.fold)


def test_a_classifier_without_probabilities_has_rates_only() -> None:
    report = likely.evaluate(LinearSVC(), IRIS, SPECIES, cv=3)
    assert report.accuracy > 0.9
    assert report.log_loss is report.brier_score is report.roc_auc is report.calibration_error is None
    assert "log loss" not in str(report)
    assert report.calibration().empty
    assert report.roc().empty
    with pytest.raises(SettingsError, match="no probabilities"):
        likely.evaluate(LinearSVC(), IRIS, SPECIES, cv=3, loss=likely.Loss.zero_one([0, 1, 2]))


def test_other_classifiers_take_frames_and_weights() -> None:
    table = pd.DataFrame({"a": IRIS[:, 0], "b": IRIS[:, 1], "kind": np.array(["x", "y", "z"])[SPECIES]})
    weight = np.linspace(0.5, 1.5, 150)
    tree = DecisionTreeClassifier(random_state=0)
    report = likely.evaluate(tree, table, "kind", cv=3, sample_weight=weight)
    assert report.classes == ["x", "y", "z"]
    assert report.confusion.to_numpy().sum() == pytest.approx(weight.sum())
    as_dict = likely.evaluate(tree, {"a": IRIS[:, 0], "b": IRIS[:, 1]}, table["kind"], cv=3, sample_weight=weight)
    assert as_dict.accuracy == report.accuracy
    with pytest.raises(SettingsError, match="without sample_weight"):
        likely.evaluate(KNeighborsClassifier(), IRIS, SPECIES, cv=3, sample_weight=weight)


# Splits, test sets, and no training at all


@pytest.mark.parametrize("clf", [BayesClassifier(), DecisionTreeClassifier(random_state=0)], ids=["counts", "tree"])
def test_a_split_tests_its_share_of_every_class(clf: Any) -> None:
    report = likely.evaluate(clf, IRIS, SPECIES, cv=0.2, random_state=4)
    assert report.n_rows == 30
    assert report.confusion.to_numpy().sum(axis=1).tolist() == [10, 10, 10]
    assert report.accuracy > 0.8


def test_a_split_equals_fitting_the_rest() -> None:
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=0.3, random_state=1)
    test = np.sort(report.predictions.unit)
    train = np.setdiff1d(np.arange(150), test)
    clf = BayesClassifier().fit(IRIS[train], SPECIES[train])
    np.testing.assert_allclose(report.predictions.posterior, clf.predict_proba(IRIS[test]), atol=1e-12)


@pytest.mark.parametrize("clf", [BayesClassifier(), DecisionTreeClassifier(random_state=0)], ids=["counts", "tree"])
def test_a_given_test_set_may_have_other_classes(clf: Any) -> None:
    few = SPECIES < 2
    report = likely.evaluate(clf, IRIS[few], SPECIES[few], cv=(IRIS, SPECIES))
    assert report.classes == [0, 1, 2]
    assert report.n_rows == 150
    assert report.confusion.loc[2].tolist()[2] == 0
    assert report.accuracy == pytest.approx(2 / 3)
    part = likely.evaluate(clf, IRIS, SPECIES, cv=(IRIS[:50], SPECIES[:50]))
    assert part.classes == [0, 1, 2]
    assert part.accuracy == part.precision == part.recall == 1.0


def test_a_fitted_classifier_is_judged_as_it_is() -> None:
    clf = BayesClassifier().fit(IRIS, SPECIES)
    report = likely.evaluate(clf, IRIS, SPECIES, cv=None)
    assert report.error_rate == pytest.approx(6 / 150)  # the six errors of naive Bayes on its own training rows
    with pytest.raises(ValueError, match="not fitted"):
        likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=None)


def test_the_classifier_itself_stays_as_it_was() -> None:
    clf = BayesClassifier(priors="uniform").fit(IRIS[:, :2], SPECIES)
    before = clf.predict_proba(IRIS[:, :2])
    likely.evaluate(clf, IRIS, SPECIES, cv=3)
    np.testing.assert_array_equal(clf.predict_proba(IRIS[:, :2]), before)
    assert clf.priors == "uniform"
    assert clf.n_jobs is None


# Groups and repetitions


@pytest.mark.parametrize("clf", [BayesClassifier(), DecisionTreeClassifier(random_state=0)], ids=["counts", "tree"])
def test_groups_are_held_out_together(clf: Any) -> None:
    groups = np.repeat([f"site {k}" for k in range(15)], 10)
    report = likely.evaluate(clf, IRIS, SPECIES, cv=5, groups=groups)
    for name in np.unique(groups):
        assert len(np.unique(report.predictions.fold[groups == name])) == 1
    assert "in whole groups" in report.how


def test_groups_are_of_any_kind_but_not_missing() -> None:
    clf, size = likely.BayesClassifier(), 10
    names = np.repeat([f"site {k:02}" for k in range(15)], size)
    by_name = likely.evaluate(clf, IRIS, SPECIES, cv=5, groups=names).predictions.fold
    for groups in (np.repeat(np.arange(15) + 0.5, size), pd.Categorical(names), [(name, 1) for name in names]):
        np.testing.assert_array_equal(
            likely.evaluate(clf, IRIS, SPECIES, cv=5, groups=groups).predictions.fold, by_name
        )
    with pytest.raises(likely.DataError, match="group of row 149 is missing"):
        likely.evaluate(clf, IRIS, SPECIES, cv=5, groups=[*names[:-1], None])


def test_repetitions_are_averaged_so_that_every_row_counts_once() -> None:
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, repeats=4)
    assert report.n_rows == 150
    assert report.confusion.to_numpy().sum() == pytest.approx(150)
    assert len(report.folds) == 20
    once = [likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, random_state=7919 * k) for k in range(4)]
    assert report.accuracy == pytest.approx(np.mean([each.accuracy for each in once]))
    assert report.log_loss == pytest.approx(np.mean([each.log_loss for each in once]))
    width = report.intervals["accuracy"].high - report.intervals["accuracy"].low
    assert width == pytest.approx(once[0].intervals["accuracy"].high - once[0].intervals["accuracy"].low, rel=0.2)


def test_a_seed_fixes_everything() -> None:
    a, b, c = (likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=5, random_state=seed) for seed in (1, 1, 2))
    assert a.to_json() == b.to_json()
    assert a.to_json() != c.to_json()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cv": 1}, "at least two folds"),
        ({"cv": 151}, "only 150 rows"),
        ({"cv": 2.5}, "whole"),
        ({"cv": -0.2}, "between 0 and 1"),
        ({"cv": "ten"}, "number of folds"),
        ({"cv": True}, "number of folds"),
        ({"cv": (IRIS,)}, "two"),
        ({"cv": 0.001}, "no row"),
        ({"cv": float("nan")}, "number of folds"),
        ({"cv": float("inf")}, "number of folds"),
        ({"beta": -1.0}, "favours recall"),
        ({"beta": float("inf")}, "favours recall"),
        ({"beta": "2"}, "favours recall"),
        ({"repeats": 0}, "at least once"),
        ({"repeats": 1.5}, "a whole number of times"),
        ({"repeats": "twice"}, "at least once"),
        ({"random_state": -1}, "random_state is -1, but it is a whole number from 0 up"),
        ({"random_state": 1.5}, "random_state is 1.5"),
        ({"random_state": None}, "random_state is None"),
        ({"random_state": True}, "random_state is True"),
        ({"cv": "loo", "repeats": 2}, "one way"),
        ({"cv": None, "repeats": 2}, "test set"),
        ({"n_jobs": -3}, "threads"),
        ({"groups": np.repeat([1, 2], 75)}, "only 2 groups"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        likely.evaluate(BayesClassifier(), IRIS, SPECIES, **settings)


@pytest.mark.parametrize(
    "settings", [{"random_state": -1}, {"beta": "2"}, {"repeats": 0.5}, {"cv": float("nan")}], ids=str
)
def test_the_same_settings_are_refused_for_tables_in_files_and_engines(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    frame = pd.DataFrame({"x": [0.1, 1.2, 0.3, 1.4, 0.5, 1.6], "y": list("ababab")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for table in (tmp_path / "t.csv", duckdb.sql("SELECT * FROM frame")):
        for clf in (BayesClassifier(), TreeClassifier()):
            with pytest.raises(SettingsError, match=f"{next(iter(settings))} is"):
                likely.evaluate(clf, table, "y", **settings)


@pytest.mark.parametrize("clf", [BayesClassifier(), FullBayesClassifier()])
@pytest.mark.parametrize("weight", [5e-322, 1e-310])
def test_rows_of_next_to_no_weight_are_judged_as_light_ones(clf: Any, weight: float) -> None:
    """Light rows say less than whole ones, but how light they are makes no difference any more."""
    light = likely.evaluate(clf, IRIS, SPECIES, cv=3, sample_weight=np.full(150, 1e-100))
    found = likely.evaluate(clf, IRIS, SPECIES, cv=3, sample_weight=np.full(150, weight))
    assert found.accuracy == pytest.approx(light.accuracy, abs=0.02) and light.accuracy > 0.8
    assert found.log_loss == pytest.approx(light.log_loss, rel=0.05)


def test_lengths_must_agree() -> None:
    for clf in (BayesClassifier(), DecisionTreeClassifier()):
        with pytest.raises(likely.DataError, match="150"):
            likely.evaluate(clf, IRIS, SPECIES[:-1])
        with pytest.raises(likely.DataError, match="groups"):
            likely.evaluate(clf, IRIS, SPECIES, groups=[1, 2])


def test_progress_is_shown_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=3)
    assert capsys.readouterr().err == ""
    likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=3, progress=True)
    assert capsys.readouterr().err.endswith("fold 3 of 3\n")


@pytest.mark.parametrize(
    "clf",
    [BayesClassifier(), BayesClassifier(weights="learned"), TreeClassifier(), DecisionTreeClassifier(random_state=0)],
    ids=repr,
)
@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table, dict, as_table])
def test_a_target_in_the_table_is_no_feature(clf: Any, form: Any) -> None:
    """Labels by chance: who learns from the column itself would be right every time."""
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=90), "b": rng.normal(size=90), "label": rng.integers(0, 2, 90)}
    named = likely.evaluate(clf, form(columns), "label", cv=3)
    apart = likely.evaluate(clf, pd.DataFrame(columns).drop(columns="label"), columns["label"], cv=3)
    assert named.accuracy == apart.accuracy < 0.8


def test_a_schema_may_name_the_target_of_folds_that_are_fitted_anew() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "label": rng.integers(0, 2, 90)})
    kinds = {"a": "numeric", "label": "nominal"}
    clf = BayesClassifier(weights="learned", schema=kinds)
    for cv in (3, 0.3, (frame, "label")):
        assert likely.evaluate(clf, frame, "label", cv=cv).accuracy < 0.8
    assert CalibratedClassifier(clf).fit(frame, "label").predict_proba(frame).max() < 0.95


def test_a_sparse_matrix_is_read_row_by_row_whatever_its_format() -> None:
    cells = np.eye(4)
    for form in ("csr", "coo", "bsr", "dok"):
        read = readable(LogisticRegression(), sparse.coo_matrix(cells).asformat(form))
        assert read.format == "csr"
        assert (read.toarray() == cells).all()


def test_the_number_of_threads_that_is_asked_for_leads_over_that_of_the_classifier() -> None:
    X, y = load_iris(return_X_y=True)
    clf = BayesClassifier(n_jobs=1)
    told = [Experiment.read(clf, X, y, None, None, n_jobs, False, True).n_jobs for n_jobs in (None, 2)]
    assert told == [1, 2]


def test_without_weight_of_recall_f_is_precision() -> None:
    report = likely.evaluate(BayesClassifier(), IRIS, SPECIES, cv=3, beta=0.0)
    assert report.figures["f_macro"] == pytest.approx(report.figures["precision_macro"])
