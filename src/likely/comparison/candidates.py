"""Who takes part: the classifiers of this package and two of scikit-learn, by name, or whatever a user brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from likely.errors import SettingsError

WORDS = 100
"""Words of each text that a tree may ask for; without texts this says nothing."""


@dataclass(frozen=True)
class NamedClassifier:
    """A classifier that can be called by its name; `simplicity` counts from the simplest up."""

    name: str
    module: str
    kind: str
    simplicity: int
    short: tuple[str, ...] = ()
    wants_images: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called."""
        return (self.name, *self.short, self.kind)

    def make(self, random_state: int) -> Any:
        """A new one with its settings."""
        made = getattr(import_module(self.module), self.kind)(**self.settings)
        for parameter in ("random_state", "seed"):
            if parameter in made.get_params():
                made.set_params(**{parameter: random_state})
        if "progress" in made.get_params():
            made.set_params(progress=False)
        return made


CLASSIFIERS: tuple[NamedClassifier, ...] = (
    NamedClassifier("naive Bayes", "likely.models.bayes.classifier", "BayesClassifier", 1, ("bayes", "naive")),
    NamedClassifier("logistic regression", "likely.comparison.baselines", "LogisticBaseline", 2, ("logistic",)),
    NamedClassifier("tree", "likely.models.tree.classifier", "TreeClassifier", 3, settings={"text_tokens": WORDS}),
    NamedClassifier("full Bayes", "likely.models.bayes.full", "FullBayesClassifier", 4, ("full",)),
    NamedClassifier("AODE", "likely.models.bayes.aode", "AODEClassifier", 5),
    NamedClassifier("evidence", "likely.models.evidence.classifier", "EvidenceClassifier", 6),
    NamedClassifier("SVM", "likely.models.svm.classifier", "SVMClassifier", 7),
    NamedClassifier("gradient boosting", "likely.comparison.baselines", "BoostingBaseline", 8, ("boosting",)),
    NamedClassifier("net", "likely.models.convnet.classifier", "ConvNetClassifier", 9, ("convnet",), wants_images=True),
)
"""From the simplest to the least simple: how much there is to read in a model of each."""

UNKNOWN = len(CLASSIFIERS) + 1
"""Classifiers that a user brings are taken for less simple than all of these, unless they are of a known kind."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier under the name by which it is listed."""

    name: str
    classifier: Any
    simplicity: int
    wants_images: bool = False


def candidates(wanted: Any, *, images: bool, random_state: int) -> list[Candidate]:
    """ "all", a list of names or classifiers, or a mapping of names to classifiers."""
    if isinstance(wanted, str) and wanted == "all":
        every = [each for each in CLASSIFIERS if images or not each.wants_images]
        return [Candidate(each.name, each.make(random_state), each.simplicity, each.wants_images) for each in every]
    if isinstance(wanted, Mapping):
        entries = [(str(name), _made(entry, random_state)) for name, entry in wanted.items()]
    elif isinstance(wanted, Sequence) and not isinstance(wanted, str):
        entries = _named([_made(entry, random_state) for entry in wanted])
    else:
        entries = _named([_made(wanted, random_state)])
    if not entries:
        raise SettingsError("There is no classifier to compare: give names, classifiers, or 'all'.")
    return [Candidate(name, made, _simplicity(made), _is_net(made)) for name, made in entries]


def _made(entry: Any, random_state: int) -> Any:
    """A classifier as it is, or by one of its names."""
    if isinstance(entry, str):
        wanted = _letters(entry)
        for known in CLASSIFIERS:
            if wanted in map(_letters, known.names):
                return known.make(random_state)
        there = ", ".join(repr(known.name) for known in CLASSIFIERS)
        raise SettingsError(f"There is no classifier {entry!r}; there are {there}.{_nearest(wanted)}")
    if not (hasattr(entry, "fit") and hasattr(entry, "predict")) or isinstance(entry, type):
        raise SettingsError(f"{entry!r} is no classifier: give one that has fit and predict, or a name.")
    return entry


def _named(made: list[Any]) -> list[tuple[str, Any]]:
    """Names by kind, numbered where a kind comes twice."""
    kinds = {known.kind: known.name for known in CLASSIFIERS}
    entries: dict[str, Any] = {}
    for classifier in made:
        name = kinds.get(type(classifier).__name__, type(classifier).__name__)
        turn, free = 2, name
        while free in entries:
            free, turn = f"{name} {turn}", turn + 1
        entries[free] = classifier
    return list(entries.items())


def _simplicity(classifier: Any) -> int:
    return {known.kind: known.simplicity for known in CLASSIFIERS}.get(type(classifier).__name__, UNKNOWN)


def _is_net(classifier: Any) -> bool:
    return any(known.wants_images and known.kind == type(classifier).__name__ for known in CLASSIFIERS)


def _nearest(wanted: str) -> str:
    """A hint at a name of a classifier, long or short, that is written nearly like that."""
    by_letters = {_letters(name): name for known in reversed(CLASSIFIERS) for name in reversed(known.names)}
    near = get_close_matches(wanted, by_letters, n=1)
    return f" Did you mean {by_letters[near[0]]!r}?" if near else ""


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
