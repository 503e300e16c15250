"""What is believed: the options of every command that makes a classifier, under the names that they have in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likely.cli.options import Reads, complete_columns, label_of_type, listed_in, number_in, pairs_in
from likely.errors import SettingsError, did_you_mean, listed

if TYPE_CHECKING:
    from likely.text.tokenizer import Tokenizer

PANEL = "What is believed"
WORDS = {"priors": ("smoothed", "uniform")}

Text = str | None
Texts = list[str] | None


@dataclass(frozen=True)
class ModelOptions:
    """The parameters of the classifiers."""

    model: Annotated[
        Text,
        typer.Option(
            help="Else evidence if the table fits into memory, and naive Bayes if it does not, or if an option is "
            "given that only naive Bayes knows.",
            rich_help_panel=PANEL, metavar="evidence|naive|full|aode|tree|svm",
        ),
    ] = None  # fmt: skip
    smoothing: Annotated[
        Texts,
        typer.Option(
            help="Added to every count: 1 is Laplace's rule; for one column: town=0.5; may be repeated; auto: by "
            "leave-one-out.",
            rich_help_panel=PANEL, metavar="[COLUMN=]NUMBER",
        ),
    ] = None  # fmt: skip
    priors: Annotated[
        Text,
        typer.Option(
            help="smoothed, uniform, or shares by class: yes=0.3,no=0.7 (else as counted).",
            rich_help_panel=PANEL, metavar="SHARES",
        ),
    ] = None  # fmt: skip
    family: Annotated[
        Texts,
        typer.Option(
            help="Of a column, or of all: visits=poisson; gaussian, lognormal, poisson, bins, categorical, bernoulli, "
            "multinomial, complement; may be repeated.",
            rich_help_panel=PANEL, metavar="[COLUMN=]FAMILY", autocompletion=complete_columns,
        ),
    ] = None  # fmt: skip
    kind: Annotated[
        Texts,
        typer.Option(
            help="Of a column: zip=nominal, body=text, age=numeric; may be repeated.",
            rich_help_panel=PANEL, metavar="COLUMN=KIND", autocompletion=complete_columns,
        ),
    ] = None  # fmt: skip
    ignore: Annotated[
        Texts,
        typer.Option(
            help="Columns to leave out: id,name; may be repeated.", rich_help_panel=PANEL, metavar="NAMES",
            autocompletion=complete_columns,
        ),
    ] = None  # fmt: skip
    missing: Annotated[
        Text, typer.Option(help="A gap says nothing, or is a value.", rich_help_panel=PANEL, metavar="ignore|value")
    ] = None
    unseen: Annotated[
        Text,
        typer.Option(
            help="A new category says nothing, or is smoothed.", rich_help_panel=PANEL, metavar="ignore|smooth"
        ),
    ] = None
    variance: Annotated[
        Text, typer.Option(help="Divide by n − 1, or by n.", rich_help_panel=PANEL, metavar="unbiased|ml")
    ] = None
    variance_floor: Annotated[
        float | None,
        typer.Option(help="Least variance, relative to the column's.", rich_help_panel=PANEL, metavar="NUMBER"),
    ] = None
    text: Annotated[
        Texts,
        typer.Option(
            help="How texts become words: ngram_range=1,2 or analyzer=char or stop_words=FILE or language=en or "
            "reduce=stem …; may be repeated.",
            rich_help_panel=PANEL, metavar="NAME=VALUE",
        ),
        Reads(after="stop_words="),
    ] = None  # fmt: skip
    weighting: Annotated[
        Text, typer.Option(help="Of words: counts or tf-idf.", rich_help_panel=PANEL, metavar="counts|tf-idf")
    ] = None
    normalise: Annotated[
        bool, typer.Option("--normalise", help="With complement: classes weigh alike.", rich_help_panel=PANEL)
    ] = False
    bins: Annotated[
        int | None, typer.Option(help="With the family bins: at most so many.", rich_help_panel=PANEL, metavar="N")
    ] = None
    covariance: Annotated[
        Text,
        typer.Option(help="For --model full.", rich_help_panel=PANEL, metavar="full|pooled|diagonal|shrunk"),
    ] = None
    shrinkage: Annotated[
        Text, typer.Option(help="For --covariance shrunk: auto, or 0 to 1.", rich_help_panel=PANEL, metavar="NUMBER")
    ] = None
    n_jobs: Annotated[
        int | None,
        typer.Option(help="Threads (all cores); results do not depend on it.", rich_help_panel=PANEL, metavar="N"),
    ] = None

    def settings(self, types: Mapping[str, str], target: str) -> dict[str, Any]:
        """What was said, under the names of Python's parameters; `types` are those of the table's columns."""
        given = {
            "smoothing": "auto" if self.smoothing == ["auto"] else _number_or_pairs("--smoothing", self.smoothing),
            "priors": _priors(self.priors, types.get(target, "text")),
            "families": _word_or_pairs("--family", self.family),
            "schema": self._kinds() or None,
            "missing": self.missing,
            "unseen": self.unseen,
            "variance": self.variance,
            "variance_floor": self.variance_floor,
            "text": _recipe(self.text),
            "weighting": self.weighting,
            "normalise": self.normalise or None,
            "bins": self.bins,
            "covariance": self.covariance,
            "shrinkage": _share(self.shrinkage),
            "n_jobs": self.n_jobs,
        }
        return {name: value for name, value in given.items() if value is not None}

    def said(self) -> list[str]:
        """The options that were given, but for the number of threads, which changes nothing."""
        given = [entry.name for entry in fields(self) if getattr(self, entry.name) not in (None, False)]
        return [f"--{name.replace('_', '-')}" for name in given if name != "n_jobs"]

    def _kinds(self) -> dict[str, str]:
        ignored = dict.fromkeys(listed_in(self.ignore) or [], "ignored")
        return {**ignored, **pairs_in("--kind", self.kind or (), "zip=nominal")}


def _number_or_pairs(option: str, given: Texts) -> float | dict[str, float] | None:
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return number_in(option, given[0])
    return {name: number_in(option, value) for name, value in pairs_in(option, given, "town=0.5").items()}


def _word_or_pairs(option: str, given: Texts) -> str | dict[str, str] | None:
    if not given:
        return None
    return given[0] if len(given) == 1 and "=" not in given[0] else dict(pairs_in(option, given, "visits=poisson"))


def _priors(given: Text, kind: str) -> str | dict[Any, float] | None:
    if given is None or given in WORDS["priors"]:
        return given
    if "=" not in given:
        hint = did_you_mean(given, WORDS["priors"])
        raise SettingsError(
            f"--priors is {given!r}, but it is smoothed, uniform, or shares such as yes=0.3,no=0.7.{hint}"
        )
    shares = pairs_in("--priors", listed_in([given]) or [], "yes=0.3,no=0.7")
    return {label_of_type(label, kind): number_in("--priors", share) for label, share in shares.items()}


def _share(given: Text) -> float | str | None:
    return given if given is None or given == "auto" else number_in("--shrinkage", given)


def _recipe(given: Texts) -> Tokenizer | None:
    if not given:
        return None
    from likely.text.tokenizer import Tokenizer

    pairs = pairs_in("--text", given, "ngram_range=1,2")
    known = {entry.name: entry for entry in fields(Tokenizer)}
    settings: dict[str, Any] = {"normalize": "NFC"}
    for name, value in pairs.items():
        if name not in known:
            raise SettingsError(
                f"--text has no {name!r}; there are {listed(list(known))}.{did_you_mean(name, list(known))}"
            )
        settings[name] = _recipe_value(name, value, known[name].default)
    return Tokenizer(**settings)


def _recipe_value(name: str, value: str, usual: Any) -> Any:
    if name == "ngram_range":
        ends = [int(number_in("--text ngram_range", part)) for part in value.replace("-", ",").split(",")]
        return (ends[0], ends[-1])
    if name == "stop_words":
        return frozenset(Path(value).read_text(encoding="utf-8").split())
    if isinstance(usual, bool):
        if value.lower() not in ("true", "false", "yes", "no"):
            raise SettingsError(f"--text {name} is {value!r}, but it is true or false.")
        return value.lower() in ("true", "yes")
    if isinstance(usual, int):
        return int(number_in(f"--text {name}", value))
    return None if value.lower() == "none" else value
