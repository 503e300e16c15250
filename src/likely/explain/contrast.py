"""One class against others, in log-odds that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import SettingsError
from likely.explain.board import MOST_COLUMNS, SHOWN_ROWS, strongest
from likely.explain.odds import log_odds_by_column
from likely.explain.page import contrast_page
from likely.explain.text import aligned, written_cell
from likely.numerics import log_of

if TYPE_CHECKING:
    import pandas as pd

    from likely.explain.explanation import Explanation
    from likely.plots import Picture

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """prior + contributions = total, all of them log-odds of `target` against `rivals`.

    With one rival a contribution is the logarithm of the likelihood ratio of its column. With several, the
    odds of all rivals are added before the logarithm is taken, and each column gets its share of the change by
    logarithmic means (see `log_odds_by_column`); the order of the columns and their units play no part.
    """

    explanation: Explanation
    target: Any
    rivals: tuple[Any, ...]
    prior: float
    contributions: Array

    @classmethod
    def of(cls, explanation: Explanation, target: int, rivals: NDArray[np.intp]) -> Contrast:
        labels = explanation.classes.tolist()
        prior, contributions = log_odds_by_column(log_of(explanation.prior), explanation.contributions, target, rivals)
        return cls(explanation, labels[target], tuple(labels[k] for k in rivals), prior, contributions)

    def __len__(self) -> int:
        return len(self.contributions)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.explanation.columns

    @property
    def joint(self) -> Array:
        """Log joint of each row and class, as in the explanation."""
        return self.explanation.joint

    @property
    def posterior(self) -> Array:
        """P(class | row), as in the explanation."""
        return self.explanation.posterior

    @property
    def total(self) -> Array:
        """Posterior log-odds of each row."""
        return np.asarray(self.prior + self.contributions.sum(axis=1))

    @property
    def probability(self) -> Array:
        """P(target | row, target or a rival)."""
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-self.total)))

    @property
    def is_against_rest(self) -> bool:
        return len(self.rivals) + 1 == len(self.explanation.classes)

    @property
    def against(self) -> str:
        """The rivals in words."""
        if len(self.rivals) == 1:
            return str(self.rivals[0])
        return "the rest" if self.is_against_rest else " or ".join(str(rival) for rival in self.rivals)

    @property
    def chance(self) -> str:
        """What `probability` is, in symbols."""
        return f"P({self.target})" if self.is_against_rest else f"P({self.target} | {self.target} or {self.against})"

    @property
    def title(self) -> str:
        return f"{self.target} against {self.against}"

    def lines(self, row: int, most: int = MOST_COLUMNS) -> list[tuple[str, float]]:
        """Label and log-odds of the prior and of the strongest columns; the others are taken together."""
        if not -len(self) <= row < len(self):
            raise SettingsError(f"There is no row {row}: {len(self)} rows are explained, counted from 0.")
        values = self.contributions[row]
        kept = strongest(np.abs(values).tolist(), most)
        why = self.explanation
        lines = [("prior", self.prior)]
        for place in kept:
            label = written_cell(self.columns[place], why.cells[row][place], why.status(row, place))
            lines.append((label, float(values[place])))
        others = np.delete(values, kept)
        if len(others):
            lines.append((f"{len(others)} weaker columns together", float(others.sum())))
        return lines

    def to_frame(self) -> pd.DataFrame:
        """One line per row and factor: the factor, its value and status, and its log-odds."""
        import pandas as pd

        why, totals = self.explanation, self.total
        lines: list[tuple[object, ...]] = []
        for row in range(len(self)):
            lines.append((row, "prior", "", "", self.prior))
            for place, name in enumerate(self.columns):
                cell = why.cells[row][place], why.status(row, place)
                lines.append((row, name, *cell, self.contributions[row, place]))
            lines.append((row, "log-odds", "", "", totals[row]))
        return pd.DataFrame(lines, columns=["row", "factor", "value", "status", self.title])

    def plot(self, *, row: int = 0) -> Picture:
        """How the log-odds of one row grow from the prior to the posterior."""
        from likely.plots.factors import odds

        return odds(self, row)

    def __str__(self) -> str:
        shown = [self.written(row) for row in range(min(len(self), SHOWN_ROWS))]
        more = len(self) - len(shown)
        return "\n\n".join([*shown, *([f"… and {more} more rows"] if more > 0 else [])])

    def written(self, row: int) -> str:
        """One row as text: the log-odds of prior and columns, and their sum."""
        lines = [*self.lines(row), ("together", float(self.total[row]))]
        cells = [[label, _signed(value), _odds(value)] for label, value in lines]
        chance = f"{self.chance} = {self.probability[row]:.4f}"
        return "\n".join([*aligned([[self.title, "log-odds", "odds"], *cells]), chance])

    def _repr_html_(self) -> str:
        rows = range(min(len(self), SHOWN_ROWS))
        boards = [(self.lines(row), float(self.total[row]), float(self.probability[row])) for row in rows]
        return contrast_page(self.title, self.chance, boards, len(self))


def _signed(log_odds: float) -> str:
    return f"{log_odds:+.4f}" if np.isfinite(log_odds) else ("+∞" if log_odds > 0 else "−∞")


def _odds(log_odds: float) -> str:
    """Odds as they are spoken: 3 : 1 or 1 : 3."""
    with np.errstate(over="ignore"):
        ratio = f"{np.exp(abs(log_odds)):.3g}" if np.isfinite(log_odds) else "∞"
    return f"{ratio} : 1" if log_odds >= 0 else f"1 : {ratio}"
