"""Whatever comes in: exit 0 and data, or exit 2 and one sentence; never a traceback, never half a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Likely
from tests.io.corpus import CASES, Case

PYTHON_WORDS = re.compile(
    r"\b(rejects|delimiter|encoding|decimal|names|skip|na|columns|keep|header|quote)=|schema=\{|types=\{"
)


def options_of(case: Case) -> list[str]:
    """The options of a case, as they are written on a command line."""
    given: list[str] = []
    for name, value in case.options.items():
        if name == "header":
            given.append("--header" if value else "--no-header")
        elif name == "multiline":
            given += ["--multiline"] * bool(value)
        elif name == "types":
            given += [part for column, kind in value.items() for part in ("--type", f"{column}={kind}")]
        elif name == "na":
            given += [part for cell in value for part in ("--na", cell)]
        elif name in ("names", "columns"):
            given += [f"--{name}", ",".join(f'"{column}"' for column in value)]
        elif value is not None:
            given += [f"--{name}", str(value) or "none"]
    return given


BAD = [case for case in CASES if case.refusal is not None]
SOME_GOOD = [case for case in CASES if case.refusal is None and len(case.content) < 1 << 20][::5]
"""All that is refused; what is read is compared cell by cell in tests/files, so a few will do here."""


@pytest.mark.parametrize("case", [*BAD, *SOME_GOOD], ids=lambda case: case.name)
def test_every_odd_file_is_read_or_refused_in_a_sentence(case: Case, likely: Likely) -> None:
    Path(case.file).write_bytes(case.content)
    said = likely("convert", case.file, "-o", "out.parquet", "-q", *options_of(case))
    if case.refusal is None:
        assert said.code == 0, said.err
        assert Path("out.parquet").is_file()
        return
    assert said.code == 2
    lines = said.err.splitlines()
    assert len([line for line in lines if not line.startswith("note: ")]) == 1, said.err
    assert lines[-1].startswith("likely: ")
    assert "Traceback" not in said.err
    assert not PYTHON_WORDS.search(lines[-1]), lines[-1]
    assert not Path("out.parquet").exists()
    assert not list(Path().glob(".*unfinished*"))


REFUSED = {
    "no target": (["train", "mails.csv"], "Which column should be predicted? Say --target COLUMN"),
    "misspelt target": (["train", "mails.csv", "-t", "knd"], "Did you mean 'kind'?"),
    "no file": (["train", "mials.csv", "-t", "kind"], "Did you mean 'mails.csv'?"),
    "no match": (["train", "*.tsv", "-t", "kind"], "No file matches"),
    "one class": (["train", "one.csv", "-t", "y"], ""),
    "only a header": (["train", "header.csv", "-t", "y"], "no rows"),
    "label missing": (["train", "gap.csv", "-t", "y"], "gap.csv, line 3"),
    "no folder": (["train", "mails.csv", "-t", "kind", "-o", "no/where.likely"], "There is no folder 'no'"),
    "a folder as output": (["convert", "mails.csv", "-o", "folder.csv"], "folder.csv"),
    "unknown suffix": (["convert", "mails.csv", "-o", "out.doc"], "does not say how to write it; use one of .csv"),
    "two standard inputs": (["predict", "-", "-"], "not both"),
    "standard input and a file": (["schema", "-", "mails.csv"], "cannot be combined"),
    "no model": (["predict", "mails.csv", "new.csv"], "to train a model, say: likely train"),
    "missing model": (["show", "mail.likely"], "Did you mean 'mails.likely'?"),
    "damaged model": (["show", "damaged.likely"], "cannot be loaded"),
    "model where a table is meant": (["evaluate", "mails.likely"], "is a model; name a table"),
    "columns that are not there": (["predict", "mails.likely", "n.csv"], "lacks the columns"),
    "unknown class": (["explain", "mails.likely", "new.csv", "--contrast", "reed"], "Did you mean 'read'?"),
    "row beyond the end": (["explain", "mails.likely", "new.csv", "--row", "9"], "row 9 in new.csv; rows are counted"),
    "row zero": (["explain", "mails.likely", "new.csv", "--row", "0"], "--row"),
    "unknown measure": (["rank", "mails.likely", "--by", "chi"], "Did you mean 'chi2'?"),
    "no loss": (["predict", "mails.likely", "new.csv", "--loss", "no.csv"], "There is no file 'no.csv'."),
    "odd loss": (["predict", "mails.likely", "new.csv", "--loss", "n.csv"], "cost"),
    "merging one": (["merge", "mails.likely", "-o", "x.likely"], "at least two"),
    "merging what does not fit": (["merge", "mails.likely", "n.likely", "-o", "x.likely"], "read"),
    "nowhere to merge to": (["merge", "mails.likely", "mails.likely"], "-o FILE"),
    "forgetting strangers": (["forget", "mails.likely", "strange.csv", "-o", "x.likely"], ""),
    "diff of one": (["show", "--diff", "mails.likely"], "compares two models"),
    "unknown format": (["export", "mails.likely", "--to", "xml"], "'json', 'csv', 'sql'"),
    "unknown command": (["trian", "x"], "Did you mean 'train'"),
    "unknown option": (["train", "--taget", "x"], "There is no option '--taget'. Did you mean '--target'?"),
    "option without a value": (["train", "mails.csv", "--target"], "See likely train --help"),
    "missing argument": (["predict"], "Missing argument"),
    "folds": (["evaluate", "mails.csv", "-t", "kind", "--cv", "many"], "--cv is 'many'"),
    "too many folds": (["evaluate", "mails.csv", "-t", "kind", "--cv", "99"], "only 8 rows"),
    "prediction is there already": (["predict", "mails.likely", "taken.csv"], "--keep a,b,c"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_is_one_sentence(case: str, likely: Likely, model: str) -> None:
    Path("one.csv").write_text("x,y\n")
    Path("header.csv").write_text("x,y\n")
    Path("gap.csv").write_text("x,y\n1,a\n2,\n")
    Path("n.csv").write_text("x,y\n1,0\n2,1\n")
    Path("strange.csv").write_text("sender,links,hour,kind\nalien,1,1,read\n")
    Path("taken.csv").write_text("sender,links,hour,prediction\nshop,1,1,x\n")
    Path("damaged.likely").write_bytes(Path(model).read_bytes()[:-1])
    Path("folder.csv").mkdir()
    likely("train", "n.csv", "-t", "y", "--model", "naive")
    before = set(os.listdir())
    arguments, told = REFUSED[case]
    said = likely(*arguments, given=b"")
    assert said.code == 2, said
    assert said.err.startswith("likely: ")
    assert said.err.count("\n") == 1, said.err
    assert told in said.err
    assert set(os.listdir()) == before


def test_what_a_file_was_taken_for_is_a_note(likely: Likely) -> None:
    Path("l.csv").write_bytes("name,y\nJosé,1\nAna,0\n".encode("cp1252"))
    said = likely("convert", "l.csv")
    assert said.code == 0
    assert "José" in said.out
    assert said.err.startswith("note: ")
    assert "--encoding" in said.err


def test_a_note_is_told_once_by_each_command(likely: Likely) -> None:
    Path("l.csv").write_bytes("name,n,y\nJosé,1,a\nAna,0,b\nEva,2,a\n".encode("cp1252"))
    for command in (["schema", "l.csv"], ["train", "l.csv", "-t", "y"], ["predict", "l.likely", "l.csv"]):
        assert likely(*command).err.count("is not UTF-8") == 1, command


def test_a_model_that_has_forgotten_all_is_shown(likely: Likely, model: str) -> None:
    """And asked to predict or to be written down, it says so in a sentence."""
    assert likely("forget", model, "mails.csv", "-o", "empty.likely").code == 0
    shown = likely("show", "empty.likely")
    assert shown.code == 0 and "trained on 0 rows" in shown.out, shown.err
    assert likely("show", "empty.likely", "--json").json["rows"] == 0
    for command in (("predict", "empty.likely", "new.csv"), ("export", "empty.likely", "-o", "model.sql")):
        said = likely(*command)
        assert said.code == 2 and "All rows have been forgotten" in said.err and said.err.count("\n") == 1
