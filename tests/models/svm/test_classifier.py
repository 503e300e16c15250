"""The support vector machine for raw tables."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import REFUSED, Loss, SVMClassifier
from likely.errors import DataError, SchemaError, SettingsError
from likely.models.svm import FarWarning, Gauss, KernelWarning, Linear, Polynomial
from likely.teaching import datasets

ROWS = {"x": [0.0, 1.0, 2.0, 0.0], "y": [0.0, 0.0, 0.0, 2.0]}
SIDES = [1, 1, -1, -1]

NOT_REPEATED = {
    name: "a row is held out whole, whatever its weight, so the probabilities of a row of weight two are not those of "
    "two rows, which may be held out apart; the machine itself is the same (see the test below)"
    for name in ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
}


@parametrize_with_checks(
    [SVMClassifier(), SVMClassifier(kernel="linear")], expected_failed_checks=lambda _: NOT_REPEATED
)
def test_estimator_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", ["gauss", "linear"])
def test_the_machine_of_a_weight_is_that_of_so_many_rows(kernel: str, as_given: Any) -> None:
    """What scikit-learn's check asks, but for probabilities; as exactly as the problem is solved."""
    rng = np.random.default_rng(42)
    X, y, weight = rng.random((20, 12)), rng.integers(0, 3, 20), rng.integers(0, 5, 20)
    X[X < 0.3] = 0.0
    weighed = SVMClassifier(kernel=kernel, tolerance=1e-10).fit(as_given(X), y, sample_weight=weight)
    repeated = SVMClassifier(kernel=kernel, tolerance=1e-10).fit(as_given(X.repeat(weight, axis=0)), y.repeat(weight))
    if as_given is np.asarray:
        np.testing.assert_allclose(weighed.decision_pairs(X), repeated.decision_pairs(X), atol=1e-8)
    np.testing.assert_array_equal(weighed.decision_pairs(X) > 0.0, repeated.decision_pairs(X) > 0.0)


def mixed(n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40.0, 10.0, n)),
            "town": rng.choice(["Ulm", "Bonn", None], n),
            "note": rng.choice(["all is well", "pain in the knee", "knee hurts", None], n),
        }
    )
    ill = (frame["note"].fillna("").str.contains("knee")) ^ (frame["age"] > 50.0)
    return frame, np.where(ill, "ill", "well")


