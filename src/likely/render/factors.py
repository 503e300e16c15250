"""The factors of one row: prior × contributions = posterior, and log-odds that add up; as tables and as pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.arrays import Array
from likely.markup import Markup, joined
from likely.render.page import fragment, more
from likely.render.picture import (
    Picture,
    beside,
    chances,
    colour,
    drawing,
    head_line,
    lines_down,
    named,
    named_apart,
    new_figure,
)
from likely.render.table import Cell, ColumnHead, Grid, number, shortened, signed
from likely.render.theme import AGAINST, FAINT, FOR, INK, MUTED, SHADE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Status = Literal["known", "gap", "unseen", "outside", "partly"]
"""What a cell is to a family: known; empty; a category never learned; a number outside the family's range;
or, where several columns make one factor, some of them empty."""

LARGEST_LOG = 700.0
"""Beyond this a factor is no float any more and is written as a power of e."""

LONGEST_VALUE, LONGEST_NAME = 48, 60
"""Characters of a cell and of a class that are shown; a cell may hold a whole letter."""

SHOWN_ROWS = 3
"""Rows written out where a person looks at an explanation of many."""

STRENGTH_DIGITS = 9
"""What differs by less is equally strong: rounding decides about no order."""

MOST_COLUMNS, MOST_CLASSES = 16, 10
"""What one table shows; more can be had by asking."""


@dataclass(frozen=True, slots=True, eq=False)
class FactorLine:
    """A factor: its name, the label with the row's value, and the logarithm under each class shown."""

    name: str
    label: str
    status: Status
    logs: Array

    @property
    def strength(self) -> float:
        """How far apart it drives the classes, in nats."""
        alive = np.isfinite(self.logs)
        if not alive.any():
            return 0.0
        return float(np.ptp(self.logs)) if alive.all() else np.inf


@dataclass(frozen=True, slots=True, eq=False)
class RowFactors:
    """The prior (first line) and the factors of one row, their sum and the posterior; what is not shown is said.

    `columns_left_out` are summed up in the last line; `classes_left_out` have `mass_left_out` of the posterior.
    """

    classes: Sequence[str]
    lines: Sequence[FactorLine]
    joint: Array
    posterior: Array
    columns_left_out: int = 0
    classes_left_out: int = 0
    mass_left_out: float = 0.0

    @property
    def n_columns(self) -> int:
        """How many columns speak, shown or not."""
        return len(self.lines) - 1 + max(self.columns_left_out - 1, 0)

    def condensed(self, columns: int | None, classes: int | None) -> RowFactors:
        """The strongest columns, these first, and the most probable classes, in their order."""
        fewer = _fewer_classes(self, MOST_CLASSES if classes is None else classes)
        return _fewer_columns(fewer, MOST_COLUMNS if columns is None else columns)

    def grid(self, *, logs: bool, title: str = "") -> Grid:
        """Every factor as a probability (or density), with its logarithm if wanted; their product, the posterior."""
        labels = [shortened(label, LONGEST_NAME) for label in self.classes]
        heads = [ColumnHead(head) for label in labels for head in ([label, "log"] if logs else [label])]
        rows = [self._row(shortened(line.label, 2 * LONGEST_NAME), line.logs, logs) for line in self.lines]
        rows.append(self._row("product", self.joint, logs))
        shares = [Cell(float(share), f"{share:.4f}", bar=float(share), strong=True) for share in self.posterior]
        beside = [""] if logs else []
        rows.append([Cell("posterior", strong=True), *(cell for share in shares for cell in (share, *beside))])
        left = f"… and {self.classes_left_out} less probable classes, with {self.mass_left_out:.4f} of the posterior"
        notes = [left] if self.classes_left_out else []
        return Grid([ColumnHead("factor", "left"), *heads], rows, title, notes, marks={len(self.lines): "total"})

    def _row(self, label: str, log_factors: Array, logs: bool) -> list[object]:
        row: list[object] = [label]
        for value, share in zip(log_factors, relative(log_factors), strict=True):
            row.append(Cell(float(value), factor(value), bar=float(share)))
            if logs:
                row.append("−∞" if value == -np.inf else f"{value:.4f}")
        return row


