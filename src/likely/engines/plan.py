"""Which family each column gets, and which statistics must be kept for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from likely.engines.memory import USUAL_TOKENIZER, Rows
from likely.errors import AtRow, BadCell, SchemaError, SettingsError, listed
from likely.families import TEXT_FAMILIES, family_named
from likely.families.smoothing import refuse_unknown_columns
from likely.stats import STATISTICS, Cuts, PairCounts, Part, Summary, TokenCounts
from likely.table import Table
from likely.table.levels import read_number
from likely.table.schema import Schema
from likely.text.documents import as_blocks
from likely.text.linguistics import with_language
from likely.text.tokenizer import Tokenizer

SPARSE_FAMILIES = ("multinomial", "complement", "bernoulli")

Families = str | Mapping[str, str] | None


def kinds_for(families: Families, names: tuple[str, ...], texts: frozenset[str] = frozenset()) -> dict[str, str]:
    """How columns must be read because their family was given; `texts` are columns of strings."""
    if not isinstance(families, str | Mapping | None):
        raise SettingsError(f"families is {families!r}, but it is a name or a mapping of column names to names.")
    given = _by_name(families, names)
    refuse_unknown_columns("families", given, names, "column of the table")
    kinds = {
        name: "text" if name in texts and family in TEXT_FAMILIES else family_named(family).reads
        for name, family in given.items()
    }
    return {name: kind for name, kind in kinds.items() if kind != "any"}


def _by_name(families: Families, names: Iterable[str]) -> Mapping[str, str]:
    """The family of each column for which one was given."""
    return dict.fromkeys(names, families) if isinstance(families, str) else families or {}


def assign(schema: Schema, families: Families, usual: Mapping[str, str], *, is_sparse: bool) -> dict[str, str]:
    """The family of every column that is learned from."""
    if is_sparse:
        family = families if families is not None else usual.get("sparse", SPARSE_FAMILIES[0])
        if family not in SPARSE_FAMILIES:
            raise SettingsError(
                f"families is {family!r}, but a sparse matrix takes one family for all columns: "
                f"{listed(SPARSE_FAMILIES)}. Pass a dense array for any other."
            )
        return dict.fromkeys(schema.features, str(family))
    given, kinds = _by_name(families, schema.features), schema.kinds
    known = [name for name in schema.features if kinds[name] in usual]
    return {name: _named_for(kinds[name], given.get(name) or usual[kinds[name]]) for name in known}


def refuse_strings(table: Table, families: Families, assigned: Mapping[str, str]) -> None:
    """A family of numbers that somebody named for a column of words."""
    if families is None or table.matrix is not None or table.sparse is not None:
        return
    named = _by_name(families, assigned)
    for name in [name for name in assigned if name in named and family_named(assigned[name]).reads == "numeric"]:
        if table.storage(name) not in ("string", "category", "mixed"):
            continue
        codes = table.codes(name)
        words = [isinstance(level, str) and read_number(level) is None for level in codes.levels]
        rows = np.flatnonzero(np.array([*words, False])[codes.codes])
        if len(rows):
            raise SchemaError(
                f"Column {name!r}",
                AtRow(int(rows[0]), f", row {rows[0]}"),
                f": {codes.levels[codes.codes[rows[0]]]!r} is no number, but its family "
                f"{assigned[name]!r} is for numbers; let families be a mapping that names it for columns of numbers "
                f"only and leaves {name!r} out, or mend the cell.",
            )


def _named_for(kind: str, family: str) -> str:
    """The name of a family as it is registered: a family of counts has another one where it counts words."""
    return TEXT_FAMILIES[family].name if kind == "text" and family in TEXT_FAMILIES else family


def reassign(assigned: Mapping[str, str], families: Families, usual: Mapping[str, str]) -> dict[str, str]:
    """Other families for columns that have been counted already."""
    names = tuple(assigned)
    kinds_for(families, names)
    kept = {name: family_named(family).reads for name, family in assigned.items()}
    if families is None:
        return {name: usual[kept[name]] for name in names}
    given = {name: _named_for(kept[name], family) for name, family in _by_name(families, names).items()}
    differing = [name for name, family in given.items() if family_named(family).reads != kept[name]]
    if differing:
        raise SettingsError(f"The family of {listed(differing)} reads its values in another way: fit again for that.")
    return {**assigned, **given}


def plan(assigned: Mapping[str, str]) -> tuple[Part, ...]:
    """The statistics that these families are settled from: value counts by column, the others by group."""
    groups: dict[str, list[str]] = {}
    for name, family in assigned.items():
        groups.setdefault(family_named(family).statistic, []).append(name)
    parts = []
    for kind, columns in groups.items():
        units = [(name,) for name in columns] if STATISTICS[kind].by_column else [tuple(columns)]
        parts += [Part(kind, unit) for unit in units]
    return tuple(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Rows that are to be learned: what their columns are, which family each has, whether they have weights."""

    rows: Rows
    schema: Schema
    assigned: Mapping[str, str]
    weighted: bool

    def count(self) -> Summary:
        """One pass over the rows."""
        return self.rows.summarise(plan(self.assigned))


