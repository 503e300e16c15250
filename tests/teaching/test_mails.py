"""The made-up inbox is the same each time, holds every kind of column, and can be learned, though not by heart."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from likely import BayesClassifier, Schema, evaluate, open_table
from likely.errors import SettingsError
from likely.teaching.datasets import DATASETS, dataset
from likely.teaching.mails import END, mails, new_mails
from tests.cli.conftest import Likely, likely

__all__ = ["likely"]


def test_the_inbox_is_the_same_each_time() -> None:
    table = mails()
    assert table == mails()
    first = {name: cells[0] for name, cells in table.items()}
    assert first == {
        "received": datetime(2025, 1, 6, 10, 26), "sender": "stranger", "links": 8, "words": 88, "attachment": False,
        "subject": "You have won a server, claim before Monday", "kind": "skip",
    }  # fmt: skip


def test_the_inbox_has_every_kind_of_column_and_gaps() -> None:
    schema = Schema.infer(pd.DataFrame(mails()), target="kind")
    assert {"sender", "attachment", "received: month", "received: weekday"} == {*schema.nominal}
    assert {"links", "words", "received: hour", "received: days since 1970"} == {*schema.numeric}
    assert schema.text == ("subject",)
    assert all(schema[name].gaps for name in ("sender", "links", "words"))


def test_the_inbox_can_be_learned_but_not_by_heart() -> None:
    table = pd.DataFrame(mails())
    report = evaluate(BayesClassifier(), table.drop(columns="kind"), table["kind"], cv=5)
    assert 0.7 < report.accuracy < 0.9
    assert table["kind"].value_counts(normalize=True).max() < 0.5


def test_new_mails_come_after_and_have_no_kind() -> None:
    table = new_mails()
    assert "kind" not in table
    assert all(isinstance(moment, datetime) and moment >= END for moment in table["received"])


@pytest.mark.parametrize("name", DATASETS)
def test_every_table_is_written_and_read_back(likely: Likely, name: str) -> None:
    said = likely("datasets", name, "-o", "table.csv")
    assert (said.code, said.err) == (0, "Wrote table.csv\n")
    table = open_table("table.csv")
    assert table.names == tuple(dataset(name))
    assert table.read().num_rows == len(next(iter(dataset(name).values())))
    assert DATASETS[name].target in {None, *table.names}
    assert likely("datasets", name).out == Path("table.csv").read_text()


def test_tables_are_listed_and_strange_names_refused(likely: Likely) -> None:
    said = likely("datasets")
    assert all(name in said.out for name in DATASETS)
    assert {*likely("datasets", "--json").json} == {*DATASETS}
    said = likely("datasets", "mail")
    assert said.code == 2
    assert "Did you mean 'mails'?" in said.err
    with pytest.raises(SettingsError, match="no table 'moon'"):
        dataset("moon")
