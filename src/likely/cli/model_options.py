"""The parameters of classifiers as options of a command, under the names that they have in Python."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from likely.cli.options import (
    Reads,
    Text,
    Texts,
    complete_columns,
    complete_models,
    label_of_type,
    listed_in,
    number_in,
    pairs_in,
)
from likely.cli.output import OptionGroup
from likely.errors import SettingsError, did_you_mean, listed

if TYPE_CHECKING:
    from likely.text.tokenizer import Tokenizer

WORDS = ("smoothed", "uniform")
"""Words that --priors takes."""


@dataclass(frozen=True)
class ModelOptions(OptionGroup):
    """The parameters of the classifiers."""

    panel = "Model options"
    rare = True

    model: Annotated[
        Text,
        Option(
            help="The kind of model; the default is evidence.",
            metavar="evidence|naive|full|aode|tree|svm",
            autocompletion=complete_models,
        ),
    ] = None
    smoothing: Annotated[
        Texts,
        Option(
            help="Added to every count: 1 is Laplace's rule; auto chooses by leave-one-out; town=0.5 for one column; "
            "may be repeated.",
            metavar="[COLUMN=]NUMBER",
        ),
    ] = None
    priors: Annotated[
        Text,
        Option(
            help="smoothed, uniform, or by class: yes=0.3,no=0.7; by default the class proportions.", metavar="PRIORS"
        ),
    ] = None
    family: Annotated[
        Texts,
        Option(
            help="Distribution of a column (or of all): visits=poisson; gaussian, lognormal, poisson, bins, "
            "categorical, bernoulli, multinomial, complement; may be repeated.",
            metavar="[COLUMN=]FAMILY",
            autocompletion=complete_columns,
        ),
    ] = None
    kind: Annotated[
        Texts,
        Option(
            help="Kind of a column: numeric, nominal, date, text or ignored; zip=nominal; may be repeated.",
            metavar="COLUMN=KIND",
            autocompletion=complete_columns,
        ),
    ] = None
    ignore: Annotated[
        Texts,
        Option(
            help="Columns to leave out: id,name; may be repeated.", metavar="NAMES", autocompletion=complete_columns
        ),
    ] = None
    missing: Annotated[
        Text, Option(help="A missing value is ignored, or counts as a value.", metavar="ignore|value")
    ] = None
    unseen: Annotated[
        Text, Option(help="An unseen category is ignored, or gets a smoothed probability.", metavar="ignore|smooth")
    ] = None
    variance: Annotated[Text, Option(help="Divide by n − 1, or by n.", metavar="unbiased|ml")] = None
    variance_floor: Annotated[
        float | None, Option(help="Smallest variance, relative to that of the column.", metavar="NUMBER")
    ] = None
    text: Annotated[
        Texts,
        Option(
            help="How texts are split into words: ngram_range=1,2, analyzer=char, stop_words=FILE, language=en, "
            "reduce=stem …; may be repeated.",
            metavar="NAME=VALUE",
        ),
        Reads(after="stop_words="),
    ] = None
    weighting: Annotated[Text, Option(help="Weights of words.", metavar="counts|tf-idf")] = None
    normalise: Annotated[bool, Option("--normalise", help="Normalise the weights of the complement family.")] = False
    bins: Annotated[int | None, Option(help="Most bins of a column, for the family bins.", metavar="N")] = None
    covariance: Annotated[
        Text, Option(help="Covariance matrix, for --model full.", metavar="full|pooled|diagonal|shrunk")
    ] = None
    shrinkage: Annotated[Text, Option(help="For --covariance shrunk: auto, or from 0 to 1.", metavar="NUMBER")] = None
    n_jobs: Annotated[
        int | None, Option(help="Threads; all cores by default. Results do not depend on it.", metavar="N")
    ] = None

    def settings(self, types: Mapping[str, str], target: str) -> dict[str, Any]:
        """What was said, under the names of Python's parameters; `types` are those of the table's columns."""
        given = {name: value for name, value in vars(self).items() if name not in ("model", "family", "kind", "ignore")}
        given |= {
            "smoothing": "auto" if self.smoothing == ["auto"] else _smoothing(self.smoothing),
            "priors": _priors(self.priors, types.get(target, "text")),
            "families": _families(self.family),
            "schema": self._kinds() or None,
            "text": _tokenizer(self.text),
            "normalise": self.normalise or None,
            "shrinkage": self.shrinkage
            if self.shrinkage in (None, "auto")
            else number_in("--shrinkage", self.shrinkage),
        }
        return {name: value for name, value in given.items() if value is not None}

    def said(self) -> list[str]:
        """The options that were given, but for the number of threads, which changes nothing."""
        given = [name for name, value in vars(self).items() if value not in (None, False) and name != "n_jobs"]
        return [f"--{name.replace('_', '-')}" for name in given]

    def _kinds(self) -> dict[str, str]:
        ignored = dict.fromkeys(listed_in(self.ignore) or [], "ignored")
        return {**ignored, **pairs_in("--kind", self.kind or (), "zip=nominal")}


def _smoothing(given: Texts) -> float | dict[str, float] | None:
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return number_in("--smoothing", given[0])
    pairs = pairs_in("--smoothing", given, "town=0.5")
    return {name: number_in("--smoothing", value) for name, value in pairs.items()}


def _families(given: Texts) -> str | dict[str, str] | None:
    if not given:
        return None
    return given[0] if len(given) == 1 and "=" not in given[0] else pairs_in("--family", given, "visits=poisson")


def _priors(given: Text, kind: str) -> str | dict[Hashable, float] | None:
    if given is None or given in WORDS:
        return given
    if "=" not in given:
        raise SettingsError(
            f"--priors is {given!r}, but it is smoothed, uniform, or a list such as yes=0.3,no=0.7."
            f"{did_you_mean(given, WORDS)}"
        )
    shares = pairs_in("--priors", listed_in([given]) or [], "yes=0.3,no=0.7")
    return {label_of_type(label, kind): number_in("--priors", share) for label, share in shares.items()}


def _tokenizer(given: Texts) -> Tokenizer | None:
    if not given:
        return None
    from likely.text.tokenizer import Tokenizer

    pairs = pairs_in("--text", given, "ngram_range=1,2")
    known = {entry.name: entry for entry in fields(Tokenizer)}
    settings: dict[str, Any] = {"normalize": "NFC"}
    for name, value in pairs.items():
        if name not in known:
            raise SettingsError(
                f"--text has no {name!r}; the settings are {listed(list(known))}.{did_you_mean(name, list(known))}"
            )
        settings[name] = _tokenizer_value(name, value, known[name].default)
    return Tokenizer(**settings)


def _tokenizer_value(name: str, value: str, usual: object) -> object:
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
