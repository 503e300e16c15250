"""Evidence that learns on, forgets and merges by its counts, and corrects itself again when it is given rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.engines.memory import Rows as TableRows
from likely.errors import DataError, listed
from likely.models.classifier import TrainingRows
from likely.models.evidence.encoding import BinnedNumber, CodedCategories, Column, Encoding, Terms
from likely.models.evidence.ensemble import TreeEnsemble
from likely.models.evidence.fit import EvidenceFit, Options, fit_experts
from likely.models.evidence.fitter import Expert
from likely.models.evidence.predictor import AdditiveModel, Hyperparameters, LaplaceRows
from likely.models.evidence.prepare import FitContext, code_counts, encode_rows, fit_encoding
from likely.models.evidence.row_source import log_prior
from likely.models.evidence.text_scores import as_scores
from likely.models.evidence.weighted_nb import WeightedNaiveBayes, log_conditionals
from likely.models.settings import ClassWeight, class_factors
from likely.parallel import WorkerPool, one_thread_each
from likely.scorer import Priors, class_prior
from likely.stats import ClassWeights, Summary
from likely.table import Labels, Table, index_levels
from likely.table.schema import Schema

MOST_SPARSE_COLUMNS = 1_000
"""Columns of a sparse matrix that are read one by one, as those of any other table."""


def rows_with_weight(given: TrainingRows) -> TrainingRows:
    """Rows to learn from, without those that have no weight: such a row is as if it were not there."""
    given = replace(given, table=column_by_column(given.table))
    weight = np.ones(given.table.n_rows) if given.weight is None else given.weight
    if not weight.sum() > 0.0:
        raise DataError("All rows have weight zero, so there is nothing to learn.")
    if weight.all():
        return replace(given, weight=weight)
    there = weight > 0.0
    labels = Labels(given.labels.classes, given.labels.codes[there])
    return replace(given, table=given.table.take(there), labels=labels, weight=weight[there])


def column_by_column(table: Table) -> Table:
    """A sparse matrix as a table whose columns are read one by one, as those of any other; wide ones are refused."""
    if table.sparse is None:
        return table
    if table.n_columns > MOST_SPARSE_COLUMNS:
        raise DataError(
            f"Evidence has a table for each column, and this sparse matrix has {table.n_columns:,} of them; "
            f"{MOST_SPARSE_COLUMNS:,} are the most: give the texts themselves, or use BayesClassifier."
        )
    return Table(table.names, table.n_rows, lambda place: table.cells(table.names[place]), named=table.named)


def weighted_prior(priors: Priors, class_weight: ClassWeight, classes: ClassWeights) -> Array:
    """Shares of the classes, multiplied with their weights: rows that count more make their class more probable.

    What columns say of a class does not change with its weight, so nothing is fitted anew for it.
    """
    prior = class_prior(priors, classes) * class_factors(class_weight, classes.labels, classes.weights)
    return np.asarray(prior / prior.sum())


def weighted_nb_from_counts(hyperparameters: Hyperparameters, summary: Summary, schema: Schema) -> AdditiveModel:
    """Weighted naive Bayes with known feature weights and class offsets, in bins that follow from the counts.

    score_c = log p_c + offset_c + Σ_j w_j · log((count + 4 · share of the bin)/(weight of the class + 4)), coarse bins.
    """
    class_weights = summary.classes.weights
    n_scores = 1 if len(class_weights) == 2 else len(class_weights)
    encoding = fit_encoding(summary, schema)
    empty = AdditiveModel.empty(encoding, Terms.none(), n_scores, len(schema.text), hyperparameters)
    if not n_scores:
        return empty
    starts, n_cells = encoding.coarse.starts()
    counts = np.zeros((n_cells, len(class_weights)))
    for k, column in enumerate(encoding.columns):
        np.add.at(counts, starts[k] + column.coarse.astype(np.intp), code_counts(column, summary))
    log_likelihoods = as_scores(log_conditionals(counts, starts, class_weights, 0.0))
    feature_weights = hyperparameters.feature_weights
    cell_weights = np.repeat(feature_weights[: len(starts)], encoding.coarse.widths)[:, None]
    intercept = log_prior(class_weights) + as_scores(hyperparameters.class_offsets[None])[0]
    fitted = WeightedNaiveBayes(feature_weights, cell_weights * log_likelihoods, intercept, 0)
    return empty.plus_weighted_nb(fitted, 1.0)


def corrected_anew(
    before: AdditiveModel,
    last: AdditiveModel | None,
    summary: Summary,
    rows: TableRows,
    schema: Schema,
    options: Options,
) -> AdditiveModel:
    """The evidence corrected by rows that have been counted, beginning where the `last` corrections ended.

    Bins follow from the counts; terms, variances and shares stay as they were chosen.
    """
    classes = summary.classes.labels
    there, known = rows.classes.tolist(), classes.tolist()
    places = index_levels(there, known)
    if (places < 0).any() or (index_levels(known, there) < 0).any():
        raise DataError(
            f"The rows to refresh with have the classes {listed(there)}, but {listed(known)} have been counted; "
            "partial_fit counts new rows, and every class needs some here."
        )
    rows = TableRows(rows.table, classes, places[rows.y].astype(np.int32), rows.weight, rows.n_jobs, rows.preprocessing)
    with one_thread_each():
        data, _ = encode_rows(before.encoding, rows, FitContext(schema, options.seed, WorkerPool(rows.n_jobs)))
        if data.rows.n_classes < 2 or not before.encoding.columns:
            return EvidenceFit(data, options).run()
        chosen = before.hyperparameters.for_classes(np.arange(len(classes)), data.rows.class_weights())
        start = [] if last is None else [warm_start(last, before.encoding, chosen.terms)]
        questions = [] if last is None else carried_questions(last, before.encoding)
        return fit_experts(data, chosen, (start, start), questions)[0]


# Two models that were fitted apart: what each has found out about weighing columns goes into one.


@dataclass(frozen=True, slots=True, eq=False)
class MergedModel:
    """One of the models: how it was made, from so many rows, of these columns (texts last), with these classes."""

    hyperparameters: Hyperparameters
    columns: tuple[str, ...]
    classes: AnyArray
    n_rows: int


def merge_hyperparameters(a: MergedModel, b: MergedModel, classes: AnyArray, weights: Array) -> Hyperparameters:
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
    return Hyperparameters(
        by_column, offsets, counted, terms, more.stacking_weights, more.variances, seen, more.tree_weight,
        more.n_rounds, more.discriminant_weight, more.discriminant,
    )  # fmt: skip


def _mean_offsets(sides: Sequence[tuple[float, MergedModel]], classes: Sequence[object]) -> Array:
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


def warm_start(last: AdditiveModel, encoding: Encoding, terms: Terms) -> Expert:
    """Where to begin with these terms under a new encoding: coefficients whose tables are about those of `last`.

    What the experts of the mixture said each by itself is not known any more: all begin with what they said together.
    The columns of a basis stand at right angles, so that a table is projected by one product.
    """
    design = encoding.design(terms)
    ones = np.ones(len(design.layout))
    total = float(last.hyperparameters.stacking_weights.sum())
    tables = _carried_over(last, encoding, terms, design.n_cells) / max(total, LEAST_SHARE)
    lengths = design.hessian_diagonal(np.ones(design.n_cells), ones)
    u = design.coefficient_gradient(tables, ones) / np.where(lengths > 0.0, lengths, np.inf)[:, None]
    return Expert(terms, design, u, ones, last.intercept)


def _carried_over(last: AdditiveModel, encoding: Encoding, terms: Terms, n_cells: int) -> Array:
    """The tables of `last` for the codes of a encoding: zeros where it has no such term or code."""
    names, before = encoding.names, last.encoding.names
    starts = dict(zip(last.terms.tuples(len(before)), last.starts.tolist(), strict=True))
    out, end = np.zeros((n_cells, last.tables.shape[1])), 0
    for term in terms.tuples(len(names)):
        order = len(term)
        first, end = end, end + prod(encoding.table_shape(term))
        there = [before.index(names[place]) if names[place] in before else -1 for place in term]
        turned = np.argsort(there)
        start = starts.get(tuple(sorted(there)))
        if start is None:
            continue
        old_shape = last.encoding.table_shape(tuple(sorted(there)))
        table = last.tables[start : start + prod(old_shape)].reshape(*old_shape, -1)
        table = np.moveaxis(table, range(order), turned.tolist())
        codes = [
            _old_codes(last.encoding.columns[t], encoding.columns[p], order) for t, p in zip(there, term, strict=True)
        ]
        out[first:end] = table[np.ix_(*codes)].reshape(end - first, -1)
    return out


def carried_questions(last: AdditiveModel, encoding: Encoding) -> list[TreeEnsemble]:
    """What the trees of `last` ask, of the codes of another encoding of the same columns; nothing without trees."""
    if not len(last.trees):
        return []
    before, names = last.encoding.columns, encoding.names
    places = [names.index(column.name) for column in before]
    codes = [_old_codes(old, encoding.columns[place], 1) for old, place in zip(before, places, strict=True)]
    trees = TreeEnsemble.empty(last.trees.leaves.shape[2], len(last.trees))
    for t, k in np.ndindex(trees.columns.shape):
        column = int(last.trees.columns[t, k])
        trees.columns[t, k] = places[column]
        trees.sides[t, k, : len(codes[column])] = last.trees.sides[t, k, codes[column]]
    return [trees]


def _old_codes(old: Column, new: Column, order: int) -> Index:
    """For every code of a column, at the grain of a term of so many columns, the code that it would have had."""
    codes = np.zeros(new.size, dtype=np.intp)
    if isinstance(new, BinnedNumber) and isinstance(old, BinnedNumber):
        codes[1 : len(new.means) + 1] = old.codes_of(new.means)
    elif isinstance(new, CodedCategories) and isinstance(old, CodedCategories):
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
