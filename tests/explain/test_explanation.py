"""Explanations add up, say what was not known, and can be read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from likely import BayesClassifier
from likely.errors import SettingsError
from likely.explain import Explanation
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather


@pytest.fixture(scope="module")
def mixed() -> tuple[BayesClassifier, pd.DataFrame]:
    X, y = weather()
    return BayesClassifier(families=FAMILIES).fit(X, y), X


@pytest.fixture(scope="module")
def patients() -> BayesClassifier:
    table = datasets.patients()
    return BayesClassifier(smoothing=0).fit(table, table.pop("drug"))


@pytest.mark.parametrize(
    "settings", [{}, {"missing": "value", "unseen": "smooth"}, {"smoothing": 0.0, "priors": "uniform"}]
)
def test_contributions_add_up(settings: dict[str, object]) -> None:
    X, y = weather()
    clf = BayesClassifier(families=FAMILIES, **settings).fit(X, y)
    new = X[:30].copy()
    new.loc[3, "sky"] = "green"
    why = clf.explain(new)
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(why.posterior, clf.predict_proba(new), rtol=0, atol=1e-9)
    assert why.contributions.shape == (30, 5, 3)
    assert len(why) == 30


def test_gaps_unseen_and_impossible_values_are_listed(mixed: tuple[BayesClassifier, pd.DataFrame]) -> None:
    clf, _ = mixed
    row = {"pressure": [np.nan], "sky": ["green"], "calls": [-1.0], "income": [0.0], "late": [1.0]}
    why = clf.explain(row)
    assert why.statuses == (("gap", "unseen", "outside", "outside", "known"),)
    assert why.notes == [
        (0, "pressure", None, "gap"),
        (0, "sky", "green", "unseen"),
        (0, "calls", -1, "outside"),
        (0, "income", 0, "outside"),
    ]
    assert not why.contributions[0, :4].any()
    text = str(why)
    for words in ("pressure (gap)", "sky = green (never seen)", "calls = -1 (out of range)", "late = 1"):
        assert words in text
    assert why.to_frame()["status"].tolist()[1:6] == ["gap", "unseen", "outside", "outside", "known"]


def test_a_gap_that_is_evidence_is_still_called_a_gap() -> None:
    X, y = weather()
    clf = BayesClassifier(missing="value").fit(X, y)
    why = clf.explain({**{name: [None] for name in X.columns}})
    assert set(why.statuses[0]) == {"gap"}
    assert why.contributions.any()


def test_the_blackboard_shows_every_factor_as_probability_and_as_logarithm(patients: BayesClassifier) -> None:
    why = patients.explain({"sex": ["male"], "age": [61], "blood_pressure": ["normal"]})
    assert why.blackboard().splitlines() == [
        "factor                           A      log        B      log",
        "prior                          0.5  -0.6931      0.5  -0.6931",
        "age = 61                  0.004787  -5.3418  0.01712  -4.0675",
        "sex = male                     0.5  -0.6931      0.5  -0.6931",
        "blood_pressure = normal        0.5  -0.6931      0.5  -0.6931",
        "product                  0.0005984  -7.4212  0.00214  -6.1470",
        "posterior                   0.2185            0.7815",
    ]
    assert str(why).splitlines()[2] == "age = 61                  0.004787  0.01712"


def test_a_zero_stays_a_zero(patients: BayesClassifier) -> None:
    why = patients.explain({"sex": ["male"], "age": [61], "blood_pressure": ["low"]})
    assert why.joint[0, 0] == -np.inf
    assert why.posterior.tolist() == [[0.0, 1.0]]
    assert "−∞" in why.blackboard()


def test_no_row_and_other_rows_are_refused(patients: BayesClassifier) -> None:
    why = patients.explain({"sex": ["male"], "age": [61], "blood_pressure": ["low"]})
    with pytest.raises(SettingsError, match="no row 1"):
        why.row_factors(1)
    with pytest.raises(SettingsError, match="'bars' and 'odds'"):
        why.plot("pie")  # type: ignore[call-overload]


def test_many_columns_and_classes_are_condensed_and_still_add_up() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 50)), rng.integers(0, 25, 400)
    X[:, 0] += y
    why = BayesClassifier().fit(X, y).explain(X[:2])
    found = why.row_factors(0)
    assert len(found.lines) == 1 + 16
    assert len(found.classes) == 10
    assert (found.columns_left_out, found.classes_left_out) == (35, 15)
    np.testing.assert_allclose(sum(line.logs for line in found.lines), found.joint, atol=1e-9)
    assert found.posterior.sum() + found.mass_left_out == pytest.approx(1.0)
    assert "x0 = " in str(why)
    assert "35 weaker contributions together" in str(why)
    assert "15 less probable classes" in str(why)
    whole = why.row_factors(0, columns=50, classes=25)
    assert len(whole.lines) == 51
    assert len(whole.classes) == 25


def test_long_cells_are_cut_and_stay_on_one_line() -> None:
    letter = "Dear all,\n" + "many words " * 50
    clf = BayesClassifier(schema={"body": "nominal"}).fit({"body": ["a", letter]}, ["x", "y"])
    lines = str(clf.explain({"body": [letter]})).splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) < 90


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_wide_sparse_rows_are_explained_by_what_they_hold(family: str) -> None:
    rng = np.random.default_rng(1)
    X = sparse.random_array((60, 3000), density=0.01, rng=rng, format="csr")
    X.data = np.ceil(3.0 * X.data)
    y = rng.integers(0, 3, 60)
    clf = BayesClassifier(families=family).fit(X, y)
    why = clf.explain(X[:3])
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(X[:3]), atol=1e-9)
    assert len(why.columns) < 120
    assert why.columns[-1].endswith("columns that are zero in these rows")


def test_columns_that_speak_together_make_one_contribution() -> None:
    X, y = weather()
    clf = BayesClassifier().fit(X[["pressure", "income"]], y)
    model = clf.model_

    class Together:
        """A stand-in for a belief whose evidence cannot be told apart by column."""

        whole = True
        name = "together"
        columns = ("pressure", "income")
        bind = model.beliefs[0].bind

    tied = type(model)(model.classes, model.columns, model.prior, (Together(),))  # type: ignore[arg-type]
    why = Explanation.of(tied, clf._read(X[:5].assign(income=[1.0, 2.0, np.nan, 3.0, 4.0])))
    assert why.columns == ("pressure, income",)
    assert why.status(2, 0) == "partly"
    np.testing.assert_allclose(
        why.joint, clf.predict_joint_log_proba(X[:5].assign(income=[1.0, 2.0, np.nan, 3.0, 4.0]))
    )
    assert "pressure, income = " in str(why)


def test_names_and_values_are_escaped() -> None:
    evil = "<script>alert('&')</script>"
    clf = BayesClassifier().fit({evil: ["a", evil, "a"]}, [evil, "b", "b"])
    why = clf.explain({evil: [evil]})
    for page in (
        why._repr_html_(),
        why.contrast("b")._repr_html_(),
        clf.nomogram("b")._repr_html_(),
        clf._repr_html_(),
    ):
        assert "<script" not in page
        assert "&lt;script&gt;" in page


# How a fitted classifier shows itself


def test_a_fitted_classifier_shows_what_it_learned_and_an_unfitted_one_its_parameters() -> None:
    X, y = weather()
    clf = BayesClassifier(smoothing=0.5)
    for page in (clf._repr_html_(), clf._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in page
        assert "learned from" not in page
    clf.fit(X, y)
    page = clf._repr_html_()
    assert page == clf._repr_mimebundle_()["text/html"]
    for words in ("240 rows, 3 classes and 5 columns", "rain", "prior", "gaussian", "BayesClassifier(smoothing=0.5)"):
        assert words in page


def test_many_classes_and_columns_do_not_flood_the_notebook() -> None:
    X, y = np.random.default_rng(0).normal(size=(200, 60)), np.arange(200) % 40
    page = BayesClassifier().fit(X, y)._repr_html_()
    assert "28 more classes" in page
    assert "30 more columns" in page


def test_a_row_may_be_a_dict_of_scalars_or_a_series(patients: BayesClassifier) -> None:
    row = {"sex": "male", "age": 61, "blood_pressure": "normal"}
    whole = patients.explain({name: [cell] for name, cell in row.items()})
    for one in (row, pd.Series(row), pd.DataFrame([row]).iloc[0], [row]):
        np.testing.assert_array_equal(patients.explain(one).contributions, whole.contributions)
        np.testing.assert_allclose(patients.predict_proba(one), whole.posterior, rtol=1e-14)
    assert patients.next_measurement({"sex": "male", "age": None})["column"].tolist()[0] == "blood_pressure"


def test_what_stands_for_an_explanation_is_short(patients: BayesClassifier) -> None:
    why = patients.explain({"sex": "male", "age": 61, "blood_pressure": "normal"})
    assert repr(why) == "Explanation of 1 row by 3 contributions to 2 classes"
    assert repr(why.contrast("A")) == "Contrast of A against B in 1 row by 3 contributions"
