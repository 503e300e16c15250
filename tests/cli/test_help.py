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