def refuse_negative_counts(table: Table, assigned: Mapping[str, str]) -> None:
    """A Poisson column must not hold anything below zero when it is learned."""
    for name, family in assigned.items():
        if family == "poisson":
            cells = table.numbers(name)
            below = np.flatnonzero(cells < 0.0)
            if len(below):
                wanted = "a Poisson column holds counts from zero up: choose another family, such as 'gaussian'"
                raise BadCell(int(below[0]), 0, float(cells[below[0]]), wanted).named((name,))


# How each text column is cut into words: as the user said when it was first learned, and the same ever after.


def tokenizers_for(table: Table, assigned: Mapping[str, str], given: object) -> dict[str, Tokenizer]:
    """The tokenizer of every text column; a language that is to be guessed is guessed here, once."""
    columns = [name for name, family in assigned.items() if family_named(family).reads == "text"]
    wanted = _by_column(given, columns)
    guessed = [name for name, tokenizer in wanted.items() if tokenizer.language == "auto"]
    return wanted | {name: with_language(wanted[name], as_blocks(table.strings(name), "strict")) for name in guessed}


def preprocessing_in(summary: Summary) -> dict[str, Tokenizer | Cuts]:
    """The tokenizers by which the texts of a summary were counted, and the cuts of numbers counted in pairs."""
    found: dict[str, Tokenizer | Cuts] = {
        part.columns[0]: seen.tokenizer for part, seen in summary.parts_of(TokenCounts).items()
    }
    for part, pairs in summary.parts_of(PairCounts).items():
        found |= pairs.cuts(part.columns)
    return found


def strings_in(table: Table, families: object) -> frozenset[str]:
    """Columns of strings that a family of counts was named for: their words are meant."""
    if families is None or table.matrix is not None or table.sparse is not None:
        return frozenset()
    given = dict.fromkeys(table.names, families) if isinstance(families, str) else families
    if not isinstance(given, Mapping):
        return frozenset()
    return frozenset(
        name
        for name, family in given.items()
        if family in TEXT_FAMILIES and name in table and table.storage(name) == "string"
    )


def _by_column(given: object, columns: list[str]) -> dict[str, Tokenizer]:
    if given is None or isinstance(given, Tokenizer):
        return dict.fromkeys(columns, given or USUAL_TOKENIZER)
    if not isinstance(given, Mapping) or not all(isinstance(tokenizer, Tokenizer) for tokenizer in given.values()):
        raise SettingsError(f"text is {given!r}, but it is a Tokenizer or a mapping of text columns to tokenizers.")
    refuse_unknown_columns("text", given, columns, "text column of the table")
    return {name: given.get(name, USUAL_TOKENIZER) for name in columns}
