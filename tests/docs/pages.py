"""Run the code of a page: one namespace per page, `>>>` blocks compared with their output."""

from __future__ import annotations

import re
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path
from unittest import SkipTest

from sybil import Document, Sybil
from sybil.evaluators.skip import Skipper
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# ```python is the one spelling that runs; any other would be passed over in silence.
ODD_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[ \t]*(?!python$)(?i:\{?py)[^\n]*$", re.MULTILINE)


def pages(root: Path) -> list[Path]:
    """Every page of the project: those at the root and all under docs/."""
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def parsed(page: Path) -> Document:
    """The page, cut into examples; refuses Python that would not run and skips without a reason."""
    flags = NORMALIZE_WHITESPACE | ELLIPSIS
    document = Sybil([PythonCodeBlockParser(doctest_optionflags=flags), SkipParser()]).parse(page)
    odd = ODD_FENCE.search(document.text)
    if odd:
        place = document.line_column(odd.start())
        raise ValueError(f"{page.name}, {place}: write ```python, or the block is not run: {odd.group()!r}")
    for example in document:
        if isinstance(example.region.evaluator, Skipper):
            action, reason = example.parsed
            if action != "end" and not reason:
                raise ValueError(f'{page.name}, line {example.line}: say why: <!-- skip: {action} "…" -->')
    return document


def run(page: Path) -> int:
    """Run the page from top to bottom; the number of examples that ran."""
    ran = 0
    for example in parsed(page):
        try:
            example.evaluate()
        except SkipTest as skipped:
            print(f"{page.name}, line {example.line}: not run, {skipped}")
            continue
        ran += not isinstance(example.region.evaluator, Skipper)
    return ran
