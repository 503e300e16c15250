"""How rows are made ready for a machine, as JSON and named arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.errors import ModelFileError
from likely.schema import Schema
from likely.store.plain import from_plain, to_plain
from likely.store.statistics import Reader, Writer, read_words
from likely.store.summaries import read_names, write_names
from likely.svm.categories import CategoryPart
from likely.svm.measures import NARROWEST, NumberPart, SparsePart
from likely.svm.preparing import Part, Preparation
from likely.svm.words import TextPart
from likely.table import level_key

MOST_RARE = 1e3
"""The rarity of a word is a logarithm: far below this."""


def write_preparation(preparation: Preparation, writer: Writer) -> list[dict[str, Any]]:
    """One entry per part."""
    return [_write_part(part, writer) for part in preparation.parts]


def read_preparation(data: Any, reader: Reader, schema: Schema) -> Preparation:
    """The parts that `write_preparation` wrote; each column of the schema is made use of once at most."""
    if not isinstance(data, list) or not data:
        raise ModelFileError("it does not say how rows are made ready")
    preparation = Preparation(tuple(_read_part(entry, reader) for entry in data))
    columns = preparation.columns
    if len(set(columns)) != len(columns) or not set(columns) <= set(schema.features) or not preparation.width:
        raise ModelFileError("its prepared columns are not those of its schema")
    if len(data) > 1 and any(isinstance(part, SparsePart) for part in preparation.parts):
        raise ModelFileError("it mixes a sparse matrix with other columns")
    return preparation


def _write_part(part: Part, writer: Writer) -> dict[str, Any]:
    if isinstance(part, NumberPart):
        arrays = {name: writer.put(getattr(part, name)) for name in ("centre", "scale", "fill", "holed")}
        return {"part": "numbers", "columns": write_names(part.columns), **arrays}
    if isinstance(part, SparsePart):
        arrays = {"places": writer.put(part.places), "scale": writer.put(part.scale)}
        return {"part": "sparse", "columns": write_names(tuple(part.columns)), **arrays}
    if isinstance(part, CategoryPart):
        levels = [to_plain(level) for level in part.levels]
        return {"part": "categories", "column": part.column, "levels": levels, "holed": part.holed}
    return {
        "part": "text",
        "column": part.column,
        "recipe": to_plain(part.recipe),
        "letters": writer.put(part.words.arena),
        "ends": writer.put(part.words.starts),
        "rarity": writer.put(part.rarity),
    }


def _read_part(data: Any, reader: Reader) -> Part:
    kind = data["part"]
    if kind == "numbers":
        return _read_numbers(data, reader)
    if kind == "sparse":
        columns = read_names(data["columns"], reader)
        places = reader.get(data["places"], (len(columns),), np.int64)
        if not np.array_equal(places, np.arange(len(columns))) and (
            len(places) == 0 or places[0] < 0 or (np.diff(places) <= 0).any()
        ):
            raise ModelFileError("its sparse columns are not in order")
        return SparsePart(columns, places, _widths(reader, data["scale"], len(columns)))
    if kind == "categories":
        levels = tuple(from_plain(level) for level in data["levels"])
        if len(set(map(level_key, levels))) != len(levels) or not isinstance(data["holed"], bool) or None in levels:
            raise ModelFileError("it names a value of a column twice")
        return CategoryPart(_name(data["column"]), levels, data["holed"])
    if kind == "text":
        return _read_text(data, reader)
    raise ModelFileError("it makes rows ready in a way that this version does not know")


def _read_numbers(data: Any, reader: Reader) -> NumberPart:
    columns = read_names(data["columns"], reader)
    n = len(columns)
    centre, fill = reader.get(data["centre"], (n,)), reader.get(data["fill"], (n,))
    holed = reader.get(data["holed"], (None,), np.int64)
    if not (np.isfinite(centre).all() and np.isfinite(fill).all()):
        raise ModelFileError("it holds a mean that is no number")
    if len(holed) and (holed[0] < 0 or holed[-1] >= n or (np.diff(holed) <= 0).any()):
        raise ModelFileError("it marks gaps in columns that do not exist")
    return NumberPart(columns, centre, _widths(reader, data["scale"], n), fill, holed)


def _read_text(data: Any, reader: Reader) -> TextPart:
    recipe, words = read_words(data, reader)
    return TextPart(_name(data["column"]), recipe, words, _widths(reader, data["rarity"], len(words), MOST_RARE))


def _widths(reader: Reader, name: Any, n: int, most: float = np.finfo(float).max) -> Any:
    widths = reader.get(name, (n,))
    if not ((widths >= NARROWEST) & (widths <= most)).all():
        raise ModelFileError("it holds a width that no column has")
    return widths


def _name(data: Any) -> str:
    if not isinstance(data, str):
        raise ModelFileError("it has a column without a name")
    return data
