"""Numerical routines that several models share: normalising log scores, minimising, and guarding against overflow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array
from likely.errors import About, AtRow, DataError, NotMergeable, SettingsError
from likely.jit import kernel


def is_between(given: object, low: float, high: float) -> TypeGuard[float]:
    """Whether it is a real number from `low` to `high`, compared exactly; a truth value or a decimal is none.

    >>> is_between(0.5, 0.0, 1.0), is_between(10**400, 0.0, 1e300), is_between(True, 0.0, 1.0)
    (True, False, False)
    """
    number = given.item() if isinstance(given, np.generic) else given  # a narrow float would not hold the bounds
    if not isinstance(number, int | float | Real) or isinstance(number, bool):
        return False
    exact: Any = number
    return bool(low <= exact <= high)


def normalise(log_joint: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Posterior (or its logarithm) of each row, shifted by the row's peak so that nothing overflows.

    A row that is impossible under every class (all −inf) says nothing about them: it gets the prior.
    `out` may be `log_joint` itself. NumPy's exponential, which takes several cells at once, stands
    between two compiled loops.
    """
    _lower(log_joint, out)
    with np.errstate(under="ignore"):
        shares = np.exp(out) if in_logs else np.exp(out, out=out)
    _share(shares, prior, in_logs, out)


@kernel(interpretable=True)
def _lower(log_joint: Array, out: Array) -> None:
    """Put the peak of each row at zero; a row without one is marked by NaN."""
    n_classes = log_joint.shape[1]
    for i in range(log_joint.shape[0]):
        peak = -np.inf
        for c in range(n_classes):
            peak = max(peak, log_joint[i, c])
        if peak == -np.inf:
            out[i, :] = np.nan
            continue
        for c in range(n_classes):
            out[i, c] = log_joint[i, c] - peak


@kernel(interpretable=True)
def _share(shares: Array, prior: Array, in_logs: bool, out: Array) -> None:
    """Divide each row by its sum, in logarithms if these are asked for."""
    n_classes = shares.shape[1]
    for i in range(shares.shape[0]):
        total = 0.0
        for c in range(n_classes):
            total += shares[i, c]
        if np.isnan(total):
            for c in range(n_classes):
                out[i, c] = prior[c]
                if in_logs:
                    out[i, c] = math.log(prior[c]) if prior[c] > 0.0 else -np.inf
        elif in_logs:
            log_total = math.log(total)
            for c in range(n_classes):
                out[i, c] -= log_total
        else:
            for c in range(n_classes):
                out[i, c] = shares[i, c] / total


def log_normalise(scores: Array) -> tuple[Array, Array]:
    """Softmax of each row, exp(score) / Σ exp(score), and its logarithm; shifted by the row's peak against overflow.

    >>> log_normalise(np.array([[1000.0, 1000.0]]))[0].tolist()
    [[0.5, 0.5]]
    """
    shifted = scores - scores.max(axis=-1, keepdims=True)
    probabilities = np.exp(shifted)
    total = probabilities.sum(axis=-1, keepdims=True)
    probabilities /= total
    return probabilities, np.asarray(shifted - np.log(total))


