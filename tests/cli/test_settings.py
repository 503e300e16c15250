"""Options are the parameters of Python, under the same names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import likely as package
from likely.cli.output import in_options
from likely.errors import DataError, NamedParameter, Part, PythonOnly, Setting, say_kind, say_type
from tests.cli.conftest import Likely


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--smoothing", "0.5"], "smoothing", 0.5),
        (["--smoothing", "sender=2"], "smoothing", {"sender": 2.0}),
        (["--priors", "uniform"], "priors", "uniform"),
        (["--priors", "read=0.25,skip=0.75"], "priors", {"read": 0.25, "skip": 0.75}),
        (["--family", "links=poisson"], "families", {"links": "poisson"}),
        (["--kind", "links=nominal", "--ignore", "hour,sender"], "schema", None),
        (["--missing", "value"], "missing", "value"),
        (["--unseen", "smooth"], "unseen", "smooth"),
        (["--variance", "ml"], "variance", "ml"),
        (["--variance-floor", "0.01"], "variance_floor", 0.01),
        (["--weighting", "tf-idf"], "weighting", "tf-idf"),
        (["--normalise"], "normalise", True),
        (["--n-jobs", "1"], "n_jobs", 1),
    ],
)
def test_option_becomes_a_parameter(likely: Likely, options: list[str], name: str, value: Any) -> None:
    assert likely("train", "mails.csv", "-t", "kind", *options).code == 0
    clf = package.load("mails.likely")
    if name == "schema":
        assert dict(clf.schema_.kinds) == {"sender": "ignored", "links": "nominal", "hour": "ignored"}
    else:
        assert clf.get_params()[name] == value


def test_recipes_of_texts(likely: Likely) -> None:
    Path("stop.txt").write_text("the of\n")
    Path("t.csv").write_text("body,y\nthe cat of hearts,p\nthe dog of war,q\na cat again here,p\n")
    options = ["--kind", "body=text", "--text", "ngram_range=1,2", "--text", "stop_words=stop.txt"]
    assert likely("train", "t.csv", "-t", "y", *options, "--text", "lowercase=false").code == 0
    words = package.load("t.likely").summary_["body"].words.to_list()  # type: ignore[attr-defined]
    assert "cat hearts" in words
    assert "the" not in words


def test_weights(likely: Likely) -> None:
    Path("w.csv").write_text("x,n,y\na,3,p\nb,1,q\na,1,q\n")
    assert likely("train", "w.csv", "-t", "y", "--weight", "n").code == 0
    assert package.load("w.likely").summary_.classes.weights.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--smoothing", "much"], "--smoothing is 'much', but it takes a number."),
        (["--smoothing", "sendr=1"], "Did you mean 'sender'?"),
        (["--priors", "unifrm"], "Did you mean 'uniform'?"),
        (["--priors", "read=0.5"], "no share for the class 'skip'"),
        (["--family", "links=poison"], "Did you mean 'poisson'?"),
        (["--kind", "links"], "NAME=VALUE"),
        (["--kind", "links=nominl"], "Did you mean 'nominal'?"),
        (["--ignore", "hours"], "Did you mean 'hour'?"),
        (["--model", "half"], "'naive', 'full'"),
        (["--covariance", "full"], "--covariance is nothing that --model naive knows"),
        (["--missing", "never"], "'ignore', 'value'"),
        (["--text", "ngrams=2"], "--text has no 'ngrams'"),
        (["--n-jobs", "many"], "n-jobs"),
        (["--variance-floor", "-1"], "from 0 up"),
    ],
)
def test_what_is_wrong_with_an_option(likely: Likely, options: list[str], told: str) -> None:
    said = likely("train", "mails.csv", "-t", "kind", *options)
    assert said.code == 2
    assert told in said.err
    assert said.err.count("\n") == 1
    assert not Path("mails.likely").exists()


@pytest.mark.parametrize(
    ("parts", "python", "words"),
    [
        (
            ["pass ", Setting("rejects"), " to leave such lines out"],
            "rejects=",
            "pass --rejects to leave such lines out",
        ),
        (
            ["nominal (", say_kind("zip", "nominal"), ") or"],
            "schema={'zip': 'nominal'}",
            "nominal (--kind zip=nominal) or",
        ),
        ([say_type("a b", "text"), " keeps it"], "types={'a b': 'text'}", "--type 'a b=text' keeps it"),
        (["say ", Setting("header", False), "."], "header=False", "say --no-header."),
        (["say ", Setting("header", True), "."], "header=True", "say --header."),
        (["say ", Setting("names", ...), "."], "names=[…]", "say --names a,b,c."),
        (["say ", Setting("delimiter", ";"), "."], "delimiter=';'", "say --delimiter ';'."),
        (["close it, or say ", Setting("quote", "")], "quote=''", "close it, or say --quote none"),
        ([Setting("encoding", "latin-1"), "."], "encoding='latin-1'", "--encoding latin-1."),
        ([NamedParameter("variance_floor"), " is 1."], "variance_floor is 1.", "--variance-floor is 1."),
        (["name it", PythonOnly(" in Python"), "."], "name it in Python.", "name it."),
        (["The cell holds 'na='."], "The cell holds 'na='.", "The cell holds 'na='."),
    ],
)
def test_errors_speak_of_options(parts: list[Part], python: str, words: str) -> None:
    error = DataError(*parts)
    assert python in str(error)
    assert in_options(error.message) == words
