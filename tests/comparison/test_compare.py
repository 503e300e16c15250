"""Several classifiers on the same folds: figures, differences, who failed, who is the simplest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

import likely
from likely import BayesClassifier, ConvNetClassifier, Loss, SVMClassifier, compare
from likely.comparison.candidates import candidates, known
from likely.comparison.comparison import AS_IT_IS, CORRECTED, difference, variance_inflation
from likely.errors import DataError, SchemaError, SettingsError
from likely.models.registry import Entry
from likely.table import as_table
from likely.teaching import datasets


class Broken(ClassifierMixin, BaseEstimator):
    """Always fails."""

    def fit(self, X: Any, y: Any) -> Self:
        raise ValueError("It never learns. And it says more than one sentence.")

    def predict(self, X: Any) -> Any:
        raise NotImplementedError


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def board(iris: tuple[np.ndarray, np.ndarray]) -> likely.Comparison:
    return compare(*iris, {"ours": BayesClassifier(), "theirs": GaussianNB(), "lazy": DummyClassifier()}, cv=5)


def mixed(n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "n": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "c": np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, n)],
            "t": np.array(["red car", "blue bike", None], dtype=object)[rng.integers(0, 3, n)],
        }
    )
    return frame, np.where((frame["c"] == "a") ^ (rng.random(n) < 0.1), "yes", "no")


class TestFigures:
    def test_are_those_of_evaluate(self, board: likely.Comparison, iris: tuple[np.ndarray, np.ndarray]) -> None:
        frame = board.to_frame()
        for name, clf in (("ours", BayesClassifier()), ("theirs", GaussianNB())):
            report = likely.evaluate(clf, *iris, cv=5)
            assert frame.loc[name, "error"] == pytest.approx(report.error_rate)
            assert frame.loc[name, "log_loss"] == pytest.approx(report.log_loss)
            assert frame.loc[name, "brier"] == pytest.approx(report.brier_score)
        assert (frame["fit_seconds"] > 0.0).all()
        assert (frame["predict_seconds"] > 0.0).all()
        assert "expected_cost" not in frame.columns

    def test_all_have_the_same_folds(self, board: likely.Comparison) -> None:
        folds = [report.predictions.fold for report in board.reports.values()]
        assert all((fold == folds[0]).all() for fold in folds)

    def test_best_first(self, board: likely.Comparison) -> None:
        frame = board.to_frame()
        assert board.by == "log_loss"
        assert frame["log_loss"].is_monotonic_increasing
        assert board.best == frame.index[0]
        assert set(frame.index[-2:]) == {"lazy", "majority class"}
        assert frame["difference"].iloc[0] == 0.0
        assert not frame.loc["lazy", "within_noise"]

    def test_model_size_is_that_of_the_file(self, tmp_path: Path, iris: tuple[np.ndarray, np.ndarray]) -> None:
        frame = compare(*iris, [BayesClassifier(), GaussianNB()], cv=3).to_frame()
        BayesClassifier().fit(*iris).save(tmp_path / "m.likely")
        saved = (tmp_path / "m.likely").stat().st_size
        assert abs(frame.loc["naive Bayes", "model_bytes"] - saved) < 8
        assert frame.loc["GaussianNB", "model_bytes"] >= 2 * 12 * 8  # means and variances

    def test_a_loss_decides_by_cost(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        loss = Loss.zero_one([0, 1, 2])
        found = compare(*iris, ["naive Bayes", "tree"], cv=4, loss=loss)
        frame = found.to_frame()
        assert found.by == "expected_cost"
        np.testing.assert_allclose(frame["expected_cost"], frame["error"])
        assert "cost" in str(found)

    def test_other_measures_decide(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        found = compare(*iris, ["naive Bayes", "full Bayes", "SVM"], cv=4, by="error").to_frame()
        assert found["error"].is_monotonic_increasing
        found = compare(*iris, ["naive Bayes", "full Bayes", "SVM"], cv=4, by="brier").to_frame()
        assert found["brier"].is_monotonic_increasing


class TestNoise:
    @pytest.mark.parametrize(
        ("cv", "wanted"),
        [(5, 1.0 + 5.0 / 4.0), (10, 1.0 + 10.0 / 9.0), (0.25, 4.0 / 3.0), ("loo", 1.0 + 40.0 / 39.0), ((1, 2), 1.0)],
    )
    def test_variance_inflation(self, cv: Any, wanted: float) -> None:
        """1/J + tested/learned in place of 1/J, so J · tested/learned is added to one."""
        assert variance_inflation(cv, 40) == pytest.approx(wanted)

    def test_paired_rows_are_a_t_test(self) -> None:
        gap = np.random.default_rng(0).normal(0.1, 1.0, 50)
        found = difference(gap, np.ones(50), np.arange(50), 1.0)
        low, high = stats.ttest_1samp(gap, 0.0).confidence_interval()
        assert (found.low, found.high) == pytest.approx((low, high))
        wide = difference(gap, np.ones(50), np.arange(50), 4.0)
        assert wide.high - wide.low == pytest.approx(2.0 * (high - low))
        assert found.is_noise == (low <= 0.0)

    def test_equal_folds_give_nadeau_and_bengios_variance(self) -> None:
        """With σ² of fold means estimated as σ² of rows / rows per fold: (1/J + 1/(J − 1)) σ²."""
        rng = np.random.default_rng(1)
        gap, folds = rng.normal(size=200), 10
        per_fold = np.var(gap, ddof=1) / (200 / folds)
        half = stats.t.ppf(0.975, 199) * np.sqrt((1.0 / folds + 1.0 / (folds - 1.0)) * per_fold)
        found = difference(gap, np.ones(200), np.arange(200), variance_inflation(folds, 200))
        assert found.high - found.mean == pytest.approx(half)

    def test_rows_of_one_unit_count_together(self) -> None:
        gap = np.random.default_rng(0).normal(0.1, 1.0, 30)
        once = difference(gap, np.ones(30), np.arange(30), 1.0)
        twice = difference(np.tile(gap, 2), np.full(60, 0.5), np.tile(np.arange(30), 2), 1.0)
        assert (twice.low, twice.high) == pytest.approx((once.low, once.high))

    def test_the_method_is_named(self, board: likely.Comparison, iris: tuple[np.ndarray, np.ndarray]) -> None:
        assert board.interval == CORRECTED
        assert CORRECTED in " ".join(str(board).split())
        X, y = iris
        split = compare(X[::2], y[::2], ["naive Bayes"], cv=(X[1::2], y[1::2]))
        assert split.interval == AS_IT_IS
        assert compare(X, y, ["naive Bayes"], cv="loo").interval == CORRECTED

    def test_the_simplest_is_not_worse_within_noise(self) -> None:
        X, y = load_breast_cancer(return_X_y=True)
        found = compare(X[:, :8], y, ["SVM", "logistic", "evidence"], cv=5)
        good = [name for name, gap in found.differences.items() if gap.is_noise]
        assert found.simplest in good
        order = {entry.title: entry.simplicity for entry in known()}
        assert order[found.simplest] == min(order[name] for name in good)
        assert found.to_frame()["simplest"].sum() == 1

    def test_equal_classifiers_go_to_the_simpler_one(self) -> None:
        X, y = np.repeat([[0.0], [9.0]], 20, axis=0) + np.arange(40)[:, None] / 100.0, np.repeat([0, 1], 20)
        assert compare(X, y, ["SVM", "naive Bayes"], cv=4).best == "naive Bayes"


class TestCandidates:
    def test_all_take_raw_mixed_tables(self) -> None:
        X, y = mixed()
        found = compare(X, y, cv=2)
        names = {entry.title for entry in known() if not entry.images} | {found.majority}
        assert set(found.to_frame().index) == names
        assert {"naive Bayes", "full Bayes", "SVM", "logistic regression", "gradient boosting"} <= set(found.reports)
        assert found.to_frame().loc["logistic regression", "error"] < 0.25
        assert found.to_frame().loc["SVM", "error"] < 0.25

    def test_one_that_fails_is_listed_with_its_reason(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        found = compare(*iris, [Broken(), BayesClassifier()], cv=3)
        frame = found.to_frame()
        assert list(frame.index) == ["naive Bayes", "majority class", "Broken"]
        assert frame.loc["Broken", "reason"] == "It never learns."
        assert np.isnan(frame.loc["Broken", "error"])
        assert "Broken could not take part: It never learns." in str(found)
        assert json.loads(found.to_json())["classifiers"][2]["error"] is None

    def test_if_all_fail_it_says_why(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        with pytest.raises(DataError, match="Broken: It never learns"):
            compare(*iris, Broken(), cv=3)

    def test_one_reason_for_all_is_said_once(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        with pytest.raises(SettingsError, match=r"^cv is 1, but at least two folds"):
            compare(*iris, ["naive Bayes", "SVM"], cv=1)
        with pytest.raises(SettingsError, match=r"^random_state is 'a'"):
            compare(*iris, ["naive Bayes"], random_state="a")  # type: ignore[arg-type]
        with pytest.raises(SettingsError, match="Did you mean 'log_loss'"):
            compare(*iris, ["naive Bayes"], by="logloss")

    def test_a_fold_may_lack_a_class(self) -> None:
        """One row of the rare class: in the fold that tests it, there is one class to learn."""
        X = np.random.default_rng(0).normal(size=(30, 2))
        found = compare(X, ["a"] * 29 + ["b"], ["naive Bayes", "SVM", "logistic", "boosting"], cv=5)
        assert not found.failures
        assert all(report.error_rate == pytest.approx(1 / 30) for report in found.reports.values())

    def test_a_classifier_that_is_broken_is_not_left_out_silently(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("likely.comparison.candidates.BASELINES", (Entry("x", "likely.nosuch:X", "x", 1),))
        with pytest.raises(ImportError):
            candidates("all", images=False, random_state=0)

    def test_without_probabilities_there_is_an_error_but_no_loss(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        usual = compare(*iris, [LinearSVC(dual=False), "naive Bayes"], cv=3)
        assert usual.by == "log_loss"
        frame = usual.to_frame()
        assert np.isnan(frame.loc["LinearSVC", "log_loss"])
        assert frame.loc["LinearSVC", "error"] < 0.1
        assert "by='error'" in frame.loc["LinearSVC", "reason"]
        by_error = compare(*iris, [LinearSVC(dual=False), "naive Bayes"], cv=3, by="error").to_frame()
        assert by_error.loc["LinearSVC", "reason"] == ""
        by_loss = compare(*iris, [LinearSVC(dual=False), "naive Bayes"], cv=3, by="brier")
        assert "no probabilities" in by_loss.to_frame().loc["LinearSVC", "reason"]
        alone = compare(*iris, LinearSVC(dual=False), cv=3)
        assert (alone.by, alone.best) == ("error", "LinearSVC")
        with pytest.raises(DataError, match="No classifier gives probabilities"):
            compare(*iris, LinearSVC(dual=False), cv=3, by="log_loss")
        refuses = compare(*iris, [SVC(), "naive Bayes"], cv=3).to_frame()  # it has the method, and does not give it
        assert refuses.loc["SVC", "error"] < 0.1
        assert np.isnan(refuses.loc["SVC", "log_loss"])

    def test_names_and_kinds(self) -> None:
        made = candidates(["svm", "Naive Bayes", "full_bayes", BayesClassifier()], images=False, random_state=3)
        assert [each.name for each in made] == ["SVM", "naive Bayes", "full Bayes", "naive Bayes 2"]
        assert made[0].classifier.random_state == 3
        assert isinstance(made[0].classifier, SVMClassifier)

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (["naive bays"], "Did you mean 'naive Bayes'"),
            (["svn"], "Did you mean 'SVM'"),
            (["naiv"], "Did you mean 'naive'"),
            (["boost"], "Did you mean 'boosting'"),
            (["aod"], "Did you mean 'AODE'"),
            (["convent"], "Did you mean 'convnet'"),
            (["TreClassifier"], "Did you mean 'TreeClassifier'"),
            (["forest"], r"'net'\.$"),
            ([], "no classifier"),
            ([3], "no classifier"),
            ([GaussianNB], "no classifier"),
        ],
    )
    def test_strangers_are_refused(self, given: Any, told: str) -> None:
        with pytest.raises(SettingsError, match=told):
            candidates(given, images=False, random_state=0)


class TestTables:
    def test_the_target_may_be_a_column(self) -> None:
        golf = datasets.golf()
        wanted = compare(golf, "play", ["naive Bayes", "logistic regression"], cv=2).to_frame()["error"]
        for table in (pd.DataFrame(golf), pl.DataFrame(golf), pa.table(golf), as_table(golf)):
            found = compare(table, "play", ["naive Bayes", "logistic regression"], cv=2).to_frame()
            pd.testing.assert_series_equal(found["error"], wanted)
        arrow = pa.table(golf)
        apart = compare(arrow.drop(["play"]), golf["play"], ["naive Bayes", "logistic regression"], cv=2).to_frame()
        pd.testing.assert_series_equal(apart["error"], wanted)
        frame = pd.DataFrame(golf)
        test = compare(frame[:10], "play", ["naive Bayes"], cv=(frame[10:], "play"))
        assert test.n_rows == 4

    def test_outside_classifiers_get_a_frame(self) -> None:
        table = as_table({"a": [0.1, 0.2, 5.1, 5.2] * 5, "y": ["l", "l", "h", "h"] * 5})
        assert compare(table, "y", [GaussianNB()], cv=4).to_frame().loc["GaussianNB", "error"] == 0.0

    def test_images_are_flattened_for_all_but_nets(self) -> None:
        X, y = load_digits(return_X_y=True)
        found = compare(X[:300].reshape(-1, 8, 8), y[:300], ["naive Bayes", "SVM"], cv=3)
        assert found.best == "SVM"
        listed = compare(list(X[:300].reshape(-1, 8, 8)), y[:300], ["naive Bayes", "SVM"], cv=3)
        pd.testing.assert_series_equal(listed.to_frame()["error"], found.to_frame()["error"])

    def test_a_net_in_the_field_gets_images(self) -> None:
        """Two kinds of tiny images; the others get their pixels in a row."""
        rng = np.random.default_rng(0)
        y = np.array(["bar", "post"] * 20)
        images = rng.random((40, 6, 6)) * 0.2
        images[y == "bar", 2] += 1.0
        images[y == "post", :, 3] += 1.0
        net = ConvNetClassifier(maps=(2,), filter=3, pad_to=6, epochs=6, held_back=0.0, learning_rate=0.05)
        field = {"net": net, "naive Bayes": BayesClassifier()}
        found = compare(images[:30], y[:30], field, cv=(images[30:], y[30:]))
        assert not found.failures
        assert found.to_frame().loc["net", "error"] <= 0.1
        assert found.n_rows == 10
        assert found.simplest == "naive Bayes"

    def test_texts_alone(self) -> None:
        texts = ["cheap pills now", "meeting at noon", "cheap watches now", "lunch at noon"] * 6
        found = compare(texts, ["spam", "ham"] * 12, ["naive Bayes", "logistic", "boosting", "tree"], cv=3)
        assert found.to_frame().loc["naive Bayes", "error"] == 0.0
        assert not found.failures

    def test_bad_wishes_end_at_once(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        X, y = iris
        with pytest.raises(SchemaError, match="nosuch"):
            compare({"a": [1.0, 2.0]}, "nosuch")
        with pytest.raises(DataError, match="150 rows"):
            compare(X, y[:9])
        with pytest.raises(SettingsError, match="by is"):
            compare(X, y, by="beauty")
        with pytest.raises(SettingsError, match="loss"):
            compare(X, y, by="expected_cost")
        with pytest.raises(SettingsError, match="folds"):
            compare(X, y, cv=None)  # type: ignore[arg-type]


class TestShown:
    def test_pages(self, board: likely.Comparison, tmp_path: Path) -> None:
        board.to_html(tmp_path / "b.html")
        assert "<table>" in (tmp_path / "b.html").read_text()
        data = json.loads(board.to_json(tmp_path / "b.json"))
        assert data["best"] == board.best
        assert len(data["classifiers"]) == 4
        assert data["majority"] == "majority class"
        assert "lazy" in board._repr_html_()
        assert f"◀ {board.best} is the best, and no other is simpler." in str(board)
        assert "Comparison(3 classifiers" in repr(board)
        board.plot().save(tmp_path / "b.svg")

    def test_names_are_escaped(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        page = compare(*iris, {"<script>": GaussianNB(), "<b>": Broken()}, cv=3).to_html()
        assert "<script>" not in page
        assert "&lt;b&gt;" in page

    def test_progress(self, iris: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
        compare(*iris, ["naive Bayes"], cv=3, progress=True)
        assert "classifier 1 of 1" in capsys.readouterr().err

    def test_the_same_seed_gives_the_same_figures(self, iris: tuple[np.ndarray, np.ndarray]) -> None:
        def figures(seed: int) -> pd.DataFrame:
            return compare(*iris, ["naive Bayes", "SVM"], cv=3, random_state=seed).to_frame()[["error", "log_loss"]]

        pd.testing.assert_frame_equal(figures(1), figures(1))
        assert not figures(1).equals(figures(2))


def test_the_yardsticks_are_those_of_scikit_learn() -> None:
    """On plain numbers: scaled logistic regression and gradient boosting, to the last digit."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    from likely.comparison.baselines import BoostingBaseline, LogisticBaseline

    X, y = load_breast_cancer(return_X_y=True)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    np.testing.assert_allclose(LogisticBaseline().fit(X, y).predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    few = X[::5, :4], y[::5]
    ours = BoostingBaseline().fit(*few)
    with threadpool_limits(1, user_api="openmp"):
        boosted = HistGradientBoostingClassifier(random_state=0).fit(*few)
    np.testing.assert_array_equal(ours.predict_proba(X[:, :4]), boosted.predict_proba(X[:, :4]))
    np.testing.assert_array_equal(ours.predict(X[:, :4]), boosted.predict(X[:, :4]))
