"""What every decision costs under every truth."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeAlias, final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from likely.arrays import AnyArray, Array, ColumnLike, Int64, TableLike
from likely.decide.loss_tables import (
    MOST_COST,
    Axis,
    CostMapping,
    Costs,
    UnnamedClass,
    checked,
    from_csv,
    from_frame,
    from_lines,
    from_mapping,
    name_sides,
)
from likely.errors import SettingsError, listed
from likely.markup import Markup, tag
from likely.numerics import is_between
from likely.render.page import fragment
from likely.render.table import ColumnHead, Grid
from likely.table import encode_labels, index_levels

if TYPE_CHECKING:
    import pandas as pd

Labels = Sequence[Hashable] | AnyArray


@final
class Refusal:
    """A value of its own: equal to itself and to no label, the same after pickling, last in any order.

    >>> sorted([REFUSED, "grant", "deny"])
    ['deny', 'grant', REFUSED]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "REFUSED"

    def __reduce__(self) -> str:
        return "REFUSED"  # copies and pickles find this one again, by name

    # Labels sort before it, so that tools that sort what they are given (np.unique, groupby) work.
    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __le__(self, other: object) -> bool:
        return other is self

    def __ge__(self, other: object) -> bool:
        return True


REFUSED: Final = Refusal()
"""No decision: none was cheap enough, or the row is like none that was learned."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Loss:
    r"""Costs of decisions × truths, and optionally the price of refusing.

    From a mapping `{decision: {truth: cost}}`, a frame (see `from_frame`), or an array with its `decisions` and
    `truths`; an array of rows × decisions × truths gives each row its own costs. Decisions need not be classes. A
    negative cost is a gain. It is displayed like a confusion matrix, with a line for each truth.

    >>> Loss({"grant": {"good": 0, "bad": 5}, "deny": {"good": 1, "bad": 0}}, refuse=0.5)
    truth \ decision  grant  deny  REFUSED
    good                  0     1      0.5
    bad                   5     0      0.5
    """

    decisions: tuple[Hashable, ...]
    truths: tuple[Hashable, ...]
    costs: AnyArray
    refuse: float | None

    def __init__(
        self,
        costs: CostMapping | TableLike | None,
        *,
        decisions: Labels | None = None,
        truths: Labels | None = None,
        refuse: float | None = None,
    ) -> None:
        if decisions is not None and truths is not None:
            read = checked(list(decisions), list(truths), np.asarray(costs))
        elif decisions is not None or truths is not None or isinstance(costs, np.ndarray):
            raise SettingsError("An array of costs needs the names of its decisions and of its truths.")
        elif isinstance(costs, Mapping):
            read = from_mapping(costs)
        elif costs is None or np.isscalar(costs):
            raise SettingsError(f"{costs!r} is no table of costs: give them by decision and truth, or as a table.")
        else:
            read = from_frame(costs)
        self._keep(read, refuse)

    @classmethod
    def from_frame(cls, frame: TableLike, *, truth: Axis | None = None, refuse: float | None = None) -> Self:
        r"""A frame with truths in its "rows" or "columns", as `truth` says.

        Without it, axes called "truth" and "decision" settle it, or a first column called "true\predicted"; else
        the columns are taken for truths, unless rows and columns share labels and the costs could be read both ways.
        """
        return cls._of(from_frame(frame, truth), refuse)

    @classmethod
    def from_csv(
        cls, path: str | Path, *, truth: Axis | None = None, separator: str = ",", refuse: float | None = None
    ) -> Self:
        r"""A file with labels in its first line and first column, and truths in its "rows" or "columns".

        Without `truth` the first cell decides, as in true\predicted, decision/truth or actual vs predicted: the rows
        are named first. A file that could be read either way is refused.
        """
        return cls._of(from_csv(path, truth, separator), refuse)

    @classmethod
    def zero_one(cls, classes: Labels, *, refuse: float | None = None) -> Self:
        """Every mistake costs 1: the cheapest decision is the most probable class."""
        names = checked(list(classes), ["any"], np.zeros((len(classes), 1))).decisions
        ramp = np.ones(2 * len(names) - 1)
        ramp[len(names) - 1] = 0.0
        # Each line is the one above it, moved on by one: a view of one ramp holds any number of classes.
        return cls._of(Costs(names, names, sliding_window_view(ramp, len(names))[::-1]), refuse)

    @classmethod
    def binary(
        cls,
        false_alarm: float = 1.0,
        miss: float = 1.0,
        *,
        positive: Hashable = None,
        negative: Hashable = None,
        refuse: float | None = None,
    ) -> Self:
        """Two classes: the price of taking a negative row for a positive one, and that of missing a positive one.

        With classes such as 0 and 1, False and True, or no and yes, it is clear which one is positive; for others
        `positive` is needed, unless both mistakes cost the same.
        """
        sides = [
            UnnamedClass.NEGATIVE if negative is None else negative,
            UnnamedClass.POSITIVE if positive is None else positive,
        ]
        return cls._of(from_lines(sides, sides, [[0.0, miss], [false_alarm, 0.0]]), refuse)

    def refusing(self, price: float | None) -> Self:
        """The same costs with another price for refusing to decide; None forbids it."""
        return self._of(Costs(self.decisions, self.truths, self.costs), price)

    def named(self, classes: Labels) -> Self:
        """The same with the classes of a classifier where `Loss.binary` left them open."""
        if not any(isinstance(truth, UnnamedClass) for truth in self.truths):
            return self
        names, order = name_sides(self.truths, list(classes), alike=np.array_equal(self.costs, self.costs.T))
        return self._of(Costs(names, names, self.costs[np.ix_(order, order)]), self.refuse)

    @property
    def options(self) -> tuple[Hashable, ...]:
        """The decisions, and last the refusal if it has a price: the columns of `risk`."""
        return self.decisions if self.refuse is None else (*self.decisions, REFUSED)

    @property
    def n_rows(self) -> int | None:
        """How many rows the costs are for; None if they hold for any row."""
        return len(self.costs) if self.costs.ndim == 3 else None

    def paid(self, decided: ColumnLike, truth: ColumnLike) -> Array:
        """What each decision cost, now that the truth is known; a refusal costs its price."""
        chosen, true = encode_labels(decided), encode_labels(truth)
        loss = self.named(true.classes)
        if len(chosen) != len(true) or (loss.n_rows or len(true)) != len(true):
            raise SettingsError(f"{len(chosen)} decisions and {len(true)} truths do not belong to the same rows.")
        places = _places("decision", chosen.classes.tolist(), loss.options)[chosen.codes]
        actual = _places("truth", true.classes.tolist(), loss.truths)[true.codes]
        refused = places == len(loss.decisions)
        rows = (np.arange(len(true)),) if loss.costs.ndim == 3 else ()
        costs = loss.costs[(*rows, np.where(refused, 0, places), actual)].astype(np.float64)
        return costs if loss.refuse is None else np.where(refused, loss.refuse, costs)

    def to_frame(self) -> pd.DataFrame:
        """Truths in rows, decisions in columns (the refusal last), as in a confusion matrix; `Loss` reads it again."""
        import pandas as pd

        order = shown_order(self.decisions, self.truths)
        lines = np.asarray(self.costs, dtype=np.float64)[..., order, :].swapaxes(-1, -2)
        if self.refuse is not None:
            lines = np.concatenate([lines, np.full((*lines.shape[:-1], 1), self.refuse)], axis=-1)
        index = pd.Index(self.truths, name="truth", dtype=object)
        if self.n_rows is not None:
            index = pd.MultiIndex.from_product([range(self.n_rows), self.truths], names=["row", "truth"])
        named = [*(self.decisions[place] for place in order), *self.options[len(order) :]]
        columns = pd.Index(named, name="decision", dtype=object)
        return pd.DataFrame(lines.reshape(-1, len(named)), index=index, columns=columns)

    def __repr__(self) -> str:
        return _summary(self) if self.n_rows is not None else _grid(self).text()

    def _repr_html_(self) -> Markup:
        return tag("pre", _summary(self)) if self.n_rows is not None else fragment(_grid(self, "Loss").html())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        alike = (self.decisions, self.truths, self.refuse) == (other.decisions, other.truths, other.refuse)
        return alike and np.array_equal(self.costs, other.costs)

    def __hash__(self) -> int:
        return hash((self.decisions, self.truths, self.refuse))

    def __reduce__(self) -> tuple[object, ...]:
        if moved_on(self.costs):
            return partial(Loss.zero_one, refuse=self.refuse), (self.decisions,)
        named = partial(Loss, decisions=self.decisions, truths=self.truths, refuse=self.refuse)
        return named, (np.array(self.costs),)

    @classmethod
    def _of(cls, costs: Costs, refuse: float | None) -> Self:
        loss = cls.__new__(cls)
        loss._keep(costs, refuse)
        return loss

    def _keep(self, costs: Costs, refuse: float | None) -> None:
        (decisions, truths, cells), price = _without_refusal(costs, refuse)
        cells = cells.view()
        cells.flags.writeable = False
        vars(self).update(decisions=decisions, truths=truths, costs=cells, refuse=price)


LossLike: TypeAlias = Loss | CostMapping | TableLike
"""A loss, or costs that one can be made of."""


def as_loss(costs: LossLike) -> Loss:
    """A loss, or what one can be made of."""
    return costs if isinstance(costs, Loss) else Loss(costs)


def _without_refusal(costs: Costs, refuse: float | None) -> tuple[Costs, float | None]:
    """A line that is named REFUSED, as `to_frame` writes it, is the price of refusing."""
    if refuse is not None and not is_between(refuse, -MOST_COST, MOST_COST):
        raise SettingsError(
            f"The price of a refusal is {refuse!r}: give a finite number of {MOST_COST:g} at most, "
            "or None to forbid refusing."
        )
    if REFUSED not in costs.decisions:
        return costs, None if refuse is None else float(refuse)
    place = costs.decisions.index(REFUSED)
    line, price = costs.cells[..., place, :], costs.cells.reshape(-1)[place * len(costs.truths)]
    if (line != price).any() or (refuse is not None and refuse != price):
        raise SettingsError("A refusal has one price, whatever the truth is: give it with refuse=….")
    if len(costs.decisions) == 1:
        raise SettingsError("A loss needs at least one decision beside the refusal.")
    others = tuple(decision for decision in costs.decisions if decision is not REFUSED)
    return Costs(others, costs.truths, np.delete(costs.cells, place, axis=-2)), float(price)


def _places(role: str, labels: list[Hashable], known: tuple[Hashable, ...]) -> Int64:
    places = index_levels(labels, known)
    strange = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if strange:
        hint = " Give it a price: refusing(price)." if strange == [REFUSED] else ""
        raise SettingsError(f"The loss does not know the {role} {listed(strange)}; it knows {listed(known)}.{hint}")
    return places


def moved_on(costs: AnyArray) -> bool:
    """Whether each line of the costs is, in memory, the one above it moved on by one cell, as in `zero_one`."""
    return costs.ndim == 2 and costs.shape[0] == costs.shape[1] > 1 and costs.strides[0] == -costs.strides[1]


# A loss as a person reads it.

CORNER = "truth \\ decision"
"""As above the confusion matrix of a report, so that both are read in the same way."""

SHOWN = 8
"""Decisions and truths written out; a thousand classes have a million costs."""


def _summary(loss: Loss) -> str:
    """Costs of single rows are too many to be written out."""
    n_decisions, n_truths = len(loss.decisions), len(loss.truths)
    lines = [f"Loss of {loss.n_rows:,} rows, each with its own {n_decisions} decisions × {n_truths} truths"]
    return "\n".join(lines if loss.refuse is None else [*lines, f"REFUSED  {loss.refuse:g}"])


def shown_order(decisions: Sequence[Hashable], truths: Sequence[Hashable]) -> list[int]:
    """Places of the decisions as they are shown: those that are truths in the order of these, then the others.

    So correct decisions are on the diagonal.
    """
    own = [place for place in index_levels(truths, decisions).tolist() if place >= 0]
    return [*own, *sorted(set(range(len(decisions))) - set(own))]


def _grid(loss: Loss, title: str = "") -> Grid:
    """A line for each truth and a column for each decision, as in a confusion matrix."""
    order = shown_order(loss.decisions, loss.truths)[:SHOWN]
    shown = np.asarray(loss.costs[order, :SHOWN], dtype=np.float64).T
    heads, more = [str(loss.decisions[place]) for place in order], len(loss.decisions) - SHOWN
    rows: list[list[object]] = [[str(truth), *line] for truth, line in zip(loss.truths[:SHOWN], shown, strict=True)]
    if more > 0:
        heads, rows = [*heads, f"… {more} more"], [[*row, ""] for row in rows]
    if loss.refuse is not None:
        heads, rows = [*heads, "REFUSED"], [[*row, loss.refuse] for row in rows]
    if len(loss.truths) > SHOWN:
        rows.append([f"… {len(loss.truths) - SHOWN} more", *[""] * len(heads)])
    return Grid([ColumnHead(CORNER, "left"), *(ColumnHead(head, form="{:g}".format) for head in heads)], rows, title)
