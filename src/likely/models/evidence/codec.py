"""A model of evidence as JSON and named arrays, and back; a made-up one is refused before a row is scored by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import ModelFileError
from likely.models.evidence.columns import Column, NominalColumn, NumericColumn
from likely.models.evidence.encoding import Encoding, Terms
from likely.models.evidence.hyperparameters import N_EXPERTS, Hyperparameters, LaplaceRows
from likely.models.evidence.laplace import MAX_LAPLACE_ROWS
from likely.models.evidence.predictor import AdditiveModel, table_starts
from likely.store.plain import from_plain, to_plain
from likely.store.statistics import Reader, Writer
from likely.table import level_key

MOST_RANK = 64
MOST_CODES = 1 << 16
MOST_PLACES = 1 << 30
"""Cells of a term are named by two bytes, and places in all tables together by four."""


def write_evidence(evidence: AdditiveModel, writer: Writer) -> dict[str, Any]:
    """Columns with their cuts or categories, terms by the places of their columns, tables one after another."""
    return {
        "columns": [_write_column(column, writer) for column in evidence.encoding.columns],
        "rank": evidence.encoding.rank,
        "pairs": writer.put(evidence.terms.pairs),
        "triples": writer.put(evidence.terms.triples),
        "base": writer.put(evidence.intercept),
        "tables": writer.put(evidence.tables),
        "texts": writer.put(evidence.text_weights),
        "ways": _write_hyperparameters(evidence.hyperparameters, writer),
    }


def read_evidence(data: Any, reader: Reader, n_classes: int, n_texts: int) -> AdditiveModel:
    """The model that `write_evidence` wrote: every code has its cell, every term its columns."""
    columns = tuple(_read_column(entry, reader) for entry in data["columns"])
    if len({column.name for column in columns}) != len(columns):
        raise ModelFileError("its evidence names a column twice")
    if type(data["rank"]) is not int or not 1 <= data["rank"] <= MOST_RANK:
        raise ModelFileError("its evidence has a rank that no model has")
    encoding = Encoding(columns, data["rank"])
    terms = Terms(_read_terms(data["pairs"], 2, columns, reader), _read_terms(data["triples"], 3, columns, reader))
    hyperparameters = _read_hyperparameters(data["ways"], columns, n_classes, n_texts, reader)
    for each in (terms, hyperparameters.terms):
        _refuse_wide(encoding, each)
    n_scores = 1 if n_classes == 2 else n_classes
    starts = table_starts(encoding, terms)
    tables = _finite(reader, data["tables"], (int(starts[-1]), n_scores))
    base, texts = _finite(reader, data["base"], (n_scores,)), _finite(reader, data["texts"], (n_texts,))
    return AdditiveModel(encoding, terms, starts[:-1], base, tables, texts, hyperparameters)


def _refuse_wide(encoding: Encoding, terms: Terms) -> None:
    """Refuse terms with more cells than their codes can name, or than places can be counted for."""
    grains = (encoding.coarse.widths[terms.pairs], encoding.tiny.widths[terms.triples])
    cells = np.concatenate([widths.astype(np.int64).prod(axis=1) for widths in grains])
    if (cells > MOST_CODES).any() or cells.sum() > MOST_PLACES:
        raise ModelFileError("its evidence has terms of more cells than a term can have")


def _write_hyperparameters(hyperparameters: Hyperparameters, writer: Writer) -> dict[str, Any]:
    arrays: dict[str, NDArray[Any]] = {
        "weights": hyperparameters.feature_weights,
        "offsets": hyperparameters.class_offsets,
        "counted": hyperparameters.class_shares,
        "shares": hyperparameters.stacking_weights,
        "spreads": hyperparameters.variances,
        "pairs": hyperparameters.terms.pairs,
        "triples": hyperparameters.terms.triples,
        "seen": np.ascontiguousarray(hyperparameters.laplace_rows.codes),
        "bend": hyperparameters.laplace_rows.hessian,
        "seen_classes": hyperparameters.laplace_rows.y,
        "seen_weights": hyperparameters.laplace_rows.weight,
        "before": hyperparameters.laplace_rows.prior_log_odds,
    }
    return {name: writer.put(array) for name, array in arrays.items()}


def _read_hyperparameters(
    data: Any, columns: tuple[Column, ...], n_classes: int, n_texts: int, reader: Reader
) -> Hyperparameters:
    terms = Terms(_read_terms(data["pairs"], 2, columns, reader), _read_terms(data["triples"], 3, columns, reader))
    hyperparameters = Hyperparameters(
        reader.counts(data["weights"], (len(columns) + n_texts,)),
        _finite(reader, data["offsets"], (n_classes,)),
        reader.counts(data["counted"], (n_classes,)),
        terms,
        reader.counts(data["shares"], (N_EXPERTS,)),
        reader.counts(data["spreads"], (N_EXPERTS - 1, N_EXPERTS)),
        _read_laplace_rows(data, columns, n_classes, reader),
    )
    for place, used in enumerate((False, True)):
        needed = [True, used and len(terms.pairs), used and len(terms.triples)]
        if hyperparameters.stacking_weights[place + 1] > 0.0 and any(
            n and not s > 0.0 for n, s in zip(needed, hyperparameters.variances[place], strict=True)
        ):
            raise ModelFileError("its evidence was made in ways that no model is made in")
    return hyperparameters


def _read_laplace_rows(data: Any, columns: tuple[Column, ...], n_classes: int, reader: Reader) -> LaplaceRows:
    codes = reader.get(data["seen"], (None, len(columns)), np.uint8)
    n_rows, n_scores = len(codes), 1 if n_classes == 2 else n_classes
    labels = reader.get(data["seen_classes"], (n_rows,), np.int32)
    strange = (codes >= np.array([column.size for column in columns], dtype=np.int64)).any()
    if n_rows > MAX_LAPLACE_ROWS or strange or ((labels < 0) | (labels >= n_classes)).any():
        raise ModelFileError("its evidence keeps rows that it cannot have seen")
    hessian, weight = reader.counts(data["bend"], (n_rows, n_scores)), reader.counts(data["seen_weights"], (n_rows,))
    return LaplaceRows(codes, hessian, labels, weight, _finite(reader, data["before"], (n_rows, n_scores)))


def _write_column(column: Column, writer: Writer) -> dict[str, Any]:
    about = {
        "name": column.name,
        "gap": column.gap,
        "mass": writer.put(column.mass),
        "coarse": writer.put(column.coarse),
        "tiny": writer.put(column.tiny),
    }
    if isinstance(column, NumericColumn):
        return {**about, "cuts": writer.put(column.cuts), "means": writer.put(column.means)}
    levels = [[to_plain(level) for level in values] for values in (column.levels, column.rare)]
    return {**about, "levels": levels[0], "rare": levels[1]}


def _read_column(entry: Any, reader: Reader) -> Column:
    name, gap = entry["name"], entry["gap"]
    if not isinstance(name, str) or type(gap) is not bool:
        raise ModelFileError("its evidence has a column without a name")
    mass = reader.counts(entry["mass"], (None,))
    if len(mass) > np.iinfo(np.uint8).max - 1:
        raise ModelFileError(f"its column {name!r} has more codes than a column can have")
    coarse, tiny = (_read_groups(entry[grain], len(mass) + 1, reader, name) for grain in ("coarse", "tiny"))
    if "cuts" in entry:
        means = _finite(reader, entry["means"], (len(mass) - gap,))
        cuts = _finite(reader, entry["cuts"], (max(len(means) - 1, 0),))
        if (np.diff(cuts) <= 0.0).any():
            raise ModelFileError(f"the cuts of its column {name!r} are not in order")
        return NumericColumn(name, cuts, means, mass, coarse, tiny, gap)
    levels, rare = (tuple(from_plain(level) for level in entry[which]) for which in ("levels", "rare"))
    if (
        len({level_key(level) for level in (*levels, *rare)}) != len(levels) + len(rare)
        or len(mass) != len(levels) + bool(rare) + gap
    ):
        raise ModelFileError(f"the categories of its column {name!r} do not fit its codes")
    return NominalColumn(name, levels, rare, mass, coarse, tiny, gap)


def _read_groups(name: Any, size: int, reader: Reader, column: str) -> NDArray[np.uint8]:
    """Groups of codes: 0 for the code that says nothing, then every number in use."""
    groups = reader.get(name, (size,), np.uint8)
    if groups[0] != 0 or set(groups.tolist()) != set(range(int(groups.max()) + 1)) or (groups[1:] == 0).any():
        raise ModelFileError(f"the codes of its column {column!r} are not grouped as they can be")
    return groups


def _read_terms(name: Any, order: int, columns: tuple[Column, ...], reader: Reader) -> NDArray[np.int32]:
    terms = reader.get(name, (None, order), np.int32)
    if len(terms) and (terms.min() < 0 or terms.max() >= len(columns) or (np.diff(terms, axis=1) <= 0).any()):
        raise ModelFileError("its evidence combines columns that do not exist, or one with itself")
    return terms


def _finite(reader: Reader, name: Any, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    array = reader.get(name, shape)
    if not np.isfinite(array).all():
        raise ModelFileError(f"its array {name!r} holds something that is no number")
    return array