class TestWorkedExample:
    """Four points: α = (0, 4, 3, 1), w = (−2, −2), b = 3, margin 1/√2."""

    def test_figures(self) -> None:
        clf = SVMClassifier(C="hard", kernel="linear", scale=False).fit(ROWS, SIDES)
        np.testing.assert_allclose(clf.alpha_, [0.0, 4.0, 3.0, 1.0], atol=1e-12)
        np.testing.assert_allclose(clf.w_, [-2.0, -2.0], atol=1e-12)
        assert clf.b_ == pytest.approx(3.0, abs=1e-12)
        assert clf.margin_ == pytest.approx(2.0 / np.sqrt(8.0), abs=1e-12)
        assert sorted(clf.support_vectors_.tolist()) == [[0.0, 2.0], [1.0, 0.0], [2.0, 0.0]]
        np.testing.assert_allclose(sorted(clf.dual_coef_[0]), [-3.0, -1.0, 4.0], atol=1e-12)
        assert clf.support_.tolist() == [2, 3, 1]

    def test_every_support_vector_touches_the_margin(self) -> None:
        clf = SVMClassifier(C="hard", kernel="linear", scale=False).fit(ROWS, SIDES)
        cases = clf.cases(ROWS, SIDES)
        np.testing.assert_allclose(cases["value"], [3.0, 1.0, 1.0, 1.0], atol=1e-12)
        assert cases["slack"].tolist() == [0.0] * 4
        assert cases["case"].tolist() == ["A"] * 4

    def test_a_soft_margin_has_slack(self) -> None:
        """C = 3 binds the second point: α = (0, 3, 9/4, 3/4), w = (−3/2, −3/2), b = 2, ξ = (0, 1/2, 0, 0)."""
        clf = SVMClassifier(C=3, kernel="linear", scale=False, tolerance=1e-9).fit(ROWS, SIDES)
        cases = clf.cases(ROWS, SIDES)
        np.testing.assert_allclose(clf.alpha_, [0.0, 3.0, 2.25, 0.75], atol=1e-6)
        np.testing.assert_allclose([*clf.w_, clf.b_], [-1.5, -1.5, 2.0], atol=1e-6)
        np.testing.assert_allclose(cases["slack"], [0.0, 0.5, 0.0, 0.0], atol=1e-6)
        assert cases["case"].tolist() == ["A", "B", "A", "A"]

        def price(w: np.ndarray, b: float) -> float:
            values = np.array(SIDES) * (np.column_stack([ROWS["x"], ROWS["y"]]) @ w + b)
            return float(0.5 * w @ w + 3.0 * np.maximum(1.0 - values, 0.0).sum())

        rng = np.random.default_rng(0)
        best = price(clf.w_, clf.b_)
        assert all(best <= price(clf.w_ + 0.1 * rng.normal(size=2), clf.b_ + 0.1 * rng.normal()) for _ in range(200))

    def test_a_fifth_point_brings_all_three_cases(self) -> None:
        rows = {"x": [*ROWS["x"], 1.5], "y": [*ROWS["y"], 1.0]}
        clf = SVMClassifier(C=0.3, kernel="linear", scale=False, tolerance=1e-9).fit(rows, [*SIDES, 1])
        cases = clf.cases(rows, [*SIDES, 1])
        assert cases["case"].tolist() == ["A", "A", "C", "C", "B"]
        np.testing.assert_allclose(cases["slack"], [0.0, 0.0, 2.0, 1.4, 0.3], atol=1e-6)


