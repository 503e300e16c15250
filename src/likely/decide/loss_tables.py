r"""Costs as people write them down, and where a table of them has the truth: its first cell may say true\predicted."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from likely.arrays import AnyArray, TableLike
from likely.errors import FileError, NoSuchFile, Setting, SettingsError, listed
from likely.table import as_table, index_levels
from likely.table.column import is_a
from likely.table.levels import is_gap, plain

if TYPE_CHECKING:
    import pandas as pd

Axis = Literal["columns", "rows"]

_TRUTH = {"true", "truth", "truths", "actual", "actually", "real", "reality", "gold", "reference", "observed", "target"}
_DECISION = {
    "predicted", "prediction", "predictions", "predict", "predicts", "pred", "decision", "decisions", "decide",
    "decided", "decides", "action", "actions", "act", "choice", "chosen", "classified", "assigned", "answer",
}  # fmt: skip
_BETWEEN = re.compile(r"[\\/|,;╲∖⧵⟍×]|\bvs\b\.?|\bversus\b|\bagainst\b")
_DOWN = re.compile(r"↓|\brows?\b|\blines?\b")
_ACROSS = re.compile(r"→|\bcol(?:umn)?s?\b")


def truth_in(corner: object) -> Axis | None:
    r"""Where the truth stands by the words of a first cell; None if they do not tell.

    The first word is that of the rows and the second that of the columns, unless arrows or words say otherwise.

    >>> truth_in("true\\predicted"), truth_in("Decision / truth"), truth_in("predicted → actual ↓"), truth_in("cost")
    ('rows', 'columns', 'rows', None)
    """
    text = str(corner).casefold().replace("_", " ")
    parts = [part for part in _BETWEEN.split(text) if part.strip()]
    by_arrows = re.findall(r"[^→↓]+[→↓]", text)  # with nothing between two parts, an arrow ends each
    if len(parts) == 1 and len(by_arrows) == 2:
        parts = by_arrows
    axes: list[Axis] = ["rows", "columns"]
    found: set[Axis] = set()
    for part, usual in zip(parts, axes, strict=False):
        axis = "rows" if _DOWN.search(part) else "columns" if _ACROSS.search(part) else usual
        words = set(re.findall(r"\w+", part))
        if bool(words & _TRUTH) != bool(words & _DECISION):
            other: Axis = "columns" if axis == "rows" else "rows"
            found.add(axis if words & _TRUTH else other)
    return found.pop() if len(found) == 1 and len(parts) <= 2 else None


# Costs as people write them down: nested mappings, frames, files, arrays.

CHECKED_CELLS = 1 << 22

MOST_COST = np.float64(1e300)
"""What a decision may cost or gain at most, so that the costs of a hundred million rows add up."""

CostMapping: TypeAlias = Mapping[Any, object]
"""{decision: {truth: cost}}, whatever the decisions are."""


class Costs(NamedTuple):
    """Decisions, truths, and what each decision costs under each truth."""

    decisions: tuple[Hashable, ...]
    truths: tuple[Hashable, ...]
    cells: AnyArray


def from_mapping(costs: CostMapping) -> Costs:
    """{decision: {truth: cost}}; all decisions know the same truths."""
    lines: list[Mapping[Hashable, object]] = []
    for decision, line in costs.items():
        if not isinstance(line, Mapping):
            raise SettingsError(
                f"The decision {decision!r} has {line!r} in place of its costs: "
                "give a mapping of truths to costs, as in {'grant': {'good': 0, 'bad': 5}}."
            )
        lines.append(line)
    truths = tuple(dict.fromkeys(truth for line in lines for truth in line))
    for decision, line in zip(costs, lines, strict=True):
        lacking = [truth for truth in truths if truth not in line]
        if lacking:
            raise SettingsError(f"The decision {decision!r} has no cost for the truth {listed(lacking)}.")
    return from_lines(tuple(costs), truths, [[line[truth] for truth in truths] for line in lines])


def from_frame(frame: TableLike, truth: Axis | None = None) -> Costs:
    """A pandas frame labelled by its index, or any table whose first column holds the labels.

    The names of its axes, or of its first column, may tell where the truth stands.
    """
    if is_a(frame, "pandas.DataFrame") and not _labels_first(frame):
        corner = _axes_named(frame)
        lines, columns = frame.index.tolist(), frame.columns.tolist()
        cells = frame.to_numpy().tolist()
    else:
        table = as_table(frame)
        corner = table.names[0]
        first = table.codes(table.names[0])
        lines = [first.levels[code] if code >= 0 else None for code in first.codes]
        columns = list(table.names[1:])
        cells = np.column_stack([table.numbers(name) for name in columns]).tolist() if columns else []
    return _turned(lines, columns, cells, truth, "The table of costs", corner)


def from_csv(path: str | Path, truth: Axis | None = None, separator: str = ",") -> Costs:
    """A text file with labels in the first line and first column; its first cell may tell where the truth stands."""
    lines = _lines_of(path, separator)
    if len(lines) < 2 or len(lines[0]) < 2:
        raise SettingsError(f"{path} holds no table of costs: labels belong in its first line and first column.")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(lines[0]):
            raise SettingsError(f"Line {number} of {path} has {len(line)} cells, but the first has {len(lines[0])}.")
    columns = [cell.strip() for cell in lines[0][1:]]
    labels, cells = [line[0].strip() for line in lines[1:]], [line[1:] for line in lines[1:]]
    return _turned(labels, columns, cells, truth, str(path), lines[0][0].strip())


def _lines_of(path: str | Path, separator: str) -> list[list[str]]:
    """The cells of all lines that are not empty."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            return [line for line in csv.reader(file, delimiter=separator) if any(cell.strip() for cell in line)]
    except FileNotFoundError as error:
        raise NoSuchFile(f"There is no table of costs at {path}.") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no text in UTF-8: save the table of costs as UTF-8.") from error
    except (OSError, csv.Error, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FileError(f"{str(path)!r} cannot be read as a table of costs ({why}).") from error


def from_lines(decisions: Sequence[Hashable], truths: Sequence[Hashable], cells: Sequence[Sequence[object]]) -> Costs:
    """Cells of any type, one line per decision; what is no number is an error naming its place."""
    costs = np.empty((len(decisions), len(truths)))
    for d, line in enumerate(cells):
        for k, cell in enumerate(line):
            try:
                costs[d, k] = np.nan if is_gap(cell) else float(cell)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                raise SettingsError(
                    f"The cost of the decision {decisions[d]!r} under the truth {truths[k]!r} is {cell!r}, "
                    "which is no number."
                ) from None
    return checked(decisions, truths, costs)


def checked(decisions: Sequence[Hashable], truths: Sequence[Hashable], cells: AnyArray) -> Costs:
    """Labels that are distinct and costs that are finite, of the right shape."""
    costs = Costs(_labels("decision", decisions), _labels("truth", truths), np.asarray(cells))
    shape = len(costs.decisions), len(costs.truths)
    if costs.cells.ndim not in (2, 3) or costs.cells.shape[-2:] != shape:
        raise SettingsError(
            f"Costs of the shape {costs.cells.shape} do not fit {shape[0]} decisions × {shape[1]} truths "
            "(or rows × decisions × truths)."
        )
    if costs.cells.dtype.kind not in "biuf":
        raise SettingsError(f"Costs are numbers, not {costs.cells.dtype}.")
    _refuse_unknown_costs(costs)
    # Few costs are copied, so that they stay; those of a million rows are only looked at.
    return costs if costs.cells.ndim == 3 else costs._replace(cells=costs.cells.astype(np.float64))


def _labels(role: str, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    labels = tuple(plain(label) for label in names)
    if not labels:
        raise SettingsError(f"A loss needs at least one {role}.")
    if any(label is None for label in labels):
        raise SettingsError(f"The {role} number {labels.index(None) + 1} of a loss has no name.")
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise SettingsError(f"A loss names the {role} {listed(twice)} twice.")
    return labels


def _refuse_unknown_costs(costs: Costs) -> None:
    """A piece at a time: the costs of a million rows need no second array beside them."""
    size = max(CHECKED_CELLS // max(costs.cells[:1].size, 1), 1)
    for start in range(0, len(costs.cells), size):
        piece = costs.cells[start : start + size]
        bad = np.argwhere(~((piece <= MOST_COST) & (piece >= -MOST_COST)))
        if len(bad):
            *row, d, k = (int(place) for place in bad[0])
            decision = d if row else d + start
            where = f" in row {row[0] + start}" if row else ""
            raise SettingsError(
                f"The cost of the decision {costs.decisions[decision]!r} under the truth {costs.truths[k]!r}{where} "
                f"is {piece[tuple(bad[0])]}: every cost is a finite number (less than 0 for a gain), {MOST_COST:g} "
                "at most."
            )


def _turned(
    lines: Sequence[Hashable],
    columns: Sequence[Hashable],
    cells: Sequence[Sequence[object]],
    truth: Axis | None,
    source: str,
    corner: str,
) -> Costs:
    """Decisions in lines, whichever way the table was written; what could be read both ways is refused."""
    if truth not in (None, "columns", "rows"):
        raise SettingsError(f"truth is {truth!r}, but it is 'columns' or 'rows': where the true classes stand.")
    found_in = truth_in(corner)
    if truth is not None and found_in not in (None, truth):
        raise SettingsError(
            f"{source} has its truth in its {found_in}, by its first cell {corner!r}, but ",
            Setting("truth", truth),
            ": leave that out, or mend the cell.",
        )
    if (truth or found_in) == "rows":
        return from_lines(columns, lines, list(zip(*cells, strict=True)))
    costs = from_lines(lines, columns, cells)
    if truth is None and found_in is None and not _reads_one_way(costs):
        raise SettingsError(
            f"{source} does not tell whether its rows or its columns are the truth: write truth\\decision or "
            "decision\\truth into its first cell (what its rows are stands first), or give ",
            Setting("truth", "rows"),
            " or ",
            Setting("truth", "columns"),
            ".",
        )
    return costs


def _reads_one_way(costs: Costs) -> bool:
    """Whether labels tell rows from columns, or the costs are the same in both readings."""
    decisions, truths = set(costs.decisions), set(costs.truths)
    if decisions != truths:
        return not decisions & truths
    square = costs.cells[[costs.decisions.index(truth) for truth in costs.truths]]
    return np.array_equal(square, square.T)


def _axes_named(frame: pd.DataFrame) -> str:
    """What the axes of a pandas frame are called, as a first cell would have it."""
    names = ["" if name is None else str(name) for name in (frame.index.name, frame.columns.name)]
    return f"{names[0] or '-'} \\ {names[1]}" if names[1] else names[0]


def _labels_first(frame: pd.DataFrame) -> bool:
    """Whether the labels of a pandas frame stand in its first column: its index only counts the lines."""
    counted = frame.index.tolist() == list(range(len(frame)))
    first = frame.iloc[:, 0] if frame.shape[1] else None
    return counted and first is not None and first.dtype.kind not in "biuf"


# The two classes of a binary loss, before a classifier says what they are called.


class UnnamedClass(Enum):
    """A class that was not named."""

    NEGATIVE = "negative"
    POSITIVE = "positive"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return repr(self.value)


_PAIRS = (
    ("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"), ("negative", "positive"),
    ("neg", "pos"), ("-", "+"), ("off", "on"), ("absent", "present"),
)  # fmt: skip
"""Labels that say which class is the negative and which the positive one."""


def name_sides(
    sides: tuple[Hashable, ...], classes: list[Hashable], *, alike: bool
) -> tuple[tuple[Hashable, ...], list[int]]:
    """The two classes in their own order, and which of the sides (negative, positive) each one is.

    With `alike` both mistakes cost the same, and it is no matter.
    """
    if len(classes) != 2:
        raise SettingsError(
            f"A binary loss is for two classes, but here are {len(classes)}: {listed(classes)}. "
            "Give the costs of each decision in a mapping."
        )
    named = [label for label in sides if not isinstance(label, UnnamedClass)]
    if not named:
        return tuple(classes), [0, 1] if alike else _told_by(classes)
    place = int(index_levels(named, classes)[0])
    if place < 0:
        raise SettingsError(f"The loss names the class {named[0]!r}, but the classes are {listed(classes)}.")
    side = sides.index(named[0])
    return tuple(classes), [side, 1 - side] if place == 0 else [1 - side, side]


def _told_by(classes: list[Hashable]) -> list[int]:
    """The sides of two classes whose labels tell."""
    words = [str(plain(label)).strip().casefold() for label in classes]
    for pair in _PAIRS:
        if sorted(words) == sorted(pair):
            return [pair.index(word) for word in words]
    raise SettingsError(
        f"Nothing tells which of the classes {listed(classes)} is the positive one, whose miss has its own price: "
        f"say Loss.binary(…, positive={classes[0]!r}) or positive={classes[1]!r}."
    )
