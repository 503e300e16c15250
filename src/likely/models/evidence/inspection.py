"""What a fitted evidence classifier is asked about itself and about rows: its methods of these names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from likely.arrays import Array, Index, UInt8
from likely.decide import LossLike
from likely.errors import SettingsError, TooLarge
from likely.explain import Nomogram
from likely.explain import rank_words as words_by_information
from likely.explain.next_measurement import best_first, costs_of, gains
from likely.explain.nomogram import refuse_texts, sides
from likely.families import Settings
from likely.models.evidence.encoding import BinnedNumber, Column
from likely.models.evidence.explain import SEPARATOR, term_table
from likely.models.evidence.explain import table_of as frame_of_table
from likely.models.evidence.predictor import AdditivePredictor, class_scores
from likely.models.evidence.prepare import code_counts
from likely.models.evidence.telling_values import TELLING, cell_name, grouped, telling_lines
from likely.models.prediction import known_cells, unseen_cells, with_empty_columns
from likely.numerics import log_of
from likely.render.nomogram import Scale
from likely.scorer import Model
from likely.stats import Histogram, Moments, Part, Summary
from likely.table import RowsLike, Table, as_table
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

DENSITIES = {"numeric": "gaussian", "nominal": "categorical", "text": "text multinomial"}
"""Families that are settled from the counts that evidence keeps."""

CELLS_AT_ONCE = 1 << 21


class Inspected(Protocol):
    """A fitted evidence classifier."""

    @property
    def model_(self) -> AdditivePredictor: ...

    @property
    def summary_(self) -> Summary: ...

    @property
    def schema_(self) -> Schema: ...

    def _read(self, X: RowsLike) -> Table: ...


# Tables of terms.


def table_of(classifier: Inspected, *columns: str) -> pd.DataFrame:
    """The learned table of a column, a pair or a triple: one line per cell, with its contribution to each class.

    Cells are named by bins ("≤ 3.5", "3.5 … 7"), categories, "gap" and "rare"; `weight` is how much was seen of
    each code, for a single column.
    """
    check_is_fitted(classifier)
    return frame_of_table(classifier.model_, columns)


def plot_table(classifier: Inspected, *columns: str) -> Picture:
    """What each value of a column contributes to each class, a panel per column; without names, the strongest."""
    from likely.models.evidence.plot import plot_main_effects

    check_is_fitted(classifier)
    return plot_main_effects(classifier.model_, columns or None)


def plot_pair(classifier: Inspected, a: str, b: str) -> Picture:
    """A heat map of what two columns say together, beyond what each says alone."""
    from likely.models.evidence.plot import plot_pair

    check_is_fitted(classifier)
    return plot_pair(classifier.model_, a, b)


# What tells most.


def rank_words(classifier: Inspected, column: str | None = None) -> pd.DataFrame:
    """Top words of a text column: by what their presence tells about the class, best first."""
    check_is_fitted(classifier)
    return words_by_information(classifier.summary_, column)


def telling_values(classifier: Inspected, per_class: int = 5) -> pd.DataFrame:
    """For each class, the values and top words that speak most for it: class, column, value, log_odds, share.

    `log_odds` is what the value adds for the class, less the mean of what it adds for the others, in nats, and less
    what a cell of the column adds on average; `share` is how common it is (of a pair: as if its columns were
    independent). Ordered by their product: what is moved in all.
    """
    import pandas as pd

    check_is_fitted(classifier)
    lines = telling_lines(classifier.model_, classifier.summary_, per_class)
    # Values stay what they are: some strings are none to the library of strings behind pandas.
    frame = pd.DataFrame(lines, columns=list(TELLING), dtype=object)
    return frame.astype({"log_odds": float, "share": float})


# Points on one sheet.


def nomogram(classifier: Inspected, target: object = None) -> Nomogram:
    """Points for every value of every column and term; added up they give `predict_proba` of `target`."""
    check_is_fitted(classifier)
    model = classifier.model_
    refuse_texts([text_model.column for text_model in model.text_models])
    if model.evidence.rest_columns():
        raise SettingsError(
            "A nomogram has a scale for each table, and this model has trees or a discriminant beside them; "
            'fit it with depth="triples".'
        )
    place, rivals = sides(target, model.classes)
    evidence, labels = model.evidence, model.classes.tolist()
    by_name = {column.name: column for column in evidence.encoding.columns}
    terms = {SEPARATOR.join(names): names for names in evidence.term_names()}
    places = {name: k for k, name in enumerate(by_name)}
    starts = dict(zip([*by_name, *terms], evidence.starts.tolist(), strict=True))

    def worth(name: str, values: Sequence[object] | Array) -> Array:
        """Encode the cells as rows are encoded, and read the entries of the term's table."""
        columns = terms.get(name, (name,))
        cells = list(zip(*values, strict=True)) if name in terms else [values]
        read = [by_name[each].codes(as_table({each: list(some)})) for each, some in zip(columns, cells, strict=True)]
        codes = [grouped(by_name[each], some, len(columns)) for each, some in zip(columns, read, strict=True)]
        widths = evidence.encoding.table_shape(tuple(places[each] for each in columns))
        at = starts[name] + np.ravel_multi_index(tuple(codes), widths)
        logs = class_scores(evidence.tables[at], len(labels))
        return np.asarray(logs[:, [place]] - logs[:, rivals])

    scales = [_scale(model, column, place, rivals) for column in by_name.values()]
    for name, columns in terms.items():
        table = term_table(model, columns, digits=4)
        cells = [cell_name(table, at) for at in np.ndindex(*table.entries.shape[:-1])]
        entries = table.entries.reshape(-1, len(labels))
        scales.append(Scale(name, cells, entries[:, [place]] - entries[:, rivals]))
    log_start = log_of(model.prior) + model.beyond_prior()
    start = np.asarray(log_start[place] - log_start[rivals])
    return Nomogram(tuple(by_name), labels[place], tuple(labels[k] for k in rivals), start, tuple(scales), worth, terms)


