"""What mistakes cost, from a file and a price for refusing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likely.cli.outputs import Reads
from likely.errors import NoSuchFile, SettingsError

if TYPE_CHECKING:
    from likely.decide import Loss

PANEL = "What mistakes cost"


@dataclass(frozen=True)
class Costs:
    """A loss: costs by decision and truth, and the price of refusing."""

    loss: Annotated[
        str | None,
        typer.Option(
            help="CSV of costs: a line per decision, a column per true class.", rich_help_panel=PANEL, metavar="FILE"
        ),
        Reads(),
    ] = None
    truth: Annotated[
        str,
        typer.Option(help="Where the file has the true classes.", rich_help_panel=PANEL, metavar="columns|rows"),
    ] = "columns"
    refuse: Annotated[
        float | None,
        typer.Option(
            help="Price of refusing to decide; without --loss every mistake costs 1.", rich_help_panel=PANEL,
            metavar="PRICE",
        ),
    ] = None  # fmt: skip

    def read(self, classes: Sequence[Any]) -> Loss | None:
        """The loss for these classes; None if no option speaks of costs."""
        if self.loss is None and self.refuse is None:
            return None
        from likely.decide import Loss

        if self.truth not in ("columns", "rows"):
            raise SettingsError(f"--truth is {self.truth!r}, but the true classes are in 'columns' or in 'rows'.")
        if self.loss is None:
            return Loss.zero_one(list(classes), refuse=self.refuse)
        try:
            loss = Loss.from_csv(self.loss, truth="rows" if self.truth == "rows" else "columns")
        except FileNotFoundError:
            raise NoSuchFile(f"There is no file {self.loss!r}.") from None
        spelled = {str(label): label for label in classes}
        named = [[spelled.get(str(name), name) for name in names] for names in (loss.decisions, loss.truths)]
        price = loss.refuse if self.refuse is None else self.refuse
        return Loss(loss.costs, decisions=named[0], truths=named[1], refuse=price)
