"""How two fitted classifiers differ: in what they read, in what they counted, in what they believe."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from likely.models.evidence.explain import table_differences
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.protocols import Fitted, Refreshes
from likely.stats import HasValues, Statistic, Summary, moments_of
from likely.stats.protocol import Differs
from likely.store.summaries import arrays_in
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

SHOWN_VALUES = 3

Key = TypeVar("Key", bound=Hashable)


class Difference(NamedTuple):
    """What differs, where, and how it is on either side."""

    what: str
    where: str
    a: object
    b: object


def differences(a: Fitted, b: Fitted) -> list[Difference]:
    """All differences of two fitted classifiers; an empty list if they are the same."""
    found = [] if type(a) is type(b) else [Difference("classifier", "", type(a).__name__, type(b).__name__)]
    found += _of_mappings("setting", _settings(a), _settings(b))
    found += _of_columns(a.schema_, b.schema_)
    found += _of_mappings("family", a.families_, b.families_, both=True)
    if a.summary_.n_rows != b.summary_.n_rows:
        found.append(Difference("rows", "", a.summary_.n_rows, b.summary_.n_rows))
    found += _of_mappings("rows of class", _rows(a.summary_), _rows(b.summary_))
    found += _of_mappings("prior of class", _priors(a), _priors(b))
    mine, theirs = dict(_by_column(a.summary_)), dict(_by_column(b.summary_))
    for name in [name for name in mine if name in theirs]:
        found += _of_statistics(name, mine[name], theirs[name], a.summary_, b.summary_)
    if isinstance(a.model_, AdditivePredictor) and isinstance(b.model_, AdditivePredictor):
        if isinstance(a, Refreshes) and isinstance(b, Refreshes):
            found += _of_mappings("stale", {"": a._is_stale()}, {"": b._is_stale()})
        found += (Difference(*told) for told in table_differences(a.model_, b.model_))
    return found


def to_frame(found: list[Difference]) -> pd.DataFrame:
    """One line per difference."""
    import pandas as pd

    return pd.DataFrame([(d.what, d.where, str(d.a), str(d.b)) for d in found], columns=["what", "where", "a", "b"])


def _settings(classifier: Fitted) -> dict[str, object]:
    given = classifier.get_params(deep=False)
    return {name: value for name, value in given.items() if not isinstance(value, Schema) and name != "n_jobs"}


def _of_mappings(
    what: str, a: Mapping[Key, object], b: Mapping[Key, object], *, both: bool = False
) -> Iterator[Difference]:
    for key in dict.fromkeys([*a, *b]):
        if both and (key not in a or key not in b):
            continue
        mine, theirs = a.get(key, "—"), b.get(key, "—")
        if not _same(mine, theirs):
            yield Difference(what, str(key), mine, theirs)


def _of_columns(a: Schema, b: Schema) -> Iterator[Difference]:
    kinds: list[dict[str, object]] = [dict(schema.kinds) for schema in (a, b)]
    yield from _of_mappings("column", *kinds)
    for role, mine, theirs in (("target", a.target, b.target), ("weight", a.weight, b.weight)):
        if mine != theirs:
            yield Difference(role, "", mine, theirs)


def _rows(summary: Summary) -> dict[Hashable, object]:
    return dict(zip(summary.classes.labels.tolist(), summary.classes.rows.tolist(), strict=True))


def _priors(classifier: Fitted) -> dict[Hashable, object]:
    return dict(zip(classifier.model_.classes.tolist(), classifier.model_.prior.tolist(), strict=True))


def _by_column(summary: Summary) -> Iterator[tuple[str, Statistic]]:
    for part, seen in summary.parts.items():
        for place, name in enumerate(part.columns):
            one = len(part.columns) > 1
            yield name, seen.select(np.array([place], dtype=np.intp)) if one else seen


def _of_statistics(name: str, a: Statistic, b: Statistic, of_a: Summary, of_b: Summary) -> Iterator[Difference]:
    """What was counted of one column, class by class."""
    labels = [summary.classes.labels.tolist() for summary in (of_a, of_b)]
    shared = [(labels[0].index(label), labels[1].index(label), label) for label in labels[0] if label in labels[1]]
    a, b = moments_of(a) or a, moments_of(b) or b
    if type(a) is not type(b):
        yield Difference("counted", name, type(a).__name__, type(b).__name__)
        return
    if isinstance(a, HasValues) and isinstance(b, HasValues):
        yield from _of_values(name, _values(a), _values(b))
    if isinstance(a, Differs):
        for i, j, label in shared:
            found = a.difference(i, b, j)
            if found is not None:
                what, detail, mine, theirs = found
                yield Difference(what, f"{name}, {label}" + (f": {detail}" if detail else ""), mine, theirs)
        return
    ours, others = _arrays(a), _arrays(b)
    alike = len(ours) == len(others) and all(x.shape == y.shape for x, y in zip(ours, others, strict=True))
    if not alike or not all(np.allclose(x, y, rtol=1e-9) for x, y in zip(ours, others, strict=True)):
        yield Difference("counts", name, *(f"{sum(x.size for x in each):,} numbers" for each in (ours, others)))


def _values(seen: HasValues) -> list[Hashable]:
    return [value for values, _, _ in seen.value_blocks() for value in values]


def _arrays(seen: Statistic) -> list[NDArray[np.float64]]:
    """All numbers of a statistic, whatever it is made of."""
    return [array.astype(np.float64) for _, array in arrays_in(seen) if array.dtype.kind in "biuf"]


def _of_values(name: str, a: list[Hashable], b: list[Hashable]) -> Iterator[Difference]:
    mine, theirs = set(a), set(b)
    gone, new = [value for value in a if value not in theirs], [value for value in b if value not in mine]
    if gone or new:
        yield Difference("values", name, _some(gone), _some(new))


def _some(values: list[Hashable]) -> str:
    if not values:
        return "—"
    shown = ", ".join(str(value) for value in values[:SHOWN_VALUES])
    return shown if len(values) <= SHOWN_VALUES else f"{shown} and {len(values) - SHOWN_VALUES} more"


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-9, atol=1e-12))
    return repr(a) == repr(b)
