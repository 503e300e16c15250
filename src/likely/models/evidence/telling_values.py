"""The values, interactions and words that speak most for each class, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.models.evidence.encoding import BinnedNumber, Column
from likely.models.evidence.explain import SEPARATOR, TermTable, cell_names, term_table
from likely.models.evidence.predictor import AdditivePredictor
from likely.stats import Summary, TokenCounts

MOST_WORDS = 200
"""Words of a text column among which the most telling ones are looked for."""

TELLING = ("class", "column", "value", "log_odds", "share")
TellingTerm = tuple[object, str, str, float, float]


def telling_lines(model: AdditivePredictor, summary: Summary, per_class: int) -> list[TellingTerm]:
    """For each class, the values that speak most for it: see `EvidenceClassifier.telling_values`."""
    labels = model.classes.tolist()
    found: list[list[tuple[float, TellingTerm]]] = [[] for _ in labels]
    for name, value, odds, share in _values(model, summary):
        for k, label in enumerate(labels):
            strength = float(odds[k]) * share
            if strength > 0.0:
                found[k].append((strength, (label, name, value, float(odds[k]), share)))
    return [line for own in found for _, line in sorted(own, key=lambda entry: -entry[0])[:per_class]]


def _values(model: AdditivePredictor, summary: Summary) -> Iterator[tuple[str, str, Array, float]]:
    """Column (or term), value, its log-odds for each class against the others, and its share of the rows."""
    evidence = model.evidence
    names = evidence.encoding.names
    for term in [*((name,) for name in names), *evidence.term_names()]:
        table = _in_few_bins(term_table(model, term, digits=4))
        odds, shares = _against_others(table.entries), _cell_shares(table)
        odds = odds - np.tensordot(shares, odds, axes=shares.ndim)  # what all values add is no news of one
        for place in np.ndindex(*shares.shape):
            yield SEPARATOR.join(term), cell_name(table, place), odds[place], float(shares[place])
    counts = {part.columns[0]: seen for part, seen in summary.parts_of(TokenCounts).items()}
    for text_model, weight in zip(model.text_models, evidence.text_weights.tolist(), strict=True):
        seen = counts[text_model.column]
        best = np.argsort(-seen.information_by_word(), kind="stable")[:MOST_WORDS]
        words = seen.words.take(best).to_list()
        held = seen.documents.select(best).column_sums() / max(float(summary.classes.weights.sum()), 1e-300)
        known, lines = text_model.word_evidence()
        said = dict(zip(known, lines, strict=True))
        for word, share in zip(words, held.tolist(), strict=True):
            if word in said:
                yield text_model.column, f"“{word}”", weight * _against_others(said[word]), share


def _in_few_bins(table: TermTable) -> TermTable:
    """The table of a number in as few bins as triples have, each with the mean of what its parts add."""
    column = table.columns[0]
    if len(table.columns) > 1 or not isinstance(column, BinnedNumber):
        return table
    groups = column.tiny[1:].astype(np.intp) - 1
    mass = np.bincount(groups, weights=column.mass).astype(np.float64)
    entries = [np.bincount(groups, weights=column.mass * entry) / np.maximum(mass, 1e-300) for entry in table.entries.T]
    names = tuple(cell_names(column, 3, digits=4)[1:])
    return TermTable((replace(column, mass=mass),), (names,), np.stack(entries, axis=1))


def _against_others(entries: Array) -> Array:
    """Entries of each class less the mean of the others'."""
    n = entries.shape[-1]
    return np.asarray((entries - entries.mean(axis=-1, keepdims=True)) * (n / max(n - 1, 1)))


def _cell_shares(table: TermTable) -> Array:
    """How common each cell is; those of several columns as if these were independent."""
    out = np.ones(())
    for column, cells in zip(table.columns, table.cells, strict=True):
        mass = np.zeros(len(cells))
        codes = np.arange(1, len(column.mass) + 1)
        np.add.at(mass, grouped(column, codes, len(table.columns)) - 1, column.mass)
        out = np.multiply.outer(out, mass / max(float(mass.sum()), 1e-300))
    return out


def grouped(column: Column, codes: AnyArray, order: int) -> Index:
    """Codes of a column as a term of so many columns has them."""
    groups = [None, column.coarse, column.tiny][order - 1]
    return np.asarray(codes if groups is None else groups[codes], dtype=np.intp)


def cell_name(table: TermTable, place: Sequence[int]) -> str:
    """What a cell of a table is called."""
    return SEPARATOR.join(cells[k] for cells, k in zip(table.cells, place, strict=True))
