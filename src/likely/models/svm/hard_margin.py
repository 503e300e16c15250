"""The hard margin: no slack at all, or a refusal that says which classes cannot be told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from likely.errors import DataError
from likely.models.svm.dual import Plan, Problem, solve_exactly
from likely.models.svm.kernels import Linear, gram
from likely.models.svm.machine import Machine, nearest, pairs_of

PRICES = (1.0, 1e2, 1e4, 1e6, 1e8)
"""Prices of slack that are tried: once no coefficient reaches the price, none would at a higher one."""

TOLERANCE, TOUCHING = 1e-9, 1e-4
STEPS_PER_ROW, FEWEST_STEPS = 100, 100_000
"""Steps after which a price is given up: where classes overlap, a solver would go on almost for ever."""

MOST_CELLS, INFEASIBLE = 1 << 21, 2
"""Cells of rows up to which a linear programme is asked first, and its answer that there is no plane."""

POLISHED = 600
"""Support vectors up to which the equations of the solution are solved once more, exactly."""


class NotSeparable(DataError):
    """There is no hard margin, because some rows would lie on the wrong side."""


def solve_hard(problem: Problem, plan: Plan) -> Machine:
    """The machine without slack.

    A soft margin whose coefficients all stay below C is the hard one: C never came into play.
    """
    whole = replace(problem, cost=None)
    _refuse_twins(whole)
    if isinstance(plan.kernel, Linear) and not _has_planes(whole):
        raise _refusal(_worst(solve_exactly(whole, replace(plan, C=1.0)), whole)[0], plan)
    steps = max(STEPS_PER_ROW * len(whole), FEWEST_STEPS)
    for price in PRICES:
        machine = solve_exactly(whole, replace(plan, C=price, tolerance=TOLERANCE), steps)
        worst, margin = _worst(machine, whole)
        if np.abs(machine.dual).max(initial=0.0) < 0.999 * price and margin > 1.0 - TOUCHING:
            return _polished(machine, whole)
    raise _refusal(worst, plan)


def _refusal(worst: int, plan: Plan) -> NotSeparable:
    return NotSeparable(
        f"The classes cannot be separated with the kernel {plan.kernel!r}: row {worst} would lie on the wrong side or "
        "within the margin. Give a number for C, such as C=1.0, to allow some slack, or take another kernel."
    )


def _has_planes(problem: Problem) -> bool:
    """Whether some plane separates each two classes, by linear programming; where that is too much, perhaps."""
    from scipy.optimize import linprog

    if problem.X.shape[0] * problem.X.shape[1] > MOST_CELLS:
        return True
    for earlier, later in zip(*pairs_of(problem.n_classes), strict=True):
        own = np.flatnonzero((problem.y == earlier) | (problem.y == later))
        rows = problem.X[own].toarray() if sparse.issparse(problem.X) else problem.X[own]
        sign = np.where(problem.y[own] == later, 1.0, -1.0)[:, None]
        demands = -sign * np.column_stack([rows, np.ones(len(own))])
        width = demands.shape[1]
        found = linprog(np.zeros(width), demands, -np.ones(len(own)), bounds=(None, None), method="highs")
        if found.status == INFEASIBLE:
            return False
    return True


def _refuse_twins(problem: Problem) -> None:
    """Two equal rows of different classes cannot be separated by any kernel."""
    X = problem.X
    lines = (X[k].toarray().tobytes() for k in range(X.shape[0])) if sparse.issparse(X) else map(np.ndarray.tobytes, X)
    seen: dict[bytes, int] = {}
    for row, line in enumerate(lines):
        twin = seen.setdefault(line, row)
        if problem.y[twin] != problem.y[row]:
            raise NotSeparable(
                f"The classes cannot be separated: rows {twin} and {row} are equal but differ in class. "
                "Give a number for C, such as C=1.0, to allow some slack."
            )


def _worst(machine: Machine, problem: Problem) -> tuple[int, float]:
    """The row that is nearest to the wrong side, and y·f of it."""
    _, margins = nearest(machine.pairs(problem.X), problem.y, machine.n_classes)
    worst = int(np.argmin(margins))
    return worst, float(margins[worst])


def _polished(machine: Machine, problem: Problem) -> Machine:
    """Two classes: y f(x) = 1 holds at every support vector, so the equations can be solved to the last digit."""
    n = len(machine.rows)
    if machine.n_classes != 2 or n > POLISHED or machine.n_support is None:
        return machine
    kernel = gram(machine.kernel, machine.vectors, machine.vectors)
    y = np.where(problem.y[machine.rows] == 1, 1.0, -1.0)
    equations = np.zeros((n + 1, n + 1))
    equations[:n, :n], equations[:n, n], equations[n, :n] = kernel, 1.0, 1.0
    try:
        found = np.linalg.solve(equations, np.append(y, 0.0))
    except np.linalg.LinAlgError:
        return machine
    close = np.allclose(found[:n], machine.dual[0], rtol=1e-3, atol=1e-6 * float(np.abs(machine.dual).max()))
    if not (np.isfinite(found).all() and close):
        return machine
    return replace(machine, dual=found[None, :n].copy(), b=found[n:].copy())
