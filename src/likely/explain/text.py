"""Explanations as a person writes them on a blackboard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likely.explain.board import Board
from likely.explain.factors import Status

Array = NDArray[np.float64]

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
