"""Costs from files: where their truth stands, what is decided by them, and how they are told."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

import likely as package
from likely import Loss
from tests.cli.conftest import Likely


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predict_decides_by_cost(likely: Likely, model: str) -> None:
    Path("costs.csv").write_text("decision,read,skip\nshow,0,1\nhide,9,0\n")
    found = rows(likely("predict", model, "new.csv", "--loss", "costs.csv", "--refuse", "0.05").out)
    clf = package.train("mails.csv", "kind", model="naive")
    loss = Loss({"show": {"read": 0, "skip": 1}, "hide": {"read": 9, "skip": 0}}, refuse=0.05)
    expected = clf.decisions(pd.read_csv("new.csv"), loss)
    assert [line["decision"] for line in found] == [str(decision) for decision in expected["decision"]]
    np.testing.assert_allclose([float(line["risk"]) for line in found], expected["risk"])


def test_costs_with_truths_in_rows(likely: Likely, model: str) -> None:
    Path("costs.csv").write_text("truth,show,hide\nread,0,9\nskip,1,0\n")
    found = rows(likely("predict", model, "new.csv", "--loss", "costs.csv", "--truth", "rows").out)
    clf, loss = (
        package.train("mails.csv", "kind", model="naive"),
        Loss({"show": {"read": 0, "skip": 1}, "hide": {"read": 9, "skip": 0}}),
    )
    assert [line["decision"] for line in found] == clf.decide(pd.read_csv("new.csv"), loss).tolist()
    told = likely("predict", model, "new.csv", "--loss", "costs.csv")
    assert rows(told.out) == found, "its first cell says so, too"
    lines = [
        "Costs from costs.csv:",
        "truth \\ decision  show  hide",
        "read                 0     9",
        "skip                 1     0",
    ]
    assert told.err.splitlines() == lines
    assert likely("predict", model, "new.csv", "--loss", "costs.csv", "--quiet").err == ""
    Path("costs.csv").write_text(",show,hide\nread,0,9\nskip,1,0\n")
    refused = likely("predict", model, "new.csv", "--loss", "costs.csv")
    assert refused.code == 2, "its columns are no classes"
    assert "costs.csv has no cost for the class 'read', 'skip'" in refused.err
    assert "say --truth rows" in refused.err


def test_costs_that_could_be_read_both_ways(likely: Likely, model: str) -> None:
    Path("costs.csv").write_text(",read,skip\nread,0,1\nskip,9,0\n")
    for command in (
        ["predict", model, "new.csv"],
        ["evaluate", model, "mails.csv"],
        ["compare", "mails.csv", "-t", "kind"],
    ):
        said = likely(*command, "--loss", "costs.csv")
        assert said.code == 2
        assert "costs.csv does not tell" in said.err
        assert "or give --truth rows or --truth columns." in said.err
    said = likely("evaluate", model, "mails.csv", "--loss", "costs.csv", "--truth", "rows", "--json")
    assert (
        said.err.count("truth \\ decision  read  skip\nread                 0     1\nskip                 9     0\n")
        == 1
    )
    assert said.json["confusion"]["decisions"] == said.json["confusion"]["truths"]
    Path("costs.csv").write_text("truth/decision,skip,read\nread,1,0\nskip,0,9\n")
    again = likely("evaluate", model, "mails.csv", "--loss", "costs.csv", "--json")
    assert again.json["measures"] == said.json["measures"]
    assert again.json["confusion"] == said.json["confusion"], "what is right stands on the diagonal"


def test_refusing_alone_prices_every_mistake_at_one(likely: Likely, model: str) -> None:
    found = rows(likely("predict", model, "new.csv", "--refuse", "0").out)
    assert [line["decision"] for line in found] == ["REFUSED", "REFUSED"]