def _scale(model: AdditivePredictor, column: Column, place: int, rivals: Index) -> Scale:
    """Categories as they are; a number at the means of the bins that pairs have, for a sheet is read by eye."""
    entries = term_table(model, [column.name]).entries
    if not isinstance(column, BinnedNumber):
        logs = entries[: len(column.levels)]
        return Scale(column.name, column.levels, logs[:, [place]] - logs[:, rivals])
    n = len(column.means)
    groups, mass = column.coarse[1 : n + 1].astype(np.intp) - 1, column.mass[:n]
    if not n:
        return Scale(column.name, np.zeros(1), np.zeros((1, len(rivals))))
    part = mass / np.bincount(groups, weights=mass)[groups]  # of its group: the mean of large numbers stays a number
    odds = entries[:n, [place]] - entries[:n, rivals]
    points = np.stack([np.bincount(groups, weights=part * line) for line in odds.T], axis=1).astype(np.float64)
    return Scale(column.name, np.bincount(groups, weights=part * column.means).astype(np.float64), points)


# What a missing value may turn out to be.


def next_measurement(classifier: Inspected, X: RowsLike, loss: LossLike | None = None) -> pd.DataFrame:
    """Which missing value of each row to find out first: expected information in bits, and saving under a loss.

    Columns that the table does not have at all count as missing. `loss` is a `Loss`, or costs as decisions × classes in
    the order of `classes_`. A value is expected as often as it was counted with each class; what it then does, alone
    and in pairs, is what the tables say. Texts are left out.
    """
    check_is_fitted(classifier)
    table = classifier._read(with_empty_columns(X, classifier.schema_))
    model, evidence = classifier.model_, classifier.model_.evidence
    costs = None if loss is None else costs_of(loss, model.classes, table.n_rows)
    codes = model.codes(table)
    fixed = model.log_joint(table, 1).array() - _table_scores(model, codes)
    lines: list[tuple[object, ...]] = []
    for place, column in enumerate(evidence.encoding.columns):
        rows = np.flatnonzero(~known_cells(table, column.name))
        counted = code_counts(column, classifier.summary_)[1 : column.size - column.gap]
        if not len(rows) or not len(counted):
            continue
        share = counted.sum(axis=1) / max(float(counted.sum()), 1e-300)
        by_class = (counted + share[:, None]) / (counted.sum(axis=0) + 1.0)
        step = max(CELLS_AT_ONCE // (len(counted) * (codes.shape[1] + len(model.classes))), 1)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            tables = _expected(model, codes[some], fixed[some], place, by_class)
            told = gains(tables, costs if costs is None or costs.ndim == 2 else costs[some])
            lines += [(int(row), place, column.name, *gain) for row, gain in zip(some, told, strict=True)]
    return best_first(lines, with_saving=costs is not None)


def _expected(model: AdditivePredictor, codes: UInt8, fixed: Array, place: int, by_class: Array) -> Array:
    """P(class, value | row): a value as probable as the other cells make it, the class as the tables say then."""
    without = codes.copy()
    without[:, place] = 0
    now = softmax(fixed + _table_scores(model, without), axis=1)
    filled = np.repeat(codes, len(by_class), axis=0)
    filled[:, place] = np.tile(np.arange(1, len(by_class) + 1, dtype=np.uint8), len(codes))
    joint = np.repeat(fixed, len(by_class), axis=0) + _table_scores(model, filled)
    after = softmax(joint, axis=1).reshape(len(codes), len(by_class), -1)
    return np.asarray(((now @ by_class.T)[:, :, None] * after).swapaxes(1, 2))


def _table_scores(model: AdditivePredictor, codes: UInt8) -> Array:
    """What the tables add for each class, rows × classes."""
    scores = np.zeros((len(codes), len(model.evidence.intercept)))
    model.evidence.add_scores(codes, slice(0, len(codes)), scores)
    return class_scores(scores, len(model.classes))


# Rows that are unlike those that were learned.


def unseen_values(classifier: Inspected, X: RowsLike) -> pd.DataFrame:
    """The cells whose category did not occur in training: row, column, value."""
    table = classifier._read(X)
    return unseen_cells(table, classifier.model_.unseen(table))


def density_model(classifier: Inspected) -> Model:
    """Naive Bayes from the same counts: it knows how probable a row is, which evidence does not.

    Numbers are Gaussian, so that one far beyond all others is novel, which the outermost of some bins would not say.
    """
    schema, summary = classifier.schema_, classifier.summary_
    numeric = summary.parts_of(Histogram)
    parts = {part: seen for part, seen in summary.parts.items() if part not in numeric}
    by_name = {part.columns[0]: seen.moments() for part, seen in numeric.items()}
    names = tuple(name for name in schema.features if name in by_name)
    if names:
        each = [by_name[name] for name in names]
        cells = [np.hstack(some) for some in zip(*((m.n, m.mean, m.root) for m in each), strict=True)]
        moments = Moments(*cells)
        try:
            moments.refuse_large()
        except TooLarge as large:
            raise large.named(names) from None
        parts[Part("moments", names)] = moments
    assigned = {name: DENSITIES[schema.kinds[name]] for name in schema.features}
    return Model.settle(Summary(summary.classes, parts), assigned, None, Settings(unseen="smooth"))
