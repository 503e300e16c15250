"""Help leads with examples that fit a terminal, and the page of the documentation leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from likely.cli.app import PANELS, app
from likely.cli.run import run
from tests.cli.conftest import Likely

COMMANDS = {name: command for panel in PANELS.values() for name, command in panel.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_leads_with_examples_that_fit(name: str, likely: Likely) -> None:
    doc = (COMMANDS[name].__doc__ or "").split("\n\n")
    assert doc[1].lstrip(" ").startswith("\b"), "after one sentence come the examples"
    examples = [line.strip() for line in doc[1].splitlines()[1:] if line.strip()]
    assert examples
    for line in examples:
        assert "likely" in line
        assert len(line) <= 76, line
    said = likely(name, "--help")
    assert said.code == 0
    assert said.out.index(examples[0].split("  ")[0]) < said.out.index("╭")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    for option in _options(name):
        assert option.help, f"{name} {option.opts}"


def test_the_page_names_every_command_and_option(repo: Path) -> None:
    page = (repo / "docs" / "command-line.md").read_text()
    for name in COMMANDS:
        assert f"likely {name}" in page, name
        for option in _options(name):
            assert any(spelling in page for spelling in (*option.opts, *option.secondary_opts)), f"{name} {option.opts}"


def test_examples_of_the_help_have_real_options() -> None:
    for name, command in COMMANDS.items():
        known = {spelling for option in _options(name) for spelling in (*option.opts, *option.secondary_opts)}
        text = (command.__doc__ or "").split("\n\n")[1]
        for line in text.splitlines()[1:]:
            own = re.split(r"  +|\|", line[line.find(f"likely {name}") :].strip())[0]
            used = set(re.findall(r"(?<=\s)--?[a-z][a-z-]*", own))
            assert used <= known, f"{line}: {used - known}"


def test_completion_can_be_installed() -> None:
    assert "--install-completion" in _root_options()


def _root_options() -> set[str]:
    return {spelling for option in typer.main.get_command(app).params for spelling in option.opts}


def _options(name: str) -> list[typer.core.TyperOption]:
    group = typer.main.get_command(app)
    command = group.commands[name]  # type: ignore[attr-defined]
    return [parameter for parameter in command.params if parameter.param_type_name == "option"]


def test_run_gives_a_code() -> None:
    assert run(["no-such-command"]) == 2


def test_the_short_help_leaves_out_what_is_rare(likely: Likely) -> None:
    short, whole = likely("train", "--help").out, likely("train", "--help-all").out
    assert "--target" in short
    assert "--model" in short
    assert "--delimiter" not in short
    assert "likely train --help-all" in short
    assert all(
        option in whole for option in ("--delimiter", "--smoothing", "--connect", "Input options", "Model options")
    )
    assert "more (" not in whole
    assert likely("help", "train").out == short
    assert likely("help", "train", "--all").out == whole


def test_help_lists_commands_and_knows_near_ones(likely: Likely) -> None:
    assert "warm-up" in likely("help").out
    said = likely("help", "tran")
    assert (said.code, "Did you mean 'train'?" in said.err) == (2, True)


def test_version_names_what_it_runs_on(likely: Likely) -> None:
    from likely import __version__

    assert likely("version").out.splitlines()[0] == f"likely {__version__}"
    assert {"likely", "python", "numpy", "numba"} <= set(likely("version", "--json").json)


def test_columns_near_the_one_that_was_meant_are_named(likely: Likely) -> None:
    assert "Did you mean 'kind'?" in likely("train", "mails.csv", "-t", "Kind").err
    Path("t.csv").write_text("price_net,price_tax,y\n1,2,a\n3,4,b\n")
    assert "Did you mean 'price_net' or 'price_tax'?" in likely("train", "t.csv", "-t", "price_nex").err


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_plain_words_for_types(name: str, likely: Likely) -> None:
    said = likely(*filter(None, [name]), "--help" if not name else "--help-all").out
    assert not re.search(r"<[a-z]", said), "no type of Python"


def test_long_lists_of_choices_stand_in_the_sentence(likely: Likely) -> None:
    for _ in range(2):  # the second time nothing is added to what the first has made of it
        said = " ".join(likely("compare", "--help").out.replace("│", " ").split())
        assert said.count("error, log_loss, brier or expected_cost") == 1
