"""Notes about a table say what is there, and nothing where nothing is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from likely import Schema, train
from likely.table import as_table, encode_labels
from likely.table.infer import Note
from likely.table.notes import data_notes, right_alone, target_notes


def look(table: pd.DataFrame, target: str = "y") -> dict[str, Note]:
    rows = as_table(table)
    return {note.about: note for note in data_notes(rows, Schema.infer(rows, target), encode_labels(table[target]))}


def clean(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, town = rng.normal(size=n), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    return pd.DataFrame({"x": x, "town": town, "y": np.where(x + rng.normal(size=n) > 0, "yes", "no")})


def test_a_clean_table_has_no_notes() -> None:
    assert look(clean()) == {}


@pytest.mark.parametrize("kind", ["numeric", "nominal", "gap"])
def test_a_column_that_gives_the_class_away_is_named(kind: str) -> None:
    table = clean()
    yes, noise = table["y"] == "yes", np.random.default_rng(1).random(len(table))
    leaks = {
        "numeric": np.where(yes, 10.0, 0.0) + noise,
        "nominal": np.where(yes, "paid", "open"),
        "gap": np.where(yes, noise, np.nan),
    }
    found = look(table.assign(after=leaks[kind]))
    assert found["leak"].column == "after"
    assert found["leak"].share is not None and found["leak"].share >= 0.99
    assert "schema={'after': 'ignored'}" in str(found["leak"])


def test_a_strong_column_is_no_leak() -> None:
    table = clean()
    hint = np.where(np.random.default_rng(2).random(len(table)) < 0.95, table["y"], "?")
    assert "leak" not in look(table.assign(hint=hint))


def test_alone_means_by_the_other_rows() -> None:
    codes, y = np.arange(6), np.array([0, 1, 0, 1, 0, 1])
    assert right_alone(codes, y, 2) == 0.0, "a value of its own tells nothing about other rows"
    assert right_alone(np.zeros(6, dtype=np.int64), np.array([0, 0, 0, 0, 1, 1]), 2) == pytest.approx(4 / 6)
    assert right_alone(y, y, 2) == 1.0


def test_identifiers_are_named_unless_somebody_wants_them() -> None:
    table = clean().assign(ticket=[f"T{k // 2}{'ab'[k % 2 * (k % 3 > 0)]}" for k in range(400)], number=range(400))
    found = data_notes(as_table(table), Schema.infer(table, "y"), encode_labels(table["y"]))
    assert {note.column for note in found if note.about == "identifier"} == {"ticket", "number"}
    kept = Schema.infer(table, "y", overrides={"ticket": "nominal", "number": "numeric"})
    assert data_notes(as_table(table), kept, encode_labels(table["y"])) == ()


def test_copies_are_counted_where_they_are_no_chance() -> None:
    table = clean()
    found = look(pd.concat([table, table.iloc[:40]]))
    assert found["duplicates"].share == pytest.approx(40 / 440)
    coins = pd.DataFrame({"coin": ["head", "tail"] * 100, "y": ["a", "b", "b", "a"] * 50})
    assert "duplicates" not in look(coins), "two sides and two classes repeat by themselves"


def test_many_copies_do_not_hide_themselves() -> None:
    rng = np.random.default_rng(0)
    table = clean().assign(more=rng.normal(size=400))
    assert look(pd.concat([table] * 3))["duplicates"].share == pytest.approx(2 / 3)
    ages = pd.DataFrame({"age": rng.integers(0, 300, 1000), "sex": rng.integers(0, 2, 1000), "y": ["a", "b"] * 500})
    assert "duplicates" not in look(ages.assign(sex=ages["sex"].map({0: "f", 1: "m"}))), "so few people, so many alike"


def test_the_sample_is_bounded_and_tells_the_same() -> None:
    table = clean(50_000)
    assert look(table.assign(after=table["y"]))["leak"].column == "after"


def about(classes: list[object], counts: list[int]) -> list[str]:
    return [note.about for note in target_notes("y", np.array(classes), np.array(counts))]


def test_targets() -> None:
    assert about(["a"], [60]) == ["one class"]
    assert about(["a", "b"], [30, 30]) == []
    assert about(["a", "b"], [95, 5]) == ["imbalance"]
    assert about(["a", "b", "c"], [30, 29, 1]) == ["lone rows"]
    assert about(list(range(40)), [2] * 40) == ["numeric target"]
    assert about(list(range(26)), [700] * 26) == [], "letters as numbers are classes"
    assert about(["a", "b"], [3, 1]) == [], "four rows prove nothing"


@pytest.mark.parametrize(("one", "other"), [("yes", "Yes"), ("New York", " New  York")])
def test_spellings_that_differ_in_case_or_spaces_only_are_told(one: str, other: str) -> None:
    table = clean().assign(answer=np.random.default_rng(3).choice([one, other, "no"], 400))
    found = look(table)["spellings"]
    assert found.column == "answer"
    assert repr(one) in str(found)
    assert repr(other) in str(found)
    notes = list(target_notes("y", np.array([one, other, "no"], dtype=object), np.array([20, 30, 40])))
    assert [note.about for note in notes] == ["spellings"]
    assert "classes of their own" in str(notes[0])


def test_truth_values_of_any_spelling_in_a_file_are_two(tmp_path: Path) -> None:
    words = ["true", "True", "TRUE", "false", "False", ""] * 20
    (tmp_path / "t.csv").write_text("ok,y\n" + "".join(f"{w},{'ab'[k % 2]}\n" for k, w in enumerate(words)))
    model = train(tmp_path / "t.csv", "y", model="naive")
    assert model.schema_["ok"].storage == "boolean"
    assert model.schema_["ok"].levels == 2
    assert not any(note.about == "spellings" for note in model.schema_.notes)


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%y", "%d/%m/%Y %H:%M"])
def test_dates_in_other_forms_are_told_and_are_no_identifiers(form: str) -> None:
    days = pd.Series(pd.date_range("2023-01-01", periods=400, freq="30h")).dt.strftime(form)
    found = look(clean().assign(day=days))
    assert found["dates"].column == "day"
    assert "2025-01-31" in str(found["dates"])
    assert "identifier" not in found
    assert "dates" not in look(
        clean().assign(day=pd.Series(pd.date_range("2023-01-01", periods=400)).dt.strftime("%Y-%m-%d"))
    )
    assert "dates" not in look(clean().assign(part=[f"{k % 9}.{k % 4}" for k in range(400)]))
