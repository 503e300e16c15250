"""Which family each column gets, and which statistics must be kept for them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from likely.errors import BadCell, SettingsError, did_you_mean, listed
from likely.families import family_named
from likely.schema import Schema
from likely.stats import Part
from likely.table import Table

SPARSE_FAMILIES = ("multinomial", "complement", "bernoulli")

Families = str | Mapping[str, str] | None


def kinds_for(families: Families, names: tuple[str, ...]) -> dict[str, str]:
    """How columns must be read because their family was given."""
    if families is None:
        return {}
    if isinstance(families, str):
        return dict.fromkeys(names, family_named(families).reads)
    if not isinstance(families, Mapping):
        raise SettingsError(f"families is {families!r}, but it is a name or a mapping of column names to names.")
    strange = [name for name in families if name not in set(names)]
    if strange:
        hint = did_you_mean(str(strange[0]), names)
        raise SettingsError(f"families names {listed(strange)}, which is no column of the table.{hint}")
    return {name: family_named(family).reads for name, family in families.items()}


def assign(schema: Schema, families: Families, usual: Mapping[str, str], *, is_sparse: bool) -> dict[str, str]:
    """The family of every column that is learned from."""
    if is_sparse:
        family = families if families is not None else SPARSE_FAMILIES[0]
        if family not in SPARSE_FAMILIES:
            raise SettingsError(
                f"families is {families!r}, but a sparse matrix takes one family for all columns: "
                f"{listed(SPARSE_FAMILIES)}. Pass a dense array for any other."
            )
        return dict.fromkeys(schema.features, str(family))
    given = families if isinstance(families, Mapping) else {}
    named = families if isinstance(families, str) else None
    assigned = {}
    for name in schema.features:
        kind = schema.kinds[name]
        if kind in usual:
            assigned[name] = given.get(name) or named or usual[kind]
    return assigned


def reassign(assigned: Mapping[str, str], families: Families, usual: Mapping[str, str]) -> dict[str, str]:
    """Other families for columns that have been counted already."""
    names = tuple(assigned)
    reads = kinds_for(families, names)
    kept = {name: family_named(family).reads for name, family in assigned.items()}
    if families is None:
        return {name: usual[kept[name]] for name in names}
    given = dict.fromkeys(names, families) if isinstance(families, str) else families
    differing = [name for name in given if reads[name] != kept[name]]
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
        if kind == "values":
            parts += [Part(kind, (name,)) for name in columns]
        else:
            parts.append(Part(kind, tuple(columns)))
    return tuple(parts)


def refuse_negative_counts(table: Table, assigned: Mapping[str, str]) -> None:
    """A Poisson column must not hold anything below zero when it is learned."""
    for name, family in assigned.items():
        if family == "poisson":
            cells = table.numbers(name)
            below = np.flatnonzero(cells < 0.0)
            if len(below):
                wanted = "a Poisson column holds counts from zero up: choose another family, such as 'gaussian'"
                raise BadCell(int(below[0]), 0, float(cells[below[0]]), wanted).named((name,))
