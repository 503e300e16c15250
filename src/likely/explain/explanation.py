"""Why a row got its posterior: a prior and one contribution per column that add up, also in log-odds of two classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from likely.arrays import AnyArray, Array, Index
from likely.errors import SettingsError, listed
from likely.explain.contrast import log_odds_by_column, target_and_rivals
from likely.explain.factors import factors_of
from likely.families.protocol import HasTokens, Token
from likely.markup import Markup, joined, tag
from likely.numerics import log_of, normalise
from likely.render.factors import (
    DRAWN_CLASSES,
    DRAWN_COLUMNS,
    MOST_COLUMNS,
    SHOWN_ROWS,
    FactorLine,
    RowFactors,
    RowLogOdds,
    Status,
    as_html,
    as_text,
    bars,
    odds,
    strongest_lines,
    written_cell,
)
from likely.render.page import fragment, marked_text
from likely.scorer import Model
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """log prior + contributions = log joint; normalised, the posterior.

    `contributions` is rows × columns × classes, in nats; a missing or unseen value contributes nothing
    (unless the classifier has other settings), and `statuses` says what each cell is. Columns of a family that
    cannot be separated are one entry of `columns` and make one contribution. Where some contributions
    belong to several columns, or to none, `terms` names the columns of each.
    """

    classes: AnyArray
    columns: tuple[str, ...]
    cells: tuple[tuple[object, ...], ...]
    prior: Array
    contributions: Array
    statuses: tuple[tuple[Status, ...], ...] = ()
    words: Mapping[str, Sequence[Sequence[Token]]] = field(default_factory=dict)
    terms: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, model: Model, table: Table) -> Explanation:
        """Ask every belief about every one of its columns alone."""
        factors = factors_of(model, table)
        shape = table.n_rows, len(factors), len(model.classes)
        contributions = np.zeros(shape)
        for place, factor in enumerate(factors):
            contributions[:, place] = factor.evidence
        cells = tuple(zip(*(factor.cells for factor in factors), strict=True)) or ((),) * table.n_rows
        statuses = tuple(zip(*(factor.status for factor in factors), strict=True)) or ((),) * table.n_rows
        columns = tuple(factor.label for factor in factors)
        words = {
            belief.columns[0]: tokens
            for belief in model.beliefs
            if isinstance(belief, HasTokens) and (tokens := belief.tokens(table)) is not None
        }
        return cls(model.classes, columns, cells, model.prior, contributions, statuses, words)

    def __len__(self) -> int:
        """How many rows are explained."""
        return len(self.contributions)

    @property
    def columns_of_terms(self) -> tuple[tuple[str, ...], ...]:
        """The columns that each contribution belongs to."""
        return self.terms or tuple((name,) for name in self.columns)

    @property
    def joint(self) -> Array:
        """Log joint of each row and class."""
        return np.asarray(log_of(self.prior) + self.contributions.sum(axis=1))

    @property
    def posterior(self) -> Array:
        """P(class | row)."""
        joint = self.joint
        out = np.empty_like(joint)
        normalise(joint, self.prior, False, out)
        return out

    def status(self, row: int, place: int) -> Status:
        """What a cell is: known, missing, unseen, or outside the family's range."""
        if self.statuses:
            return self.statuses[row][place]
        return "gap" if self.cells[row][place] is None else "known"

    def label(self, row: int, place: int) -> str:
        """A contribution in words: the column and the row's value; of several columns, each with its own."""
        cell, name = self.cells[row][place], self.columns[place]
        if self.terms and len(self.terms[place]) > 1 and isinstance(cell, tuple):
            parts = zip(self.terms[place], cell, strict=True)
            return " × ".join(written_cell(each, part, "gap" if part is None else "known") for each, part in parts)
        return written_cell(name, cell, self.status(row, place))

    @property
    def notes(self) -> list[tuple[int, str, object, Status]]:
        """Row, column, value and status of every cell that is not simply known."""
        return [
            (row, name, self.cells[row][place], self.status(row, place))
            for row in range(len(self))
            for place, name in enumerate(self.columns)
            if self.status(row, place) != "known"
        ]

    def contrast(self, target: object, against: object = None) -> Contrast:
        """One class against another, against several, or (None) against all the rest, in log-odds that add up."""
        wanted = target if against is None else (target, against)
        return Contrast.of(self, *target_and_rivals(wanted, self.classes))

    def row_factors(self, row: int = 0, columns: int | None = None, classes: int | None = None) -> RowFactors:
        """One row, ready to be shown: the strongest columns and most probable classes, the others combined."""
        _refuse_row(row, len(self))
        lines = [FactorLine("prior", "prior", "known", np.asarray(log_of(self.prior)))]
        for place, name in enumerate(self.columns):
            status = self.status(row, place)
            lines.append(FactorLine(name, self.label(row, place), status, self.contributions[row, place]))
        labels = [str(label) for label in self.classes.tolist()]
        return RowFactors(labels, lines, self.joint[row], self.posterior[row]).condensed(columns, classes)

    def to_frame(self) -> pd.DataFrame:
        """One line per row and factor: the factor, its value and status, and log P of it under each class."""
        import pandas as pd

        lines: list[tuple[object, ...]] = []
        joint, posterior = self.joint, self.posterior
        for row in range(len(self)):
            lines.append((row, "prior", "", "", *log_of(self.prior)))
            for place, name in enumerate(self.columns):
                cell = self.cells[row][place], self.status(row, place)
                lines.append((row, name, *cell, *self.contributions[row, place]))
            lines.append((row, "log joint", "", "", *joint[row]))
            lines.append((row, "posterior", "", "", *posterior[row]))
        return pd.DataFrame(lines, columns=["row", "factor", "value", "status", *self.classes.tolist()])

    def tokens(self, row: int = 0, contrast: object = None) -> pd.DataFrame:
        """The known words of a row's texts, top words first: column, word, weight, log P under each class.

        `ratio` is the log-likelihood ratio of the row's most probable class to the runner-up, or with `contrast` of one
        class to another (of several, to the most probable): above zero, the word speaks for it, below zero against it.
        """
        import pandas as pd

        target, rival = self.row_sides(row, contrast)
        lines = [
            (column, token.word, token.weight, token.evidence[target] - token.evidence[rival], *token.evidence)
            for column, texts in self.words.items()
            for token in texts[row]
        ]
        lines.sort(key=lambda line: -abs(line[3]))
        return pd.DataFrame(lines, columns=["column", "word", "weight", "ratio", *self.classes.tolist()])

    def row_sides(self, row: int, contrast: object = None) -> tuple[int, int]:
        """Which two classes the words of a row are told for: a class and its most probable rival."""
        _refuse_row(row, len(self))
        order = np.argsort(-self.posterior[row], kind="stable")
        if contrast is None:
            best, next_best = [*order, 0][:2]
            return int(best), int(next_best)
        target, rivals = target_and_rivals(contrast, self.classes)
        return target, int(next(place for place in order if place in rivals))

    def highlight(self, row: int = 0, column: str | None = None) -> Markup:
        """A text of one row as HTML, its words marked by what they say for the most probable class, or against it.

        The column need not be named where there is only one text.
        """
        _refuse_row(row, len(self))
        if column is None and len(self.words) == 1:
            (column,) = self.words
        if column is None or column not in self.words:
            raise SettingsError(f"column is {column!r}, but the text columns are {listed([*self.words])}.")
        told = self.tokens(row)
        told = told[told["column"] == column]
        text = self.cells[row][self.columns.index(column)]
        marked = marked_text("" if text is None else str(text), dict(zip(told["word"], told["ratio"], strict=True)))
        return fragment(tag("p", tag("strong", f"{column}: "), marked, style="white-space:pre-wrap"))

    def blackboard(self, row: int | None = None, *, logs: bool = True) -> str:
        """Rows as worked examples: every factor as a probability (or density) and as its logarithm."""
        if row is not None:
            return self.row_factors(row).grid(logs=logs).text()
        shown = range(min(len(self), SHOWN_ROWS))
        return as_text([self.row_factors(k).grid(logs=logs) for k in shown], len(self))

    @overload
    def plot(self, kind: Literal["bars"] = "bars", *, row: int = 0, name: object = None) -> Picture: ...

    @overload
    def plot(self, kind: Literal["odds"], *, row: int = 0, contrast: object = None, name: object = None) -> Picture: ...

    def plot(self, kind: str = "bars", *, row: int = 0, contrast: object = None, name: object = None) -> Picture:
        """A picture of one row: "bars" (prior × contributions = posterior) or "odds" (one class against others).

        Without a `contrast`, the most probable class of the row is set against the rest. The title calls
        the row by its number, or by `name`.
        """
        called = row if name is None else name
        if kind == "bars":
            return bars(self.row_factors(row, DRAWN_COLUMNS, DRAWN_CLASSES), called)
        if kind == "odds":
            best = self.classes[int(self.posterior[row].argmax())]
            classes = target_and_rivals(best if contrast is None else contrast, self.classes)
            return odds(Contrast.of(self, *classes).row_log_odds(row, DRAWN_COLUMNS), called)
        raise SettingsError(f"There is no plot {kind!r} of an explanation; there are 'bars' and 'odds'.")

    def __str__(self) -> str:
        return self.blackboard(logs=False)

    def __repr__(self) -> str:
        parts = f"{len(self.columns):,} contributions to {len(self.classes):,} classes"
        return f"Explanation of {_rows(len(self))} by {parts}"

    def _repr_html_(self, first: int = 0) -> str:
        titles = [f"row {first + row}" if len(self) > 1 else "" for row in range(min(len(self), SHOWN_ROWS))]
        grids = [self.row_factors(k).grid(logs=False, title=title) for k, title in enumerate(titles)]
        texts = [joined(*(self.highlight(k, column) for column in self.words)) for k in range(len(grids))]
        return as_html(grids, len(self), texts)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _refuse_row(row: int, n_rows: int) -> None:
    if not -n_rows <= row < n_rows:
        raise SettingsError(f"There is no row {row}: {n_rows} rows are explained, counted from 0.")


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """prior + contributions = total, all of them log-odds of `target` against `rivals`.

    With one rival a contribution is the logarithm of the likelihood ratio of its column. With several, the
    odds of all rivals are added before the logarithm is taken, and each column gets its share of the change by
    logarithmic means (see `log_odds_by_column`); neither the order of the columns nor their units matter.
    """

    explanation: Explanation
    target: object
    rivals: tuple[object, ...]
    prior: float
    contributions: Array

    @classmethod
    def of(cls, explanation: Explanation, target: int, rivals: Index) -> Contrast:
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
        """Label and log-odds of the prior and of the strongest columns; the others are combined."""
        _refuse_row(row, len(self))
        why = self.explanation
        return [
            ("prior", self.prior),
            *strongest_lines(lambda place: why.label(row, place), self.contributions[row], most),
        ]

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

    def row_log_odds(self, row: int = 0, columns: int = MOST_COLUMNS) -> RowLogOdds:
        """One row, ready to be shown: the prior and the strongest columns, the others combined."""
        parts = self.lines(row, columns), float(self.total[row]), float(self.probability[row])
        return RowLogOdds(str(self.target), self.against, self.chance, *parts)

    def plot(self, *, row: int = 0, name: object = None) -> Picture:
        """How the log-odds of one row grow from the prior to the posterior; the title calls the row by `name`."""
        return odds(self.row_log_odds(row, DRAWN_COLUMNS), row if name is None else name)

    def __repr__(self) -> str:
        return f"Contrast of {self.title} in {_rows(len(self))} by {len(self.columns):,} contributions"

    def __str__(self) -> str:
        shown = range(min(len(self), SHOWN_ROWS))
        return as_text([self.row_log_odds(row).grid(self.title) for row in shown], len(self))

    def _repr_html_(self, first: int = 0) -> str:
        shown = range(min(len(self), SHOWN_ROWS))
        titles = [f"{self.title}, row {first + row}" if len(self) > 1 else self.title for row in shown]
        return as_html([self.row_log_odds(row).grid("factor", titles[row]) for row in shown], len(self))
