"""What a model has learned, at a glance; of one with the usual settings from its file alone, without its class.

To import a classifier is to import scikit-learn, which takes longer than all that there is to tell. What only one model
knows of itself is told by a function in its folder, which the registry names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from likely import store
from likely.errors import LikelyError
from likely.explain.rank import TellingLine, held_out_bits, telling_lines
from likely.models.registry import entry_of_kind
from likely.models.settings import USUAL, family_settings, is_schema
from likely.scorer import Model
from likely.stats import Summary
from likely.table.schema import Schema

MOST_LETTERS = 80
"""A longer title is folded between its settings, as scikit-learn does it."""


@dataclass(frozen=True, eq=False)
class Overview:
    """A model as it calls itself, where it comes from, and all that its classes, columns and values are told by."""

    title: str
    provenance: store.Provenance | None
    schema: Schema
    families: Mapping[str, str]
    summary: Summary
    model: Model
    bits: Mapping[str, float]

    def telling(self, per_class: int) -> list[TellingLine]:
        """The most telling values of each class; see `telling_values`."""
        return telling_lines(self.summary, per_class)


@dataclass(frozen=True, eq=False)
class LearnedOverview:
    """The same of a model whose memory is no summary, as far as it has it: `telling` gives class, column, value,
    log-odds and share of the strongest values, `text` draws it in lines down to a depth.
    """

    title: str
    provenance: store.Provenance | None
    schema: Schema
    rows: int
    shares: Mapping[str, float | None]
    bits: Mapping[str, float]
    telling: Callable[[int], Sequence[Sequence[object]]] | None = None
    interactions: Sequence[tuple[str, ...]] = ()
    text: Callable[[int | None], str] | None = None


def shares_by_name(labels: Sequence[object], prior: Sequence[float]) -> dict[str, float | None]:
    """How common each class is."""
    return dict(zip(map(str, labels), prior, strict=True))


def usual_title(kind: str, settings: Mapping[str, object], usual: Mapping[str, object], *more: str) -> str | None:
    """How a classifier with the usual settings prints itself, with what its columns were said to be, and `more`; None
    where something else was chosen.
    """
    kinds = settings.get("schema")
    if {**usual, **settings, "schema": None} != usual or isinstance(kinds, Schema):
        return None
    is_schema("schema", kinds)
    told = [f"schema={dict(sorted(kinds.items()))!r}"] if isinstance(kinds, Mapping) else []
    start, named = f"{kind}(", [*told, *more]
    title = f"{start}{', '.join(named)})"
    if len(title) <= MOST_LETTERS:
        return title
    if any(len(start) + len(each) >= MOST_LETTERS - 1 for each in named):
        return None  # to be folded within a setting
    return start + f",\n{' ' * len(start)}".join(named) + ")"


def usual_overview(path: str) -> Overview | LearnedOverview | None:
    """Of a model with the usual settings; None for everything else, and for what is to be refused by `load`."""
    try:
        found = store.read(path)
        return _counted(found) if isinstance(found, store.Found) else _learned(found)
    except (LikelyError, OSError, *store.MADE_UP):
        return None


def _learned(found: store.FoundLearned) -> LearnedOverview | None:
    entry = entry_of_kind(found.saved.kind)
    glance = None if entry is None else entry.load_glance()
    shown: LearnedOverview | None = None if glance is None else glance(found)
    return shown


def _counted(found: store.Found) -> Overview | None:
    saved = found.saved
    usual = USUAL.get(saved.kind)
    title = None if usual is None else usual_title(saved.kind, saved.settings, usual)
    if usual is None or title is None or saved.weights is not None:
        return None
    summary, families = saved.summary, saved.families
    model = Model.settle(summary, families, None, family_settings(usual, tuple(families)))
    found.check(model)
    bits = held_out_bits(model, summary)
    return Overview(title, saved.provenance, saved.schema, families, summary, model, bits)
