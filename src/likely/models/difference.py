"""How two fitted classifiers differ: in what they read, in what they counted, in what they believe."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.arrays import Array
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.term_tables import table_differences
from likely.stats import Histogram, Moments, Scatter, Statistic, Summary, TokenCounts, ValueCounts
from likely.table.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

SHOWN_VALUES = 3


class Difference(NamedTuple):
    """What differs, where, and how it is on either side."""

    what: str
    where: str
    a: object
    b: object


def differences(a: Any, b: Any) -> list[Difference]:
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
        found += _of_mappings("stale", {"": a.stale_}, {"": b.stale_})
        found += (Difference(*told) for told in table_differences(a.model_, b.model_))
    return found


def to_frame(found: list[Difference]) -> pd.DataFrame:
    """One line per difference."""
    import pandas as pd

    return pd.DataFrame([(d.what, d.where, str(d.a), str(d.b)) for d in found], columns=["what", "where", "a", "b"])


def _settings(classifier: Any) -> dict[str, object]:
    given = classifier.get_params(deep=False)
    return {name: value for name, value in given.items() if not isinstance(value, Schema) and name != "n_jobs"}


def _of_mappings(
    what: str, a: Mapping[Any, object], b: Mapping[Any, object], *, both: bool = False
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
    for role in ("target", "weight"):
        if getattr(a, role) != getattr(b, role):
            yield Difference(role, "", getattr(a, role), getattr(b, role))


def _rows(summary: Summary) -> dict[Any, object]:
    return dict(zip(summary.classes.labels.tolist(), summary.classes.rows.tolist(), strict=True))


def _priors(classifier: Any) -> dict[Any, object]:
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
    a, b = _plain(a), _plain(b)
    if type(a) is not type(b):
        yield Difference("counted", name, type(a).__name__, type(b).__name__)
    elif isinstance(a, Moments) and isinstance(b, Moments):
        pairs = (
            (a.mean[i, 0], b.mean[j, 0], a.deviation(unbiased=True)[i, 0], b.deviation(unbiased=True)[j, 0], label)
            for i, j, label in shared
        )
        for mean_a, mean_b, width_a, width_b, label in pairs:
            if not (_same(mean_a, mean_b) and _same(width_a, width_b)):
                told = f"{mean_a:.6g} ± {width_a:.4g}", f"{mean_b:.6g} ± {width_b:.4g}"
                yield Difference("mean", f"{name}, {label}", *told)
    elif isinstance(a, ValueCounts | TokenCounts) and isinstance(b, ValueCounts | TokenCounts):
        values_a, counts_a = _counts(a)
        values_b, counts_b = _counts(b)
        yield from _of_values(name, values_a, values_b)
        for i, j, label in shared:
            yield from _of_shares(f"{name}, {label}", values_a, counts_a[i], values_b, counts_b[j])
    elif isinstance(a, Histogram) and isinstance(b, Histogram):
        for i, j, label in shared:
            yield from _of_numbers(f"{name}, {label}", a, a.counts[i], b, b.counts[j])
    else:
        mine, theirs = _arrays(a), _arrays(b)
        alike = len(mine) == len(theirs) and all(x.shape == y.shape for x, y in zip(mine, theirs, strict=True))
        if not alike or not all(np.allclose(x, y, rtol=1e-9) for x, y in zip(mine, theirs, strict=True)):
            yield Difference("counts", name, *(f"{sum(x.size for x in each):,} numbers" for each in (mine, theirs)))


def _plain(seen: Statistic) -> Statistic:
    return seen.moments if isinstance(seen, Scatter) else seen


def _counts(seen: ValueCounts | TokenCounts) -> tuple[list[Hashable], Array]:
    if isinstance(seen, ValueCounts):
        return list(seen.values), seen.counts
    return list(seen.words), seen.counts.dense()


def _arrays(seen: Any) -> list[NDArray[Any]]:
    """All numbers of a statistic, whatever it is made of."""
    if isinstance(seen, np.ndarray):
        return [seen.astype(np.float64)] if seen.dtype.kind in "biuf" else []
    if sparse.issparse(seen):
        held = seen.tocsr()
        return [held.data.astype(np.float64), held.indices.astype(np.float64), held.indptr.astype(np.float64)]
    if is_dataclass(seen) and not isinstance(seen, type):
        return [array for entry in fields(seen) for array in _arrays(getattr(seen, entry.name))]
    return []


def _of_values(name: str, a: list[Hashable], b: list[Hashable]) -> Iterator[Difference]:
    mine, theirs = set(a), set(b)
    gone, new = [value for value in a if value not in theirs], [value for value in b if value not in mine]
    if gone or new:
        yield Difference("values", name, _some(gone), _some(new))


def _of_shares(
    where: str, values_a: list[Hashable], a: Array, values_b: list[Hashable], b: Array
) -> Iterator[Difference]:
    """The value whose share within the class has changed most."""
    mine = dict(zip(values_a, (a / max(float(a.sum()), 1e-300)).tolist(), strict=True))
    theirs = dict(zip(values_b, (b / max(float(b.sum()), 1e-300)).tolist(), strict=True))
    change = {value: abs(mine.get(value, 0.0) - theirs.get(value, 0.0)) for value in dict.fromkeys([*mine, *theirs])}
    if change:
        value = max(change, key=lambda key: change[key])
        if change[value] > 1e-12:
            told = f"{mine.get(value, 0.0):.4f}", f"{theirs.get(value, 0.0):.4f}"
            yield Difference("share", f"{where}: {value}", *told)


def _of_numbers(where: str, a: Histogram, of_a: Array, b: Histogram, of_b: Array) -> Iterator[Difference]:
    """The number up to which the share within the class has changed most."""
    ends = np.union1d(a.highs(), b.highs())
    if len(ends):
        below = [_below(ends, seen, counts) for seen, counts in ((a, of_a), (b, of_b))]
        change = np.abs(below[0] - below[1])
        place = int(change.argmax())
        if change[place] > 1e-9:
            yield Difference("share", f"{where}: ≤ {ends[place]:.6g}", *(f"{share[place]:.4f}" for share in below))
        elif not np.isclose(of_a.sum(), of_b.sum(), rtol=1e-9):
            yield Difference("known", where, f"{of_a.sum():.6g}", f"{of_b.sum():.6g}")


def _below(ends: Array, seen: Histogram, counts: Array) -> Array:
    """The share of a class up to each of some numbers."""
    running = np.append(0.0, np.cumsum(counts)) / max(float(counts.sum()), 1e-300)
    return np.asarray(running[np.searchsorted(seen.highs(), ends, side="right")])


def _some(values: list[Hashable]) -> str:
    if not values:
        return "—"
    shown = ", ".join(str(value) for value in values[:SHOWN_VALUES])
    return shown if len(values) <= SHOWN_VALUES else f"{shown} and {len(values) - SHOWN_VALUES} more"


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-9, atol=1e-12))
    return repr(a) == repr(b)
