"""Who takes part: the classifiers of this package and two of scikit-learn, by name, or whatever a user brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeAlias, TypeGuard

from likely.errors import SettingsError
from likely.models.classifier import Classifier
from likely.models.protocols import Learns
from likely.models.registry import Entry, entries, entry_named

BASELINES = (
    Entry("logistic", "likely.comparison.baselines:LogisticBaseline", "logistic regression", 2),
    Entry("boosting", "likely.comparison.baselines:BoostingBaseline", "gradient boosting", 11),
)
"""Two of scikit-learn, which are no classifiers of this package."""

EVIDENCE = entry_named("evidence")
COLUMNS, PAIRS, TRIPLES = (
    replace(EVIDENCE, name=f"evidence-{depth}", title=title, simplicity=simplicity, settings={"depth": depth})
    for depth, title, simplicity in (
        ("columns", "evidence, columns", 3),
        ("pairs", "evidence, pairs", 7),
        ("triples", "evidence, triples", 8),
    )
)
"""Evidence that can be read as a table for each column, and for pairs and triples of columns: beside evidence in full
they tell what readability costs."""

MAJORITY = Entry("majority", "likely.comparison.baselines:MajorityBaseline", "majority class", 0)
"""The line that every comparison has: the class shares alone, without a look at the row."""


def known() -> tuple[Entry, ...]:
    """All that can be called by name, from the simplest to the least simple: how much there is to read in a model."""
    own = (entry for entry in entries() if not entry.wraps)
    return tuple(sorted((*own, *BASELINES, COLUMNS), key=lambda entry: entry.simplicity))


def by_name() -> dict[str, Entry]:
    """Every classifier that has a name, by the letters of all its names."""
    found: dict[str, Entry] = {}
    for entry in (*known(), MAJORITY, PAIRS, TRIPLES):
        names = (entry.title, entry.name) if entry.home == EVIDENCE.home and entry != EVIDENCE else entry.names
        found = {_letters(name): entry for name in names} | found
    return found


def made(entry: Entry, random_state: int) -> object:
    """A new classifier that says nothing while it learns."""
    classifier = entry.make()
    wanted, there = {"random_state": random_state, "progress": False}, classifier.get_params()
    return classifier.set_params(**{name: value for name, value in wanted.items() if name in there})


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier under the name by which it is listed."""

    name: str
    classifier: object
    simplicity: int
    wants_images: bool = False

    @property
    def depth(self) -> str:
        """How many columns may speak together, if it is evidence: "columns", "pairs", "triples" or "rest"."""
        return _depth(self.classifier)

    @property
    def is_majority(self) -> bool:
        """Whether it knows the class shares alone."""
        return type(self.classifier).__name__ == MAJORITY.kind


Contender: TypeAlias = str | Learns
Contenders: TypeAlias = Contender | Sequence[Contender] | Mapping[str, Contender]
"""Classifiers or names of them: one, several, or several under names of their own."""


def majority(taken: Iterable[str]) -> Candidate:
    """The class shares alone, under a name that no other has."""
    return Candidate(_free_name(MAJORITY.title, taken), MAJORITY.make(), MAJORITY.simplicity)


def candidates(given: Contenders, *, images: bool, random_state: int) -> list[Candidate]:
    """ "all", a list of names or classifiers, or a mapping of names to classifiers."""
    if isinstance(given, str) and given == "all":
        return [
            Candidate(entry.title, made(entry, random_state), entry.simplicity, entry.images)
            for entry in known()
            if images or not entry.images
        ]
    if isinstance(given, Mapping):
        found = [(str(name), _made(entry, random_state)) for name, entry in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        found = _named([_made(entry, random_state) for entry in given])
    else:
        found = _named([_made(given, random_state)])
    if not found:
        raise SettingsError("There is no classifier to compare: give names, classifiers, or 'all'.")
    return [Candidate(name, each, *_place(each)) for name, each in found]


def are_contenders(given: object) -> TypeGuard[Contenders]:
    """Whether these are classifiers or names of them, and no table."""
    if isinstance(given, Mapping):
        given = list(given.values())
    some = given if isinstance(given, list | tuple) else [given]
    names = by_name().keys() | {"all"}
    return bool(some) and all(
        _letters(one) in names if isinstance(one, str) else isinstance(one, Learns) for one in some
    )


def _made(given: Contender, random_state: int) -> object:
    """A classifier as it is, or by one of its names."""
    if isinstance(given, str):
        wanted = _letters(given)
        entry = by_name().get(wanted)
        if entry is not None:
            return made(entry, random_state)
        there = ", ".join(repr(entry.title) for entry in known())
        raise SettingsError(f"There is no classifier {given!r}; there are {there}.{_nearest(wanted)}")
    if isinstance(given, type) or not isinstance(given, Learns):
        raise SettingsError(f"{given!r} is no classifier: give one that has fit and predict, or a name.")
    return given


def _named(classifiers: list[object]) -> list[tuple[str, object]]:
    """Names by kind, numbered where a kind comes twice."""
    found: dict[str, object] = {}
    for classifier in classifiers:
        entry = _entry(classifier)
        name = type(classifier).__name__ if entry is None else entry.title
        found[_free_name(name, found)] = classifier
    return list(found.items())


def _free_name(name: str, taken: Iterable[str]) -> str:
    """The name, numbered if it is there already."""
    there, turn, free = set(taken), 2, name
    while free in there:
        free, turn = f"{name} {turn}", turn + 1
    return free


def _entry(classifier: object) -> Entry | None:
    """The known kind of a classifier; evidence is several, by its depth."""
    depth = _depth(classifier)
    for entry in (*known(), MAJORITY, PAIRS, TRIPLES):
        if entry.kind == type(classifier).__name__ and entry.settings.get("depth", "rest") == (depth or "rest"):
            return entry
    return None


def _depth(classifier: object) -> str:
    if isinstance(classifier, Classifier) and type(classifier).__name__ == EVIDENCE.kind:
        return str(classifier.get_params(deep=False)["depth"])
    return ""


def _place(classifier: object) -> tuple[int, bool]:
    """How simple a classifier is, and whether it wants images.

    Those that a user brings are taken for less simple than all others, unless they are of a known kind.
    """
    entry = _entry(classifier)
    return (max(one.simplicity for one in known()) + 1, False) if entry is None else (entry.simplicity, entry.images)


def _nearest(wanted: str) -> str:
    """A hint at a name of a classifier, long or short, that is written nearly like that."""
    by_letters = {_letters(name): name for entry in reversed(known()) for name in reversed(entry.names)}
    near = get_close_matches(wanted, by_letters, n=1)
    return f" Did you mean {by_letters[near[0]]!r}?" if near else ""


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
