"""The additive model as a query: every column becomes a code, and tables are lists that are looked up by codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.arrays import UInt8
from likely.errors import SettingsError
from likely.models.evidence.encoding import Column, NumericColumn, Resolution
from likely.models.evidence.predictor import AdditivePredictor
from likely.numerics import log_of
from likely.store.sql import PREFIX, Node, Nodes, posterior_query


def evidence_query(model: AdditivePredictor, nodes: Nodes, table: str) -> str:
    """The query that scores a table; texts are refused, because SQL cannot cut them into words."""
    if model.text_models:
        raise SettingsError(
            f"Column {model.text_models[0].column!r} cannot be scored in SQL, because it is free text; predict with "
            "likely."
        )
    evidence, n_classes = model.evidence, len(model.classes)
    encoding, terms = evidence.encoding, evidence.terms
    codes = {f"{PREFIX}code_{k}": _code(nodes, column) for k, column in enumerate(encoding.columns)}
    grouped = _grouped(nodes, "coarse", [column.coarse for column in encoding.columns], terms.pairs)
    grouped |= _grouped(nodes, "tiny", [column.tiny for column in encoding.columns], terms.triples)
    cells = [nodes.column(name) for name in codes]
    cells += [_cell(nodes, "coarse", encoding.coarse, term) for term in terms.pairs.tolist()]
    cells += [_cell(nodes, "tiny", encoding.tiny, term) for term in terms.triples.tolist()]
    ends = [*evidence.starts[1:].tolist(), len(evidence.tables)]
    parts = [slice(a, b) for a, b in zip(evidence.starts.tolist(), ends, strict=True)]
    scores = {}
    for s in range(evidence.tables.shape[1]):
        entries = [evidence.tables[part, s].tolist() for part in parts]
        looked_up = [nodes.number_at(values, cell.copy()) for values, cell in zip(entries, cells, strict=True)]
        scores[f"{PREFIX}score_{s}"] = nodes.sum([nodes.number(0.0), *looked_up])
    constant = log_of(model.prior) + model.beyond_prior()
    log_joints: list[Node] = []
    for c in range(n_classes):
        score = nodes.column(f"{PREFIX}score_{0 if n_classes == 2 else c}")
        if n_classes == 2:
            score = nodes.times(nodes.number(0.5 if c else -0.5), score)
        log_joints.append(nodes.sum([nodes.number(float(constant[c])), score]))
    steps = {"coded": codes, **({"grouped": grouped} if grouped else {}), "added": scores}
    return posterior_query(nodes, model.classes, model.prior, log_joints, table, steps)


def _code(nodes: Nodes, column: Column) -> Node:
    """The code of a cell: 0 for a category never seen, then bins or categories, last the gap."""
    gap = nodes.whole(column.size - 1 if column.gap else 0)
    if isinstance(column, NumericColumn):
        if not len(column.means):
            return nodes.case([(nodes.missing(column.name), gap)], nodes.whole(0))
        whens = [(nodes.missing(column.name), gap)]
        whens += [
            (nodes.at_most(nodes.real(column.name), nodes.number(cut)), nodes.whole(1 + k))
            for k, cut in enumerate(column.cuts.tolist())
        ]
        return nodes.case(whens, nodes.whole(1 + len(column.cuts)))
    whens = [(nodes.null(column.name), gap)]
    if column.levels or column.rare:
        cell = nodes.cast(column.name, (*column.levels, *column.rare))
        whens += [
            (nodes.equal(cell.copy(), nodes.value(level)), nodes.whole(1 + k)) for k, level in enumerate(column.levels)
        ]
        if column.rare:
            whens.append((nodes.among(cell.copy(), column.rare), nodes.whole(1 + len(column.levels))))
    return nodes.case(whens, nodes.whole(0))


def _grouped(nodes: Nodes, name: str, groups: list[UInt8], terms: NDArray[np.int32]) -> dict[str, Node]:
    """Coarse codes of the columns that take part in some terms."""
    return {
        f"{PREFIX}{name}_{k}": nodes.whole_at(groups[k].tolist(), nodes.column(f"{PREFIX}code_{k}"))
        for k in np.unique(terms).tolist()
    }


def _cell(nodes: Nodes, name: str, resolution: Resolution, term: list[int]) -> Node:
    """The cell of a pair or triple: its codes are the digits of one number."""
    cell = nodes.column(f"{PREFIX}{name}_{term[0]}")
    for k in term[1:]:
        cell = nodes.times(nodes.grouped(cell), nodes.whole(int(resolution.widths[k])))
        cell = nodes.sum([cell, nodes.column(f"{PREFIX}{name}_{k}")])
    return cell
