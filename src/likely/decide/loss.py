"""What every decision costs under every truth."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from likely.arrays import Array
from likely.decide.loss_tables import Axis, Costs, checked, from_csv, from_frame, from_lines, from_mapping
from likely.decide.refusal import REFUSED
from likely.errors import SettingsError, listed
from likely.markup import Markup, tag
from likely.render.page import fragment
from likely.render.table import Column, Grid
from likely.table import encode_labels, index_levels
from likely.table.levels import plain

if TYPE_CHECKING:
    import pandas as pd

Labels = Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Loss:
    r"""Decisions × truths, and perhaps the price of a refusal.

    From a mapping `{decision: {truth: cost}}`, a frame (see `from_frame`), or an array with `decisions` and `truths`
    beside it; an array of rows × decisions × truths gives each row its own costs. Decisions need not be classes. A
    negative cost is a gain. It is shown as a confusion matrix is, with a line for each truth.

    >>> Loss({"grant": {"good": 0, "bad": 5}, "deny": {"good": 1, "bad": 0}}, refuse=0.5)
    truth \ decision  grant  deny  REFUSED
    good                  0     1      0.5
    bad                   5     0      0.5
    """

    decisions: tuple[Hashable, ...]
    truths: tuple[Hashable, ...]
    costs: NDArray[Any]
    refuse: float | None

    def __init__(
        self,
        costs: Any,
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
        self._keep(*_without_refusal(read, refuse))

    @classmethod
    def from_frame(cls, frame: Any, *, truth: Axis | None = None, refuse: float | None = None) -> Self:
        r"""A frame with truths in its "rows" or "columns", as `truth` says.

        Without it, axes that are called "truth" and "decision" tell, or a first column called "true\predicted"; else
        truths are taken for columns, unless rows and columns share labels and the costs could be read both ways.
        """
        return cls._of(from_frame(frame, truth), refuse)

    @classmethod
    def from_csv(
        cls, path: str | Path, *, truth: Axis | None = None, separator: str = ",", refuse: float | None = None
    ) -> Self:
        r"""A file with labels in its first line and first column, and truths in its "rows" or "columns".

        Without `truth` the first cell tells, as in true\predicted, decision/truth or actual vs predicted: what the rows
        are stands first. A file that could be read both ways is refused.
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
        """Two classes: the price of taking a negative row for a positive one, and of missing a positive one.

        Where they are not named, classes such as 0 and 1, False and True, no and yes tell; for others `positive` is
        needed, unless both mistakes cost the same.
        """
        sides = [Side.NEGATIVE if negative is None else negative, Side.POSITIVE if positive is None else positive]
        return cls._of(from_lines(sides, sides, [[0.0, miss], [false_alarm, 0.0]]), refuse)

    def refusing(self, price: float | None) -> Self:
        """The same costs with another price for refusing to decide; None forbids it."""
        return self._of(Costs(self.decisions, self.truths, self.costs), price)

    def named(self, classes: Labels) -> Self:
        """The same with the classes of a classifier where `Loss.binary` left them open."""
        if not any(isinstance(truth, Side) for truth in self.truths):
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

    def paid(self, decided: Any, truth: Any) -> Array:
        """What each decision has cost, now that the truth is known; a refusal costs its price."""
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
        index: Any = pd.Index(self.truths, name="truth", dtype=object)
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

    def __reduce__(self) -> tuple[Any, ...]:
        if moved_on(self.costs):
            return _unpickled_zero_one, (self.decisions, self.refuse)
        return _unpickled, (self.decisions, self.truths, np.array(self.costs), self.refuse)

    @classmethod
    def _of(cls, costs: Costs, refuse: float | None) -> Self:
        loss = cls.__new__(cls)
        loss._keep(*_without_refusal(costs, refuse))
        return loss

    def _keep(self, costs: Costs, refuse: float | None) -> None:
        cells = costs.cells.view()
        cells.flags.writeable = False
        for name, value in (("decisions", costs.decisions), ("truths", costs.truths), ("costs", cells)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "refuse", refuse)


def as_loss(costs: Any) -> Loss:
    """A loss, or what one can be made of."""
    return costs if isinstance(costs, Loss) else Loss(costs)


