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
from likely.evidence.counted import count_rows, fall_back
from likely.evidence.learning import Learning, Wishes, made
from likely.evidence.merging import Side, merged_ways
from likely.evidence.model import Evidence
from likely.evidence.preparing import Reading, make_ready_under
from likely.evidence.settled import Settled
from likely.evidence.warming import begun_by
from likely.evidence.ways import Ways
from likely.recipes import recipes_in
from likely.schema import Schema
from likely.stats import Summary
from likely.table import Labels, Table, as_table, index_levels
from likely.threads import Crew


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """Rows to learn from, as a schema reads them."""

    table: Table
    schema: Schema
    labels: Labels
    weight: NDArray[np.float64]


class EvidenceAdding:
    """Stands beside a classifier with a settled model of evidence and a summary of what was counted."""

    model_: Settled
    summary_: Summary
    schema_: Schema
    classes_: NDArray[Any]
    families_: dict[str, str]
    stale_: bool
    n_jobs: int | None
    _corrected: Evidence | None

    def _given(self, table: Table, schema: Schema | None, y: Any, sample_weight: Any) -> GivenRows:
        raise NotImplementedError("It stands beside a classifier, which reads the rows.")

    def _wishes(self) -> Wishes:
        raise NotImplementedError("It stands beside a classifier, which has the settings.")

    def _remember(self, evidence: Evidence, summary: Summary, *, stale: bool) -> Self:
        raise NotImplementedError("It stands beside a classifier, which settles the model.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        raise NotImplementedError("It stands beside a classifier, which learns.")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count more rows; new classes and categories are welcome. Corrections are stale from then on, see `refresh`.

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
        """Add what another classifier of the same columns has counted; corrections are stale from then on.

        Bins and categories follow from what both have counted. Weights of columns are means of both, by their rows;
        pairs and variances, for the next `refresh`, are those of the one that has counted more.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.families_, other.families_
        differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        if differing:
            raise NotMergeable(f"The two classifiers do not read {listed(differing)} in the same way.")
        summary = self.summary_ + other.summary_
        ways = merged_ways(self._side(), other._side(), summary.classes.labels, summary.classes.weights)
        more = self if self.summary_.n_rows >= other.summary_.n_rows else other
        return self._fallen_back(ways, summary, more)

    def __add__(self, other: Self) -> Self:
        """A third classifier that has counted the rows of both."""
        check_is_fitted(self)
        return copy(self).merge(other)

    def emptied(self) -> Self:
        """Another classifier with the same weights of columns that has counted no rows yet, to be merged later."""
        check_is_fitted(self)
        return copy(self)._counted_anew(self.summary_ - self.summary_)

    def refresh(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Correct the model anew by rows that have been counted: all of them, or a fair sample with every class.

        Bins follow from the counts. Terms, variances and shares stay as they were chosen when it was fitted, so nothing
        is searched for, and it begins where the last corrections ended. Counts and priors stay, too.
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
            how = Reading(self.schema_, recipes_in(self.summary_), wishes.seed, crew, self.n_jobs)
            data, _ = make_ready_under(before.frame, given.table, labels, given.weight, how)
            ways = before.ways.of_classes(np.arange(len(labels.classes)), data.rows.class_weights())
            if data.rows.n_classes < 2 or not before.frame.columns:
                evidence = Learning(data, wishes).run()
            else:
                begun = [] if self._corrected is None else [begun_by(self._corrected, before.frame, ways.terms)]
                evidence, _ = made(data, ways, (begun, begun))
        return self._remember(evidence, self.summary_, stale=False)

    def _count(self, X: Any, y: Any, sample_weight: Any) -> Summary:
        given = self._given(self.schema_.align(as_table(X), type(self).__name__), self.schema_, y, sample_weight)
        return count_rows(given.table, self.schema_, given.labels, given.weight, recipes_in(self.summary_), self.n_jobs)

    def _counted_anew(self, summary: Summary) -> Self:
        places = index_levels(summary.classes.labels.tolist(), self.classes_.tolist())
        ways = self.model_.evidence.ways.of_classes(places.astype(np.intp), summary.classes.weights)
        return self._fallen_back(ways, summary, self)

    def _fallen_back(self, ways: Ways, summary: Summary, last: Self) -> Self:
        """Weighted naive Bayes; the last corrections are kept to begin the next ones with, if classes are the same."""
        same = summary.classes.labels.tolist() == last.classes_.tolist()
        self._corrected = last._corrected if same else None
        return self._remember(fall_back(ways, summary, self.schema_), summary, stale=True)

    def _side(self) -> Side:
        evidence = self.model_.evidence
        columns = (*(column.name for column in evidence.frame.columns), *self.schema_.text)
        return Side(evidence.ways, columns, self.classes_, self.summary_.n_rows)
