from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)

from likely import BayesClassifier, Loss, TreeClassifier, compare, evaluate
from likely.errors import DataError, SettingsError
from likely.evaluation.splits import BLOCKS, Split, is_split, prequential, read_splits, training_sums

N = 240
RNG = np.random.default_rng(7)
Y = RNG.choice(["a", "b", "c"], N)
TABLE = pd.DataFrame(
    {"x": RNG.normal(size=N) + (Y == "a"), "z": np.where(RNG.random(N) < 0.1, None, RNG.choice(["u", "v"], N)), "y": Y}
)
X = TABLE.drop(columns="y")


def judged_by_refitting(clf, splits):
    """One fit for each split: rows that were judged, their truth and what was said of them."""
    rows, said = [], []
    for learned, judged in splits:
        model = type(clf)(**clf.get_params()).fit(X.iloc[learned], Y[learned])
        wide = np.zeros((len(judged), 3))  # the first rows may lack a class
        wide[:, np.searchsorted(np.unique(Y), model.classes_)] = model.predict_proba(X.iloc[judged])
        rows.append(judged)
        said.append(wide)
    return np.concatenate(rows), np.vstack(said)


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(4),
        StratifiedKFold(3, shuffle=True, random_state=1),
        TimeSeriesSplit(5),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(9, test_size=0.3, random_state=0),
        PredefinedSplit(np.arange(N) % 5 - 1),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
@pytest.mark.parametrize("clf", [BayesClassifier(), TreeClassifier(max_depth=2)], ids=lambda clf: type(clf).__name__)
def test_a_splitter_of_scikit_learn_says_who_learns_and_who_is_judged(splitter, clf):
    splits = list(splitter.split(X, Y))
    rows, said = judged_by_refitting(clf, splits)
    found = evaluate(clf, TABLE, "y", cv=splitter).predictions
    assert found.posterior == pytest.approx(said, abs=1e-12)
    assert (found.classes[found.truth] == Y[rows]).all()
    assert found.fold.tolist() == np.repeat(np.arange(len(splits)), [len(judged) for _, judged in splits]).tolist()


def test_a_row_that_is_judged_twice_counts_once():
    report = evaluate(BayesClassifier(), X, Y, cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0))
    assert report.predictions.weight.sum() == pytest.approx(N)
    assert len(report.predictions) == 3 * N


def test_pairs_of_rows_and_folds_of_rows_are_splits_too():
    folds = np.arange(N) % 4
    by_splitter = evaluate(BayesClassifier(), X, Y, cv=PredefinedSplit(folds))
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    for given in (folds, folds.tolist(), pairs, (pair for pair in pairs)):
        assert evaluate(BayesClassifier(), X, Y, cv=given).log_loss == pytest.approx(by_splitter.log_loss, rel=1e-12)


