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
class Known:
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

    def make(self, seed: int) -> Any:
        """A new one with its settings."""
        made = getattr(import_module(self.module), self.kind)(**self.settings)
        for parameter in ("random_state", "seed"):
            if parameter in made.get_params():
                made.set_params(**{parameter: seed})
        if "progress" in made.get_params():
            made.set_params(progress=False)
        return made


KNOWN: tuple[Known, ...] = (
    Known("naive Bayes", "likely.models.bayes.classifier", "BayesClassifier", 1, ("bayes", "naive")),
    Known("logistic regression", "likely.comparison.baselines", "LogisticYardstick", 2, ("logistic",)),
    Known("tree", "likely.models.tree.classifier", "TreeClassifier", 3, settings={"text_tokens": WORDS}),
    Known("full Bayes", "likely.models.bayes.full", "FullBayesClassifier", 4, ("full",)),
    Known("AODE", "likely.models.bayes.aode", "AODEClassifier", 5),
    Known("evidence", "likely.models.evidence.classifier", "EvidenceClassifier", 6),
    Known("SVM", "likely.models.svm.classifier", "SVMClassifier", 7),
    Known("gradient boosting", "likely.comparison.baselines", "BoostingYardstick", 8, ("boosting",)),
    Known("net", "likely.models.convnet.classifier", "ConvNetClassifier", 9, ("convnet",), wants_images=True),
)
"""From the simplest to the least simple: how much there is to read in a model of each."""

UNKNOWN = len(KNOWN) + 1
"""Classifiers that a user brings are taken for less simple than all of these, unless they are of a known kind."""


@dataclass(frozen=True, eq=False)
class Contestant:
    """A classifier under the name by which it is listed."""

    name: str
    classifier: Any
    simplicity: int
    wants_images: bool = False


def contestants(given: Any, *, images: bool, seed: int) -> list[Contestant]:
    """ "all", a list of names or classifiers, or a mapping of names to classifiers."""
    if isinstance(given, str) and given == "all":
        wanted = [known for known in KNOWN if images or not known.wants_images]
        return [Contestant(known.name, known.make(seed), known.simplicity, known.wants_images) for known in wanted]
    if isinstance(given, Mapping):
        entries = [(str(name), _made(entry, seed)) for name, entry in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        entries = _named([_made(entry, seed) for entry in given])
    else:
        entries = _named([_made(given, seed)])
    if not entries:
        raise SettingsError("There is no classifier to compare: give names, classifiers, or 'all'.")
    return [Contestant(name, made, _simplicity(made), _is_net(made)) for name, made in entries]


def _made(entry: Any, seed: int) -> Any:
    """A classifier as it is, or by one of its names."""
    if isinstance(entry, str):
        wanted = _plain(entry)
        for known in KNOWN:
            if wanted in map(_plain, known.names):
                return known.make(seed)
        there = ", ".join(repr(known.name) for known in KNOWN)
        raise SettingsError(f"There is no classifier {entry!r}; there are {there}.{_nearest(wanted)}")
    if not (hasattr(entry, "fit") and hasattr(entry, "predict")) or isinstance(entry, type):
        raise SettingsError(f"{entry!r} is no classifier: give one that has fit and predict, or a name.")
    return entry


def _named(made: list[Any]) -> list[tuple[str, Any]]:
    """Names by kind, numbered where a kind comes twice."""
    kinds = {known.kind: known.name for known in KNOWN}
    entries: dict[str, Any] = {}
    for classifier in made:
        name = kinds.get(type(classifier).__name__, type(classifier).__name__)
        turn, free = 2, name
        while free in entries:
            free, turn = f"{name} {turn}", turn + 1
        entries[free] = classifier
    return list(entries.items())


def _simplicity(classifier: Any) -> int:
    return {known.kind: known.simplicity for known in KNOWN}.get(type(classifier).__name__, UNKNOWN)


def _is_net(classifier: Any) -> bool:
    return any(known.wants_images and known.kind == type(classifier).__name__ for known in KNOWN)


def _nearest(wanted: str) -> str:
    """A hint at a name of a classifier, long or short, that is written nearly like that."""
    by_plain = {_plain(name): name for known in reversed(KNOWN) for name in reversed(known.names)}
    near = get_close_matches(wanted, by_plain, n=1)
    return f" Did you mean {by_plain[near[0]]!r}?" if near else ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
