"""What mistakes cost, from a file and a price for refusing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from likely.cli.outputs import Reads
from likely.cli.talking import Manner
from likely.errors import NoSuchFile, SettingsError, listed

if TYPE_CHECKING:
    from likely.decide import Loss
    from likely.decide.corner import Axis

PANEL = "What mistakes cost"


@dataclass(frozen=True)
class Costs:
    """A loss: costs by decision and truth, and the price of refusing."""

    loss: Annotated[
        str | None,
        typer.Option(
            help="CSV of costs; its first cell says what rows and columns are: truth\\decision or decision\\truth.",
            rich_help_panel=PANEL,
            metavar="FILE",
        ),
        Reads(),
    ] = None
    truth: Annotated[
        str | None,
        typer.Option(
            help="Where the file has the true classes, if its first cell does not say.",
            rich_help_panel=PANEL,
            metavar="rows|columns",
        ),
    ] = None
    refuse: Annotated[
        float | None,
        typer.Option(
            help="Price of refusing to decide; without --loss every mistake costs 1.", rich_help_panel=PANEL,
            metavar="PRICE",
        ),
    ] = None  # fmt: skip

    def read(self, classes: Sequence[Any], manner: Manner) -> Loss | None:
        """The loss for these classes, told as it is understood; None if no option speaks of costs."""
        if self.loss is None and self.refuse is None:
            return None
        from likely.decide import Loss

        if self.truth not in (None, "columns", "rows"):
            raise SettingsError(f"--truth is {self.truth!r}, but the true classes are in 'columns' or in 'rows'.")
        if self.loss is None:
            return Loss.zero_one(list(classes), refuse=self.refuse)
        try:
            loss = Loss.from_csv(self.loss, truth=cast("Axis | None", self.truth))
        except FileNotFoundError:
            raise NoSuchFile(f"There is no file {self.loss!r}.") from None
        spelled = {str(label): label for label in classes}
        named = [[spelled.get(str(name), name) for name in names] for names in (loss.decisions, loss.truths)]
        price = loss.refuse if self.refuse is None else self.refuse
        loss = Loss(loss.costs, decisions=named[0], truths=named[1], refuse=price)
        self._refuse_lacking(loss, classes)
        manner.show(f"Costs by {self.loss}:\n{loss}")
        return loss

    def _refuse_lacking(self, loss: Loss, classes: Sequence[Any]) -> None:
        from likely.table import index_levels

        lacking = [label for label, place in zip(classes, index_levels(classes, loss.truths), strict=True) if place < 0]
        if lacking:
            turned = (index_levels(classes, loss.decisions) >= 0).all()
            hint = " If its rows are the true classes, say --truth rows." if turned and self.truth is None else ""
            raise SettingsError(
                f"{self.loss} gives no cost for the class {listed(lacking)}; "
                f"its truths are {listed(loss.truths)}.{hint}"
            )
