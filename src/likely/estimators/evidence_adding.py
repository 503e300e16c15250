"""Evidence that learns on, forgets and merges by its counts, and corrects itself again when it is given rows."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from likely.blas import one_thread_each
from likely.errors import DataError, NotMergeable, listed
from likely.evidence.columns import Column, NumericColumn
from likely.evidence.counted import count_rows, fall_back
from likely.evidence.crew import Crew
from likely.evidence.learning import Learning, Wishes, made
from likely.evidence.model import Evidence
from likely.evidence.preparing import make_ready
from likely.evidence.settled import Settled
from likely.recipes import recipes_in
from likely.schema import Schema
from likely.stats import Summary
from likely.table import Labels, Table, as_table, index_levels


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """Rows to learn from, as a schema reads them."""

    table: Table
    schema: Schema
    labels: Labels
    weight: NDArray[np.float64]


class EvidenceAdding:
    """Stands beside a classifier with a settled model of evidence and a summary of class × bin counts."""

    model_: Settled
    summary_: Summary
    schema_: Schema
    classes_: NDArray[Any]
    stale_: bool
    n_jobs: int | None

    def _given(self, table: Table, schema: Schema | None, y: Any, sample_weight: Any) -> GivenRows:
        raise NotImplementedError("It stands beside a classifier, which reads the rows.")

    def _wishes(self) -> Wishes:
        raise NotImplementedError("It stands beside a classifier, which has the settings.")

    def _remember(self, evidence: Evidence, summary: Summary, *, stale: bool) -> Self:
        raise NotImplementedError("It stands beside a classifier, which settles the model.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        raise NotImplementedError("It stands beside a classifier, which learns.")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; new classes are welcome. Corrections are stale from then on, see `refresh`.

        Bins and categories stay those of the first rows: a category that was not among them is not counted.
        `classes` is accepted because scikit-learn's tools pass it; nothing needs to be known beforehand.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        return self._counted_anew(self.summary_ + self._count(X, y, sample_weight))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of the counts; corrections are stale from then on, see `refresh`."""
        check_is_fitted(self)
        return self._counted_anew(self.summary_ - self._count(X, y, sample_weight))

    def merge(self, other: Self) -> Self:
        """Add what another classifier with the same bins has counted; corrections are stale from then on.

        Two classifiers have the same bins if both come from one fit: see `emptied`.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.model_.evidence.frame.columns, other.model_.evidence.frame.columns
        names = [column.name for column in mine]
        if names != [column.name for column in theirs] or self.schema_.text != other.schema_.text:
            raise NotMergeable("The two classifiers have not learned the same columns.")
        differing = [a.name for a, b in zip(mine, theirs, strict=True) if not _alike(a, b)]
        if differing:
            raise NotMergeable(
                f"The two classifiers cut {listed(differing)} into different bins; let both begin with `emptied()` of "
                "one that is fitted."
            )
        return self._counted_anew(self.summary_ + other.summary_)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has counted the rows of both."""
        check_is_fitted(self)
        return copy(self).merge(other)

    def emptied(self) -> Self:
        """Another classifier with the same bins and weights that has counted no rows yet, to be merged later."""
        check_is_fitted(self)
        return copy(self)._counted_anew(self.summary_ - self.summary_)

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Correct the model anew by rows that have been counted: all of them, or a fair sample with every class.

        Bins, terms, variances and shares stay as they were chosen when it was fitted, so nothing is searched for.
        Counts and priors stay, too.
        """
        check_is_fitted(self)
        wishes = self._wishes()
        given = self._given(self.schema_.align(as_table(X), type(self).__name__), self.schema_, y, sample_weight)
        there, known = given.labels.classes.tolist(), self.classes_.tolist()
        places = index_levels(there, known)
        lacking = [label for label, place in zip(known, index_levels(known, there), strict=True) if place < 0]
        if lacking or (places < 0).any():
            raise DataError(
                f"The rows to refresh with have the classes {listed(there)}, but {listed(known)} have been counted; "
                "partial_fit counts new rows, and every class needs some here."
            )
        labels = Labels(self.classes_, places[given.labels.codes].astype(np.int32))
        before = self.model_.evidence
        with one_thread_each(), Crew(self.n_jobs) as crew:
            ready = make_ready(
                given.table, self.schema_, labels, given.weight, recipes_in(self.summary_), wishes.seed, crew,
                self.n_jobs, before.frame,
            )  # fmt: skip
            rows = ready.data.rows
            ways = before.ways.of_classes(np.arange(len(labels.classes)), rows.class_weights())
            if rows.n_classes < 2 or not before.frame.columns:
                evidence = Learning(ready.data, wishes).run()
            else:
                evidence, _ = made(ready.data, ways)
        return self._remember(evidence, self.summary_, stale=False)

    def _count(self, X: Any, y: Any, sample_weight: Any) -> Summary:
        given = self._given(self.schema_.align(as_table(X), type(self).__name__), self.schema_, y, sample_weight)
        return count_rows(
            self.model_.evidence.frame, given.table, given.labels, given.weight, self.schema_.text,
            recipes_in(self.summary_), self.n_jobs,
        )  # fmt: skip

    def _counted_anew(self, summary: Summary) -> Self:
        places = index_levels(summary.classes.labels.tolist(), self.classes_.tolist())
        evidence = fall_back(self.model_.evidence, summary, places.astype(np.intp))
        return self._remember(evidence, summary, stale=True)


def _alike(a: Column, b: Column) -> bool:
    """Whether two columns give the same code to every value."""
    if type(a) is not type(b) or a.gap != b.gap or a.coarse.tolist() != b.coarse.tolist():
        return False
    if isinstance(a, NumericColumn) and isinstance(b, NumericColumn):
        return bool(np.array_equal(a.cuts, b.cuts))
    if isinstance(a, NumericColumn) or isinstance(b, NumericColumn):
        return False
    return a.levels == b.levels and set(a.rare) == set(b.rare)