def test_groups_reach_the_splitter():
    groups = np.arange(N) // 10
    report = evaluate(BayesClassifier(), X, Y, cv=GroupKFold(4), groups=groups)
    assert set(report.predictions.unit) == set(range(N // 10))
    of_fold = {fold: set(report.predictions.unit[report.predictions.fold == fold]) for fold in range(4)}
    assert not of_fold[0] & of_fold[1]


def test_a_classifier_of_scikit_learn_is_judged_as_scikit_learn_would():
    numbers, folds = X[["x"]].to_numpy(), StratifiedKFold(5)
    report = evaluate(LogisticRegression(), numbers, Y, cv=folds)
    rows = np.concatenate([judged for _, judged in folds.split(numbers, Y)])
    theirs = cross_val_predict(LogisticRegression(), numbers, Y, cv=folds, method="predict_proba")
    assert report.predictions.posterior == pytest.approx(theirs[rows], abs=1e-9)


def test_prequential_judges_every_block_by_what_came_before():
    report = evaluate(BayesClassifier(), TABLE, "y", cv="prequential")
    rows, said = judged_by_refitting(BayesClassifier(), prequential(N))
    assert report.predictions.posterior == pytest.approx(said, abs=1e-12)
    assert rows.tolist() == list(range(N - len(rows), N))
    assert "prequential" in str(report)


@pytest.mark.parametrize("n_rows", [2, 3, BLOCKS, BLOCKS + 1, 1000])
def test_blocks_cover_the_rows_in_their_order(n_rows):
    splits = prequential(n_rows)
    assert [row for split in splits for row in split.judged] == list(range(splits[0].judged[0], n_rows))
    assert all(split.learned.tolist() == list(range(split.judged[0])) for split in splits)


def test_costs_of_single_rows_go_with_their_rows():
    price = RNG.random(N) + 0.5
    costs = np.zeros((N, 3, 3)) + (1 - np.eye(3)) * price[:, None, None]
    loss = Loss(costs, decisions=["a", "b", "c"], truths=["a", "b", "c"])
    found = evaluate(BayesClassifier(), X, Y, cv=KFold(3, shuffle=True, random_state=0), loss=loss).predictions
    rows = np.concatenate([judged for _, judged in KFold(3, shuffle=True, random_state=0).split(X)])
    wrong = found.decided != found.truth
    assert found.cost == pytest.approx(np.where(wrong, price[rows], 0.0))


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        ([], "no split"),
        ([([0, 1], [N])], f"row {N}"),
        ([([0, 1], [-1])], "row -1"),
        ([([0, 1], [2, N])], f"names row {N}, but rows go from 0 to {N - 1}"),
        ([([0, 1], [1, 2])], "Row 1 is both learned and judged"),
        ([([0, 0], [1, 2])], "twice"),
        ([([], [1, 2])], "neither may be empty"),
        ([([0.5], [1, 2])], "row numbers"),
        ([(0, 1, 2)], "3 entries"),
        (np.zeros(3), "folds of 3 rows"),
    ],
)
def test_what_is_no_split_is_refused(cv, said):
    with pytest.raises((DataError, SettingsError), match=said):
        evaluate(BayesClassifier(), X, Y, cv=cv)


def test_splits_are_not_repeated():
    with pytest.raises(SettingsError, match="leave out repeats"):
        evaluate(BayesClassifier(), X, Y, cv=KFold(3), repeats=2)


def test_prequential_has_fifty_blocks_and_judges_all_but_the_first():
    splits = prequential(500)
    assert len(splits) == 49
    assert all(len(split.judged) == 10 and len(split.learned) == split.judged[0] for split in splits)
    assert [split.learned.tolist() for split in prequential(2)] == [[0]]


def test_a_share_of_the_rows_is_drawn_anew_each_time():
    report = evaluate(BayesClassifier(), X, Y, cv=0.25, repeats=3, random_state=5)
    assert report.n_rows == 60
    assert report.predictions.fold.tolist() == [0] * 60 + [1] * 60 + [2] * 60
    assert report.predictions.weight == pytest.approx(np.full(180, 1 / 3))
    draws = [set(report.predictions.unit[k * 60 : k * 60 + 60].tolist()) for k in range(3)]
    assert draws[0] != draws[1] != draws[2]
    again = evaluate(BayesClassifier(), X, Y, cv=0.25, repeats=1, random_state=5)
    assert set(again.predictions.unit.tolist()) == draws[0]


def test_prequential_needs_a_row_to_begin_with():
    with pytest.raises(SettingsError, match="at least two rows"):
        evaluate(BayesClassifier(), X[:1], Y[:1], cv="prequential")


def test_classifiers_may_come_first_as_in_evaluate():
    names = ["naive Bayes", "tree"]
    for given in (names, {"one": BayesClassifier()}, BayesClassifier()):
        first, last = compare(given, X, Y, cv=3), compare(X, Y, given, cv=3)
        assert first.to_frame()["log_loss"].tolist() == last.to_frame()["log_loss"].tolist()
    assert compare("tree", TABLE, "y", cv=3).entries


def test_all_classifiers_are_compared_on_the_same_splits():
    """A splitter without a seed divides anew whenever it is asked."""
    board = compare(X, Y, ["naive Bayes", "tree"], cv=ShuffleSplit(3, test_size=0.4))
    first, second = (board.entries[k].report.predictions for k in (0, 1))
    assert first.unit.tolist() == second.unit.tolist()


