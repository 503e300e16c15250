"""Points that are read off and added give predict_proba."""

from __future__ import annotations

import numpy as np
import pytest

from likely import BayesClassifier, FullBayesClassifier
from likely.errors import SchemaError, SettingsError
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather


def rows_of(X) -> list[dict[str, object]]:  # type: ignore[no-untyped-def]
    return [{name: None if cell != cell else cell for name, cell in row.items()} for row in X.to_dict("records")]


@pytest.mark.parametrize("settings", [{}, {"missing": "value", "unseen": "smooth"}])
def test_two_classes(settings: dict[str, object]) -> None:
    X, y = weather(classes=("dry", "rain"))
    clf = BayesClassifier(families=FAMILIES, **settings).fit(X, y)
    sheet = clf.nomogram()
    assert (sheet.target, sheet.rivals) == ("rain", ("dry",))
    read = [sheet.probability(sheet.total(row)) for row in rows_of(X[:40])]
    np.testing.assert_allclose(read, clf.predict_proba(X[:40])[:, 1], atol=1e-12)


@pytest.mark.parametrize("target", ["dry", "rain", "snow"])
def test_one_class_against_the_rest(target: str) -> None:
    X, y = weather()
    clf = BayesClassifier(families=FAMILIES).fit(X, y)
    sheet = clf.nomogram(target)
    place = clf.classes_.tolist().index(target)
    read = [sheet.probability(sheet.total(row)) for row in rows_of(X[:40])]
    np.testing.assert_allclose(read, clf.predict_proba(X[:40])[:, place], atol=1e-12)


def test_the_printed_numbers_alone_are_enough() -> None:
    """Only what to_frame shows is used: nominal points as they stand, numbers between two marks by interpolation."""
    table = datasets.patients()
    clf = BayesClassifier().fit(table, table.pop("drug"))
    printed = clf.nomogram("A").to_frame()
    points = printed.set_index("column")["against B"]
    age = printed[printed["column"] == "age"]

    def read(sex: str, years: float, pressure: str) -> float:
        total = points["start"]
        for column, value in (("sex", sex), ("blood_pressure", pressure)):
            total += printed[(printed["column"] == column) & (printed["value"] == value)]["against B"].item()
        total += np.interp(years, age["value"].astype(float), age["against B"])
        return float(1.0 / (1.0 + np.exp(-total)))

    patients = {"sex": ["male", "female"], "age": [61, 30], "blood_pressure": ["normal", "high"]}
    read_off = [read(*cells) for cells in zip(*patients.values(), strict=True)]
    np.testing.assert_allclose(read_off, clf.predict_proba(patients)[:, 0], atol=1e-3)


def test_a_zero_is_an_infinity_of_points() -> None:
    table = datasets.patients()
    clf = BayesClassifier(smoothing=0).fit(table, table.pop("drug"))
    sheet = clf.nomogram("A")
    assert sheet.points("blood_pressure", "low").tolist() == [-np.inf]
    assert sheet.probability(sheet.total({"blood_pressure": "low"})) == 0.0
    assert sheet.probability(sheet.total({"blood_pressure": "high"})) == 1.0
    assert sheet.scales[2].spread() == np.inf


def test_counts_of_words_have_points_per_occurrence() -> None:
    X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    clf = BayesClassifier(families="multinomial").fit(X, ["a", "b"])
    sheet = clf.nomogram("b")
    assert sheet.points("x1", 2.0) == pytest.approx(2.0 * sheet.points("x1", 1.0))
    row = {"x0": 1.0, "x1": 2.0, "x2": 0.0}
    assert sheet.probability(sheet.total(row)) == pytest.approx(clf.predict_proba([[1.0, 2.0, 0.0]])[0, 1])


def test_what_no_sheet_can_show_is_refused() -> None:
    X, y = weather()
    clf = BayesClassifier().fit(X, y)
    with pytest.raises(SettingsError, match="which class"):
        clf.nomogram()
    with pytest.raises(SchemaError, match=r"'presure'.*Did you mean 'pressure'"):
        clf.nomogram("rain").points("presure", 1.0)
    with pytest.raises(SchemaError, match="'hail'"):
        clf.nomogram("rain").total({"hail": 1})
    with pytest.raises(SettingsError, match="speak together"):
        FullBayesClassifier().fit(X[["pressure", "income"]], y).nomogram("rain")
