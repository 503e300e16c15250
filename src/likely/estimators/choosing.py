"""Choosing what the user leaves open: families of numeric columns and smoothing, by leave-one-out likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from likely.errors import SettingsError
from likely.estimators.column_weights import WeightedLearner
from likely.families import Settings, Smoothing
from likely.families.choosing import best_of, likelihoods
from likely.families.choosing_smoothing import chosen_smoothing
from likely.plan import Families, Task
from likely.stats import Histogram, Part, Summary
from likely.threads import side_by_side

AUTO = "auto"


class ChoosingLearner(WeightedLearner):
    """A learner with `families="auto"` and `smoothing="auto"`.

    Families are chosen once, from the rows of `fit`, and then kept (the schema says why): a family needs statistics of
    its own. Smoothing follows from the counts, so it is chosen whenever they are settled.
    """

    smoothing: Any

    @property
    def adds_up(self) -> bool:
        """Whether all that it believes follows from a summary; learned weights and chosen families need the rows."""
        return super().adds_up and not self._is_open()

    @property
    def smoothing_(self) -> dict[str, Smoothing]:
        """The smoothing of each column, given or chosen."""
        check_is_fitted(self)
        settings = self._settings_for(self.summary_, self.families_)
        return {name: settings.smoothing_of(name) for name in self.families_}

    def _is_open(self, name: str | None = None) -> bool:
        """Whether the family of a column (or of any) is left open."""
        if isinstance(self.families, Mapping):
            return AUTO in self.families.values() if name is None else self.families.get(name) == AUTO
        return isinstance(self.families, str) and self.families == AUTO

    def _families_given(self) -> Families:
        if isinstance(self.families, Mapping):
            return {name: family for name, family in self.families.items() if family != AUTO}
        return None if self._is_open() else self.families

    def _considered(self, task: Task) -> Task:
        """Count histograms of the columns that are left open, and take the likeliest family of each."""
        kinds = task.schema.kinds
        wanted = [name for name in task.assigned if self._is_open(name) and kinds[name] == "numeric"]
        if not wanted or task.rows.table.sparse is not None:
            return task
        settings = self._settings(tuple(task.assigned))
        seen = task.rows.summarise([Part("histogram", (name,)) for name in wanted])

        def judge(name: str) -> dict[str, float]:
            found = seen.parts[Part("histogram", (name,))]
            return likelihoods(name, found, settings) if isinstance(found, Histogram) else {}

        told = dict(zip(wanted, side_by_side(judge, wanted, self.n_jobs), strict=True))
        chosen = {name: best_of(found) for name, found in told.items()}
        schema = task.schema.with_reasons({name: _why(found) for name, found in told.items()})
        return Task(task.rows, schema, {**task.assigned, **chosen}, task.weighted)

    def _resettle(self, changes: Mapping[str, Any]) -> Self:
        families = changes.get("families")
        if families == AUTO or (isinstance(families, Mapping) and AUTO in families.values()):
            raise SettingsError("To choose families needs the rows: fit again with families='auto'.")
        return super()._resettle(changes)

    def _settings_for(self, summary: Summary, assigned: Mapping[str, str]) -> Settings:
        settings = self._settings(tuple(assigned))
        given = self.smoothing if isinstance(self.smoothing, Mapping) else dict.fromkeys(assigned, self.smoothing)
        wanted = [name for name, each in given.items() if isinstance(each, str) and each == AUTO]
        if not wanted:
            return settings
        found = chosen_smoothing(summary, settings)
        more = {name: found[name] for name in wanted if name in found}
        return replace(settings, smoothing={**settings.smoothing, **more})


def _why(found: Mapping[str, float]) -> str:
    """What the families were worth, the best first."""
    ordered = sorted(found.items(), key=lambda entry: -entry[1])
    return "chosen by leave-one-out, nats a row: " + ", ".join(f"{name} {value:.3f}" for name, value in ordered)
