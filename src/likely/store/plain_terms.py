"""What a model adds up, as plain values: tables and expressions, so that a program in any language can score rows.

A term has `codes`, one for each of its columns, and a `table` with a line of numbers for the classes; or an
`expression`. Null is minus infinity. docs/export.md shows a scorer of a few lines.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.families.protocol import FittedFamily
from likely.store.expressions import ByCut, ByValue, Expression, as_table, expressions_of, joined, numbers
from likely.table.levels import written

Plain = dict[str, object]


def family_terms(belief: FittedFamily, n_classes: int) -> list[Plain] | None:
    """The terms of a belief, column by column; None if it writes none."""
    found = expressions_of(belief, n_classes)
    return None if found is None else [_term(of_classes) for of_classes in found]


def code_of_value(
    column: str, values: Sequence[Hashable], lines: Sequence[int], *, gap: int, unseen: int, size: int
) -> Plain:
    """The line of each category; of a gap and of any other value."""
    told = [plain_value(value) for value in values]
    return {"column": column, "values": told, "lines": list(lines), "gap": gap, "unseen": unseen, "size": size}


def code_of_number(
    column: str, cuts: Sequence[float], lines: Sequence[int], *, gap: int, closed: str, size: int
) -> Plain:
    """The line of each interval between cuts; `closed` says to which side a number at a cut belongs, as in pandas."""
    return {"column": column, "cuts": list(cuts), "closed": closed, "lines": list(lines), "gap": gap, "size": size}


def table_term(codes: Sequence[Plain], table: Array) -> Plain:
    """A term that is looked up: the lines of its codes are the digits of the line in the table."""
    return {"codes": list(codes), "table": [plain_numbers(line) for line in table]}


def plain_numbers(values: Sequence[float] | NDArray[np.float64]) -> list[float | None]:
    """Numbers as JSON has them: null for minus infinity."""
    return [float(value) if math.isfinite(value) else None for value in values]


def plain_value(value: Hashable) -> object:
    """A category or label as JSON has it; what JSON has no word for is written as text."""
    return value if value is None or type(value) in (bool, int, str) else written(value)


def _term(of_classes: Sequence[Expression]) -> Plain:
    whole = joined(of_classes)
    if whole is None:
        return {"expression": {"by_class": [_expression(each) for each in of_classes]}}
    found = as_table(whole)
    return {"expression": _expression(whole)} if found is None else _looked_up(found)


def _looked_up(found: ByValue | ByCut) -> Plain:
    if isinstance(found, ByValue):
        n = len(found.values)
        code = code_of_value(found.column, found.values, range(n), gap=n, unseen=n + 1, size=n + 2)
    else:
        n = len(found.cuts) + 1
        code = code_of_number(found.column, found.cuts, range(n), gap=n, closed="left", size=n + 1)
    return table_term([code], found.table)


def _expression(told: Expression) -> Plain:
    if told.kind == "number":
        return {"number": plain_numbers(numbers(told))}
    if told.kind == "real":
        return {"column": told.value}
    if told.kind == "missing":
        return {"missing": told.value}
    found = as_table(told)
    if found is not None:
        return _looked_up(found)
    parts = [_expression(part) for part in told.parts]
    if told.kind == "case":
        return {"case": list(zip(parts[:-1:2], parts[1:-1:2], strict=True)), "else": parts[-1]}
    return {told.kind: parts}
