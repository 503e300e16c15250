"""The few errors of the package: each says what is wrong, where, and what to do now."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

SHOWN_NAMES = 8


class LikelyError(Exception):
    """Anything that `likely` refuses to do."""


class SchemaError(LikelyError, ValueError):
    """A table does not fit the columns, kinds or names that are expected of it."""


class DataError(LikelyError, ValueError):
    """A value, a label or a weight cannot be learned from or predicted for."""


class BadCell(DataError):
    """A cell that a statistic cannot count: whoever knows the names of the columns says so to the user."""

    def __init__(self, row: int, column: int, cell: float, wanted: str) -> None:
        super().__init__(f"Row {row} of column {column} holds {cell:g}, but {wanted}.")
        self.row, self.column, self.cell, self.wanted = row, column, cell, wanted

    def named(self, columns: Sequence[str], first_row: int = 0) -> DataError:
        """The same with the column's own name and the row's number in the whole table."""
        column = columns[self.column]
        return DataError(f"Row {self.row + first_row} of column {column!r} holds {self.cell:g}, but {self.wanted}.")


class TooLarge(DataError):
    """A column whose sums leave the floats: whoever knows the names of the columns says so to the user."""

    def __init__(self, column: int, name: str | None = None) -> None:
        which = f"Column {column}" if name is None else f"The column {name!r}"
        super().__init__(
            f"{which} holds numbers so large, or of so much weight, that they do not add up: divide them by a constant."
        )
        self.column = column

    def named(self, columns: Sequence[str]) -> TooLarge:
        """The same with the column's own name."""
        return TooLarge(self.column, columns[self.column])


class SettingsError(LikelyError, ValueError):
    """A parameter has a value that makes no sense, or that does not go with another."""


class NotMergeable(LikelyError, ValueError):
    """Two summaries cannot be added, or one holds less than is to be taken out of it."""


class ModelFileError(LikelyError, ValueError):
    """A file is no model, is damaged, or is not to be trusted."""


class MissingExtra(LikelyError, ImportError):
    """Something needs a library that comes with an extra of the package."""


class FileError(LikelyError, ValueError):
    """A file cannot be read as a table without guessing, or must not be written over."""


class NoSuchFile(FileError, FileNotFoundError):
    """There is no file of that name, or none that matches the pattern."""


def listed(names: Sequence[object]) -> str:
    """A few names in quotes, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def did_you_mean(name: str, available: Sequence[str]) -> str:
    """A hint at the nearest existing name, or nothing."""
    near = get_close_matches(str(name), [str(other) for other in available], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def missing_columns(missing: Sequence[str], available: Sequence[str]) -> SchemaError:
    """The error for columns that were learned and are not in the table."""
    plural = "s" if len(missing) > 1 else ""
    hint = did_you_mean(missing[0], available)
    return SchemaError(f"The table lacks the column{plural} {listed(missing)}; it has {listed(available)}.{hint}")
