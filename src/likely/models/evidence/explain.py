"""What a fitted evidence classifier says about itself: contributions of rows, tables of terms, a page in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from likely.explain import Contrast, Explanation
from likely.explain.contrast import target_and_rivals
from likely.markup import tag
from likely.models.display import html_table, learned_page
from likely.models.evidence.counts import binned_summary
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.term_tables import SEPARATOR, term_table
from likely.render.factors import Status
from likely.stats import Summary
from likely.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

BASE = "beyond the prior"
STALE = " (corrections are stale)"
TOLD_STALE = "stale: rows were counted since it was fitted, so it is weighted naive Bayes until refresh(X, y)"
SHOWN_TERMS = 30


class EvidenceLooks:
    """Stands before scikit-learn's classes among the bases of a classifier with a settled model of evidence."""

    model_: AdditivePredictor
    summary_: Summary
    stale_: bool

    def _read(self, X: Any) -> Table:
        raise NotImplementedError("Looks stand beside a classifier, which reads the table.")

    @overload
    def explain(self, X: Any, contrast: None = None) -> Explanation: ...

    @overload
    def explain(self, X: Any, contrast: Any) -> Contrast: ...

    def explain(self, X: Any, contrast: Any = None) -> Explanation | Contrast:
        """Prior and one contribution per column, pair and triple for each row: they sum to the log joint.

        With `contrast`, log-odds: of one class against another, as in `contrast=("A", "B")`, or against all the rest.
        Where rows were counted since the last fit, the contribution before all columns says that corrections are stale.
        """
        table = self._read(X)
        why = explanation(self.model_, table, stale=self.stale_)
        return why if contrast is None else Contrast.of(why, *target_and_rivals(contrast, why.classes))

    def table_of(self, *columns: str) -> pd.DataFrame:
        """The learned table of a column, a pair or a triple: one line per cell, what it adds for each class.

        Cells are named by bins ("≤ 3.5", "3.5 … 7"), categories, "gap" and "rare"; `weight` is how much was seen of
        each code, for a single column.
        """
        import pandas as pd

        check_is_fitted(self)
        told = term_table(self.model_, columns)
        places = np.indices(told.entries.shape[:-1]).reshape(len(told.cells), -1)
        out: dict[Any, Any] = {
            name: [cells[code] for code in codes]
            for name, cells, codes in zip(told.names, told.cells, places, strict=True)
        }
        if len(told.columns) == 1:
            out["weight"] = told.columns[0].mass.tolist()
        said = told.entries.reshape(-1, len(self.model_.classes))
        return pd.DataFrame(out | {label: said[:, k] for k, label in enumerate(self.model_.classes.tolist())})

    def rank(self) -> pd.DataFrame:
        """Columns by what their bins or categories tell about the class, a gap being a value, in bits; best first."""
        from likely.explain import rank

        check_is_fitted(self)
        return rank(cast(Any, self.model_), binned_summary(self.model_.evidence.encoding, self.summary_))

    def plot_table(self, *columns: str) -> Picture:
        """What each value of a column adds for each class, a panel per column; without names those that say most."""
        from likely.models.evidence.plot import plot_main_effects

        check_is_fitted(self)
        return plot_main_effects(self, columns or None)

    def plot_pair(self, a: str, b: str) -> Picture:
        """A heat map of what two columns say together, beyond what each says alone."""
        from likely.models.evidence.plot import plot_pair

        check_is_fitted(self)
        return plot_pair(self, a, b)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        written = str(super().__repr__(N_CHAR_MAX))  # type: ignore[call-arg]
        return f"{written} ({TOLD_STALE})" if getattr(self, "stale_", False) else written

    def _repr_html_inner(self) -> str:
        if hasattr(self, "model_"):
            return self._learned_page()
        return str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = cast("dict[str, str]", super()._repr_mimebundle_(**kwargs))  # type: ignore[misc]
        if hasattr(self, "model_") and get_config()["display"] == "diagram":
            bundle["text/html"] = self._learned_page()
        return bundle

    def _learned_page(self) -> str:
        evidence = self.model_.evidence
        names = [column.name for column in evidence.encoding.columns]
        lines = [[SEPARATOR.join(names[k] for k in term)] for term in evidence.terms.tuples()]
        more = html_table(["heard together"], lines[:SHOWN_TERMS], len(lines) - SHOWN_TERMS, "terms") if lines else None
        note = tag("p", TOLD_STALE) if self.stale_ else None
        return learned_page(self, note, more)


def explanation(model: AdditivePredictor, table: Table, *, stale: bool) -> Explanation:
    """Contributions of rows; pairs and triples have their own, under the names of their columns."""
    terms, contributions = model.contributions(table)
    strangers = model.unseen(table)
    cells: dict[str, list[object]] = {}
    status: dict[str, list[Status]] = {}
    for name in {name for term in terms for name in term}:
        cells[name] = _as_read(table, name)
        status[name] = ["gap" if cell is None else "known" for cell in cells[name]]
        for row in np.flatnonzero(strangers.get(name, np.zeros(0, dtype=np.bool_))):
            status[name][row] = "unseen"
    rows = range(table.n_rows)
    read = [tuple(_joined([cells[name][row] for name in term]) for term in terms) for row in rows]
    statuses = [tuple(_status([status[name][row] for name in term]) for term in terms) for row in rows]
    labels = tuple(SEPARATOR.join(term) if term else BASE + STALE * stale for term in terms)
    words = {
        one.column: [[token._replace(evidence=share * token.evidence) for token in row] for row in one.tokens(table)]
        for share, one in zip(model.evidence.text_weights, model.text_models, strict=True)
    }
    return Explanation(model.classes, labels, tuple(read), model.prior, contributions, tuple(statuses), words)


def _as_read(table: Table, name: str) -> list[object]:
    """The cells of a column as a person reads them, None for a gap."""
    column = table.codes(name)
    return [column.levels[code] if code >= 0 else None for code in column.codes]


def _joined(cells: list[object]) -> object:
    return cells[0] if len(cells) == 1 else tuple(cells)


def _status(parts: list[Status]) -> Status:
    kinds = set(parts)
    return "known" if not kinds else kinds.pop() if len(kinds) == 1 else "partly"
