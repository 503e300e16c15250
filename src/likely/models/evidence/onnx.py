"""The additive model as tensors of ONNX: columns become codes, and every table is looked up by codes."""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Int32
from likely.families.export import Tensor
from likely.models.evidence.discriminant import QuadraticDiscriminant
from likely.models.evidence.encoding import BinnedNumber, CodedCategories, Encoding, Resolution, Terms
from likely.models.evidence.ensemble import N_LEAVES, TreeEnsemble
from likely.store.onnx import OnnxGraph


def evidence_scores(
    graph: OnnxGraph, encoding: Encoding, terms: Terms, starts: Int32, tables: Array, trees: TreeEnsemble,
    discriminant: QuadraticDiscriminant,
) -> Tensor:  # fmt: skip
    """Rows × scores: the sum of the table entries of columns, pairs and triples, of leaves of trees and of products."""
    codes = _codes(graph, encoding)
    cells = [codes[k] for k in range(len(codes))]
    for several, groups, resolution in (
        (terms.pairs, [column.coarse for column in encoding.columns], encoding.coarse),
        (terms.triples, [column.tiny for column in encoding.columns], encoding.tiny),
    ):
        grouped = {k: graph.rows_of(groups[k].astype(np.int64), codes[k]) for k in np.unique(several).tolist()}
        cells += [_cell(graph, grouped, resolution, term) for term in several.tolist()]
    ends = [*starts[1:].tolist(), len(tables)]
    found = zip(starts.tolist(), ends, cells, strict=True)
    entries = [graph.rows_of(tables[start:end], cell) for start, end, cell in found]
    if len(trees):
        entries.append(_leaves(graph, codes, trees))
    if len(discriminant):
        entries.append(_polynomial(graph, codes, discriminant))
    return graph.sum([graph.zeros(), *entries])


def _leaves(graph: OnnxGraph, codes: dict[int, Tensor], trees: TreeEnsemble) -> Tensor:
    """Rows × scores: all trees at once; the answers to their questions are the bits of a leaf's number."""
    n_trees, n_questions, width = trees.sides.shape
    last = graph.constant(np.array([1], dtype=np.int64))
    side_by_side = [graph.apply("Unsqueeze", codes[k], last) for k in range(len(codes))]
    matrix = graph.apply("Concat", *side_by_side, attributes={"axis": 1})
    asked = graph.columns(matrix, trees.columns.ravel().tolist())
    first = width * np.arange(n_trees * n_questions, dtype=np.int64)[None]
    answers = graph.as_int(graph.rows_of(trees.sides.ravel(), graph.apply("Add", asked, graph.constant(first))))
    bits = np.tile(1 << np.arange(n_questions)[::-1], n_trees).astype(np.int64)[None]
    answers = graph.apply("Mul", answers, graph.constant(bits))
    shape = graph.constant(np.array([-1, n_trees, n_questions], dtype=np.int64))
    leaf = graph.reduce("Sum", graph.apply("Reshape", answers, shape), 2, keep=False)
    leaf = graph.apply("Add", leaf, graph.constant(N_LEAVES * np.arange(n_trees, dtype=np.int64)[None]))
    lines = trees.leaves.reshape(n_trees * N_LEAVES, -1)
    return graph.reduce("Sum", graph.rows_of(lines, leaf), 1, keep=False)


def _polynomial(graph: OnnxGraph, codes: dict[int, Tensor], discriminant: QuadraticDiscriminant) -> Tensor:
    """Rows × scores: standard scores of columns, and their products, times what each adds."""
    last = graph.constant(np.array([1], dtype=np.int64))
    standard = [graph.rows_of(discriminant.values[a], codes[k]) for a, k in enumerate(discriminant.columns.tolist())]
    z = graph.apply("Concat", *(graph.apply("Unsqueeze", one, last) for one in standard), attributes={"axis": 1})
    left, right = discriminant.pairs()
    products = graph.apply("Mul", graph.columns(z, left.tolist()), graph.columns(z, right.tolist()))
    linear = graph.apply("MatMul", z, graph.constant(discriminant.linear))
    return graph.apply("Add", linear, graph.apply("MatMul", products, graph.constant(discriminant.products)))


def _codes(graph: OnnxGraph, encoding: Encoding) -> dict[int, Tensor]:
    """The code of every row in each column: 0 for a category never seen, bins or categories, last the gap."""
    columns, found = encoding.columns, {}
    numeric = [(k, column) for k, column in enumerate(columns) if isinstance(column, BinnedNumber)]
    if numeric:
        numbers = graph.numbers([column.name for _, column in numeric])
        bins = graph.count_cuts(numbers, [column.cuts for _, column in numeric], inclusive=False)
        first = np.array([[1 if len(column.means) else 0 for _, column in numeric]])
        gap = np.array([[column.size - 1 if column.gap else 0 for _, column in numeric]])
        bins = graph.apply("Add", bins, graph.constant(first))
        bins = graph.where(graph.apply("IsNaN", numbers), graph.constant(gap), bins)
        found = {k: graph.column(bins, place) for place, (k, _) in enumerate(numeric)}
    for k, column in enumerate(columns):
        if isinstance(column, CodedCategories):
            found[k] = _category(graph, column)
    return found


def _category(graph: OnnxGraph, column: CodedCategories) -> Tensor:
    values = (*column.levels, *column.rare)
    places = graph.codes(column.name, values, unseen=len(values), gap=len(values) + 1)
    own = np.minimum(np.arange(len(values)) + 1, len(column.levels) + 1)
    lines = np.concatenate([own, [0, column.size - 1 if column.gap else 0]]).astype(np.int64)
    return graph.rows_of(lines, graph.column(places, 0))


def _cell(graph: OnnxGraph, grouped: dict[int, Tensor], resolution: Resolution, term: list[int]) -> Tensor:
    """The cell of a pair or triple: its codes are the digits of one number."""
    cell = grouped[term[0]]
    for k in term[1:]:
        width = graph.constant(np.array([int(resolution.widths[k])]))
        cell = graph.apply("Add", graph.apply("Mul", cell, width), grouped[k])
    return cell
