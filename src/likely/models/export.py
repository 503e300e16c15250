"""A model for people and programs without likely: JSON, a table of parameters, or a query that scores a table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from likely.errors import SettingsError, listed
from likely.io.outputs import Output, refuse, write_whole
from likely.io.write import kind_of, table_writer
from likely.models.listing import numbers_of, readable
from likely.models.scoring_query import scoring_query
from likely.models.tree.sql import identifier
from likely.store import Provenance

KINDS = ("json", "csv", "sql")
KINDS_OF_TREES = ("json", "sql", "dot")
LINES_AT_ONCE = 1 << 16


def export_file(
    classifier: Any,
    out: str | os.PathLike[str] | IO[bytes],
    *,
    kind: str | None = None,
    table: str = "data",
    origin: Provenance | None = None,
) -> None:
    """Write a fitted classifier as "json", as "csv" (a line per parameter and class), or as "sql".

    Without `kind` the suffix says it; a table of parameters may also be Parquet, Arrow or JSON lines. `table` is what
    the query scores, in the dialect of DuckDB. A tree is written as "json", as "sql" or, for Graphviz, as "dot".
    """
    target = Path(os.fspath(out)) if isinstance(out, (str, os.PathLike)) else out
    kind = kind or (target.suffix.lower()[1:] if isinstance(target, Path) else "json")
    if isinstance(target, Path):
        refuse([Output(target, Output(f"?.{kind}").expected)])
    if hasattr(classifier, "tree_"):
        _write(target, _tree_as(classifier, kind, table))
    elif kind == "json":
        _write(target, json.dumps(document(classifier, origin), ensure_ascii=False, indent=1) + "\n")
    elif kind == "sql":
        _write(target, scoring_query(classifier.model_, table))
    elif isinstance(target, Path) and kind != "csv":
        _write_table(classifier, target, kind_of(target.name))
    elif kind == "csv":
        _write_table(classifier, target, ".csv")
    else:
        raise SettingsError(f"A model is exported as {listed(KINDS)}, not as {kind!r}.")


def document(classifier: Any, origin: Provenance | None = None, *, with_parameters: bool = True) -> dict[str, Any]:
    """What a classifier is made of, in plain values."""
    summary, model, schema = classifier.summary_, classifier.model_, classifier.schema_
    settings = {k: v for k, v in classifier.get_params(deep=False).items() if k != "schema"}
    counted = zip(model.classes.tolist(), summary.classes.rows.tolist(), summary.classes.weights.tolist(), strict=True)
    believed = readable(model) if with_parameters else {}
    return {
        "classifier": type(classifier).__name__,
        "created": origin.created if origin is not None else None,
        "sources": list(origin.sources) if origin is not None else [],
        "likely": origin.version if origin is not None else None,
        "rows": summary.n_rows,
        "target": schema.target,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "classes": [
            {"class": _plain(label), "rows": rows, "weight": weight, "prior": prior}
            for (label, rows, weight), prior in zip(counted, model.prior.tolist(), strict=True)
        ],
        "schema": [
            {
                "column": column.name, "kind": column.kind, "family": classifier.families_.get(column.name),
                "values": column.levels, "gaps": column.gaps, "why": column.why,
            }
            for column in schema
        ],
        **({"columns": believed["columns"]} if believed else {}),
    }  # fmt: skip


def _tree_as(classifier: Any, kind: str, table: str) -> str:
    if kind == "json":
        return str(classifier.to_json(indent=1)) + "\n"
    if kind == "dot":
        return str(classifier.to_dot())
    if kind == "sql":
        return f"SELECT *,\n{classifier.to_sql()} AS prediction\nFROM {identifier(table)};\n"
    raise SettingsError(f"A tree is exported as {listed(KINDS_OF_TREES)}, not as {kind!r}.")


def _write(target: Path | IO[bytes], text: str) -> None:
    if isinstance(target, Path):
        write_whole(target, text.encode())
    else:
        target.write(text.encode())


def _write_table(classifier: Any, target: Path | IO[bytes], kind: str) -> None:
    numbers = numbers_of(classifier.model_)
    with table_writer(target, kind=kind, guard=False) as write:
        while lines := list(islice(numbers, LINES_AT_ONCE)):
            columns = list(zip(*lines, strict=True))
            texts = [[None if cell is None else str(cell) for cell in column] for column in columns[:5]]
            names = ["column", "family", "parameter", "value", "class"]
            write(
                pa.table([*(pa.array(t, pa.string()) for t in texts), pa.array(columns[5])], names=[*names, "number"])
            )


def _plain(value: Any) -> Any:
    """A setting or label for people: nothing reads it back."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple, frozenset)) else str(value)
