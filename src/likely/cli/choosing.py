"""Which classifier a command makes: the one that is named or that an option asks for, else the best one that fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from likely.errors import SettingsError, listed

if TYPE_CHECKING:
    from likely.files import FileTable
    from likely.files.gathering import Gathered

MODELS = {
    "evidence": ("likely.estimators.evidence", "EvidenceClassifier"),
    "naive": ("likely.estimators.bayes", "BayesClassifier"),
    "full": ("likely.estimators.full", "FullBayesClassifier"),
    "aode": ("likely.estimators.aode", "AODEClassifier"),
    "tree": ("likely.estimators.tree", "TreeClassifier"),
    "svm": ("likely.estimators.svm", "SVMClassifier"),
}
COUNTING = ("naive", "full", "aode")
"""These count, so they learn files of any length; the others read the whole table."""

USUAL: dict[str, dict[str, Any]] = {"tree": {"text_tokens": 100}}
"""Settings that a classifier gets here, since no option gives them: a tree asks for words where there are texts."""

SHARED = ("priors", "schema", "text", "n_jobs")
"""What evidence knows, too: any other setting asks for naive Bayes."""


@dataclass(frozen=True)
class Choice:
    """A classifier that is not fitted yet; the rows, if they were read; and why it was chosen, if nobody named it."""

    classifier: Any
    rows: Gathered | None = None
    why: tuple[str, ...] = ()


def chosen(
    model: str | None,
    settings: Mapping[str, Any],
    table: FileTable,
    target: str,
    *,
    counts: bool = False,
    weight: str | None = None,
    groups: str | None = None,
    spills: bool = False,
    progress: Any = None,
) -> Choice:
    """The classifier for a table. `counts`: something is wanted that only one which counts can do.

    `spills`: evidence may learn a large table from codes on disk, if it is named.
    """
    from likely.files.gathering import BUDGET, gather

    named = model or ("naive" if counts or any(name not in SHARED for name in settings) else None)
    how: dict[str, Any] = {
        "weight": weight,
        "groups": groups,
        "schema": settings.get("schema"),
        "n_jobs": settings.get("n_jobs"),
    }
    if named is not None:
        made = new_classifier(named, settings)
        if named in COUNTING:
            return Choice(made)
        on_disk = spills and named == "evidence"
        rows = gather(table, target, most=BUDGET if on_disk else None, progress=progress, **how)
        return Choice(made, rows, () if rows is not None else (_spilled(BUDGET),))
    made = new_classifier("evidence", settings)
    rows = gather(table, target, most=BUDGET, progress=progress, **how)
    if rows is not None and not rows.X.num_columns:
        return Choice(new_classifier("naive", settings), None, ("model: naive Bayes, since no column tells anything.",))
    if rows is not None:
        return Choice(
            made, rows, (_fits(rows.need, BUDGET), "--model naive is the textbook model: merged, it needs no rows.")
        )
    large = (
        f"model: naive Bayes with learned weights, since the table needs more than {_mib(BUDGET)} MiB of memory.",
        "--model evidence learns it nevertheless, from codes on disk; --model naive is the textbook model.",
    )
    return Choice(new_classifier("naive", {**settings, "weights": "learned"}), None, large)


def new_classifier(model: str, settings: Mapping[str, Any]) -> Any:
    """The one place that knows which classifier a name stands for."""
    if model not in MODELS:
        raise SettingsError(f"--model is {model!r}, but it is one of {listed(list(MODELS))}.")
    module, name = MODELS[model]
    kind = getattr(import_module(module), name)
    strange = [name for name in settings if name not in kind().get_params(deep=False)]
    if strange:
        raise SettingsError(f"--{strange[0].replace('_', '-')} is nothing that --model {model} knows.")
    return kind(**{**USUAL.get(model, {}), **settings})


def _fits(need: int, budget: int) -> str:
    return f"model: evidence, since the table fits into memory ({_mib(need)} of at most {_mib(budget)} MiB)."


def _spilled(budget: int) -> str:
    return (
        f"model: evidence; the table needs more than {_mib(budget)} MiB of memory, so it is read twice, and codes that "
        f"do not fit are kept in temporary files in {gettempdir()}."
    )


def _mib(n_bytes: int) -> str:
    return f"{max(n_bytes / (1 << 20), 1.0):,.0f}"