def log_of(probabilities: Array) -> Array:
    """Logarithm in which zero is an honest −inf, without a warning."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities), dtype=np.float64)


@kernel(interpretable=True)
def most_probable(log_joint: Array, prior: Array, out: NDArray[np.intp]) -> None:
    """The class with the largest log joint of each row; the first of equals, by the prior if all are impossible."""
    for i in range(log_joint.shape[0]):
        best, peak = -1, -np.inf
        for c in range(log_joint.shape[1]):
            if log_joint[i, c] > peak:
                best, peak = c, log_joint[i, c]
        out[i] = best if best >= 0 else np.argmax(prior)


def sums_of_others(table: Array) -> Array:
    """The sum of all rows of a table but each one, without subtracting anything."""
    nothing = np.zeros_like(table[:1])
    before = np.concatenate([nothing, np.cumsum(table[:-1], axis=0)])
    after = np.concatenate([np.cumsum(table[:0:-1], axis=0)[::-1], nothing])
    return np.asarray(before + after)


# Minimisers of smooth functions: L-BFGS for many coordinates, Newton's method for few; both backtrack.

Value = tuple[float, Array]
"""A function at some point, and its gradient there."""

MAX_LBFGS_STEPS = 60
LBFGS_MEMORY = 8
SHORTEST_STEP = 2.0**-12
ARMIJO = 1e-4
"""A step must gain this share of what the gradient promises, or it is halved."""

MIN_CURVATURE = 1e-15


def step_lengths(shortest: float) -> Iterator[float]:
    """What a backtracking line search tries: 1, ½, ¼ … while above `shortest`."""
    length = 1.0
    while length > shortest:
        yield length
        length *= 0.5


def lbfgs(
    objective: Callable[[Array], Value],
    start: Array,
    preconditioner: Array,
    tolerance: float,
    nonnegative: NDArray[np.bool_] | None = None,
) -> tuple[Array, int]:
    """Minimise from `start` until a step gains less than `tolerance`; the minimiser, and the number of evaluations.

    `preconditioner` is the diagonal of an approximate inverse Hessian. Coordinates marked `nonnegative` are projected:
    one that lies at zero and would go below takes no part in a step. SciPy's L-BFGS-B, which has no preconditioner,
    takes about twice as long on the tables of an evidence classifier.
    """
    x = start.copy()
    value, gradient = objective(x)
    evaluations, small_gains = 1, 0
    history = LBFGSHistory(np.ascontiguousarray(preconditioner.ravel()))
    for _ in range(MAX_LBFGS_STEPS):
        step, descent = history.step(gradient.ravel(), None if nonnegative is None else nonnegative & (x <= 0.0))
        if descent >= 0.0:
            if history.is_empty:
                break
            history.clear()
            continue
        for length in step_lengths(SHORTEST_STEP):
            tried = x + length * step.reshape(x.shape)
            if nonnegative is not None:
                tried[nonnegative] = np.maximum(tried[nonnegative], 0.0)
            new_value, new_gradient = objective(tried)
            evaluations += 1
            if new_value <= value + ARMIJO * length * descent:
                break
        else:
            break
        history.append((tried - x).ravel(), (new_gradient - gradient).ravel())
        small_gains = small_gains + 1 if value - new_value < tolerance else 0
        x, value, gradient = tried, new_value, new_gradient
        if small_gains == 2 or (small_gains and length == 1.0):
            break
    return x, evaluations


class LBFGSHistory:
    """The last moves s and what they did to the gradient, y: an implicit approximation of the inverse Hessian."""

    def __init__(self, preconditioner: Array) -> None:
        self.preconditioner = preconditioner
        self.s, self.y = np.empty((LBFGS_MEMORY, preconditioner.size)), np.empty((LBFGS_MEMORY, preconditioner.size))
        self.order: list[int] = []

    @property
    def is_empty(self) -> bool:
        """Whether only the preconditioner is left."""
        return not self.order

    def clear(self) -> None:
        """Restart from the preconditioner."""
        self.order.clear()

    def step(self, gradient: Array, at_bound: NDArray[np.bool_] | None) -> tuple[Array, float]:
        """The quasi-Newton step, and the slope along it. A coordinate at its bound that would pass it stays."""
        fixed = None if at_bound is None else at_bound & (gradient > 0.0)
        if fixed is not None:
            gradient = np.where(fixed, 0.0, gradient)
        step = two_loop(gradient, self.s, self.y, np.array(self.order, dtype=np.int64), self.preconditioner)
        if fixed is not None:
            step[fixed] = 0.0
        return step, dot(step, gradient)

    def append(self, move: Array, change: Array) -> None:
        """Remember a move and the change of the gradient, unless the curvature along it is not positive."""
        if dot(move, change) > MIN_CURVATURE * dot(change, change):
            place = self.order.pop(0) if len(self.order) == LBFGS_MEMORY else len(self.order)
            self.s[place], self.y[place] = move, change
            self.order.append(place)


@kernel
def dot(a: Array, b: Array) -> float:
    """Σ a b, always in the same order: four sums side by side."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = len(a) - len(a) % 4
    for i in range(0, n, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n, len(a)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def two_loop(gradient: Array, s: Array, y: Array, order: NDArray[np.int64], preconditioner: Array) -> Array:
    """−H⁻¹ gradient by the two-loop recursion; `order` lists the rows of `s` and `y` in use, the oldest first."""
    out = -gradient
    n = len(order)
    alpha = np.empty(n)
    rho = np.empty(n)
    for place in range(n - 1, -1, -1):
        k = order[place]
        rho[place] = 1.0 / dot(s[k], y[k])
        alpha[place] = rho[place] * dot(s[k], out)
        for i in range(len(out)):
            out[i] -= alpha[place] * y[k, i]
    scale = 1.0
    if n > 0:  # a diagonal knows no correlations: the last move tells how much shorter steps must be
        k = order[n - 1]
        curvature = 0.0
        for i in range(len(out)):
            curvature += y[k, i] * y[k, i] * preconditioner[i]
        scale = 1.0 / (rho[n - 1] * curvature)
    for i in range(len(out)):
        out[i] *= scale * preconditioner[i]
    for place in range(n):
        k = order[place]
        beta = rho[place] * dot(y[k], out)
        for i in range(len(out)):
            out[i] += (alpha[place] - beta) * s[k, i]
    return out


def newton(
    objective: Callable[[Array], tuple[float, Array, Array]],
    start: Array,
    *,
    max_steps: int,
    shortest: float,
    min_gain: float = -np.inf,
    max_gradient: float = 0.0,
    armijo: float = 0.0,
    nonnegative: bool | NDArray[np.bool_] = False,
) -> Array:
    """Minimise a function of few coordinates, given its value, gradient and Hessian.

    It ends when a step gains less than `min_gain`, or no part of the gradient exceeds `max_gradient`. Coordinates that
    are `nonnegative`, all or those marked, are projected: those at zero that would go below take no part in a step.
    """
    x, bounded = start.copy(), np.broadcast_to(nonnegative, start.shape)
    value, gradient, hessian = objective(x)
    for _ in range(max_steps):
        if np.abs(gradient).max() < max_gradient:
            break
        free = ~bounded | (x > 0.0) | (gradient < 0.0)
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        for length in step_lengths(shortest):
            tried = x + length * step
            tried[bounded] = np.maximum(tried[bounded], 0.0)
            found = objective(tried)
            if found[0] <= value + armijo * length * float(gradient @ step):
                break
        else:
            break
        gain = value - found[0]
        x, (value, gradient, hessian) = tried, found
        if gain < min_gain:
            break
    return x


# Bayes' rule for one hypothesis and one observation.

ROUNDING = 1e-12


def bayes_rule(prior: float, likelihood: float, evidence: float) -> float:
    """P(hypothesis | data) = P(data | hypothesis) · P(hypothesis) / P(data).

    Four of five patients with arthrosis have a stiff joint; one person in 10,000 has arthrosis, one in
    ten a stiff joint:

    >>> round(bayes_rule(prior=0.0001, likelihood=0.8, evidence=0.1), 12)
    0.0008
    """
    for name, value in (("prior", prior), ("likelihood", likelihood), ("evidence", evidence)):
        if not 0.0 <= value <= 1.0:
            raise SettingsError(f"{name} is {value!r}, but a probability lies between 0 and 1.")
    joint = likelihood * prior
    if evidence < joint * (1.0 - ROUNDING) or evidence == 0.0:
        raise SettingsError(
            f"evidence is {evidence!r}, but data that come with the hypothesis at least {joint!r} of the time "
            "cannot be rarer than that (and must be possible)."
        )
    return joint / evidence


# How much weight and how large numbers can be learned from without leaving the floats.

HEAVIEST = 1e100
"""The most that rows may weigh together. No count is larger, so the product of three counts is a float, and so is the
square of a sum of as many counts as any memory holds."""

LARGEST = 1e305
"""The most that the sum, the deviation or the root of the squares of a column may come to: so the difference of two of
them, and the sum of a thousand, is a float."""


def refuse_heavy(weights: Array) -> None:
    """Raise for rows that weigh more together than can be counted."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not total <= HEAVIEST:
        row = int(np.argmax(weights))
        raise DataError(
            "The weight",
            AtRow(row, f" of row {row}"),
            f" is {weights[row]:g} and that of all rows {total:g}, but {HEAVIEST:g} is the most "
            "that can be counted: divide all weights by one number.",
        )


def together(a: Array, b: Array) -> Array:
    """`a + b` for weights and counts, none of them beyond what can be counted."""
    with np.errstate(over="ignore"):
        both = a + b
    if not (both <= HEAVIEST).all():
        raise NotMergeable(
            f"Together they come to a weight of {both.max():g}, but {HEAVIEST:g} is the most that can be counted: "
            "divide the weights of all rows by one number and count again."
        )
    return both


def too_large(n: Array, mean: Array, root: Array) -> NDArray[np.bool_]:
    """Where the sum, the deviation, or the root of the centred squares of a column leaves what can be learned from."""
    reach = LARGEST * np.sqrt(np.minimum(n, 1.0))
    fair = (np.abs(mean) <= LARGEST / np.maximum(n, 1.0)) & (root <= np.where(n > 0.0, reach, LARGEST))
    return ~fair


# How many things can be numbered.

MOST_PLACES: Final = 2**31 - 1
"""Rows, columns, classes, categories, words, folds and nodes are numbered in 32 bits, −1 for none. A table has at most
so many rows; what is found in rows (codes, folds, leaves) is no more than these. What may be more is refused here."""


def refuse_many(n: int, what: str) -> None:
    """Raise for more things than can be numbered."""
    if n > MOST_PLACES:
        raise DataError(
            About("too many"), f"There are {n:,} {what}, but {MOST_PLACES:,} are the most: take fewer at a time."
        )


# Places in arrays as whole numbers without a sign, for compiled loops.
#
# A signed index may count from the end, so every access by a sum or product of such numbers asks first whether it is
# negative, and that question keeps the loop from being done four cells at a time. A sum of two of these is one of
# these; a sum with a plain Python number is signed again, hence the names.

Place = np.uintp

ZERO: Final = np.uintp(0)
ONE: Final = np.uintp(1)
TWO: Final = np.uintp(2)
THREE: Final = np.uintp(3)
FOUR: Final = np.uintp(4)
