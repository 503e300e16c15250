"""The few errors of the package: each says what is wrong, where, and what to do now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Self

SHOWN_NAMES = 8


class LikelyError(Exception):
    """Anything that `likely` refuses to do; its sentence may be given in parts."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts) if len(parts) < 2 else super().__init__(Message(*parts))

    @property
    def message(self) -> str:
        """What is wrong: a `Message` where it speaks of parameters or of a row, so that every door can word it."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)

    @property
    def about(self) -> About | None:
        """What is wrong, as data, where doors have words of their own for it."""
        return next((part for part in parts_of(self.message) if isinstance(part, About)), None)

    @property
    def place(self) -> AtLine | None:
        """The line of a file that is meant, if it is one."""
        return next((part for part in parts_of(self.message) if isinstance(part, AtLine)), None)


class SchemaError(LikelyError, ValueError):
    """A table does not fit the columns, kinds or names that are expected of it."""


class DataError(LikelyError, ValueError):
    """A value, a label or a weight cannot be learned from or predicted for."""


class BadCell(DataError):
    """A cell that a statistic cannot count: whoever knows the names of the columns says so to the user."""

    def __init__(self, row: int, column: int, cell: float, wanted: str) -> None:
        super().__init__(_about_cell(column, cell), *in_column(row, column), f" holds {cell:g}, but {wanted}.")
        self.row, self.column, self.cell, self.wanted = row, column, cell, wanted

    def named(self, columns: Sequence[str], first_row: int = 0) -> DataError:
        """The same with the column's own name and the row's number in the whole table."""
        where = in_column(self.row + first_row, columns[self.column])
        about = _about_cell(columns[self.column], self.cell)
        return DataError(about, *where, f" holds {self.cell:g}, but {self.wanted}.")


class TooLarge(DataError):
    """A column whose sums leave the floats: whoever knows the names of the columns says so to the user."""

    def __init__(self, column: int, name: str | None = None) -> None:
        which = f"Column {column}" if name is None else f"The column {name!r}"
        super().__init__(
            About("sum too large", column if name is None else name),
            f"{which} holds numbers so large, or of so much weight, that they do not add up: ",
            "divide them by a constant.",
        )
        self.column = column

    def named(self, columns: Sequence[str]) -> TooLarge:
        """The same with the column's own name."""
        return TooLarge(self.column, columns[self.column])


class SettingsError(LikelyError, ValueError):
    """A parameter has a value that makes no sense, or that conflicts with another."""


class UnknownParameter(SettingsError, TypeError):
    """A classifier has no parameter of that name."""


class NotMergeable(LikelyError, ValueError):
    """Two summaries cannot be added, or one holds less than is to be taken out of it."""


class ModelFileError(LikelyError, ValueError):
    """A file is not a model, is damaged, or cannot be trusted."""


class MissingExtra(LikelyError, ImportError):
    """Something needs a library that comes with an extra of the package."""


class FileError(LikelyError, ValueError):
    """A file cannot be read as a table without guessing, or must not be overwritten."""


class NoSuchFile(FileError, FileNotFoundError):
    """There is no file of that name, or none that matches the pattern."""


# Sentences that speak of parameters or rows: text as Python says it, and the parts, for doors that say it otherwise.


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter that a sentence speaks of, with the value to give it, `...` for any list, or None for any value."""

    name: str
    value: object = None

    def __str__(self) -> str:
        value = "" if self.value is None else "[…]" if self.value is ... else repr(self.value)
        return f"{self.name}={value}"


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A parameter that a sentence calls by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class _Words:
    text: str

    def __str__(self) -> str:
        return self.text


class PythonOnly(_Words):
    """Words that concern callers from Python only."""


class Aside(_Words):
    """Words that a sentence may do without."""


@dataclass(frozen=True, slots=True)
class AtRow:
    """Words that name a row by its number in a table, and those that do without it."""

    row: int
    text: str
    otherwise: str = ""

    def __str__(self) -> str:
        return self.text


LONGEST_FACT = 1000
Fact = str | int | float | tuple[str, ...]


@dataclass(frozen=True, slots=True, init=False)
class About:
    """What a sentence is about, as data: a kind, and the facts that go with it. It adds no text to the sentence."""

    kind: str
    facts: tuple[Fact, ...]

    def __init__(self, kind: str, *facts: Fact) -> None:
        object.__setattr__(self, "kind", kind)
        cut = [fact[:LONGEST_FACT] if isinstance(fact, str) else fact for fact in facts]
        object.__setattr__(self, "facts", tuple(cut))

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class AtLine:
    """A line of a file, or a row of one that has no lines."""

    file: str
    line: int
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}"


Part = str | Setting | NamedParameter | PythonOnly | AtRow | AtLine | About | Aside


class Message(str):
    """A sentence in the words of Python that knows its parts."""

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Self:
        flat = tuple(
            inner for part in parts for inner in (part.parts if isinstance(part, Message) else (part,)) if inner != ""
        )
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = flat
        return made

    def __add__(self, more: str) -> Message:
        return Message(self, more)

    def __radd__(self, before: str) -> Message:
        return Message(before, self)


def _about_cell(column: str | int, cell: float) -> About:
    return About("odd number" if isfinite(cell) else "infinite", column, f"{cell:g}")


def without_asides(text: str) -> Message:
    """A sentence without what it may do without."""
    return Message(*(part for part in parts_of(text) if not isinstance(part, Aside)))


def without_row(text: str) -> Message:
    """A sentence without the number of a row, where that would mean nothing to the reader."""
    return Message(*(part.otherwise if isinstance(part, AtRow) else part for part in parts_of(text)))


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a sentence, which is one if it is plain text."""
    return text.parts if isinstance(text, Message) else (text,)