def test_a_splitter_of_groups_without_groups_is_refused():
    with pytest.raises(SettingsError, match="GroupKFold holds out whole groups: say in groups"):
        evaluate(BayesClassifier(), {"x": ["a", "b"] * 10}, ["p", "q"] * 10, cv=GroupKFold(2))


class Noting:
    """A splitter that notes what it is given."""

    def __init__(self):
        self.given = None

    def split(self, X, y=None, groups=None):
        self.given = X, y, groups
        return [(np.arange(10, len(y)), np.arange(10))]


def test_a_splitter_sees_classes_and_groups_but_nothing_of_the_rows():
    splitter, groups = Noting(), np.arange(N) // 10
    report = evaluate(BayesClassifier(), X, Y, cv=splitter, groups=groups)
    rows, classes, own = splitter.given
    assert rows.shape == (N, 1) and not rows.any()
    assert classes.tolist() == np.searchsorted(["a", "b", "c"], Y).tolist() and own.tolist() == groups.tolist()
    assert report.how == "Noting, 1 splits" and report.n_rows == 10
    assert evaluate(BayesClassifier(), X, Y, cv=Noting()).n_rows == 10


@pytest.mark.parametrize(("cv", "fits"), [("loo", False), ((1, 2), False), (5, False), (None, False), (KFold(3), True),
                                          ([0, 1], True), (np.arange(3), True), (iter([]), True)])  # fmt: skip
def test_what_is_a_split(cv, fits):
    assert is_split(cv) is fits


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ([[0, 1]], "1 entries"),
        ([[0], [1], [2]], "3 entries"),
        (([[0, 1]], [2]), "row numbers"),
        (([0, 1], []), "neither may be empty"),
        (([0, 1], np.array([True, False])), "row numbers"),
        (([0, 5], [1]), "names row 5, but rows go from 0 to 4"),
        (([1], [0, 5]), "names row 5,"),
        (([1], [-2, 0]), "names row -2,"),
        (([-1, 7], [0]), "names row 7,"),
        (([1], [0, 0]), "names a row twice"),
        (([4, 1], [0, 4]), "Row 4 is both"),
    ],
)
def test_a_pair_of_rows_is_checked_to_the_last_row(pair, said):
    with pytest.raises((DataError, SettingsError), match=said):
        read_splits([(np.arange(4), [4]), pair], np.zeros(5, dtype=np.int32), None)


def test_pairs_are_read_as_they_are():
    splits, how = read_splits([([0, 4], np.array([2], dtype=np.uint8))], np.zeros(5, dtype=np.int32), None)
    assert [(split.learned.tolist(), split.judged.tolist()) for split in splits] == [([0, 4], [2])]
    assert splits[0].judged.dtype == np.intp and str(how) == "1 given splits"
    splits, how = read_splits([-1, 3, 0, 3, -1], np.zeros(5, dtype=np.int32), None)
    assert [(split.learned.tolist(), split.judged.tolist()) for split in splits] == [
        ([0, 1, 3, 4], [2]),
        ([0, 2, 4], [1, 3]),
    ]
    assert str(how) == "2 given folds"
    with pytest.raises(DataError, match="folds of 4 rows, but there are 5"):
        read_splits(np.zeros(4), np.zeros(5, dtype=np.int32), None)


@pytest.mark.parametrize(("n_rows", "n_splits"), [(12, 3), (30, 9), (N, 3), (N, 64), (N, 70)])
def test_sums_are_those_of_the_rows_that_each_split_learns(n_rows, n_splits):
    """Up to 64 kinds of rows are counted together, of more each training set by itself."""
    rng = np.random.default_rng(0)
    rows, y = X[["x"]][:n_rows], Y[:n_rows]
    task = BayesClassifier(n_jobs=1)._task(rows, y)
    splits = [Split(np.sort(rng.choice(n_rows, 2 * n_rows // 3, replace=False)), np.arange(1)) for _ in range(n_splits)]
    for split, summary in zip(splits, training_sums(task, splits), strict=True):
        (seen,) = summary.parts.values()
        (alone,) = BayesClassifier(n_jobs=1).fit(X[["x"]].iloc[split.learned], Y[split.learned]).summary_.parts.values()
        assert seen.n.tolist() == alone.n.tolist() and seen.mean == pytest.approx(alone.mean)
