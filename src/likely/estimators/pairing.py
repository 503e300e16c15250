"""What must be known before pairs are counted: where numbers are cut, and which columns there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from likely.engines.memory import Rows
from likely.errors import SettingsError, did_you_mean, listed
from likely.measures import information_gain
from likely.schema import Schema
from likely.stats import Cuts, Histogram, PairCounts, Part, Summary, ValueCounts
from likely.stats.cutting import cut
from likely.stats.protocol import Array


def cuts_given(given: Any, numeric: Sequence[str]) -> dict[str, Cuts]:
    """Cuts that the user gave, checked: columns that are there, finite numbers that ascend."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingsError(f"cuts is {given!r}, but it is a mapping of numeric columns to ascending numbers.")
    strange = [name for name in given if name not in set(numeric)]
    if strange:
        hint = did_you_mean(str(strange[0]), list(numeric))
        raise SettingsError(f"cuts names {listed(strange)}, which is no numeric column of the pairs.{hint}")
    return {name: Cuts(_ascending(name, at)) for name, at in given.items()}


def cuts_in(summary: Summary) -> dict[str, Cuts]:
    """The cuts by which the numbers of a summary were counted."""
    found: dict[str, Cuts] = {}
    for part, seen in summary.parts.items():
        if isinstance(seen, PairCounts):
            axes = zip(part.columns, seen.axes, strict=True)
            found |= {name: axis for name, axis in axes if isinstance(axis, Cuts)}
    return found


def chosen_columns(
    rows: Rows, schema: Schema, columns: tuple[str, ...], given: Mapping[str, Cuts], n_bins: int, most: int
) -> tuple[set[str], dict[str, Cuts]]:
    """Columns whose pairs fit into `most` cells, the most telling first, and the cuts of those that are numbers."""
    kinds = {name: "histogram" if schema.kinds[name] == "numeric" else "values" for name in columns}
    seen = rows.summarise([Part(kind, (name,)) for name, kind in kinds.items()])
    cuts = {name: given[name] if name in given else Cuts(cut(found, n_bins).cuts) for name, found in _numbers(seen)}
    tables = {name: _table(seen.parts[Part(kind, (name,))], cuts.get(name)) for name, kind in kinds.items()}
    sizes = {name: table.shape[1] for name, table in tables.items()}
    if len(rows.classes) * _cells(sizes.values()) <= most:
        return set(columns), cuts
    telling = {name: information_gain(table) * float(table.sum()) for name, table in tables.items()}
    chosen: set[str] = set()
    singles, pairs = 0, 0
    for name in sorted(columns, key=lambda name: -telling[name]):
        more = sizes[name] * (singles + 1)
        if len(rows.classes) * (pairs + more) <= most:
            chosen.add(name)
            singles, pairs = singles + sizes[name], pairs + more
    return chosen, {name: at for name, at in cuts.items() if name in chosen}


def _numbers(seen: Summary) -> list[tuple[str, Histogram]]:
    return [(part.columns[0], found) for part, found in seen.parts.items() if isinstance(found, Histogram)]


def _table(seen: object, cuts: Cuts | None) -> Array:
    """Classes × values of a column."""
    if isinstance(seen, Histogram) and cuts is not None:
        places = cuts.places(seen.lows())
        return np.stack([seen.counts[:, places == bin_].sum(axis=1) for bin_ in range(len(cuts.at) + 1)], axis=1)
    if isinstance(seen, ValueCounts):
        return seen.counts
    raise TypeError(f"{type(seen).__name__} is no table of values")


def _cells(sizes: Iterable[int]) -> int:
    """Values and pairs of values."""
    each = np.array(list(sizes), dtype=np.float64)
    return int(each.sum() + (each.sum() ** 2 - (each**2).sum()) / 2)


def _ascending(name: str, given: Any) -> Array:
    at = np.asarray(given, dtype=np.float64)
    if at.ndim != 1 or not np.isfinite(at).all() or (at[1:] <= at[:-1]).any():
        raise SettingsError(f"The cuts of {name!r} are not finite numbers in ascending order.")
    return at
