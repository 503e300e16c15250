"""The additive model as plain values: for each column, pair and triple the lines of its codes, and its table.

A tree is a table, too: each of its questions is a code of two lines. The quadratic discriminant is a polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from likely.arrays import Int64, UInt8
from likely.models.evidence.discriminant import QuadraticDiscriminant
from likely.models.evidence.encoding import BinnedNumber, Column
from likely.models.evidence.predictor import AdditivePredictor, class_scores
from likely.store.expressions import Plain, code_of_number, code_of_value, plain_numbers, table_term


def evidence_terms(model: AdditivePredictor) -> Iterator[Plain]:
    """Every table with the codes that it is looked up by; texts are none of them."""
    evidence, encoding = model.evidence, model.evidence.encoding
    terms = evidence.terms.tuples(len(encoding.columns))
    ends = [*evidence.starts[1:].tolist(), len(evidence.tables)]
    for term, start, end in zip(terms, evidence.starts.tolist(), ends, strict=True):
        sizes = encoding.table_shape(term)
        codes = [_code(encoding.columns[k], len(term), size) for k, size in zip(term, sizes, strict=True)]
        yield table_term(codes, class_scores(evidence.tables[start:end], len(model.classes)))
    trees = evidence.trees
    for tree in range(len(trees)):
        codes = [_question(encoding.columns[k], side) for k, side in trees.questions(tree)]
        lines = trees.leaves[tree, trees.asked_leaves(tree)]
        if codes:
            yield table_term(codes, class_scores(lines, len(model.classes)))
    if len(evidence.discriminant):
        yield _polynomial(evidence.discriminant, encoding.columns, len(model.classes))


def _polynomial(discriminant: QuadraticDiscriminant, columns: tuple[Column, ...], n_classes: int) -> Plain:
    """Standard scores by the codes of some columns, and what these and the products of two of them add."""
    values = []
    for line, k in zip(discriminant.values, discriminant.columns.tolist(), strict=True):
        size = columns[k].size
        values.append({"code": _code(columns[k], 1, size), "value": plain_numbers(line[:size])})
    linear, products = (class_scores(table, n_classes) for table in (discriminant.linear, discriminant.products))
    return {
        "values": values,
        "linear": [plain_numbers(line) for line in linear],
        "products": [plain_numbers(line) for line in products],
    }


def _code(column: Column, order: int, size: int) -> Plain:
    """The code of a column in a term of so many columns: fine alone, coarse in a pair, tiny in a triple."""
    groups = np.arange(column.size) if order == 1 else (column.coarse if order == 2 else column.tiny).astype(np.int64)
    return _grouped(column, groups, size)


def _question(column: Column, side: UInt8) -> Plain:
    """The side of every code, with as many cuts of a number as it needs."""
    return _grouped(column, side[: column.size].astype(np.int64), 2)


def _grouped(column: Column, groups: Int64, size: int) -> Plain:
    """A code by groups of the codes of a column."""
    gap = int(groups[column.size - 1 if column.gap else 0])
    if isinstance(column, BinnedNumber):
        own = np.arange(len(column.cuts) + 1) + 1 if len(column.means) else np.zeros(len(column.cuts) + 1, dtype=int)
        lines = groups[own]
        changes = np.flatnonzero(np.diff(lines))
        cuts, lines = column.cuts[changes].tolist(), lines[np.append(changes, len(lines) - 1)].tolist()
        return code_of_number(column.name, cuts, lines, gap=gap, closed="right", size=size)
    values = (*column.levels, *column.rare)
    own = np.minimum(np.arange(len(values)) + 1, len(column.levels) + 1)
    return code_of_value(column.name, values, groups[own].tolist(), gap=gap, unseen=int(groups[0]), size=size)
