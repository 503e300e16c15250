"""From what a classifier believed about rows that it had not seen to beliefs that come true as often as they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import Array, Int32
from likely.jit import kernel
from likely.numerics import log_normalise, log_of, sums_of_others
from likely.stats import Histogram

FARTHEST = 700.0
"""Log-odds beyond which a probability leaves the floats."""

STRONGEST = 50.0
"""The largest power that posteriors are raised to."""


@dataclass(frozen=True, slots=True, eq=False)
class Temperature:
    """P(class | row) to a power, normalised: below 1 it cools what was too sure. The order of the classes stays.

    The power is the one under which the rows held out were most likely; 1 / power is called the temperature.
    """

    power: float

    @classmethod
    def settle(cls, posterior: Array, truth: Int32, weight: Array) -> Temperature:
        logs = np.maximum(log_of(posterior), -FARTHEST)
        rows = np.arange(len(truth))
        if posterior.shape[1] < 2 or not weight.sum() > 0.0:
            return cls(1.0)

        from scipy.optimize import minimize_scalar

        def loss(power: float) -> float:
            return -float(weight @ log_normalise(power * logs)[1][rows, truth])

        return cls(float(minimize_scalar(loss, bounds=(0.0, STRONGEST), method="bounded", options={"xatol": 1e-6}).x))

    def apply(self, posterior: Array) -> Array:
        logs = log_of(posterior)
        with np.errstate(invalid="ignore"):
            raised = np.where(np.isneginf(logs), -np.inf, self.power * logs)
        return log_normalise(raised)[0]


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """For each class a curve that rises from log-odds to the share that came true; for two classes one is enough, and
    for a single class none.

    No share is certain: with n rows none is below 1 / (n + 2) or above its counterpart.
    """

    curves: tuple[tuple[Array, Array], ...]

    @classmethod
    def settle(cls, posterior: Array, truth: Int32, weight: Array) -> Isotonic:
        from scipy.optimize import isotonic_regression

        curves = []
        for hits, rows, scores in _by_score(posterior, truth, weight):
            least = 1.0 / (rows.sum() + 2.0)
            shares = isotonic_regression(hits / rows, weights=rows).x
            curves.append((scores, np.clip(shares, least, 1.0 - least)))
        return cls(tuple(curves))

    def apply(self, posterior: Array) -> Array:
        if not self.curves:
            return posterior
        each = zip(_judged(log_odds(posterior)).T, self.curves, strict=True)
        return _joined(np.column_stack([np.interp(odds, *curve) for odds, curve in each]), posterior)


@dataclass(frozen=True, slots=True, eq=False)
class VennAbers:
    """Two rising curves per class: had the row itself come true, and had it not. Between them lies the truth.

    P is the upper bound over (1 − lower + upper). A curve has a value at each score and one in each gap between them.
    """

    curves: tuple[tuple[Array, Array, Array], ...]

    @classmethod
    def settle(cls, posterior: Array, truth: Int32, weight: Array) -> VennAbers:
        curves = []
        for hits, rows, scores in _by_score(posterior, truth, weight):
            lower, upper = np.empty((2, 2 * len(scores) + 1))
            _with_one_more(hits, rows, lower, upper)
            curves.append((scores, lower, upper))
        return cls(tuple(curves))

    def bounds(self, posterior: Array) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row), rows × classes."""
        if not self.curves:
            return posterior, posterior
        low, high = np.empty((2, len(posterior), len(self.curves)))
        for k, (odds, (scores, lower, upper)) in enumerate(
            zip(_judged(log_odds(posterior)).T, self.curves, strict=True)
        ):
            place = np.searchsorted(scores, odds)
            at = scores[np.minimum(place, len(scores) - 1)] == odds
            low[:, k], high[:, k] = lower[2 * place + at], upper[2 * place + at]
        if len(self.curves) == 1:
            return np.hstack([1.0 - high, low]), np.hstack([1.0 - low, high])
        return low, high

    def apply(self, posterior: Array) -> Array:
        if not self.curves:
            return posterior
        low, high = self.bounds(posterior)
        return _joined(_judged(high / (1.0 - low + high)), posterior)


METHODS: dict[str, type[Temperature | Isotonic | VennAbers]] = {
    "temperature": Temperature,
    "isotonic": Isotonic,
    "venn-abers": VennAbers,
}
"""Each is settled from posteriors of rows that were held out (rows × classes), their classes and their weights, and
applied to posteriors; what it gives sums to one in every row."""


def log_odds(posterior: Array) -> Array:
    """log P(class) − log P(any other class): no digits are lost where a probability is near 1."""
    others = sums_of_others(posterior.T).T
    with np.errstate(invalid="ignore"):
        odds = log_of(posterior) - log_of(others)
    return np.clip(np.nan_to_num(odds, nan=0.0), -FARTHEST, FARTHEST)


def _judged(by_class: Array) -> Array:
    """The classes that are judged by themselves: of two, the second."""
    return by_class[:, 1:] if by_class.shape[1] == 2 else by_class


def _by_score(posterior: Array, truth: Int32, weight: Array) -> list[tuple[Array, Array, Array]]:
    """For each class (of two, the second) how often a score came true, how often it came, and the score itself."""
    n_classes, found = posterior.shape[1], []
    if n_classes == 1:
        return []
    for k, odds in enumerate(_judged(log_odds(posterior)).T, 1 if n_classes == 2 else 0):
        seen = Histogram.observe(np.ascontiguousarray(odds), (truth == k).astype(np.int32), weight, 2)
        found.append((seen.counts[1], seen.counts.sum(axis=0), seen.lows()))
    return found


def _joined(shares: Array, posterior: Array) -> Array:
    """Posteriors from the shares of the classes, each judged by itself."""
    if shares.shape[1] == 1:
        return np.hstack([1.0 - shares, shares])
    total = shares.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(shares, total, out=posterior.copy(), where=total > 0.0))


@kernel
def _with_one_more(hits: Array, rows: Array, lower: Array, upper: Array) -> None:
    """What isotonic regression says of one row more, that did not come true (`lower`) or did (`upper`).

    Entry 2 k + 1 is for a row with score k, entry 2 k for one between scores k − 1 and k.
    """
    n = rows.shape[0]
    up, size = np.empty(n + 1), np.empty(n + 1)
    for entry in range(2 * n + 1):
        k, own = entry // 2, entry % 2 == 1
        for came_true in (0.0, 1.0):
            n_blocks, mine = 0, -1
            for turn in range(n + (0 if own else 1)):
                here = turn == k
                old = turn if own or turn < k else turn - 1
                if here and not own:
                    up[n_blocks], size[n_blocks] = came_true, 1.0
                else:
                    more = 1.0 if here else 0.0
                    up[n_blocks], size[n_blocks] = hits[old] + more * came_true, rows[old] + more
                if here:
                    mine = n_blocks
                n_blocks += 1
                while n_blocks > 1 and up[n_blocks - 2] * size[n_blocks - 1] >= up[n_blocks - 1] * size[n_blocks - 2]:
                    up[n_blocks - 2] += up[n_blocks - 1]
                    size[n_blocks - 2] += size[n_blocks - 1]
                    n_blocks -= 1
                    mine = min(mine, n_blocks - 1)
            (upper if came_true else lower)[entry] = up[mine] / size[mine]