def in_column(row: int, column: object) -> tuple[Part, ...]:
    """A cell, as the beginning of a sentence."""
    return AtRow(row, f"Row {row} of column", "Column"), f" {column!r}"


def one_of(name: str, *values: object) -> Message:
    """The values of a parameter that a user may choose from, as a sentence lists them."""
    first, *others = (Setting(name, value) for value in values)
    return Message(first, *(part for other in others for part in (" or ", other)))


def say_kind(column: str, kind: str) -> Setting:
    """How a user says what a column is to be taken for."""
    return Setting("schema", {column: kind})


def say_type(column: str, kind: str) -> Setting:
    """How a user says as what a column of a file is to be read."""
    return Setting("types", {column: kind})


def listed(names: Sequence[object]) -> str:
    """A few names in quotes, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


MOST_HINTS = 3


def did_you_mean(name: str, available: Sequence[str]) -> str:
    """A hint at the nearest existing name, or nothing."""
    near = get_close_matches(str(name), [str(other) for other in available], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def near_names(name: str, available: Sequence[str]) -> str:
    """The same with up to three names, where several are so near that each may be meant; letters may be large."""
    plain = {other.casefold(): other for other in reversed(available)}
    near = [plain[other] for other in get_close_matches(str(name).casefold(), list(plain), n=3, cutoff=0.75)]
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else did_you_mean(name, available)


def _nearest_of_each(missing: Sequence[str], available: Sequence[str]) -> str:
    """A hint at what each of the first missing names may be called in the table."""
    free = {other.casefold(): other for other in reversed(available)}
    found: list[str] = []
    for name in missing[:MOST_HINTS]:
        near = get_close_matches(str(name).casefold(), list(free), n=1, cutoff=0.75)
        found += [f"{free.pop(other)!r} for {name!r}" for other in near]
    return f" Did you mean {' and '.join(found)}?" if found else ""


def refuse_missing(wanted: Iterable[str], available: Sequence[str]) -> None:
    """Refuse columns that a table does not have."""
    there = set(available)
    missing = [name for name in wanted if name not in there]
    if missing:
        raise missing_columns(missing, available)


def missing_columns(missing: Sequence[str], available: Sequence[str], table: str = "the table") -> SchemaError:
    """The error for columns that were learned and are not in the table; `table` is what it is called."""
    plural = "s" if len(missing) > 1 else ""
    hint = near_names(missing[0], available) if len(missing) == 1 else _nearest_of_each(missing, available)
    return SchemaError(
        About("no column", missing[0]),
        f"{table[0].upper()}{table[1:]} lacks the column{plural} {listed(missing)}; it has {listed(available)}.{hint}",
    )


def to_install(extra: str) -> str:
    """How to get what an extra brings: its libraries by name, since the package itself may not be where pip looks."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = [line.replace('"', "'").split(";") for line in requires("likely") or []]
    except PackageNotFoundError:
        lines = []
    wanted = [f'"{name.strip()}"' for name, *when in lines if any(f"extra == '{extra}'" in mark for mark in when)]
    return f"pip install {' '.join(wanted) or f'.[{extra}]'} (the extra {extra!r})"