class TestTables:
    def test_raw_mixed_table(self) -> None:
        X, y = mixed()
        clf = SVMClassifier(C=10.0, schema={"note": "text"}).fit(X, y)
        assert (clf.predict(X) == y).mean() > 0.97
        assert clf.schema_.kinds["note"] == "text"
        assert clf.feature_names_in_.tolist() == ["age", "town", "note"]
        assert clf.classes_.tolist() == ["ill", "well"]

    def test_strange_rows_get_probabilities(self) -> None:
        X, y = mixed()
        for kernel in ("gauss", "linear", "polynomial"):
            clf = SVMClassifier(kernel=kernel, schema={"note": "text"}).fit(X, y)
            new = pd.DataFrame({"note": [None, "?", ""], "town": ["Rom", None, 3], "age": [np.nan, 1e200, -1e300]})
            with pytest.warns(FarWarning, match=r"Row 1 of column 'age' holds 1e\+200"):
                shares = clf.predict_proba(new)
            assert np.isfinite(shares).all()
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)

    @pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
    def test_numbers_too_large_to_be_squared_are_refused_unless_scaled(self, as_given: Any) -> None:
        X = np.random.default_rng(0).normal(size=(40, 3))
        y = np.where(X[:, 0] > 0.0, "up", "down")
        X[3, 1] = 1e300
        with pytest.raises(DataError, match=r"Row 3 of column 'x1' holds 1e\+300, .* scale=True"):
            SVMClassifier(scale=False).fit(as_given(X), y)
        assert (SVMClassifier().fit(as_given(X), y).predict(as_given(X)) == y).mean() > 0.8
        near = np.where(X > 1e9, 0.0, X)
        clf = SVMClassifier(scale=False).fit(as_given(near), y)
        with pytest.warns(FarWarning, match=r"Row 3 of column 'x1' holds 1e\+300"):
            clf.predict(as_given(X))

    def test_what_libsvm_cannot_solve_is_told(self) -> None:
        X = 1e30 * np.random.default_rng(0).normal(size=(40, 2))
        with pytest.raises(DataError, match="scale=True"):
            SVMClassifier(kernel="linear", scale=False).fit(X, X[:, 0] > 0.0)

    @pytest.mark.parametrize("kernel", ["gauss", "polynomial", "sigmoid"])
    @pytest.mark.parametrize("unit", [1e-120, 1e-60, 1e30])
    def test_any_unit_may_go_unscaled(self, kernel: str, unit: float) -> None:
        X = np.random.default_rng(0).normal(size=(40, 2))
        y = (X[:, 0] > 0.0).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KernelWarning)
            shares = SVMClassifier(kernel=kernel, scale=False).fit(X * unit, y).predict_proba(X * unit)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)

    def test_any_frame_is_the_same(self) -> None:
        X, y = mixed()
        clf = SVMClassifier(schema={"note": "text"}).fit(X, y)
        other = SVMClassifier(schema={"note": "text"}).fit(pl.from_pandas(X), pl.Series(y))
        np.testing.assert_array_equal(other.decision_function(X.to_dict("list")), clf.decision_function(X))

    def test_texts_alone(self) -> None:
        texts = ["cheap pills now", "meeting at noon", "cheap watches now", "lunch at noon"] * 5
        clf = SVMClassifier().fit(texts, ["spam", "ham", "spam", "ham"] * 5)
        assert clf.predict(["cheap cheap", "noon meeting"]).tolist() == ["spam", "ham"]

    def test_the_target_may_be_a_column(self) -> None:
        clf = SVMClassifier(kernel="linear").fit(datasets.patients(), "drug")
        assert clf.schema_.target == "drug"
        assert clf.predict(datasets.patients()).tolist() == datasets.patients()["drug"]

    def test_a_missing_column_is_named(self) -> None:
        X, y = mixed()
        clf = SVMClassifier().fit(X, y)
        with pytest.raises(SchemaError, match="town"):
            clf.predict(X[["age", "note"]])

    def test_one_class_is_no_riddle(self) -> None:
        clf = SVMClassifier().fit(ROWS, ["a"] * 4)
        assert clf.predict(ROWS).tolist() == ["a"] * 4
        assert clf.predict_proba(ROWS).tolist() == [[1.0]] * 4
        cases = clf.cases(ROWS, ["a"] * 4)
        assert cases["rival"].tolist() == [None] * 4
        assert cases["case"].tolist() == ["A"] * 4

    def test_rows_of_weight_zero_are_not_there(self) -> None:
        X, y = load_iris(return_X_y=True)
        weight = (y < 2).astype(float)
        clf = SVMClassifier().fit(X, y, sample_weight=weight)
        assert clf.classes_.tolist() == [0, 1]
        np.testing.assert_allclose(
            clf.decision_function(X), SVMClassifier().fit(X[:100], y[:100]).decision_function(X), atol=1e-9
        )
        assert clf.support_.max() < 100


class TestBesideLibsvm:
    def test_two_classes(self) -> None:
        X, y = load_breast_cancer(return_X_y=True)
        Z = StandardScaler().fit_transform(X)
        their = SVC().fit(Z, y)
        clf = SVMClassifier().fit(X, y)
        np.testing.assert_array_equal(clf.decision_function(X) > 0.0, their.predict(Z))
        np.testing.assert_allclose(clf.decision_function(X), their.decision_function(Z), atol=5e-3)
        assert clf.dual_coef_.shape == their.dual_coef_.shape

    def test_ten_classes(self) -> None:
        X, y = load_digits(return_X_y=True)
        clf = SVMClassifier(scale=False).fit(X[:900], y[:900])
        their = SVC(break_ties=True).fit(X[:900], y[:900])
        assert (clf.decision_function(X[900:]).argmax(axis=1) == their.predict(X[900:])).mean() > 0.995
        assert clf.decision_function(X).shape == (len(X), 10)
        assert clf.decision_pairs(X).shape == (len(X), 45)
        assert len(clf.support_vectors_) == len(set(clf.support_.tolist()))

    def test_few_rows_at_a_time_say_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SVMClassifier().fit(X, y)
        whole = clf.predict_proba(X), clf.predict(X), clf.decision_function(X)
        monkeypatch.setattr("likely.models.svm.classifier.PAIR_CELLS", 30)
        np.testing.assert_allclose(clf.predict_proba(X), whole[0], atol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), whole[1])
        np.testing.assert_allclose(clf.decision_function(X), whole[2], atol=1e-12)

    def test_class_weights_move_the_border(self) -> None:
        X, y = load_breast_cancer(return_X_y=True)
        few = np.concatenate([np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)])
        usual, heavy = (SVMClassifier(class_weight=w).fit(X[few], y[few]) for w in (None, {0: 20.0}))
        assert (heavy.predict(X) == 0).sum() > (usual.predict(X) == 0).sum()
        assert (SVMClassifier(class_weight="balanced").fit(X[few], y[few]).predict(X) == 0).sum() > (
            usual.predict(X) == 0
        ).sum()


