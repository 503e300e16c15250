"""Bell curves over several columns as SQL: each column given the known ones before it, in steps.

With L the lower factor of the correlations and z the cells in deviations, u = L⁻¹ z has independent entries, so the log
density is a sum over columns. In a row without gaps L is known beforehand. In others Cholesky's algorithm runs in the
query, with the correlations of unknown cells set to zero: what comes out is the factor of the known ones alone.
"""

from __future__ import annotations

import numpy as np

from likely.arrays import Array
from likely.families.covariance import inverse_lower
from likely.families.gaussian import LOG_ROOT_TAU, Gaussian
from likely.families.gaussian_kernels import STEEP
from likely.families.protocol import SQL, SQLNode

LEAST_PIVOT = 1e-16
"""As in memory."""

MOST_FACTORS = 900
"""Entries of factors that a query may work out for rows with gaps: engines have a limit of columns."""


def chain_terms(sql: SQL, margins: Gaussian, lower: Array, place: int, *, last: bool) -> list[SQLNode]:
    """What each column adds in one class, given the known ones before it; with `last`, the last one alone.

    Where there are too many columns to marginalise in a query, a row with a gap has null.
    """
    varying = np.flatnonzero(np.isfinite(margins.deviation).all(axis=0))
    if last and (not len(varying) or varying[-1] != len(margins.columns) - 1):
        return []  # a constant column adds nothing
    shared = len(lower) == 1
    names = tuple(margins.columns[k] for k in varying)
    correlation = (lower[0 if shared else place] @ lower[0 if shared else place].T)[np.ix_(varying, varying)]
    chain = _Chain(sql, names, correlation, 0 if shared else place, len(lower))
    mean, deviation = margins.mean[place, varying], margins.deviation[place, varying]
    whole = np.linalg.cholesky(correlation)
    scaled = inverse_lower(np.ascontiguousarray(whole)) / deviation
    wanted = [len(names) - 1] if last else range(len(names))
    entries = chain.entries(place, mean, deviation, scaled)
    terms = []
    for a in wanted:
        u, peak = entries[a], float(np.log(deviation[a])) + LOG_ROOT_TAU
        known = sql.sum([sql.number(-peak - float(np.log(whole[a, a]))), _minus_half_square(sql, u)])
        if chain.marginalises:
            pivot = sql.times(sql.number(-1.0), sql.ln(chain.factor(a, a)))
            partly = sql.sum([sql.number(-peak), pivot, _minus_half_square(sql, u)])
            known = sql.case([(chain.gaps(), partly)], known)
            known = sql.unless(sql.missing(names[a]), known)
        terms.append(known)
    return terms


def _minus_half_square(sql: SQL, u: SQLNode) -> SQLNode:
    """−½ u², bent where it would leave the floats."""
    size = sql.size(u.copy())
    bent = sql.times(
        sql.number(-0.5 * STEEP * STEEP), sql.minus(sql.ln(size.copy()), sql.number(float(np.log(STEEP)) - 1.0))
    )
    tiny, far = sql.at_most(size.copy(), sql.number(1.0 / STEEP)), sql.at_most(sql.number(STEEP), size)
    square = sql.times(sql.times(sql.number(-0.5), u.copy()), u.copy())
    return sql.case([(tiny, sql.number(0.0)), (far, bent)], square)


class _Chain:
    """Steps for some columns; factors belong to a class, or to all of them where they share their correlations."""

    def __init__(self, sql: SQL, names: tuple[str, ...], correlation: Array, owner: int, n_factors: int) -> None:
        self.sql, self.names, self.correlation, self.owner = sql, names, correlation, owner
        self.marginalises = n_factors * len(names) * (len(names) + 1) // 2 <= MOST_FACTORS

    def gaps(self) -> SQLNode:
        """Whether some of the columns are unknown."""
        sql = self.sql
        found = sql.missing(self.names[0])
        for name in self.names[1:]:
            found = sql.either(found, sql.missing(name))
        return sql.kept(found, ("gaps", self.names))

    def factor(self, a: int, b: int) -> SQLNode:
        """L[a, b] of the known columns of a row; null in rows without gaps, where it is known beforehand."""
        sql, key = self.sql, ("factor", self.names[: a + 1], self.owner, a, b)
        less = [sql.times(self.factor(a, k), self.factor(b, k)) for k in range(b)]
        rest = sql.number(float(self.correlation[a, b]))
        if less:
            rest = sql.minus(rest, sql.sum(less))
        if a == b:
            root = sql.root(sql.greatest([rest, sql.number(LEAST_PIVOT)]))
            value = sql.case([(sql.missing(self.names[a]), sql.number(1.0))], root)
        else:
            unknown = sql.either(sql.missing(self.names[a]), sql.missing(self.names[b]))
            value = sql.case([(unknown, sql.number(0.0))], sql.over(rest, self.factor(b, b)))
        return sql.kept(sql.case([(self.gaps(), value)]), key)

    def entries(self, place: int, mean: Array, deviation: Array, scaled: Array) -> list[SQLNode]:
        """u of every column in one class; null in a row with gaps that is not marginalised."""
        sql, found = self.sql, list[SQLNode]()
        for a, name in enumerate(self.names):
            shifted = [sql.minus(sql.real(self.names[b]), sql.number(float(mean[b]))) for b in range(a + 1)]
            whole = sql.sum([sql.times(sql.number(float(scaled[a, b])), shifted[b]) for b in range(a + 1)])
            if self.marginalises:
                z = sql.times(sql.number(1.0 / float(deviation[a])), shifted[a].copy())
                less = [sql.times(self.factor(a, b), found[b].copy()) for b in range(a)]
                step = sql.over(sql.minus(z, sql.sum(less)) if less else z, self.factor(a, a))
                partly = sql.case([(sql.missing(name), sql.number(0.0))], step)
                whole = sql.case([(self.gaps(), partly)], whole)
            found.append(sql.kept(whole, ("entry", self.names[: a + 1], place, a)))
        return found
