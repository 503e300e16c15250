"""The one table that people read, as text, HTML, Rich and JSON; and how numbers are written in it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likely.arrays import Json
from likely.markup import Markup, joined, tag
from likely.render.page import more, paragraphs

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as RichTable

BAR = 6.0
"""Width of a whole bar, in letters."""

SHADE = "rgba(0,114,178,{:.2f})"
DARKEST = 0.6
GAP = 2
WIDEST_TITLE = 60
"""Letters of a title that stay on one line above a narrower table."""


def text_of(value: object) -> str:
    """A value as it is written where a column says nothing else."""
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """The head of a column, the side on which its cells stand, and how their values are written.

    What is `drawn` is a column of bars: it is there in HTML only.
    """

    head: str
    align: Literal["left", "right"] = "right"
    form: Callable[[Any], str] = text_of
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A value that is written in its own way, or that has a bar beside it or a shade behind it (shares of the widest).

    In a drawn column a bar points to the left where it is below zero.
    """

    value: object
    text: str | None = None
    bar: float | None = None
    shade: float | None = None
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of values under their heads, a title above and notes below.

    `marks` are rows with a look of their own: "total" (a rule above), "chosen", "close". `left_out` more rows, called
    `what`, are not shown.

    >>> heads = [ColumnHead("city", "left"), ColumnHead("share", form=figure)]
    >>> print(Grid(heads, [["Bonn", 0.25], ["Ulm", 1.0]]).text())
    city   share
    Bonn  0.2500
    Ulm   1.0000
    """

    columns: Sequence[ColumnHead]
    rows: Sequence[Sequence[object]]
    title: str = ""
    notes: Sequence[str] = ()
    marks: Mapping[int, str] = field(default_factory=dict)
    left_out: int = 0
    what: str = "rows"

    def lines(self) -> list[list[str]]:
        """All that is written, the heads first; drawn columns are left out."""
        shown = [k for k, column in enumerate(self.columns) if not column.drawn]
        body = [[_written(row[k], self.columns[k]) for k in shown] for row in self.rows]
        return [[self.columns[k].head for k in shown], *body]

    def text(self) -> str:
        """Aligned columns for a terminal or a file."""
        lines = self.lines()
        sides = ["<" if column.align == "left" else ">" for column in self.columns if not column.drawn]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        form = (" " * GAP).join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
        body = [form.format(*line).rstrip() for line in lines]
        more_rows = [f"… and {self.left_out:,} more {self.what}"] if self.left_out > 0 else []
        return "\n".join([*([self.title] if self.title else []), *body, *more_rows, *self.notes])

    def narrowed(self, width: int, *heads: str) -> Grid:
        """The table as it is, or without some columns, in this order, until its lines are no longer than `width`."""
        found = self
        for head in heads:
            if max(map(len, found.text().splitlines()), default=0) <= width:
                break
            kept = [k for k, column in enumerate(found.columns) if column.head != head]
            rows = [[row[k] for k in kept] for row in found.rows]
            found = replace(found, columns=[found.columns[k] for k in kept], rows=rows)
        return found

    def html(self) -> Markup:
        """A table with its notes; the style is that of the page around it."""
        heads = [tag("th", column.head, class_=_side(k, column)) for k, column in enumerate(self.columns)]
        body = [
            tag("tr", *map(_drawn, range(len(row)), row, self.columns), class_=self.marks.get(place))
            for place, row in enumerate(self.rows)
        ]
        caption = tag("caption", self.title) if self.title else None
        table = tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *body))
        return joined(table, more(self.left_out, self.what), paragraphs(list(self.notes)))

    def rich(self) -> RichTable:
        """For a terminal that knows colours; the last column of words folds where all others would be cut."""
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=None, title=Text(self.title, style="bold") if self.title else None, title_justify="left",
            pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold cyan",
            min_width=min(len(self.title), WIDEST_TITLE),
        )  # fmt: skip
        shown = [column for column in self.columns if not column.drawn]
        for k, column in enumerate(shown):
            folds = column.align == "left" and k == len(shown) - 1
            table.add_column(
                Text(column.head), justify=column.align, no_wrap=not folds, overflow="fold" if folds else "ellipsis"
            )
        for line in self.lines()[1:]:
            table.add_row(*(Text(cell) for cell in line))
        return table

    def records(self) -> list[dict[str, object]]:
        """The values themselves, by head, for programs."""
        shown = [(k, column.head) for k, column in enumerate(self.columns) if not column.drawn]
        return [{head: json_value(_value(row[k])) for k, head in shown} for row in self.rows]

    def json(self) -> str:
        """Title, records and notes as JSON."""
        content = {"title": self.title, "rows": self.records(), "notes": list(self.notes)}
        return json.dumps(content, ensure_ascii=False, indent=1)


def _value(cell: object) -> object:
    return cell.value if isinstance(cell, Cell) else cell


def _written(cell: object, column: ColumnHead) -> str:
    if isinstance(cell, Cell) and cell.text is not None:
        return cell.text
    value = _value(cell)
    return value if isinstance(value, str) else column.form(value)


def _side(place: int, column: ColumnHead) -> str | None:
    return "left" if column.align == "left" and place > 0 else None


def _drawn(place: int, cell: object, column: ColumnHead) -> Markup:
    """The first cell of a row is its head."""
    name, side = ("td" if place else "th"), _side(place, column)
    if not isinstance(cell, Cell):
        return tag(name, _written(cell, column), class_=side)
    if column.drawn:
        share = cell.bar or 0.0
        halves = [_bar(share) if ours else None for ours in (share < 0.0, share > 0.0)]
        spans = [tag("span", half, class_=f"{end}-half") for half, end in zip(halves, ("left", "right"), strict=True)]
        return tag(name, *spans, class_=side)
    text = tag("strong", _written(cell, column)) if cell.strong else _written(cell, column)
    shade = None if cell.shade is None else f"background:{SHADE.format(DARKEST * cell.shade)}"
    beside = () if cell.bar is None else (_bar(cell.bar), " ")
    return tag(name, *beside, text, class_=side, style=shade)


def _bar(share: float) -> Markup:
    return tag("span", class_="bar", style=f"width:{BAR * min(abs(share), 1.0):.2f}em")


# How numbers and names are written: each way has one home.


def figure(value: float | None) -> str:
    """A measure: four digits after the point, and thousands apart where it is large."""
    return "" if value is None else f"{value:.4f}" if abs(value) < 1000.0 else f"{value:,.6g}"


def count(value: float) -> str:
    """A number of rows, or their weight where that is no whole number."""
    value = round(float(value), 9)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def signed(value: float, digits: int = 4) -> str:
    """A log-odds with its sign."""
    return f"{value:+.{digits}f}" if math.isfinite(value) else ("+∞" if value > 0 else "−∞")


def seconds(value: float) -> str:
    """A time."""
    return f"{value * 1000:.3g} ms" if value < 0.9995 else f"{value:.3g} s"


def size(value: int) -> str:
    """Bytes of a file."""
    return f"{value:,} B" if value < 10_000 else f"{value / 1e3:,.0f} kB" if value < 1e7 else f"{value / 1e6:,.0f} MB"


def shortened(text: str, longest: int) -> str:
    """On one line, and cut where it is too long."""
    line = " ".join(text.split()) if text.strip() else repr(text)
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def number(cell: object) -> str:
    """A cell of a table: a number to six digits, unless that would hide some before the point."""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.6g}" if abs(cell) < 1e6 else f"{cell:.12g}"


def json_value(value: object) -> Json:
    """A value as JSON has it: scalars of NumPy unpacked, what is missing or infinite null, all else as text."""
    plain = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if plain is None or isinstance(plain, bool | int | str):
        return plain
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, Mapping):
        return {str(key): json_value(each) for key, each in plain.items()}
    if isinstance(plain, list | tuple):
        return [json_value(each) for each in plain]
    return None if type(plain).__name__ in ("NAType", "NaTType") else str(plain)


def records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Lines of a frame for JSON."""
    return [{str(name): json_value(cell) for name, cell in line.items()} for line in frame.to_dict("records")]