@dataclass(frozen=True, slots=True, eq=False)
class RowLogOdds:
    """Label and log-odds of prior and columns of one row, for one class against others; their sum, what it makes.

    `chance` says in symbols what `probability` is.
    """

    target: str
    against: str
    chance: str
    lines: Sequence[tuple[str, float]]
    total: float
    probability: float

    @property
    def title(self) -> str:
        return f"{self.target} against {self.against}"

    def grid(self, head: str, title: str = "") -> Grid:
        """Log-odds and odds, with a bar to the side that a factor speaks for."""
        lines = [*self.lines, ("together", self.total)]
        widest = max([abs(value) for _, value in lines if np.isfinite(value)], default=0.0) or 1.0
        rows = [
            [shortened(label, 2 * LONGEST_NAME), signed(value), spoken_odds(value), Cell(None, bar=value / widest)]
            for label, value in lines
        ]
        columns = [
            ColumnHead(head, "left"),
            ColumnHead("log-odds"),
            ColumnHead("odds"),
            ColumnHead("against | for", drawn=True),
        ]
        note = f"{self.chance} = {self.probability:.4f}"
        return Grid(columns, rows, title, [note], marks={len(rows) - 1: "total"})


def as_text(grids: Sequence[Grid], n_rows: int) -> str:
    """The tables of some rows, and how many rows have none."""
    left = n_rows - len(grids)
    return "\n\n".join([*(grid.text() for grid in grids), *([f"… and {left} more rows"] if left > 0 else [])])


def as_html(grids: Sequence[Grid], n_rows: int, below: Sequence[Markup] | None = None) -> Markup:
    """The same for a notebook; `below` is what stands under each table."""
    under = below or [Markup("")] * len(grids)
    shown = [part for grid, text in zip(grids, under, strict=True) for part in (grid.html(), text)]
    return fragment(joined(*shown), more(n_rows - len(grids), "rows"))


def factor(log_factor: float) -> str:
    """A factor as a number, or as a power of e where it is no float any more."""
    if log_factor == -np.inf or abs(log_factor) < LARGEST_LOG:
        return f"{np.exp(log_factor):.4g}"
    return f"e^{log_factor:.4g}"


def spoken_odds(log_odds: float) -> str:
    """Odds as they are spoken: 3 : 1 or 1 : 3."""
    with np.errstate(over="ignore"):
        ratio = f"{np.exp(abs(log_odds)):.3g}" if np.isfinite(log_odds) else "∞"
    return f"{ratio} : 1" if log_odds >= 0 else f"1 : {ratio}"


def relative(logs: Array) -> Array:
    """Factors as shares of their sum: what each would make of classes that were equally probable."""
    peak = logs.max(initial=-np.inf)
    if not np.isfinite(peak):
        return np.full(len(logs), 1.0 / max(len(logs), 1))
    shares = np.exp(logs - peak)
    return np.asarray(shares / shares.sum())


def written_cell(name: str, cell: object, status: Status) -> str:
    """A cell with the name of its column, its value, and what is odd about it."""
    if status == "gap":
        return f"{name} (gap)"
    if isinstance(cell, tuple) and not cell:  # said before any column is looked at
        return name
    if isinstance(cell, tuple):
        cell = ", ".join("—" if part is None else number(part) for part in cell)
    odd = {"unseen": " (never seen)", "outside": " (out of range)"}.get(status, "")
    return f"{name} = {shortened(number(cell), LONGEST_VALUE)}{odd}"


def strongest(strengths: Sequence[float], most: int) -> list[int]:
    """Places of the strongest first, equals in their order; all if one more would be left out for a line."""
    rounded = np.round(np.asarray(strengths, dtype=np.float64), STRENGTH_DIGITS)
    order: list[int] = np.argsort(-rounded, kind="stable").tolist()
    return order if len(strengths) <= most else order[: max(most - 1, 0)]


