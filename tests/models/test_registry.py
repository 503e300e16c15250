"""One list of classifiers: one that is registered can be fitted, saved, loaded and compared like any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

import likely
from likely import ModelFileError, SettingsError, TreeClassifier
from likely.api import new_classifier
from likely.comparison import known
from likely.models.classifier import Classifier
from likely.models.protocols import Counts, Updates
from likely.models.registry import Entry, entries, entry_named, entry_of_kind, register, unregister
from likely.models.settings import Check, is_schema, not_negative
from likely.store import Reader, Writer

TABLE = {"sky": ["grey", "grey", "blue", "blue", "red"] * 6, "wind": [7.0, 8.0, 2.0, 1.0, 3.0] * 6}
Y = ["wet", "wet", "dry", "dry", "dry"] * 6


class Majority(Classifier):
    """The shares of the classes, whatever a row says."""

    setting_checks: ClassVar[Mapping[str, Check]] = {"more": not_negative, "schema": is_schema}

    def __init__(self, *, more: float = 0.0, schema: Any = None) -> None:
        self.more = more
        self.schema = schema

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        rows = self._training_rows(X, y, sample_weight)
        counts = np.bincount(rows.labels.codes, rows.weight, len(rows.labels.classes)) + self.more
        self._remember_columns(rows.schema, named=rows.table.named)
        self.shares_, self.n_rows_, self.classes_ = counts / counts.sum(), rows.table.n_rows, rows.labels.classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.tile(self.shares_, (self._read(X).n_rows, 1))

    def _rows_learned(self) -> int:
        return self.n_rows_

    def _write_learned(self, writer: Writer) -> Any:
        return {"rows": self.n_rows_, "shares": writer.put(self.shares_)}

    def _read_learned(self, data: Any, reader: Reader) -> None:
        self.n_rows_ = int(data["rows"])
        self.shares_ = reader.counts(data["shares"], (len(self.classes_),))


@pytest.fixture
def registered() -> Iterator[None]:
    register(Entry("majority", Majority, "majority", simplicity=0))
    yield
    unregister("majority")


@pytest.mark.usefixtures("registered")
def test_a_registered_classifier_is_fitted_saved_and_loaded(tmp_path: Path) -> None:
    clf = Majority(more=1.0).fit(TABLE, Y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    assert type(again) is Majority and again.more == 1.0 and again.n_rows_ == 30
    assert again.feature_names_in_.tolist() == ["sky", "wind"]
    np.testing.assert_array_equal(again.predict_proba(TABLE), clf.predict_proba(TABLE))
    assert again.predict({"wind": [1.0], "sky": [None]}).tolist() == ["dry"]


@pytest.mark.usefixtures("registered")
def test_a_registered_classifier_is_compared_and_decides() -> None:
    found = likely.compare(TABLE, Y, ["majority", "naive Bayes"], cv=3)
    assert found.best == "naive Bayes" and found.reports["majority"].error_rate == pytest.approx(0.4)
    assert known()[0].title == "majority"
    cost = {"go": {"dry": 0, "wet": 9}, "stay": {"dry": 1, "wet": 0}}
    assert set(clone(Majority()).fit(TABLE, Y).decide(TABLE, likely.Loss(cost)).tolist()) == {"stay"}
    assert type(new_classifier("majority", {})) is Majority


def test_what_is_not_registered_is_neither_saved_nor_loaded(tmp_path: Path) -> None:
    clf = Majority().fit(TABLE, Y)
    with pytest.raises(SettingsError, match="A Majority cannot be saved"):
        clf.save(tmp_path / "m.likely")
    register(Entry("majority", Majority, "majority", simplicity=0))
    clf.save(tmp_path / "m.likely")
    unregister("majority")
    with pytest.raises(ModelFileError, match="does not know"):
        likely.load(tmp_path / "m.likely")


def test_names_and_classes_are_there_once() -> None:
    with pytest.raises(SettingsError, match="'tree'"):
        register(Entry("tree", Majority, "another", simplicity=1))
    with pytest.raises(SettingsError, match="TreeClassifier"):
        register(Entry("another", TreeClassifier, "another", simplicity=1))
    with pytest.raises(SettingsError, match="Did you mean 'naive'"):
        entry_named("naiv")
    assert entry_of_kind("Majority") is None


def test_what_the_list_says_is_so() -> None:
    for entry in entries():
        made = entry.make()
        assert type(made) is getattr(likely, entry.kind) and isinstance(made, Classifier)
        assert entry.counts == isinstance(made, Counts)
        assert entry.adds_up == isinstance(made, Updates)
    assert len({entry.simplicity for entry in known()}) == len(known())


def test_a_file_with_an_older_name_of_a_setting_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def older(clf: TreeClassifier) -> dict[str, Any]:
        settings = clf.get_params(deep=False)
        settings["seed"] = settings.pop("random_state")
        return settings

    clf = TreeClassifier(random_state=7).fit(TABLE, Y)
    with monkeypatch.context() as patched:
        patched.setattr(TreeClassifier, "_settings_kept", older)
        clf.save(tmp_path / "t.likely")
    again = likely.load(tmp_path / "t.likely")
    assert again.random_state == 7 and "seed" not in again.get_params()
