"""Values that JSON has no word for, as text or small lists, and back: none that takes long to read or to compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from likely.errors import ModelFileError, SettingsError

LONGEST_NUMBER = 400
"""Digits of a number in a file: a few letters more, and it could be one that no computer can hold."""

FRACTION = re.compile(r"-?\d+(/\d+)?")
SPAN = re.compile(r"(\d{1,9})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as|generic)")
"""What a date or a span of time of NumPy is counted in: nanoseconds, or steps of 25 microseconds."""


def _read_decimal(text: str) -> Decimal:
    """A decimal that can be compared and made a whole number in no time, and that is no gap."""
    number = Decimal(text) if len(text) <= LONGEST_NUMBER else Decimal("nan")
    if number.is_nan() or (number.is_finite() and number and abs(number.adjusted()) > LONGEST_NUMBER):
        raise ValueError("a decimal that is nothing, or too long")
    return number


def _read_fraction(text: str) -> Fraction:
    """Digits over digits: of an exponent Python would make as many digits as it says."""
    if len(text) > 2 * LONGEST_NUMBER or not FRACTION.fullmatch(text):
        raise ValueError("no fraction")
    return Fraction(text)


def _read_timedelta(of: list[int]) -> timedelta:
    days, seconds, microseconds = of
    if not all(type(part) is int for part in of):
        raise TypeError("no time")
    return timedelta(days, seconds, microseconds)


def _write_ticks(value: np.datetime64 | np.timedelta64) -> list[Any]:
    return [unit_of(value.dtype), int(value.astype(np.int64))]


def unit_of(dtype: np.dtype[Any]) -> str:
    """The unit in which dates or spans of time are counted."""
    unit, step = np.datetime_data(dtype)
    return unit if step == 1 else f"{step}{unit}"


def ticking(letter: str, unit: Any) -> np.dtype[np.generic]:
    """The type of dates ("M") or spans of time ("m") that are counted in a unit which a file names."""
    if not isinstance(unit, str) or not SPAN.fullmatch(unit):
        raise ModelFileError("its document counts time in a unit that there is not")
    return np.dtype(f"{letter}8" if unit == "generic" else f"{letter}8[{unit}]")


def _ticks_reader(letter: str) -> Callable[[Any], Any]:
    def read(of: Any) -> Any:
        unit, ticks = of
        if type(ticks) is not int:
            raise TypeError("no time")
        value = np.array([ticks], dtype=np.int64).view(ticking(letter, unit))[0]
        if np.isnat(value):
            raise ValueError("no time")
        return value

    return read


Scalar = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]

SCALARS: dict[type, Scalar] = {
    float: ("float", float.hex, float.fromhex),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("timedelta", lambda span: [span.days, span.seconds, span.microseconds], _read_timedelta),
    Decimal: ("decimal", str, _read_decimal),
    Fraction: ("fraction", str, _read_fraction),
    np.datetime64: ("datetime64", _write_ticks, _ticks_reader("M")),
    np.timedelta64: ("timedelta64", _write_ticks, _ticks_reader("m")),
}
READERS = {name: read for name, _, read in SCALARS.values()}


def is_plain_number(value: Any) -> bool:
    """Whether JSON has a word for the number; a whole one of too many digits is refused."""
    if type(value) is int and abs(value) >= 10**LONGEST_NUMBER:
        raise SettingsError(f"A whole number of more than {LONGEST_NUMBER} digits cannot be saved in a model file.")
    return type(value) is int or (type(value) is float and math.isfinite(value))


def write_scalar(value: Any) -> tuple[str, Any]:
    """The name of its type, and what is written of the value; refuses what could not be read back."""
    name, write, read = SCALARS[type(value)]
    written = write(value)
    try:
        read(written)
    except (TypeError, ValueError, ArithmeticError):
        raise SettingsError(
            f"A label or setting is a {name} that a model file cannot hold: too long, or none."
        ) from None
    return name, written
