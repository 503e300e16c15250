"""No command, by no option, destroys a file of the user: every option that writes is found in the app itself."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from likely.cli.app import PANELS, expanded
from likely.cli.options import Reads, Writes
from likely.io import outputs
from tests.cli.conftest import MAILS, Likely

COMMANDS = {name: expanded(command) for panel in PANELS.values() for name, command in panel.items()}
NO_FILES = {
    "COLUMN", "NAMES", "NAME", "CHAR", "PORT", "PRIORS", "HOW", "MEASURE", "N", "NUMBER", "ACCURACY", "CELL", "PRICE",
    "COLUMN=TYPE", "COLUMN=KIND", "[COLUMN=]NUMBER", "[COLUMN=]FAMILY", "CLASS[,CLASS]",
    "URL", "ADDRESS", "CLASS", "P", "MB", "ROWS", "SECONDS",
    "FOLDER", "ENGINE", "EXAMPLE", "COMMAND",
}  # fmt: skip
"""What options take that name no files."""

TAUGHT = {"serve", "mail", "studio"}
"""They write no files but the models that they are taught, which they have read as models before."""

SAYING = {"demo", "warm-up", "help", "version"}
"""They write no files."""

USUAL = {
    "train": ["mails.csv", "-t", "kind", "--model", "naive"],
    "evaluate": ["mails.csv", "-t", "kind", "--model", "naive", "--cv", "2"],
    "compare": ["mails.csv", "-t", "kind", "--with", "bayes", "--cv", "2"],
    "merge": ["mails.likely", "more.likely"],
    "forget": ["mails.likely", "mails.csv"],
    "refresh": ["evidence.likely", "mails.csv"],
    "predict": ["mails.likely", "new.csv"],
    "explain": ["mails.likely", "new.csv"],
    "show": ["mails.likely"],
    "rank": ["mails.csv", "-t", "kind"],
    "schema": ["mails.csv"],
    "convert": ["mails.csv"],
    "export": ["mails.likely"],
    "datasets": ["golf"],
}
NAMES = {outputs.MODEL: "out.likely", outputs.PAGE: "out.html", outputs.LEFT_OUT: "out.csv", outputs.CHECKPOINT: "out"}
BY_SUFFIX = {
    "plot": "out.svg",
    "show": "out.html",
    "predict": "out.csv",
    "convert": "out.csv",
    "export": "out.json",
    "datasets": "out.csv",
}


def marks(command: str) -> Iterator[tuple[str, Any, list[Any]]]:
    """Every parameter of a command, what Typer knows of it, and whether it names files."""
    for name, annotation in COMMANDS[command].__annotations__.items():
        if annotation is not typer.Context:
            typed, *rest = get_args(annotation)[1:]
            yield name, typed, rest


WRITING = [
    (command, name, mark)
    for command in COMMANDS
    for name, _, rest in marks(command)
    for mark in rest
    if isinstance(mark, Writes)
]
MODELS = [command for command, _, mark in WRITING if mark.kind == outputs.MODEL]


def usual(command: str, name: str, mark: Writes) -> str:
    """A file name such as this option takes."""
    return NAMES[mark.kind] if mark.kind else BY_SUFFIX["plot" if name == "plot" else command]


def arguments(command: str, name: str, path: object) -> list[str]:
    """A call in which one option writes to a file, and the model, where one is needed, to another."""
    given = [command, *USUAL[command], f"--{name}", str(path)]
    return given if name == "out" or command not in ("merge", "forget", "refresh") else [*given, "-o", "else.likely"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_parameter_says_whether_it_names_files(command: str) -> None:
    for name, typed, rest in marks(command):
        kind = typed.metavar
        if kind is None or kind in NO_FILES or (kind.islower() and "|" in kind):
            assert not rest, f"{command} {name}"
        elif not rest:
            assert (name, kind) == ("text", "NAME=VALUE"), f"{command} {name} takes {kind}: mark it Reads() or Writes()"
        else:
            assert all(isinstance(mark, Reads | Writes) for mark in rest)


def test_the_walk_is_complete() -> None:
    assert len(WRITING) > 20
    assert (
        {command for command, _, _ in WRITING}
        == {*COMMANDS} - TAUGHT - {"demo", "warm-up", "help", "version"}
        == {*USUAL}
    )
    assert MODELS == ["train", "merge", "forget", "refresh"]


@pytest.fixture
def folder(likely: Likely, model: str, tmp_path: Path) -> Path:
    for name, kind in (("more.likely", "naive"), ("evidence.likely", "evidence")):
        assert likely("train", "mails.csv", "-t", "kind", "--model", kind, "-o", name).code == 0
    assert likely("train", "mails.csv", "-t", "sender", "--model", "naive", "-o", "other.likely").code == 0
    (tmp_path / "precious").write_bytes(b"\0\1\2 something of the user's")
    (tmp_path / "page.html").write_text("<!DOCTYPE html><p>mine</p>")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(("command", "name", "mark"), WRITING, ids=[f"{c} --{n}" for c, n, _ in WRITING])
def test_no_option_destroys_a_file(likely: Likely, folder: Path, command: str, name: str, mark: Writes) -> None:
    """Inputs under other names, and files of other kinds: one sentence, exit code 2, and nothing has changed."""
    path = usual(command, name, mark)
    suffix = Path(path).suffix
    inputs = [entry for entry in USUAL[command] if (folder / entry).is_file()]
    spared = mark.onto and USUAL[command][0] if command != "train" else None
    victims = {f"hard-{place}{suffix}": entry for place, entry in enumerate(inputs) if entry != spared}
    for hard, entry in victims.items():
        os.link(folder / entry, folder / hard)
        (folder / f"link-{hard}").symlink_to(hard)
    strange = [f"strange{suffix}", "mails.likely" if path.endswith((".html", ".svg")) else "page.html"]
    (folder / strange[0]).write_bytes((folder / "precious").read_bytes())
    before = content(folder)
    names = [*(entry for entry in inputs if entry != spared), *victims, *(f"link-{hard}" for hard in victims), *strange]
    for victim in names:
        said = likely(*arguments(command, name, victim))
        assert said.code == 2, (victim, said)
        assert said.err.count("\n") == 1, said.err
        assert content(folder) == before, victim


@pytest.mark.parametrize(("command", "name", "mark"), WRITING, ids=[f"{c} --{n}" for c, n, _ in WRITING])
def test_places_that_cannot_be_written_are_refused_first(
    likely: Likely, folder: Path, command: str, name: str, mark: Writes
) -> None:
    before = content(folder)
    path = usual(command, name, mark)
    said = likely(*arguments(command, name, f"no/such/{path}"))
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "There is no folder 'no/such'" in said.err
    (folder / "sub").mkdir()
    (folder / "sub" / path).mkdir()
    said = likely(*arguments(command, name, f"sub/{path}"))
    assert said.code == 2
    assert "is a folder" in said.err
    assert content(folder) == before


PAIRS = [
    (command, one, other)
    for command in COMMANDS
    for place, (c, one, _) in enumerate(WRITING)
    for d, other, _ in WRITING[place + 1 :]
    if c == d == command
]


@pytest.mark.parametrize(("command", "one", "other"), PAIRS, ids=[" ".join(pair) for pair in PAIRS])
def test_two_outputs_are_two_files(likely: Likely, folder: Path, command: str, one: str, other: str) -> None:
    before = content(folder)
    (folder / "link").symlink_to("same.html")
    said = likely(command, *USUAL[command], f"--{one}", "same.html", f"--{other}", "link")
    assert said.code == 2
    assert "at once" in said.err
    assert content(folder) == before


def test_the_file_that_a_training_writes_unasked_is_an_output(likely: Likely, folder: Path) -> None:
    (folder / "fresh.csv").write_text(MAILS)
    said = likely("train", "fresh.csv", "-t", "kind", "--checkpoint", "fresh.likely")
    assert (said.code, "at once" in said.err) == (2, True)
    (folder / "fresh.likely").write_text("a,b\n1,2\n")
    assert likely("train", "fresh.csv", "-t", "kind").code == 2
    assert (folder / "fresh.likely").read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("command", MODELS)
def test_a_model_of_another_target_is_replaced_by_force_only(likely: Likely, folder: Path, command: str) -> None:
    given = [command, *USUAL[command], "-o"]
    before = (folder / "other.likely").read_bytes()
    said = likely(*given, "other.likely")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "predicts 'sender', not 'kind'" in said.err
    assert (folder / "other.likely").read_bytes() == before
    rows = MAILS.splitlines(keepends=True)
    (folder / "mails.csv").write_text("".join(rows[:-1]) if command == "forget" else MAILS)
    assert likely(*given, "other.likely", "--force").code == 0
    assert likely(*given, "other.likely").code == 0  # of the same target now
    damaged = bytearray(before)
    damaged[-1] ^= 1
    (folder / "other.likely").write_bytes(damaged)
    said = likely(*given, "other.likely")
    assert (said.code, "cannot be read" in said.err) == (2, True)


def test_a_model_may_be_written_where_it_was(likely: Likely, folder: Path) -> None:
    (folder / "few.csv").write_text("".join(MAILS.splitlines(keepends=True)[:3]))
    assert likely("train", "few.csv", "--onto", "mails.likely").code == 0
    assert likely("forget", "mails.likely", "few.csv", "-o", "./mails.likely").code == 0
    assert likely("refresh", "evidence.likely", "mails.csv").code == 0


def test_globs_folders_and_files_of_options_are_inputs(likely: Likely, folder: Path) -> None:
    (folder / "parts").mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / "parts" / name).write_text(MAILS)
    (folder / "costs.csv").write_text(",read,skip\nread,0,1\nskip,5,0\n")
    (folder / "stop.csv").write_text("the a\n")
    predict = ["predict", "mails.likely", "new.csv", "--loss", "costs.csv", "-o", "costs.csv"]
    calls = [
        ["convert", "parts", "-o", "parts/b.csv"],
        ["convert", "parts/*.csv", "-o", "parts/a.csv"],
        predict,
        ["rank", "mails.csv", "-t", "kind", "--text", "stop_words=stop.csv", "--rejects", "stop.csv"],
    ]
    for call in calls:
        said = likely(*call)
        assert (said.code, "files to read" in said.err) == (2, True), said


def test_a_pipe_gets_the_table_and_stays(likely: Likely, folder: Path) -> None:
    read: list[bytes] = []
    for name, first in (("pipe", b"sender,"), ("pipe.jsonl", b'{"sender"'), ("pipe.parquet", b"PAR1")):
        pipe = folder / name
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda pipe=pipe: read.append(pipe.read_bytes()))  # type: ignore[misc]
        reader.start()
        assert likely("convert", "mails.csv", "-o", name).code == 0
        reader.join()
        assert read.pop().startswith(first)
        assert pipe.is_fifo()
