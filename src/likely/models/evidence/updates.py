"""Evidence that learns on, forgets and merges by its counts, and corrects itself again when it is given rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.arrays import Array, Index
from likely.engines.plan import preprocessing_in
from likely.errors import DataError, listed
from likely.models.classifier import TrainingRows
from likely.models.evidence.columns import Column, NominalColumn, NumericColumn
from likely.models.evidence.counts import count_rows
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.fit import EvidenceFit, Options, fit_experts
from likely.models.evidence.fitter import Expert
from likely.models.evidence.hyperparameters import Hyperparameters, LaplaceRows
from likely.models.evidence.predictor import AdditiveModel
from likely.models.evidence.prepare import FitContext, encode_rows
from likely.parallel import WorkerPool, one_thread_each
from likely.stats import ClassWeights, Summary
from likely.table import Labels, Table, index_levels
from likely.table.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """Rows to learn from, as a schema reads them."""

    table: Table
    schema: Schema
    labels: Labels
    weight: NDArray[np.float64]


def rows_with_weight(given: TrainingRows) -> GivenRows:
    """Rows to learn from, without those that have no weight: such a row is as if it were not there."""
    table, labels = given.table, given.labels
    refuse_sparse(table)
    weight = np.ones(table.n_rows) if given.weight is None else given.weight
    if not weight.sum() > 0.0:
        raise DataError("All rows have weight zero, so there is nothing to learn.")
    if not weight.all():
        there = weight > 0.0
        table, weight = table.take(there), weight[there]
        labels = Labels(labels.classes, labels.codes[there])
    return GivenRows(table, given.schema, labels, weight)


def refuse_sparse(table: Table) -> None:
    """A table whose cells are not all there."""
    if table.sparse is not None:
        raise DataError("Evidence needs a dense table; BayesClassifier reads sparse ones.")


def count_further(given: GivenRows, summary: Summary, n_jobs: int | None) -> Summary:
    """What there is to count in further rows, by the recipes of a summary."""
    return count_rows(given.table, given.schema, given.labels, given.weight, preprocessing_in(summary), n_jobs)


def ways_for(ways: Hyperparameters, known: NDArray[Any], classes: ClassWeights) -> Hyperparameters:
    """The same hyperparameters for other classes, of which some are known."""
    places = index_levels(classes.labels.tolist(), known.tolist())
    return ways.for_classes(places.astype(np.intp), classes.weights)


def corrected_anew(
    before: AdditiveModel,
    last: AdditiveModel | None,
    summary: Summary,
    given: GivenRows,
    options: Options,
    n_jobs: int | None,
) -> AdditiveModel:
    """The evidence corrected by rows that have been counted, beginning where the `last` corrections ended.

    Bins follow from the counts; terms, variances and shares stay as they were chosen.
    """
    classes = summary.classes.labels
    there, known = given.labels.classes.tolist(), classes.tolist()
    places = index_levels(there, known)
    lacking = [label for label, place in zip(known, index_levels(known, there), strict=True) if place < 0]
    if lacking or (places < 0).any():
        raise DataError(
            f"The rows to refresh with have the classes {listed(there)}, but {listed(known)} have been counted; "
            "partial_fit counts new rows, and every class needs some here."
        )
    labels = Labels(classes, places[given.labels.codes].astype(np.int32))
    with one_thread_each(), WorkerPool(n_jobs) as crew:
        how = FitContext(given.schema, preprocessing_in(summary), options.seed, crew, n_jobs)
        data, _ = encode_rows(before.encoding, given.table, labels, given.weight, how)
        ways = before.hyperparameters.for_classes(np.arange(len(labels.classes)), data.rows.class_weights())
        if data.rows.n_classes < 2 or not before.encoding.columns:
            return EvidenceFit(data, options).run()
        begun = [] if last is None else [warm_start(last, before.encoding, ways.terms)]
        return fit_experts(data, ways, (begun, begun))[0]


# Two models that were fitted apart: what each has found out about weighing columns goes into one.


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """How one of the models was made: from so many rows, of these columns (texts last), with these classes."""

    hyperparameters: Hyperparameters
    columns: tuple[str, ...]
    classes: NDArray[np.object_]
    n_rows: int


def merge_hyperparameters(a: Side, b: Side, classes: NDArray[np.object_], weights: Array) -> Hyperparameters:
    """Weights and offsets are means by the rows of both; terms, variances and shares are those of more rows.

    Columns stand in the order that `a` has. Where only one of the two has learned the offset of a class, it is that.
    """
    share = a.n_rows / (a.n_rows + b.n_rows) if a.n_rows + b.n_rows else 0.5
    places = np.array([b.columns.index(name) for name in a.columns], dtype=np.intp)
    by_column = share * a.hyperparameters.feature_weights + (1.0 - share) * b.hyperparameters.feature_weights[places]
    more = a.hyperparameters if a.n_rows >= b.n_rows else b.hyperparameters
    terms = more.terms if more is a.hyperparameters else _moved(more.terms, np.argsort(places))
    offsets = _mean_offsets([(share, a), (1.0 - share, b)], classes.tolist())
    counted = weights / max(float(weights.sum()), 1e-300)
    seen = LaplaceRows.empty(a.hyperparameters.laplace_rows.codes.shape[1], 1 if len(classes) == 2 else len(classes))
    return Hyperparameters(by_column, offsets, counted, terms, more.stacking_weights, more.variances, seen)


def _mean_offsets(sides: Sequence[tuple[float, Side]], classes: Sequence[object]) -> Array:
    total, heard = np.zeros(len(classes)), np.zeros(len(classes))
    for share, side in sides:
        offsets = np.append(side.hyperparameters.class_offsets, 0.0)[index_levels(classes, side.classes.tolist())]
        total += share * offsets
        heard += np.where(offsets != 0.0, share, 0.0)  # what was learned is never exactly 0
    return np.divide(total, heard, out=total, where=heard > 0.0)


def _moved(terms: Terms, places: Index) -> Terms:
    """The same terms where columns stand at other places."""
    pairs, triples = (np.sort(places[some], axis=1).astype(np.int32) for some in (terms.pairs, terms.triples))
    return Terms(pairs, triples)


# Beginning where an older model ended: its tables, seen through the bins of today.

LEAST_SHARE = 0.1
"""Experts that are mixed with less say too little to be blown up."""


def warm_start(last: AdditiveModel, frame: Encoding, terms: Terms) -> Expert:
    """Where to begin with these terms under a new frame: coefficients whose tables are about those of `last`.

    What the experts of the mixture said each by itself is not known any more: all begin with what they said together.
    The columns of a basis stand at right angles, so that a table is projected by one product.
    """
    design = frame.design(terms)
    ones = np.ones(len(design.layout))
    total = float(last.hyperparameters.stacking_weights.sum())
    tables = _carried_over(last, frame, terms, design.n_cells) / max(total, LEAST_SHARE)
    lengths = design.hessian_diagonal(np.ones(design.n_cells), ones)
    u = design.coefficient_gradient(tables, ones) / np.where(lengths > 0.0, lengths, np.inf)[:, None]
    return Expert(terms, design, u, ones, last.intercept, 0)


def _carried_over(last: AdditiveModel, frame: Encoding, terms: Terms, n_cells: int) -> Array:
    """The tables of `last` for the codes of a frame: zeros where it has no such term or code."""
    names, before = ([column.name for column in one.columns] for one in (frame, last.encoding))
    starts = dict(zip([(k,) for k in range(len(before))] + last.terms.tuples(), last.starts.tolist(), strict=True))
    out, end = np.zeros((n_cells, last.tables.shape[1])), 0
    for term in [(k,) for k in range(len(names))] + terms.tuples():
        order = len(term)
        widths = [_width(frame, place, order) for place in term]
        first, end = end, end + int(np.prod(widths))
        there = [before.index(names[place]) if names[place] in before else -1 for place in term]
        turned = np.argsort(there)
        start = starts.get(tuple(sorted(there)))
        if start is None:
            continue
        old_widths = [_width(last.encoding, there[k], order) for k in turned]
        table = last.tables[start : start + int(np.prod(old_widths))].reshape(*old_widths, -1)
        table = np.moveaxis(table, range(order), turned.tolist())
        codes = [
            _old_codes(last.encoding.columns[t], frame.columns[p], order) for t, p in zip(there, term, strict=True)
        ]
        out[first:end] = table[np.ix_(*codes)].reshape(end - first, -1)
    return out


def _width(frame: Encoding, place: int, order: int) -> int:
    return frame.columns[place].size if order == 1 else int((frame.coarse if order == 2 else frame.tiny).widths[place])


def _old_codes(old: Column, new: Column, order: int) -> Index:
    """For every code of a column, at the grain of a term of so many columns, the code that it would have had."""
    codes = np.zeros(new.size, dtype=np.intp)
    if isinstance(new, NumericColumn) and isinstance(old, NumericColumn):
        codes[1 : len(new.means) + 1] = old.codes_of(new.means)
    elif isinstance(new, NominalColumn) and isinstance(old, NominalColumn):
        codes[1 : len(new.levels) + 1] = old.codes_of(new.levels)
        if new.rare and old.rare:
            codes[len(new.levels) + 1] = len(old.levels) + 1
    if new.gap and old.gap:
        codes[-1] = old.size - 1
    if order == 1:
        return codes
    coarse, before = (one.coarse if order == 2 else one.tiny for one in (new, old))
    heaviest_last = 1 + np.argsort(new.mass, kind="stable")
    out = np.zeros(int(coarse.max()) + 1, dtype=np.intp)
    out[coarse[heaviest_last]] = before[codes[heaviest_last]]
    return out