def _without_refusal(costs: Costs, refuse: float | None) -> tuple[Costs, float | None]:
    """A line that is named REFUSED, as `to_frame` writes it, is the price of refusing."""
    if refuse is not None and not np.isfinite(refuse):
        raise SettingsError(f"The price of a refusal is {refuse!r}: give a finite number, or None to forbid refusing.")
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


def _places(role: str, labels: list[Hashable], known: tuple[Hashable, ...]) -> NDArray[np.int64]:
    places = index_levels(labels, known)
    strange = [label for label, place in zip(labels, places, strict=True) if place < 0]
    if strange:
        hint = " Give it a price: refusing(price)." if strange == [REFUSED] else ""
        raise SettingsError(f"The loss does not know the {role} {listed(strange)}; it knows {listed(known)}.{hint}")
    return places


def moved_on(costs: NDArray[Any]) -> bool:
    """Whether each line of the costs is, in memory, the one above it moved on by one cell, as in `zero_one`."""
    return costs.ndim == 2 and costs.shape[0] == costs.shape[1] > 1 and costs.strides[0] == -costs.strides[1]


def _unpickled(
    decisions: tuple[Hashable, ...], truths: tuple[Hashable, ...], costs: NDArray[Any], refuse: float | None
) -> Loss:
    return Loss._of(Costs(decisions, truths, costs), refuse)


def _unpickled_zero_one(classes: tuple[Hashable, ...], refuse: float | None) -> Loss:
    return Loss.zero_one(classes, refuse=refuse)


# The two classes of a binary loss, before a classifier says what they are called.


class Side(Enum):
    """A class that was not named."""

    NEGATIVE = "negative"
    POSITIVE = "positive"

    def __str__(self) -> str:
        return self.value


_PAIRS = (
    ("0", "1"), ("-1", "1"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"), ("negative", "positive"),
    ("neg", "pos"), ("-", "+"), ("off", "on"), ("absent", "present"),
)  # fmt: skip
"""Labels that say which class is the negative and which the positive one."""


def name_sides(
    sides: tuple[Hashable, ...], classes: list[Hashable], *, alike: bool
) -> tuple[tuple[Hashable, ...], list[int]]:
    """The two classes in their own order, and which of the sides (negative, positive) each one is.

    With `alike` both mistakes cost the same, and it is no matter.
    """
    if len(classes) != 2:
        raise SettingsError(
            f"A binary loss is for two classes, but here are {len(classes)}: {listed(classes)}. "
            "Give the costs of each decision in a mapping."
        )
    named = [label for label in sides if not isinstance(label, Side)]
    if not named:
        return tuple(classes), [0, 1] if alike else _told_by(classes)
    place = int(index_levels(named, classes)[0])
    if place < 0:
        raise SettingsError(f"The loss names the class {named[0]!r}, but the classes are {listed(classes)}.")
    side = sides.index(named[0])
    return tuple(classes), [side, 1 - side] if place == 0 else [1 - side, side]


def _told_by(classes: list[Hashable]) -> list[int]:
    """The sides of two classes whose labels tell."""
    words = [_word(label) for label in classes]
    for pair in _PAIRS:
        if sorted(words) == sorted(pair):
            return [pair.index(word) for word in words]
    raise SettingsError(
        f"Nothing tells which of the classes {listed(classes)} is the positive one, whose miss has its own price: "
        f"say Loss.binary(…, positive={classes[0]!r}) or positive={classes[1]!r}."
    )


def _word(label: Hashable) -> str:
    """A label as it is compared: numbers as whole ones, words in small letters."""
    value = plain(label)
    return str(value).strip().casefold()


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

    So what is right stands on the diagonal.
    """
    place = {decision: k for k, decision in enumerate(decisions)}
    own = [place[truth] for truth in truths if truth in place]
    others = set(range(len(decisions))) - set(own)
    return [*own, *sorted(others)]


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
    return Grid([Column(CORNER, "left"), *(Column(head, form=_cost) for head in heads)], rows, title)


def _cost(cost: float) -> str:
    return f"{cost:g}"
