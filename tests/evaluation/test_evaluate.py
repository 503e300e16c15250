"""Every way to hold rows out: what is asked of it, what a report calls it, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import likely
from likely import BayesClassifier, Loss, SettingsError, TreeClassifier
from likely.errors import DataError, LikelyError
from likely.evaluation.cross_validation import (
    cross_validate,
    fold_summaries,
    labelled,
    places_among,
    readable,
    some_rows,
    training_summaries,
)
from likely.evaluation.predictions import PredictionBuffer
from likely.progress import Progress, StepBar
from likely.table import as_table

N = 40
RNG = np.random.default_rng(3)
Y = np.array(["p", "q"])[np.arange(N) % 2]
NUMBERS = RNG.normal(size=(N, 2)) + (Y == "p")[:, None]
TABLE = {"x": NUMBERS[:, 0], "town": RNG.choice(["u", "v"], N), "y": Y}
GROUPS = np.repeat(np.arange(10), 4)
BOTH = pytest.mark.parametrize("clf", [BayesClassifier(), GaussianNB()], ids=["counts", "fitted anew"])


@BOTH
def test_as_many_folds_as_rows_leave_one_out(clf: Any) -> None:
    assert (
        likely.evaluate(clf, NUMBERS, Y, cv=N).how == likely.evaluate(clf, NUMBERS, Y, cv="loo").how == "leave-one-out"
    )
    with pytest.raises(SettingsError, match="only 10 groups"):
        likely.evaluate(clf, NUMBERS, Y, cv=N, groups=GROUPS)


@BOTH
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"cv": "loo", "groups": GROUPS}, "There is one way"),
        ({"cv": N, "repeats": 2}, "There is one way"),
        ({"cv": (NUMBERS, Y), "groups": GROUPS}, "leave them out with a test set"),
        ({"cv": (NUMBERS, Y), "repeats": 2}, "leave them out with a test set"),
        ({"cv": None, "groups": GROUPS}, "leave them out with a test set"),
        ({"cv": (NUMBERS, Y, Y)}, "3 entries"),
        ({"cv": 1.5}, "a number of folds is whole"),
        ({"cv": 1.0}, "at least two folds"),
        ({"cv": KFold(3), "repeats": 2}, "leave out repeats"),
        ({"groups": GROUPS[:-1]}, "39 groups for 40 rows"),
        ({"cv": -(2.0**40)}, "number of folds"),
        ({"n_jobs": 0}, "threads"),
    ],
    ids=str,
)
def test_what_makes_no_sense_together_is_refused(clf: Any, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(LikelyError, match=why):
        likely.evaluate(clf, NUMBERS, Y, **settings)


def test_ways_are_told_in_the_headline() -> None:
    told = {
        "10-fold cross-validation, stratified, seed 0": {},
        "5-fold cross-validation, stratified, 2 times, seed 7": {"cv": 5, "repeats": 2, "random_state": 7},
        "3-fold cross-validation, in whole groups, seed 0": {"cv": 3, "groups": GROUPS},
        "a test on 0.25 of the rows, stratified, seed 0": {"cv": 0.25},
        "a given test set": {"cv": (NUMBERS[:9], Y[:9])},
        "KFold, 3 splits": {"cv": KFold(3)},
        "1 given splits": {"cv": [(np.arange(30), np.arange(30, N))]},
        "2 given folds": {"cv": np.arange(N) % 2},
    }
    for how, settings in told.items():
        report = likely.evaluate(BayesClassifier(), NUMBERS, Y, **settings)
        assert (report.how, report.beta, report.random_state) == (how, 1.0, settings.get("random_state", 0))
        assert report.repeats == settings.get("repeats", 1)


@BOTH
def test_steps_are_told_of_all_turns(clf: Any) -> None:
    for settings, n, what in (
        ({"cv": 4, "repeats": 3}, 12, "fold"), ({"cv": 0.25, "repeats": 3}, 3, "split"), ({"cv": KFold(4)}, 4, "split"),
    ):  # fmt: skip
        told: list[Progress] = []
        likely.evaluate(clf, NUMBERS, Y, progress=told.append, **settings)  # type: ignore[arg-type]
        assert [step.done for step in told] == list(range(1, n + 1))
        assert {(step.total, step.what) for step in told} == {(n, what)}


@BOTH
def test_turns_are_drawn_anew_and_average_those_of_their_seeds(clf: Any) -> None:
    prices = np.linspace(0.5, 2.0, N)
    loss = Loss(prices[:, None, None] * (1.0 - np.eye(2)), decisions=["p", "q"], truths=["p", "q"])
    for cv in (4, 0.25):
        both = likely.evaluate(clf, NUMBERS, Y, cv=cv, repeats=2, random_state=5, loss=loss)
        alone = [likely.evaluate(clf, NUMBERS, Y, cv=cv, random_state=seed, loss=loss) for seed in (5, 5 + 7919)]
        assert both.log_loss == pytest.approx(np.mean([each.log_loss for each in alone]))
        assert both.expected_cost == pytest.approx(np.mean([each.expected_cost for each in alone]))
        assert both.n_rows == alone[0].n_rows and alone[0].log_loss != alone[1].log_loss
        assert both.folds.index.tolist() == list(range(2 * (4 if cv == 4 else 1)))


@BOTH
def test_rows_judged_by_splits_count_as_often_as_they_weigh(clf: Any) -> None:
    weight = np.where(np.arange(N) < 20, 1.0, 3.0)
    cv = [(np.arange(20, N), np.arange(20)), (np.arange(10, N), np.arange(10))]
    report = likely.evaluate(clf, NUMBERS, Y, cv=cv, sample_weight=weight)
    assert report.predictions.weight.tolist() == [0.5] * 10 + [1.0] * 10 + [0.5] * 10
    assert report.predictions.unit.tolist() == [*range(20), *range(10)]
    grouped = likely.evaluate(clf, NUMBERS, Y, cv=cv, groups=GROUPS)
    assert grouped.predictions.unit.tolist() == [*GROUPS[:20], *GROUPS[:10]]
    assert grouped.confusion.to_numpy().sum() == pytest.approx(20)


def test_a_fitted_classifier_is_judged_with_the_weights_of_its_rows() -> None:
    weight = np.linspace(1.0, 2.0, N)
    for clf in (BayesClassifier(), GaussianNB(), KNeighborsClassifier()):
        report = likely.evaluate(clf.fit(NUMBERS, Y), NUMBERS, Y, cv=None, sample_weight=weight)
        right = clf.predict(NUMBERS) == Y
        assert report.accuracy == pytest.approx(np.average(right, weights=weight)) and report.n_rows == N
        assert report.predictions.weight.tolist() == weight.tolist() and report.how == "the classifier as it is"


def test_weights_that_a_classifier_does_not_learn_by_are_refused() -> None:
    with pytest.raises(SettingsError, match="KNeighborsClassifier learns without sample_weight"):
        likely.evaluate(KNeighborsClassifier(), NUMBERS, Y, sample_weight=np.ones(N))
    weight = np.where(Y == "p", 5.0, 1.0)
    plain, heavy = (
        likely.evaluate(GaussianNB(), NUMBERS, Y, cv=3, sample_weight=each).predictions for each in (None, weight)
    )
    assert plain.posterior is not None and heavy.posterior is not None
    assert heavy.posterior[:, 0].mean() > plain.posterior[:, 0].mean()
    whole = likely.evaluate(GaussianNB(), NUMBERS, Y, cv=(NUMBERS, Y), sample_weight=weight).predictions
    expected = GaussianNB().fit(NUMBERS, Y, sample_weight=weight).predict_proba(NUMBERS)
    assert whole.posterior == pytest.approx(expected)


def test_a_classifier_without_probabilities_cannot_weigh_a_loss() -> None:
    report = likely.evaluate(RidgeClassifier(), NUMBERS, Y, cv=4)
    assert report.log_loss is None and 0.5 < report.accuracy <= 1.0
    with pytest.raises(SettingsError, match="RidgeClassifier gives no probabilities"):
        likely.evaluate(RidgeClassifier(), NUMBERS, Y, cv=4, loss=Loss.zero_one(["p", "q"]))


class Contrary(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Says that the last class is the least probable one, and predicts it all the same."""

    def fit(self, X: Any, y: Any) -> Contrary:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[-1])

    def predict_proba(self, X: Any) -> Any:
        return np.tile([0.75, 0.25], (len(X), 1))


