"""Class labels come back as the array they were; those that cannot are told when they are learned."""

from __future__ import annotations

import enum
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely import (
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    ModelFileError,
    SVMClassifier,
    TreeClassifier,
)
from likely.errors import SettingsError
from likely.models.classifier import UnsavedWarning
from likely.store.plain import read_labels, write_labels
from likely.table import encode_labels

N = 24
X = {"a": np.arange(N, dtype=float), "b": ["x", "y", "y"] * (N // 3)}
PLACES = np.arange(N) % 2


class Colour(enum.Enum):
    """Labels that only their own program knows."""

    RED = 1
    BLUE = 2


def labels(*pair: Any, dtype: Any = None) -> Any:
    return np.array(pair, dtype=dtype)[PLACES]


ARRAYS = {
    **{unit: labels("2024-01-01", "2024-03-02", dtype=f"M8[{unit}]") for unit in ("D", "s", "ms", "us", "ns", "25us")},
    "month": labels("2024-01", "2025-02", dtype="M8[M]"),
    "beyond Python's years": labels(-(10**6), 10**6, dtype="M8[Y]"),
    "span": labels(5, 9, dtype="m8[ns]"),
    **{
        kind: labels(1, 100, dtype=kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4", "f8", ">i4")
    },
    "u8": labels(1, 2**64 - 1, dtype="u8"),
    "bool": labels(False, True),
    "strings": labels("no", "perhaps"),
    "roomy strings": labels("no", "yes", dtype="U40"),
    "bytes": labels(b"no", b"yes"),
    "roomy bytes": labels(b"no", b"yes", dtype="S9"),
    "mixed": np.array([1, "one", 1.5, True, date(2024, 1, 1), Decimal("1.10"), Fraction(1, 3), (1, "a")] * 3, object),
    "nanoseconds as objects": np.array([np.datetime64(1, "ns"), "x"] * (N // 2), object),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("classifier", [BayesClassifier(), TreeClassifier()], ids=lambda clf: type(clf).__name__)
def test_labels_come_back_as_they_were(name: str, classifier: Any, tmp_path: Path) -> None:
    clf = classifier.fit(X, ARRAYS[name])
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert again.classes_.dtype == clf.classes_.dtype
    assert list(map(type, again.classes_)) == list(map(type, clf.classes_))
    assert (again.classes_ == clf.classes_).all()
    assert again.predict(X).dtype == clf.predict(X).dtype


def test_dates_of_a_loaded_model_are_learned_on(tmp_path: Path) -> None:
    clf = BayesClassifier().fit(X, ARRAYS["ns"])
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely").partial_fit(X, ARRAYS["ns"])
    assert again.classes_.dtype == "M8[ns]" and len(again.classes_) == 2


def test_labels_without_a_width_are_read_as_before() -> None:
    for kind, values, dtype in (
        ("i", [1, 2], "i8"),
        ("f", [1.0, 2.0], "f8"),
        ("b", [False, True], "?"),
        ("U", ["a"], "U1"),
    ):
        assert read_labels({"type": kind, "of": values}).dtype == np.dtype(dtype)
    assert read_labels({"type": "M", "of": [{"$": "datetime", "of": "2024-01-01"}]}).dtype == object


@pytest.mark.parametrize(
    "data",
    [
        {"type": "i", "dtype": "<i1", "of": [1, 300]},
        {"type": "i", "dtype": "<f8", "of": [1, 2]},
        {"type": "i", "dtype": "<i8", "of": [True, 2]},
        {"type": "i", "dtype": "O", "of": [1, 2]},
        {"type": "f", "dtype": "<f2", "of": [1e300, 2.0]},
        {"type": "M", "dtype": "ns]", "of": [1, 2]},
        {"type": "M", "dtype": "ns", "of": [1, -(2**63)]},
        {"type": "M", "dtype": "ns", "of": [1, "2"]},
        {"type": "O", "dtype": "|O", "of": [1, None]},
    ],
    ids=str,
)
def test_made_up_labels_are_refused(data: Any) -> None:
    with pytest.raises((ModelFileError, OverflowError)):
        read_labels(data)


def test_strings_cannot_ask_for_more_room_than_there_is() -> None:
    assert read_labels({"type": "U", "dtype": "<U999999999", "of": ["a", "b"]}).dtype == "U1"
    assert read_labels(write_labels(np.array(["a", "b"], dtype="U5"))).dtype == "U5"


ODD = {
    "Interval": pd.cut(np.arange(N, dtype=float), 2),
    "Colour": np.array([Colour.RED, Colour.BLUE], object)[PLACES],
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(
    "classifier",
    [BayesClassifier(), FullBayesClassifier(), TreeClassifier(), EvidenceClassifier(), SVMClassifier()],
    ids=lambda clf: type(clf).__name__,
)
def test_labels_that_no_file_holds_are_told_once_when_they_are_learned(
    name: str, classifier: Any, tmp_path: Path
) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        clf = classifier.fit(X, ODD[name])
    assert [warning.category for warning in told] == [UnsavedWarning]
    assert name in str(told[0].message) and "save() will refuse" in str(told[0].message)
    assert told[0].filename == __file__
    assert len(clf.predict(X)) == N
    with pytest.raises(SettingsError, match=name):
        clf.save(tmp_path / "m.likely")
    assert not list(tmp_path.iterdir())


def test_labels_of_a_type_that_a_file_holds_are_not_told() -> None:
    for name, y in ARRAYS.items():
        assert len(encode_labels(y).classes), name
        BayesClassifier().fit(X, y)
