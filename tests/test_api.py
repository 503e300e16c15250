"""One way from a table to a model: the same rows give the same file, whichever door they come in by."""

from __future__ import annotations

import inspect
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely import evaluation, store
from likely.api import ModelReason, compare, evaluate, select_model
from likely.cli.run import run
from likely.engines import files
from likely.errors import ModelFileError, SchemaError, SettingsError
from likely.io.file_table import open_table
from likely.table import as_table

NAMES = {
    "auto": "EvidenceClassifier",
    "naive": "BayesClassifier",
    "full": "FullBayesClassifier",
    "aode": "AODEClassifier",
    "evidence": "EvidenceClassifier",
    "tree": "TreeClassifier",
    "svm": "SVMClassifier",
}


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Words and numbers with gaps, a column of few whole numbers, an id, and weights; also as rows.csv."""
    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {"id": [f"t{k}" for k in range(n)], "a": rng.choice(["x", "y", "z"], n), "b": rng.choice(["u", "v"], n)}
    )
    table["n"], table["size"] = rng.integers(1, 4, n), rng.normal(size=n).round(3)
    table["w"] = rng.integers(1, 5, n) / 2
    table["label"] = np.where((table["a"] == "x") == (table["b"] == "u"), "same", "other")
    table.loc[3, "size"], table.loc[5, "a"] = np.nan, None
    table.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return table


@pytest.fixture
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """All models are written at the same time, which is all that may differ."""
    real = store.Provenance
    monkeypatch.setattr(store, "Provenance", lambda sources=(): real(sources, "2000-01-01T00:00:00+00:00"))


@pytest.mark.usefixtures("one_moment")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", NAMES)
def test_every_door_gives_the_same_file(trips: pd.DataFrame, model: str, weight: str | None) -> None:
    for name, table in (("file", "rows.csv"), ("frame", trips)):
        clf = likely.train(table, "label", model=model, weight=weight)
        assert type(clf).__name__ == NAMES[model]
        assert clf.schema_.weight == weight
        assert clf.schema is None
        clf.save(f"{name}.likely", ["rows.csv"])
    options = [*(["--model", model] if model != "auto" else []), *(["--weight", weight] if weight else [])]
    assert run(["train", "rows.csv", "--target", "label", "-o", "line.likely", "-q", *options]) == 0
    files = [Path(f"{name}.likely").read_bytes() for name in ("file", "frame", "line")]
    assert files[0] == files[1]
    assert files[0] == files[2]


@pytest.mark.usefixtures("one_moment")
@pytest.mark.parametrize("model", ["auto", "naive"])
def test_both_doors_give_the_same_file_for_many_mixed_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """5,000 rows of numbers, counts, towns, dates and texts, a tenth of the cells empty, in a CSV file."""
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(0), 5000
    label = rng.choice(["late", "on time", "lost"], n, p=[0.3, 0.6, 0.1])
    words = np.array(["parcel", "rain", "bridge", "closed", "quick", "dry", "road", "ferry", "storm", "signed"])
    table = pd.DataFrame(
        {
            "weight": np.exp(rng.normal(size=n)).round(4) + (label == "lost"),
            "stops": rng.poisson(3 + 2 * (label == "late")),
            "town": rng.choice(["Ulm", "Bonn, Rhein", 'the "Hague"', "Łódź"], n),
            "sent": (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D")).strftime("%Y-%m-%d"),
            "note": [" ".join(rng.choice(words, 1 + k % 9)) + f" {k % 97}" for k in range(n)],
        }
    )
    table = table.mask(rng.random(table.shape) < 0.1)
    table["label"] = label
    table.to_csv("rows.csv", index=False)
    likely.train("rows.csv", "label", model=model).save("python.likely", ["rows.csv"])
    options = ["--model", model] if model != "auto" else []
    assert run(["train", "rows.csv", "--target", "label", "-o", "line.likely", "-q", *options]) == 0
    loaded = likely.load("line.likely")
    assert type(loaded).__name__ == NAMES[model]
    assert loaded.schema_.kinds["note"] == "text"
    assert Path("line.likely").read_bytes() == Path("python.likely").read_bytes()


def test_evaluate_and_compare_show_the_parameters_that_they_share() -> None:
    shared = {"cv", "loss", "groups", "repeats", "random_state", "progress"}
    for function in (likely.evaluate, likely.compare):
        parameters = inspect.signature(function).parameters
        assert shared <= set(parameters)
    defaults = [
        inspect.signature(f).parameters[name].default for f in (likely.evaluate, evaluation.evaluate) for name in shared
    ]
    assert defaults[: len(shared)] == defaults[len(shared) :]


def test_the_package_shows_its_public_names_and_nothing_else() -> None:
    assert dir(likely) == sorted(likely.__all__)


def test_a_setting_decides_as_an_option_does(trips: pd.DataFrame) -> None:
    assert type(likely.train(trips, "label", smoothing=0.5)).__name__ == "BayesClassifier"
    assert type(likely.train(trips, "label", priors="uniform")).__name__ == "EvidenceClassifier"
    assert type(likely.train(trips, "label", max_pairs=0)).__name__ == "EvidenceClassifier"
    with pytest.raises(SettingsError, match=r"^smoothing is nothing that model='evidence' knows\.$"):
        likely.train(trips, "label", model="evidence", smoothing=0.5)
    with pytest.raises(SettingsError, match=r"^model is 'forest', but it is one of 'evidence', 'naive'"):
        likely.train(trips, "label", model="forest")
    with pytest.raises(SchemaError, match=r"lacks the column 'Label'.*Did you mean 'label'"):
        likely.train(trips, "Label")


def test_the_seed_goes_to_models_that_draw(trips: pd.DataFrame) -> None:
    assert likely.train(trips, "label", random_state=7).random_state == 7
    assert likely.train(trips, "label", model="tree", random_state=7).random_state == 7
    likely.train(trips, "label", model="naive", random_state=7)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_the_reason_is_data(
    trips: pd.DataFrame, kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source: Any = as_table(trips) if kind == "frame" else open_table("rows.csv")
    found = select_model(source, "label")
    assert (found.name, found.reason.kind) == ("evidence", "fits")
    assert select_model(source, "label", "naive").reason == ModelReason("named")
    assert select_model(source, "label", counts=True).reason == ModelReason("counts")
    assert select_model(source, "label", settings={"unseen": "smooth"}).reason == ModelReason("setting")
    kinds = dict.fromkeys(trips.columns.drop("label"), "ignored")
    assert select_model(source, "label", settings={"schema": kinds}).reason == ModelReason("no columns")
    whole = likely.train(source, "label").predict_proba(trips)
    monkeypatch.setattr(files, "BUDGET", 10_000)
    found = select_model(source, "label")
    assert (found.name, found.reason.kind) == ("evidence", {"frame": "fits", "file": "on disk"}[kind])
    with caplog.at_level(logging.INFO, "likely"):
        clf = likely.train(source, "label")
    assert ("it is read twice, with temporary files in" in caplog.text) == (kind == "file")
    assert "model='naive'" in caplog.text
    np.testing.assert_array_equal(clf.predict_proba(trips), whole)


def test_a_large_file_without_columns_to_learn_from_has_the_shares_of_its_classes(
    trips: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BUDGET", 1000)
    kinds = dict.fromkeys(trips.columns.drop("label"), "ignored")
    clf = likely.train("rows.csv", "label", schema=kinds)
    shares = trips["label"].value_counts(normalize=True)[list(clf.classes_)]
    np.testing.assert_allclose(clf.predict_proba(trips[:3]), np.tile(shares, (3, 1)))


def test_a_checkpoint_is_for_counting_files(trips: pd.DataFrame) -> None:
    with pytest.raises(SettingsError, match="checkpoint is for models that count, and model='tree' does not"):
        likely.train("rows.csv", "label", model="tree", checkpoint="half.likely")
    with pytest.raises(SettingsError, match="checkpoint is for tables in files"):
        likely.train(trips, "label", checkpoint="half.likely")
    assert type(likely.train("rows.csv", "label", checkpoint="half.likely")).__name__ == "BayesClassifier"


def test_files_and_frames_are_judged_and_compared_alike(trips: pd.DataFrame) -> None:
    frame = evaluate("naive", trips, "label", cv=4, progress=False)
    assert evaluate("naive", "rows.csv", "label", cv=4).accuracy == frame.accuracy
    boards = [compare(table, "label", ["naive", "tree"], cv=4, progress=False) for table in (trips, "rows.csv")]
    assert boards[0].to_frame()["error"].tolist() == boards[1].to_frame()["error"].tolist()


def test_public_functions_show_their_parameters() -> None:
    assert list(inspect.signature(likely.evaluate).parameters)[:3] == ["classifier", "X", "y"]
    assert {"random_state", "progress", "cv"} <= set(inspect.signature(likely.compare).parameters)
    assert "same folds" in str(likely.compare.__doc__)


def test_the_public_comparison_reads_files(trips: pd.DataFrame) -> None:
    assert likely.compare("rows.csv", "label", ["naive", "tree"], cv=3, progress=False).best in ("naive Bayes", "tree")
    assert likely.compare(["naive"], "rows.csv", "label", cv=3, progress=False).best == "naive Bayes"


def test_a_model_of_another_class_than_expected_is_refused(trips: pd.DataFrame) -> None:
    likely.train("rows.csv", "label", model="naive").save("m.likely")
    assert isinstance(likely.load("m.likely", likely.BayesClassifier), likely.BayesClassifier)
    with pytest.raises(ModelFileError, match=r"m\.likely.*BayesClassifier, not a TreeClassifier"):
        likely.load("m.likely", likely.TreeClassifier)