def test_what_a_classifier_predicts_leads_over_its_shares_unless_a_loss_decides() -> None:
    plain = likely.evaluate(Contrary(), NUMBERS, Y, cv=2)
    assert plain.predictions.top.tolist() == plain.predictions.decided.tolist() == [1] * N
    loss = Loss({"go": {"p": 0, "q": 1}, "stay": {"p": 1, "q": 0}})
    decided = likely.evaluate(Contrary(), NUMBERS, Y, cv=2, loss=loss).predictions
    assert decided.top.tolist() == [0] * N and decided.decisions[decided.decided].tolist() == ["go"] * N


# Tables in every form, with their labels within or beside them.

FORMS: dict[str, Any] = {
    "dict": TABLE, "frame": pd.DataFrame(TABLE), "arrow": pa.table(TABLE), "table": as_table(TABLE),
    "rows": [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("clf", [BayesClassifier(), TreeClassifier(max_depth=2)], ids=["counts", "tree"])
def test_a_label_in_the_table_is_no_feature_in_any_form(form: str, clf: Any) -> None:
    within = likely.evaluate(clf, FORMS[form], "y", cv=3)
    beside = likely.evaluate(clf, {"x": TABLE["x"], "town": TABLE["town"]}, Y, cv=3)
    assert within.predictions.posterior == pytest.approx(beside.predictions.posterior)
    assert within.accuracy < 1.0


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_split_off(form: str) -> None:
    rows, labels = labelled(FORMS[form], "y")
    assert as_table(rows).names == ("x", "town") or list(as_table(rows).names) == ["x", "town"]
    assert labels.classes[labels.codes].tolist() == Y.tolist()
    with pytest.raises(LikelyError, match="z"):
        labelled(FORMS[form], "z")


def test_labels_must_be_as_many_as_rows_and_there_must_be_some() -> None:
    with pytest.raises(DataError, match="X has 40 rows, but y has 39 labels"):
        labelled(NUMBERS, Y[:-1])
    for empty in (np.zeros((0, 2)), {"x": np.zeros(0)}, np.zeros((0, 4, 4))):
        with pytest.raises(LikelyError):
            labelled(empty, np.zeros(0))
    with pytest.raises(LikelyError):
        labelled({"x": np.zeros(0), "y": np.zeros(0)}, "y")
    images = RNG.random((5, 4, 4))
    found, labels = labelled(images, Y[:5])
    assert len(labels) == 5 and np.asarray(found).shape[0] == 5
    with pytest.raises(DataError, match="X has 5 rows, but y has 4 labels"):
        labelled(images, Y[:4])


def test_classifiers_of_others_read_frames_of_what_they_do_not_know() -> None:
    own, other = BayesClassifier(), LogisticRegression()
    for rows in ([{"a": 1.0, "b": 2.0}], [{"a": 1.0}, {"a": 2.0}], {"a": [1.0, 2.0]}):
        frame = readable(other, rows)
        assert isinstance(frame, pd.DataFrame) and isinstance(readable(own, rows), type(as_table(rows)))
    lists = [[1.0, 2.0], [3.0, 4.0]]
    assert readable(other, lists) is lists and readable(own, lists) is lists
    assert readable(other, NUMBERS) is NUMBERS and readable(other, []) == []
    gaps = as_table({"x": [1.0, None], "n": [1, 2], "town": ["u", None]})
    told = readable(other, gaps)
    assert isinstance(told, pd.DataFrame) and list(told) == ["x", "n", "town"]
    assert told["n"].tolist() == [1.0, 2.0] and told["town"][0] == "u"
    assert told[["x", "town"]].isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert as_table(some_rows(gaps, np.array([1]))).codes("town").codes.tolist() == [-1]


def test_labels_find_their_places_among_all() -> None:
    every = np.array([1, True, "1", 2.0], dtype=object)
    assert places_among(np.array(["1", 1], dtype=object), every).tolist() == [2, 0]
    assert places_among(np.array([True], dtype=object), every).tolist() == [1]


# Sums of folds.


def task_of(classes: Any = Y, rows: Any = NUMBERS) -> Any:
    return BayesClassifier(n_jobs=1)._task(rows, classes)


def test_rows_below_every_fold_are_learned_by_all() -> None:
    fold = (np.arange(N) % 4 - 1).astype(np.int32)
    learned = training_summaries(task_of(), fold, 3)
    assert [summary.n_rows for summary in learned] == [N - 10] * 3
    assert [summary.n_rows for summary in training_summaries(task_of(), fold + 1, 4)] == [30] * 4
    assert [summary.n_rows for summary in fold_summaries(task_of(), fold + 1, 4)] == [10] * 4
    for k, summary in enumerate(learned):
        alone = BayesClassifier(n_jobs=1).fit(NUMBERS[fold != k], Y[fold != k]).summary_
        (seen,), (expected,) = summary.parts.values(), alone.parts.values()
        assert seen.mean == pytest.approx(expected.mean) and seen.n.tolist() == expected.n.tolist()  # type: ignore[attr-defined]


def test_more_folds_and_classes_than_can_be_numbered_are_refused() -> None:
    task = task_of(np.arange(N), NUMBERS)
    with pytest.raises(DataError, match="folds × classes"):
        training_summaries(task, np.zeros(N, dtype=np.int32), 2**31 // N + 1)


@pytest.mark.parametrize("rows", [NUMBERS, pd.DataFrame(NUMBERS, columns=["a", "b"])], ids=["matrix", "frame"])
def test_a_fold_is_judged_in_pieces_as_it_is_at_once(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = likely.evaluate(BayesClassifier(), rows, Y, cv=2).predictions.posterior
    monkeypatch.setattr("likely.evaluation.cross_validation.PIECE_CELLS", 8)
    monkeypatch.setattr("likely.evaluation.cross_validation.FEWEST_ROWS", 3)
    assert likely.evaluate(BayesClassifier(), rows, Y, cv=2).predictions.posterior == pytest.approx(whole)


def test_rows_that_are_never_judged_stay_as_they_were() -> None:
    task, fold = task_of(), np.where(np.arange(N) < 10, 0, -1).astype(np.int32)
    buffer = PredictionBuffer(task.rows.classes, task.rows.y, np.ones(N), np.arange(N), None)
    cross_validate(BayesClassifier(), task, fold, 1, buffer, 0, 1, StepBar(1, "fold", False))
    found = buffer.finish().posterior
    expected = BayesClassifier().fit(NUMBERS[10:], Y[10:]).predict_proba(NUMBERS[:10])
    assert found is not None and found[:10] == pytest.approx(expected) and not found[10:].any()
