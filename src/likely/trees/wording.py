"""How tests and nodes are said: in drawings, rules, pictures and paths."""

from __future__ import annotations

from collections.abc import Hashable

from likely.trees.tree import Tree

MOST_VALUES = 8
LONGEST = 48


def number(value: float) -> str:
    """Ten digits at most, and none that say nothing."""
    return f"{value:.10g}"


def label(tree: Tree, node: int) -> str:
    """The class that a node stands for, or what is decided there instead."""
    most = tree.classes.tolist()[tree.majority[node]]
    if tree.decided is None or tree.decided[node] == most:
        return str(most)
    return f"{tree.decided[node]}, though most are {most}"


def weight(value: float) -> str:
    """A number of cases; parts of cases with two digits."""
    if value >= 1e15:  # the last digits would be inventions
        return f"{value:.10g}"
    return f"{value:,.0f}" if abs(value - round(value)) < 5e-3 else f"{value:,.2f}"


def cases(tree: Tree, node: int) -> str:
    """Cases in a node, and after a stroke those of other classes, if there are any."""
    errors = float(tree.errors[node])
    return weight(tree.sizes[node]) + (f"/{weight(errors)}" if errors >= 5e-3 else "")


def values_of(tree: Tree, node: int, branch: int) -> list[Hashable]:
    """The values of a nominal column that take a branch."""
    levels = tree.features[tree.column[node]].levels or ()
    return [level for level, own in zip(levels, tree.branch_map(node), strict=True) if own == branch]


def outcome(tree: Tree, node: int, branch: int) -> str:
    """What has to hold for a branch, without the name of the column: "< 41", "high", "≠ red"."""
    if tree.features[tree.column[node]].is_numeric:
        return f"{'<' if branch == 0 else '≥'} {number(tree.threshold[node])}"
    values = values_of(tree, node, branch)
    if tree.n_children[node] == 2 and len(values) > 1:
        others = values_of(tree, node, 1 - branch)
        if len(others) == 1:
            return f"≠ {others[0]}"
    shown = ", ".join(str(value) for value in values[:MOST_VALUES])
    return shown if len(values) <= MOST_VALUES else f"{shown} and {len(values) - MOST_VALUES} more"


def condition(tree: Tree, node: int, branch: int) -> str:
    """The same with the name: "age < 41", "blood_pressure = high", "colour in red, green"."""
    name, said = tree.features[tree.column[node]].name, outcome(tree, node, branch)
    if tree.features[tree.column[node]].is_numeric or said.startswith("≠ "):
        return f"{name} {said}"
    several = len(values_of(tree, node, branch)) > 1
    return f"{name} in {{{said}}}" if several else f"{name} = {said}"


def shortened(text: object, longest: int = LONGEST) -> str:
    """On one line, and not too long."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split()) or "(empty)"
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
