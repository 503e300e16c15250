"""Every setting of every classifier has its type and range, and `fit` and `load` check the same."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import likely
from likely.errors import SettingsError
from likely.models.registry import entries
from likely.models.settings import check_settings

X = np.arange(16.0).reshape(8, 2)
Y = [0, 1] * 4
CLASSIFIERS = {entry.kind: entry.load() for entry in entries()}


def test_every_classifier_that_can_be_saved_has_all_of_its_settings_here() -> None:
    for name, kind in CLASSIFIERS.items():
        assert set(kind.setting_checks) == set(kind().get_params(deep=False)), name


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_usual_settings_are_fine(name: str) -> None:
    check_settings(CLASSIFIERS[name]())


STRANGE: list[Any] = [object(), {1: object()}, Decimal("sNaN"), 1j, float("nan"), b"?", Fraction(10**400)]
FREE = {"classifier", "loss"}
"""What says itself what is wrong with it."""


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_no_setting_takes_what_is_none(name: str) -> None:
    for setting in CLASSIFIERS[name].setting_checks:
        for strange in STRANGE if setting not in FREE else ():
            with pytest.raises(SettingsError):
                check_settings(CLASSIFIERS[name](**{setting: strange}))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("BayesClassifier", {"bins": 400_000_000}),
        ("BayesClassifier", {"bins": True}),
        ("BayesClassifier", {"variance_floor": Decimal("sNaN")}),
        ("BayesClassifier", {"smoothing": 10**399}),
        ("BayesClassifier", {"normalise": "no"}),
        ("FullBayesClassifier", {"shrinkage": 2}),
        ("AODEClassifier", {"min_cases": "many"}),
        ("EvidenceClassifier", {"progress": 3}),
        ("TreeClassifier", {"raising": "yes"}),
        ("SVMClassifier", {"class_weight": {0: -1}}),
        ("CalibratedClassifier", {"method": ["isotonic"]}),
        ("ConvNetClassifier", {"epochs": 0}),
    ],
)
def test_fit_refuses_what_load_refuses(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        CLASSIFIERS[name](**settings).fit(X, Y)


def test_numbers_of_numpy_are_numbers() -> None:
    for kind in (np.int64, np.float32, np.float64):
        likely.BayesClassifier(smoothing=kind(1), variance_floor=kind(0)).fit(X, Y)
    likely.AODEClassifier(bins=np.int16(3), min_cases=np.float32(1.0)).fit(X, Y)
