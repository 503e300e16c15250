"""The classifiers by name: where each one lives, what it can do and how simple it is. There is no other list of them.

A classifier of your own takes part under its name once it is registered:

>>> from likely.models.registry import Entry, entry_named, register, unregister
>>> from likely import TreeClassifier
>>> class Stump(TreeClassifier):
...     pass
>>> register(Entry("stump", Stump, "stump", simplicity=30))
>>> entry_named("stump").kind
'Stump'
>>> unregister("stump")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from likely.errors import SettingsError, did_you_mean, listed

WORDS = 100
"""Words of each text column that a tree may test by default."""


@dataclass(frozen=True)
class Entry:
    """A classifier: its name, its class (or "module:Class", imported when it is needed), and what it can do.

    `title` is what a comparison calls it, `also` are further names, `simplicity` counts from the simplest up: how much
    there is to read in a model. It `counts` if all that it knows follows from a summary, so that it learns files of any
    length; it `adds_up` if it learns on, forgets and merges; `images` and `texts` say what it reads beside tables of
    numbers and categories, `wraps` that it is made around another classifier. `settings` are those that it gets where
    nobody says any. `glance` names the function ("module:function") that tells what a file of a usual model holds; the
    class takes longer to import.
    """

    name: str
    home: str | type
    title: str
    simplicity: int
    also: tuple[str, ...] = ()
    counts: bool = False
    adds_up: bool = False
    texts: bool = False
    images: bool = False
    wraps: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    glance: str | None = None

    @property
    def kind(self) -> str:
        """The name of the class, as files and people say it."""
        return self.home.partition(":")[2] if isinstance(self.home, str) else self.home.__name__

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called."""
        return tuple(dict.fromkeys((self.title, self.name, *self.also, self.kind)))

    @property
    def reads_tables(self) -> bool:
        """Whether it can be trained on any table: it reads no images, and wraps no other classifier."""
        return not (self.images or self.wraps)

    def load(self) -> Any:
        """The class."""
        return _imported(self.home) if isinstance(self.home, str) else self.home

    def load_glance(self) -> Any:
        """The function that tells what a file holds; None for a model that has none."""
        return None if self.glance is None else _imported(self.glance)

    def make(self, **given: object) -> Any:
        """A new classifier with these settings, and its usual ones for the rest."""
        return self.load()(**{**self.settings, **given})


def _imported(home: str) -> Any:
    module, _, name = home.partition(":")
    return vars(import_module(module))[name]


_ENTRIES: dict[str, Entry] = {}


def register(entry: Entry) -> None:
    """Add a classifier; names and classes are there once."""
    for other in _ENTRIES.values():
        if entry.name == other.name or entry.kind == other.kind:
            raise SettingsError(f"There is a classifier {other.name!r} of the class {other.kind} already.")
    _ENTRIES[entry.name] = entry


def unregister(name: str) -> None:
    """Take a classifier out again."""
    del _ENTRIES[entry_named(name).name]


def entries() -> tuple[Entry, ...]:
    """All classifiers, in the order in which they were registered."""
    return tuple(_ENTRIES.values())


def entry_named(name: str) -> Entry:
    """The classifier of a name."""
    if name not in _ENTRIES:
        hint = did_you_mean(str(name), list(_ENTRIES))
        raise SettingsError(f"There is no classifier {name!r}; there are {listed(list(_ENTRIES))}.{hint}")
    return _ENTRIES[name]


def entry_of_kind(kind: str) -> Entry | None:
    """The classifier whose class has this name, if there is one."""
    return next((entry for entry in _ENTRIES.values() if entry.kind == kind), None)


for _entry in (
    Entry(
        "evidence", "likely.models.evidence.classifier:EvidenceClassifier", "evidence", 9, adds_up=True, texts=True,
        glance="likely.models.evidence.glance:glance",
    ),
    Entry(
        "naive", "likely.models.bayes.classifier:BayesClassifier", "naive Bayes", 1, ("bayes",),
        counts=True, adds_up=True, texts=True,
    ),
    Entry(
        "full", "likely.models.bayes.full:FullBayesClassifier", "full Bayes", 5, counts=True, adds_up=True, texts=True
    ),
    Entry("aode", "likely.models.bayes.aode:AODEClassifier", "AODE", 6, counts=True, adds_up=True, texts=True),
    Entry(
        "tree", "likely.models.tree.classifier:TreeClassifier", "tree", 4, texts=True, settings={"text_tokens": WORDS},
        glance="likely.models.tree.glance:glance",
    ),
    Entry(
        "svm", "likely.models.svm.classifier:SVMClassifier", "SVM", 10, texts=True,
        glance="likely.models.svm.glance:glance",
    ),
    Entry("convnet", "likely.models.convnet.classifier:ConvNetClassifier", "net", 12, images=True),
    Entry("calibrated", "likely.models.calibrated:CalibratedClassifier", "calibrated", 13, wraps=True),
):  # fmt: skip
    register(_entry)
