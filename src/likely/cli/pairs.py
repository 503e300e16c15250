"""Values as they are written on a command line: lists, pairs of a name and a value, labels, numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any

from likely.errors import SettingsError, did_you_mean, listed


def listed_in(given: Sequence[str] | None) -> list[str] | None:
    """Names in an option that may be repeated, each time with several names between commas (quoted if need be)."""
    if not given:
        return None
    return [name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line]


def pairs_in(option: str, given: Iterable[str], example: str) -> dict[str, str]:
    """`name=value` of an option that may be repeated; the last `=` divides, since names may hold one."""
    found = {}
    for pair in given:
        name, mark, value = pair.rpartition("=")
        if not mark or not name:
            raise SettingsError(f"{option} is {pair!r}, but it has the form NAME=VALUE, as in {option} {example}.")
        found[name] = value
    return found


def number_in(option: str, text: str) -> float:
    """A number, or an error that names the option."""
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{option} is {text!r}, but it takes a number.") from None


def label_among(text: str, classes: Sequence[Any]) -> Any:
    """The class that is written like this."""
    for label in classes:
        if str(label) == text:
            return label
    names = [str(label) for label in classes]
    raise SettingsError(f"There is no class {text!r}; the classes are {listed(names)}.{did_you_mean(text, names)}")


def label_of_type(text: str, kind: str) -> Any:
    """A label as a table in files has it, by what the column of labels seems to hold."""
    try:
        if "int" in kind:
            return int(text)
        if kind == "number" or kind in ("float", "double"):
            return float(text)
    except ValueError:
        return text
    if kind in ("truth", "bool") and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text
