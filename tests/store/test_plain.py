"""Values, settings and labels as JSON: what comes back, and where the limits are."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from likely.decide import Loss
from likely.errors import ModelFileError, SettingsError
from likely.families.smoothing import Laplace, MEstimate
from likely.store.plain import from_plain, is_plain_number, read_labels, to_plain, unsaved_type, write_labels
from likely.text import Tokenizer

MOST = 400
"""Digits of a number."""

LEVELS = 50
"""How deeply values may be nested."""


def again(value: Any) -> Any:
    return from_plain(json.loads(json.dumps(to_plain(value), allow_nan=False)))


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, -1, "", "text", 0.1, -0.0, 5e-324, float("inf"), float("-inf"), b"", b"\x00\xff",
        date(1, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4), datetime(2024, 1, 1, tzinfo=UTC), time(23, 59, 59, 999_999),
        timedelta(-3, 5, 7), timedelta.max, Decimal("1.10"), Decimal("-Infinity"), Fraction(-2, 3), Fraction(7),
        (), (1, (2, "x")), [1, [2]], [], frozenset(), frozenset({1, "a"}), {}, {"a": 1, 2: (3,), None: {"b": b"c"}},
        np.datetime64("2024-01-01", "D"), np.datetime64(-7, "25us"), np.timedelta64(5, "ns"), np.timedelta64(5, "Y"),
        Laplace(0.5), MEstimate(3.0), MEstimate(3.0, p={"Ulm": 0.25, "Bonn": 0.75}),
        Tokenizer(lowercase=False, ngram_range=(1, 2)), Tokenizer(),
    ],
)  # fmt: skip
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    found = again(value)
    assert type(found) is type(value) and found == value
    assert isinstance(value, frozenset) or repr(found) == repr(value)


def test_values_of_numpy_come_back_as_those_of_python() -> None:
    for value in (np.float32(0.5), np.int8(-3), np.bool_(True), np.str_("x"), np.array([[1.0, 2.0]]), np.array(3)):
        found = again(value)
        assert type(found) is type(value.tolist()) and found == value.tolist()


def test_any_mapping_is_a_dict_and_a_set_has_one_order() -> None:
    assert again(OrderedDict(b=1, a=2)) == {"b": 1, "a": 2}
    assert list(again(OrderedDict(b=1, a=2))) == ["b", "a"]
    words = [f"w{n}" for n in range(50)]
    assert to_plain(frozenset(words)) == {"$": "frozenset", "of": sorted(words)}


def test_a_loss_comes_back_whole() -> None:
    loss = Loss({"p": {"x": 0, "y": 5}, "q": {"x": 1, "y": 0}, "ask": {"x": 2, "y": 2.5}}, refuse=0.5)
    found = again(loss)
    assert isinstance(found, Loss) and found.decisions == loss.decisions and found.truths == loss.truths
    assert np.asarray(found.costs).tolist() == np.asarray(loss.costs).tolist() and found.refuse == 0.5


@pytest.mark.parametrize(
    "value", [object(), 1j, {1, 2}, range(3), type, np.datetime64("NaT", "D"), Decimal("NaN"), Decimal("sNaN")]
)
def test_what_could_not_be_read_back_is_refused_when_it_is_written(value: Any) -> None:
    with pytest.raises(SettingsError):
        to_plain(value)


# Limits, to the last digit and level.


@pytest.mark.parametrize(
    ("longest", "longer"),
    [
        (10**MOST - 1, 10**MOST),
        (1 - 10**MOST, -(10**MOST)),
        (Decimal("9" * MOST), Decimal("9" * (MOST + 1))),
        (Decimal("0." + "0" * (MOST - 3) + "1"), Decimal(f"1e-{MOST + 1}")),
        (Decimal(f"1e{MOST}"), Decimal(f"1e{MOST + 1}")),
        (Decimal(f"1e-{MOST}"), Decimal(f"1e-{MOST + 1}")),
        (Decimal(f"0e{MOST + 1}"), Decimal(f"-1e{MOST + 1}")),
        (Fraction(10**MOST - 1, 10 ** (MOST - 1) - 1), Fraction(10**MOST - 1, 10**MOST - 2)),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_longest_numbers_come_back_and_longer_ones_are_refused(longest: Any, longer: Any) -> None:
    found = again(longest)
    assert type(found) is type(longest) and found == longest
    with pytest.raises(SettingsError, match="cannot"):
        to_plain(longer)


def test_a_fraction_has_so_many_digits_in_all() -> None:
    half = "7" * (MOST - 1)
    assert from_plain({"$": "fraction", "of": f"-{half}/{half}"}) == -1
    for of in (f"-{half}/{half}77", "7" * (2 * MOST + 1), "1e5", "1.5", "", "1/", 3):
        with pytest.raises(ModelFileError, match="fraction"):
            from_plain({"$": "fraction", "of": of})


def nested(how: str, levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"tuple": (value,), "list": [value], "value": {"a": value}}[how]
    return value


def plainly(how: str, levels: int) -> Any:
    """The same as it lies in a file."""
    value: Any = 1
    for _ in range(levels):
        of = {"tuple": [value], "list": [value], "value": [["a", value]]}[how]
        value = {"$": how if how in ("tuple", "list") else "dict", "of": of}
    return value


@pytest.mark.parametrize("how", ["tuple", "list", "value"])
def test_values_are_nested_so_deeply_and_no_deeper(how: str) -> None:
    assert to_plain(nested(how, LEVELS)) == plainly(how, LEVELS)
    assert from_plain(plainly(how, LEVELS)) == nested(how, LEVELS)
    with pytest.raises(SettingsError, match="too deeply"):
        to_plain(nested(how, LEVELS + 1))
    with pytest.raises(ModelFileError, match="too deeply"):
        from_plain(plainly(how, LEVELS + 1))


def test_keys_and_settings_are_as_deep_as_their_parts() -> None:
    deep = nested("tuple", LEVELS - 1)
    assert again({deep: 1}) == {deep: 1}
    with pytest.raises(SettingsError, match="too deeply"):
        to_plain({(deep,): 1})
    with pytest.raises(ModelFileError, match="too deeply"):
        from_plain({"$": "dict", "of": [[plainly("tuple", LEVELS), 1]]})
    shares = {nested("tuple", LEVELS - 2): 1.0}
    assert again(MEstimate(1.0, p=shares)) == MEstimate(1.0, p=shares)
    with pytest.raises(SettingsError, match="too deeply"):
        to_plain(MEstimate(1.0, p={nested("tuple", LEVELS - 1): 1.0}))
    with pytest.raises(ModelFileError, match="too deeply"):
        from_plain({"$": "m-estimate", "of": [1.0, {"$": "dict", "of": [[plainly("tuple", LEVELS - 1), 1.0]]}]})


# What stands in a file where a value belongs.


@pytest.mark.parametrize(
    "data",
    [
        [], [1], {}, {"$": "tuple"}, {"of": []}, {"$": "tuple", "of": [], "more": 1}, {"$": 3, "of": []},
        {"$": ["tuple"], "of": []}, {"$": "nosuch", "of": []}, {"$": "tuple", "of": 3}, {"$": "dict", "of": [[1]]},
        {"$": "dict", "of": [[{"$": "list", "of": []}, 1]]}, {"$": "float", "of": "one"}, {"$": "float", "of": 1.0},
        {"$": "bytes", "of": "0"}, {"$": "date", "of": "2024-02-30"}, {"$": "decimal", "of": "one"},
        {"$": "decimal", "of": "NaN"}, {"$": "decimal", "of": "1" * (MOST + 1)},
        {"$": "decimal", "of": f"1e{MOST + 1}"},
        {"$": "timedelta", "of": [1, 2]}, {"$": "timedelta", "of": [True, 0, 0]}, {"$": "timedelta", "of": [0.5, 0, 0]},
        {"$": "datetime64", "of": ["ns", 1.5]}, {"$": "datetime64", "of": ["ns", True]},
        {"$": "datetime64", "of": [3, 1]},
        {"$": "datetime64", "of": ["parsec", 1]}, {"$": "datetime64", "of": ["ns]", 1]},
        {"$": "datetime64", "of": ["ns"]},
        {"$": "datetime64", "of": ["1000000000s", 1]}, {"$": "timedelta64", "of": ["s", -(2**63)]},
        {"$": "datetime64", "of": ["s", 2**63]}, {"$": "laplace", "of": "x"}, {"$": "m-estimate", "of": [1]},
        {"$": "recipe", "of": {"nosuch": 1}}, {"$": "recipe", "of": 3}, {"$": "loss", "of": []},
    ],
    ids=lambda data: str(data)[:40],
)  # fmt: skip
def test_what_is_no_value_is_refused(data: Any) -> None:
    with pytest.raises(ModelFileError):
        from_plain(data)


def test_only_numbers_that_json_has_are_plain() -> None:
    assert all(map(is_plain_number, (0, -5, 1.5, 10**MOST - 1)))
    assert not any(map(is_plain_number, (True, "1", None, float("nan"), float("inf"), Decimal(1), np.float64(1.0))))
    with pytest.raises(SettingsError, match="400 digits"):
        is_plain_number(10**MOST)


# Labels.


def test_labels_are_written_with_the_type_of_their_array() -> None:
    assert write_labels(np.array([1, 2], dtype="<i4")) == {"type": "i", "dtype": "<i4", "of": [1, 2]}
    assert write_labels(np.array([3, -4], dtype="M8[ns]")) == {"type": "M", "dtype": "ns", "of": [3, -4]}
    assert write_labels(np.array([3], dtype="m8[25us]")) == {"type": "m", "dtype": "25us", "of": [3]}
    assert write_labels(np.array(["a", (1,)], dtype=object)) == {
        "type": "O", "dtype": "|O", "of": ["a", {"$": "tuple", "of": [1]}],
    }  # fmt: skip


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -4], dtype="M8[2s]"), np.array([3, -4], dtype="m8[h]"), np.array([1, 2], dtype=">u2"),
        np.array([0.5, 1.5], dtype="f2"), np.array([False, True]), np.array(["a"], dtype="U7"), np.array([b"", b"x"]),
        np.array([b"x"], dtype="S3"), np.array(["", "longer"]), np.array(["x", 1, True], dtype=object),
        np.array([1, 1.5], dtype=object), np.array([(1, "a"), (2, "b")], dtype="O,O").astype(object),
        np.array([], dtype="<i8"),
    ],
    ids=lambda labels: str(labels.dtype),
)  # fmt: skip
def test_labels_come_back_with_the_type_of_their_array(labels: Any) -> None:
    found = read_labels(json.loads(json.dumps(write_labels(labels), allow_nan=False)))
    assert found.dtype == labels.dtype and found.shape == labels.shape
    assert found.tolist() == labels.tolist() and [type(x) for x in found] == [type(x) for x in labels]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"type": "i", "dtype": "<i8", "of": [1, 1]}, "twice"),
        ({"type": "U", "dtype": "<U1", "of": ["a", "a"]}, "twice"),
        ({"type": "O", "dtype": "|O", "of": ["a", "a"]}, "twice"),
        ({"type": "M", "dtype": "s", "of": [3, 3]}, "twice"),
        ({"type": "i", "dtype": "<i8", "of": [1, 1.5]}, "fit"),
        ({"type": "b", "dtype": "|b1", "of": [0, 1]}, "fit"),
        ({"type": "u", "dtype": "<u8", "of": ["1", "2"]}, "fit"),
        ({"type": "f", "dtype": "<f8", "of": ["1", "2"]}, "fit"),
        ({"type": "f", "dtype": "<f4", "of": [0.1, 1]}, "fit"),
        ({"type": "f", "dtype": "<f8", "of": [1, True]}, "twice"),
        ({"type": "U", "dtype": "<U9", "of": ["a", 1]}, "fit"),
        ({"type": "S", "dtype": "|S9", "of": ["a", "b"]}, "fit"),
        ({"type": "O", "dtype": "|O", "of": ["a", {"$": "decimal", "of": "NaN"}]}, "bad"),
        ({"type": "O", "dtype": "|O", "of": ["a", {"$": "float", "of": "nan"}]}, "fit"),
        ({"type": "O", "dtype": "|O", "of": ["a", None]}, "fit"),
        ({"type": "M", "dtype": "s", "of": [1, 2.0]}, "no dates"),
        ({"type": "M", "dtype": "s", "of": [1, True]}, "no dates"),
        ({"type": "M", "dtype": "s", "of": [1, -(2**63)]}, "fit"),
        ({"type": "M", "dtype": "fortnight", "of": [1, 2]}, "unit"),
        ({"type": "i", "dtype": "<u8", "of": [1, 2]}, "type that no labels have"),
        ({"type": "i", "dtype": "<i16", "of": [1, 2]}, "type that no labels have"),
        ({"type": "i", "dtype": 8, "of": [1, 2]}, "type that no labels have"),
    ],
    ids=str,
)
def test_labels_that_do_not_fit_their_type_are_refused(data: Any, why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        read_labels(data)


def test_files_that_do_not_say_how_wide_labels_are_have_the_widest() -> None:
    for kind, values, dtype in (("i", [1], "<i8"), ("u", [1], "<u8"), ("f", [1.0], "<f8"), ("b", [True], "|b1")):
        assert read_labels({"type": kind, "of": values}).dtype == np.dtype(dtype)
    assert read_labels({"type": "U", "of": ["a", "abc"]}).dtype == "U3"
    for kind, value in (("S", {"$": "bytes", "of": "00"}), ("M", {"$": "datetime", "of": "2024-01-01"}), ("O", 1)):
        assert read_labels({"type": kind, "of": [value]}).dtype == object


@pytest.mark.parametrize(("kind", "value"), [("U", "a"), ("S", {"$": "bytes", "of": "61"})])
def test_labels_have_the_room_that_they_had_up_to_a_million_letters(kind: str, value: object) -> None:
    def width(told: object, n: int = 1) -> int:
        more = [{"$": "bytes", "of": f"{k:02x}"} if kind == "S" else str(k) for k in range(1, n)]
        found = read_labels({"type": kind, "dtype": told, "of": [value, *more]})
        return found.dtype.itemsize // (4 if kind == "U" else 1)

    order = "<" if kind == "U" else "|"
    assert [width(f"{order}{kind}{n}") for n in (0, 1, 2, 40, 1 << 20)] == [1, 1, 2, 40, 1 << 20]
    assert width(f"{order}{kind}{(1 << 20) + 1}") == 1
    assert width(f"{order}{kind}{1 << 18}", 4) == 1 << 18 and width(f"{order}{kind}{1 << 18}", 5) == 1
    for odd in (f"{order}{kind}999999999", f"{order}{kind}9999999999", f"{order}X40", 40, None, f"{order}{kind}", "<"):
        assert (kind == "S" and odd is None) or width(odd) == 1


def test_a_label_that_no_file_holds_is_named_by_its_type() -> None:
    assert unsaved_type(np.array(["a", 1j, object()], dtype=object)) == "complex"
    assert unsaved_type(np.array(["a", 1, (2, "b")], dtype=object)) is None
    assert unsaved_type(np.array([1.0, 2.0])) is None and unsaved_type(np.array(["a"])) is None
