"""How each text column is cut into words: as the user said when it was first learned, and the same ever after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.engines.memory import USUAL_RECIPE
from likely.errors import SettingsError, did_you_mean, listed
from likely.families import TEXT_FAMILIES, family_named
from likely.stats import Cuts, PairCounts, Summary, TokenCounts
from likely.table import Table
from likely.text.documents import as_blocks
from likely.text.linguistics import with_language
from likely.text.recipe import Recipe


def recipes_for(table: Table, assigned: Mapping[str, str], given: Any) -> dict[str, Recipe]:
    """The recipe of every text column; a language that is to be guessed is guessed here, once."""
    columns = [name for name, family in assigned.items() if family_named(family).reads == "text"]
    wanted = _by_column(given, columns)
    return {
        name: with_language(recipe, as_blocks(table.strings(name), "strict")) if recipe.language == "auto" else recipe
        for name, recipe in wanted.items()
    }


def recipes_in(summary: Summary) -> dict[str, Recipe | Cuts]:
    """The recipes by which the texts of a summary were counted, and the cuts of numbers that were counted in pairs."""
    found: dict[str, Recipe | Cuts] = {}
    for part, seen in summary.parts.items():
        if isinstance(seen, TokenCounts):
            found[part.columns[0]] = seen.recipe
        elif isinstance(seen, PairCounts):
            axes = zip(part.columns, seen.axes, strict=True)
            found |= {name: axis for name, axis in axes if isinstance(axis, Cuts)}
    return found


def strings_in(table: Table, families: Any) -> frozenset[str]:
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


def _by_column(given: Any, columns: list[str]) -> dict[str, Recipe]:
    if given is None or isinstance(given, Recipe):
        return dict.fromkeys(columns, given or USUAL_RECIPE)
    if not isinstance(given, Mapping) or not all(isinstance(recipe, Recipe) for recipe in given.values()):
        raise SettingsError(f"text is {given!r}, but it is a Recipe or a mapping of text columns to recipes.")
    strange = [name for name in given if name not in columns]
    if strange:
        hint = did_you_mean(str(strange[0]), columns)
        raise SettingsError(f"text names {listed(strange)}, which is no text column of the table.{hint}")
    return {name: given.get(name, USUAL_RECIPE) for name in columns}