def strongest_lines(label: Callable[[int], str], values: Array, most: int) -> list[tuple[str, float]]:
    """Label and value at the places of the strongest; the others are taken together in a last line."""
    kept = strongest(np.abs(values).tolist(), most)
    lines = [(label(place), float(values[place])) for place in kept]
    others = np.delete(values, kept)
    return [*lines, (f"{len(others)} weaker contributions together", float(others.sum()))] if len(others) else lines


def _fewer_columns(found: RowFactors, most: int) -> RowFactors:
    prior, *factors = found.lines
    kept = strongest([line.strength for line in factors], most)
    others = [line.logs for place, line in enumerate(factors) if place not in set(kept)]
    if not others:
        return replace(found, lines=[prior, *(factors[place] for place in kept)])
    label = f"{len(others)} weaker contributions together"
    together = FactorLine(label, label, "known", np.sum(others, axis=0))
    return replace(found, lines=[prior, *(factors[place] for place in kept), together], columns_left_out=len(others))


def _fewer_classes(found: RowFactors, most: int) -> RowFactors:
    if len(found.classes) <= most:
        return found
    kept = np.sort(np.argsort(-found.posterior, kind="stable")[:most])
    return replace(
        found,
        classes=[found.classes[place] for place in kept],
        lines=[replace(line, logs=line.logs[kept]) for line in found.lines],
        joint=found.joint[kept],
        posterior=found.posterior[kept],
        classes_left_out=len(found.classes) - len(kept),
        mass_left_out=float(max(1.0 - found.posterior[kept].sum(), 0.0)),
    )


# The same as pictures.

DRAWN_COLUMNS, DRAWN_CLASSES = 16, 6
LINE_HEIGHT = 0.27
LONGEST_LABEL = 40


def bars(found: RowFactors, row: object = 0) -> Picture:
    """Prior × contributions = posterior of one row, a panel per class.

    A bar is the factor's share of its sum over the classes shown: what that factor alone would make of classes
    that were equally probable. The number beside it is the factor itself, a probability or a density.
    """
    with drawing():
        labels = ["prior", *(f"× {named(line.label, LONGEST_LABEL)}" for line in found.lines[1:]), "= posterior"]
        names = named_apart(found.classes, 22)
        widest = max(len(label) for label in labels)
        width = 0.075 * widest + 1.75 * len(found.classes) + 0.5
        figure = new_figure(max(width, 5.0), LINE_HEIGHT * len(labels) + 1.3)
        panels = figure.subplots(1, len(found.classes), sharey=True, squeeze=False)[0]
        shares = np.array([*(relative(line.logs) for line in found.lines), found.posterior])
        for place, axes in enumerate(panels):
            numbers = [*(factor(line.logs[place]) for line in found.lines), f"{found.posterior[place]:.4f}"]
            _panel(axes, shares[:, place], numbers, colour(place))
            axes.set_title(names[place], fontweight="bold", fontsize=9)
        _factors_down(panels[0], labels)
        best = int(found.posterior.argmax())
        title = f"Row {row}: {named(found.classes[best], 40)}, P = {found.posterior[best]:.4f}"
        head_line(figure, f"{title}: prior × contributions = posterior")
        figure.supxlabel(_bars_note(found), x=0.01, ha="left", fontsize=7.5, color=MUTED)
    description = f"Most probable: {found.classes[best]} with {found.posterior[best]:.4f}; {found.n_columns} columns."
    return Picture(figure, title, description)