class TestProbabilities:
    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"kernel": "linear"},
            {"C": 0.01},
            {"class_weight": "balanced"},
            {"priors": "uniform"},
            {"method": "landmarks", "landmarks": 20},
        ],
        ids=str,
    )
    def test_predict_takes_the_most_probable_class(self, settings: dict[str, Any], tmp_path: Path) -> None:
        X, y = load_iris(return_X_y=True)
        X = X + np.random.default_rng(0).normal(size=X.shape)
        for rows in (slice(20, 150), slice(70, 150)):  # three classes, and two, of unequal size
            clf = SVMClassifier(**settings).fit(X[rows], y[rows])
            clf.save(tmp_path / "machine.likely")
            for each in (clf, likely.load(tmp_path / "machine.likely")):
                np.testing.assert_array_equal(each.predict(X), each.classes_[each.predict_proba(X).argmax(axis=1)])

    def test_a_border_that_goes_with_the_larger_class_is_put_right(self) -> None:
        """Texts lie far from each other, so nearly every row is a support vector, and b follows the class sizes."""
        rng = np.random.default_rng(1)

        def texts(n: int) -> tuple[list[str], np.ndarray]:
            y = (rng.random(n) < 0.15).astype(int)
            own = rng.random(n) < 0.7
            words = rng.integers(0, 3000, (n, 12))
            mark = np.where(own, rng.integers(0, 8, n) + 10 * y, 99)
            return [" ".join([f"m{m}", *(f"w{w}" for w in row)]) for m, row in zip(mark, words, strict=True)], y

        (learned, y), (new, truth) = texts(600), texts(600)
        clf = SVMClassifier(schema={"text": "text"}).fit({"text": learned}, y)
        by_side = ((clf.decision_function({"text": new}) > 0.0) == truth).mean()
        assert (clf.predict({"text": new}) == truth).mean() > by_side + 0.05

    def test_no_slack_keeps_the_sides(self) -> None:
        for kernel in ("linear", "gauss"):
            clf = SVMClassifier(C="hard", kernel=kernel, scale=False).fit(ROWS, SIDES)
            assert clf.predict(ROWS).tolist() == SIDES
            assert ((clf.predict_proba(ROWS)[:, 1] > 0.5) == (clf.decision_function(ROWS) > 0.0)).all()

    def test_class_weights_are_priors_that_can_be_taken_back(self) -> None:
        X, y = mixed()
        weighed = SVMClassifier(class_weight={"ill": 5.0}).fit(X, y)
        shares = weighed.counts_ * np.where(weighed.classes_ == "ill", 5.0, 1.0)
        same = weighed.with_priors((shares / shares.sum()).tolist())
        np.testing.assert_allclose(same.predict_proba(X), weighed.predict_proba(X))
        back = weighed.with_priors((weighed.counts_ / weighed.counts_.sum()).tolist())
        place = weighed.classes_.tolist().index("ill")
        assert back.predict_proba(X)[:, place].mean() < weighed.predict_proba(X)[:, place].mean()
        assert back.predict_proba(X)[:, place].mean() == pytest.approx((y == "ill").mean(), abs=0.05)

    def test_are_good_on_held_out_rows(self) -> None:
        X, y = load_digits(return_X_y=True)
        report = likely.evaluate(SVMClassifier(), X, y, cv=0.3)
        assert report.accuracy > 0.97
        assert report.log_loss is not None
        assert report.log_loss < 0.15

    def test_other_priors_move_them(self) -> None:
        X, y = mixed()
        clf = SVMClassifier().fit(X, y)
        rare = clf.with_priors({"ill": 0.01, "well": 0.99})
        assert rare.predict_proba(X)[:, 0].mean() < clf.predict_proba(X)[:, 0].mean()
        assert (rare.predict(X) == "ill").mean() < (clf.predict(X) == "ill").mean()
        np.testing.assert_array_equal(rare.predict(X), rare.classes_[rare.predict_proba(X).argmax(axis=1)])
        with pytest.raises(SettingsError, match="priors"):
            clf.with_priors({"ill": 2.0, "well": 0.0})
        same = SVMClassifier(priors={"ill": 0.01, "well": 0.99}).fit(X, y)
        np.testing.assert_allclose(same.predict_proba(X), rare.predict_proba(X))

    def test_decisions_follow_the_loss(self) -> None:
        X, y = mixed()
        clf = SVMClassifier().fit(X, y)
        careful = Loss({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 20, "well": 0}}, refuse=0.3)
        decided = clf.decide(X, careful)
        assert set(decided.tolist()) <= {"treat", "wait", REFUSED}
        assert clf.risk(X, careful).shape == (len(X), 3)
        bold = Loss({"treat": {"ill": 0, "well": 1}, "wait": {"ill": 1, "well": 0}})
        assert (clf.decide(X, bold) == "treat").sum() < (decided != "wait").sum()
        assert sum(clf.estimate_priors(X).values()) == pytest.approx(1.0)

    def test_are_worked_out_once_and_survive_pickling(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SVMClassifier().fit(X, y)
        other = pickle.loads(pickle.dumps(clf))  # noqa: S301
        np.testing.assert_array_equal(clf.calibrate().predict_proba(X), other.predict_proba(X))
        assert clf.calibration_.get() is clf.calibration_.get()


class TestFiles:
    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"kernel": 0.7 * Gauss(sigma=2) + 0.3 * Polynomial(degree=2, offset=1)},
            {"kernel": Gauss() * Linear(), "C": 2.0, "class_weight": "balanced"},
            {"kernel": "linear", "schema": {"note": "text"}, "priors": "uniform"},
            {"schema": {"note": "text"}, "scale": False},
            {"method": "landmarks", "landmarks": 60},
        ],
        ids=str,
    )
    def test_round_trip(self, settings: dict[str, Any], tmp_path: Path) -> None:
        X, y = mixed()
        clf = SVMClassifier(**settings).fit(X, y)
        clf.save(tmp_path / "m.likely")
        other = likely.load(tmp_path / "m.likely")
        assert other.get_params() == clf.get_params()
        np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))
        np.testing.assert_array_equal(other.decision_function(X), clf.decision_function(X))
        assert other.margin_ == clf.margin_
        assert other.kernel_ == clf.kernel_
        assert (other.cases(X, y) == clf.cases(X, y)).all(axis=None)
        if clf.method_ == "exact":
            np.testing.assert_array_equal(other.alpha_, clf.alpha_)
        clone(other).fit(X, y)

    def test_hard_margins_many_classes_and_sparse_rows(self, tmp_path: Path) -> None:
        X, y = load_digits(return_X_y=True)
        for table, settings in ((X[:300], {"C": "hard"}), (sparse.csr_array(X[:300]), {"kernel": "linear"})):
            clf = SVMClassifier(**settings).fit(table, y[:300])
            clf.save(tmp_path / "m.likely")
            other = likely.load(tmp_path / "m.likely")
            np.testing.assert_array_equal(other.predict_proba(table), clf.predict_proba(table))
            assert other.C_ == clf.C_
