"""Explanations as a person writes them on a blackboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from likely.arrays import Array

Status = Literal["known", "gap", "unseen", "outside", "partly"]

LARGEST_LOG = 700.0
"""Beyond this a factor is no float any more and is written as a power of e."""

LONGEST_VALUE = 48
"""Characters of a cell that are shown; a cell may hold a whole letter."""


def blackboard(board: Board, *, logs: bool) -> str:
    """Every factor as a probability (or density), with its logarithm if wanted; their product, the posterior."""
    head = ["factor", *_heads(board.classes, logs)]
    body = [["prior", *_cells(board.lines[0].logs, logs)]]
    body += [[line.label, *_cells(line.logs, logs)] for line in board.lines[1:]]
    body.append(["product", *_cells(board.joint, logs)])
    shares = [f"{share:.4f}" for share in board.posterior]
    body.append(["posterior", *(cell for share in shares for cell in ([share, ""] if logs else [share]))])
    return "\n".join([*aligned([head, *body]), *left_out(board)])


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns: the first to the left, the others to the right."""
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(w) if k == 0 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def left_out(board: Board) -> list[str]:
    """What the board does not show of the classes."""
    if not board.classes_left_out:
        return []
    return [f"… and {board.classes_left_out} less probable classes, with {board.mass_left_out:.4f} of the posterior"]


def factor(log_factor: float) -> str:
    """A factor as a number, or as a power of e where it is no float any more."""
    if log_factor == -np.inf or abs(log_factor) < LARGEST_LOG:
        return f"{np.exp(log_factor):.4g}"
    return f"e^{log_factor:.4g}"


def written_cell(name: str, cell: object, status: Status) -> str:
    """A cell with the name of its column, its value, and what is odd about it."""
    if status == "gap":
        return f"{name} (gap)"
    if isinstance(cell, tuple) and not cell:  # said before any column is looked at
        return name
    if isinstance(cell, tuple):
        cell = ", ".join("—" if part is None else _plain(part) for part in cell)
    odd = {"unseen": " (never seen)", "outside": " (out of range)"}.get(status, "")
    return f"{name} = {shortened(_plain(cell), LONGEST_VALUE)}{odd}"


def shortened(text: str, longest: int) -> str:
    """On one line, and cut where it is too long."""
    line = " ".join(text.split()) if text.strip() else repr(text)
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _plain(cell: object) -> str:
    """A number to six digits, unless that would hide some before the point."""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.6g}" if abs(cell) < 1e6 else f"{cell:.12g}"


def _heads(classes: Sequence[str], logs: bool) -> list[str]:
    return [head for label in classes for head in ([label, "log"] if logs else [label])]


def _cells(log_factors: Array, logs: bool) -> list[str]:
    cells = []
    for value in log_factors:
        cells.append(factor(value))
        if logs:
            cells.append("−∞" if value == -np.inf else f"{value:.4f}")
    return cells


# One row, ready to be shown: what the views for text, pages and pictures share.

SHOWN_ROWS = 3
"""Rows written out where a person looks at an explanation of many."""

MOST_COLUMNS = 30
MOST_CLASSES = 10
"""What one view shows; more can be had by asking."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A factor: its name, the label with the row's value, and the logarithm under each class shown."""

    name: str
    label: str
    status: Status
    logs: Array

    @property
    def strength(self) -> float:
        """How far apart it drives the classes, in nats."""
        alive = self.logs[np.isfinite(self.logs)]
        if len(alive) < len(self.logs):
            return np.inf if len(alive) else 0.0
        return float(np.ptp(self.logs)) if len(alive) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The prior (first line) and the factors, their sum and the posterior; what is not shown is said.

    `columns_left_out` are summed up in the last line; `classes_left_out` have `mass_left_out` of the posterior.
    """

    classes: Sequence[str]
    lines: Sequence[Line]
    joint: Array
    posterior: Array
    columns_left_out: int = 0
    classes_left_out: int = 0
    mass_left_out: float = 0.0


def condense(board: Board, columns: int | None, classes: int | None) -> Board:
    """The strongest columns, in their order, and the most probable classes, in theirs."""
    fewer = _fewer_classes(board, MOST_CLASSES if classes is None else classes)
    return _fewer_columns(fewer, MOST_COLUMNS if columns is None else columns)


def strongest(strengths: Sequence[float], most: int) -> list[int]:
    """Places of the largest, in the order in which they stand; all if one more would be left out for a line."""
    if len(strengths) <= most:
        return list(range(len(strengths)))
    order = np.argsort(-np.asarray(strengths), kind="stable")[: max(most - 1, 0)]
    return sorted(order.tolist())


def _fewer_columns(board: Board, most: int) -> Board:
    prior, factors = board.lines[0], board.lines[1:]
    kept = strongest([line.strength for line in factors], most)
    if len(kept) == len(factors):
        return board
    others = [line for place, line in enumerate(factors) if place not in set(kept)]
    label = f"{len(others)} weaker columns together"
    together = Line(label, label, "known", np.sum([line.logs for line in others], axis=0))
    lines = [prior, *(factors[place] for place in kept), together]
    return replace(board, lines=lines, columns_left_out=len(others))


def _fewer_classes(board: Board, most: int) -> Board:
    if len(board.classes) <= most:
        return board
    kept = np.sort(np.argsort(-board.posterior, kind="stable")[:most])
    return replace(
        board,
        classes=[board.classes[place] for place in kept],
        lines=[replace(line, logs=line.logs[kept]) for line in board.lines],
        joint=board.joint[kept],
        posterior=board.posterior[kept],
        classes_left_out=len(board.classes) - len(kept),
        mass_left_out=float(max(1.0 - board.posterior[kept].sum(), 0.0)),
    )