def _panel(axes: Axes, shares: Array, numbers: list[str], shade: str) -> None:
    places = np.arange(len(shares))
    last = len(shares) - 1
    axes.barh(places, 1.0, height=0.62, color=SHADE)
    axes.barh(places[:last], shares[:last], height=0.62, color=shade, alpha=0.55)
    axes.barh(last, shares[last], height=0.62, color=shade)
    for place, text in enumerate(numbers):
        weight = "bold" if place == last else "normal"
        axes.text(1.06, place, text, va="center", ha="left", fontsize=8, fontweight=weight)
    axes.axhline(last - 0.5, color=INK, linewidth=0.8)
    axes.set(xlim=(0.0, 1.85), xticks=[])
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def _factors_down(axes: Axes, labels: Sequence[str]) -> None:
    """A line for each factor; the last is what they make, and is set apart."""
    lines_down(axes, labels)
    axes.get_yticklabels()[-1].set_fontweight("bold")


def _bars_note(found: RowFactors) -> str:
    note = "Number: the factor; in naive Bayes P(value | class), or a density. Bar: its share among the classes shown."
    if not found.classes_left_out:
        return note
    mass = f"{found.mass_left_out:.4f}" if found.mass_left_out >= 5e-5 else "less than 0.0001"
    return f"{note}\nNot shown: {found.classes_left_out} less probable classes, with {mass} of the posterior."


def odds(found: RowLogOdds, row: object = 0) -> Picture:
    """How the log-odds of one class against others grow from the prior to the posterior, column by column."""
    lines = [*found.lines, ("posterior", found.total)]
    with drawing():
        figure = new_figure(7.2, LINE_HEIGHT * 1.15 * len(lines) + 1.6)
        axes = figure.subplots()
        starts, ends = _steps([value for _, value in lines])
        low, high = _limits(starts, ends)
        ends = np.clip(ends, low, high)
        for place, ((_, value), start, end) in enumerate(zip(lines, starts, ends, strict=True)):
            shade = FOR if value >= 0.0 else AGAINST
            axes.barh(place, end - start, left=start, height=0.6, color=shade)
            if start == end:
                axes.plot([end, end], [place - 0.3, place + 0.3], color=FAINT, linewidth=1.0)
            text = signed(value, 2).replace("-", "−")
            label = beside(axes, text, end, place, 4 if end >= start else -4, fontsize=9)
            label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
            if place < len(lines) - 1:
                axes.plot([end, end], [place + 0.3, place + 0.7], color=FAINT, linewidth=1.0)
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.axhline(len(lines) - 1.5, color=INK, linewidth=0.8)
        _factors_down(axes, [named(label, LONGEST_LABEL) for label, _ in lines])
        axes.spines["left"].set_visible(False)
        margin = 0.17 * (high - low)
        axes.set_xlim(low - margin, high + margin)
        target, against = named(found.target, 24), named(found.against, 24)
        axes.set_xlabel(f"log-odds in nats   (← for {against}, for {target} →)")
        _chance_axis(axes, named(found.chance, 60))
        head_line(figure, f"Row {row}: {target} against {against}, P = {found.probability:.4f}")
    description = f"Log-odds {found.total:.4g}, probability {found.probability:.4f}."
    return Picture(figure, f"Row {row}: {found.title}", description)


def _steps(values: list[float]) -> tuple[Array, Array]:
    """Where each bar starts and ends: one after the other, and the last from zero to the total."""
    *steps, total = np.nan_to_num(values, posinf=1e9, neginf=-1e9)
    ends = np.cumsum(steps)
    return np.array([0.0, *ends[:-1], 0.0]), np.array([*ends, total])


def _limits(starts: Array, ends: Array) -> tuple[float, float]:
    """Range of all that is finite, with a little room where something is not."""
    both = np.concatenate([starts, ends, [-1.0, 1.0]])
    near = both[np.abs(both) < 1e8]
    low, high = float(near.min()), float(near.max())
    room = 0.35 * (high - low)
    return low - room * bool((both < -1e8).any()), high + room * bool((both > 1e8).any())


def _chance_axis(axes: Axes, chance: str) -> None:
    low, high = axes.get_xlim()
    places, labels = zip(*chances(low, high, 0.11), strict=True)
    top = axes.secondary_xaxis("top")
    top.set_xticks(places, labels)
    top.set_xlabel(chance)
