"""Docstrings as they are written here: plain sentences, `code` in single backticks, sections with a line below, `>>>`.

Autodoc takes them for reStructuredText, in which a star or a trailing underscore means something. So they are escaped
outside of code and examples, and entries (`name : what it is`) become a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

CODE = re.compile(r"(`+[^`]+`+)")
SPECIAL = re.compile(r"[*_|\\]")
ENTRY = re.compile(r"([\w*][\w*, ]*) : (.*)")
RULE = re.compile(r"-{3,}")


def as_rst(lines: list[str]) -> Iterator[str]:
    """The same text for reStructuredText."""
    example = section = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if RULE.fullmatch(line.strip()):
            continue
        example = line.strip().startswith(">>>") or (example and bool(line.strip()))
        entry = None if example else ENTRY.fullmatch(line)
        if RULE.fullmatch(following.strip()):
            section = True
            yield from ("", f".. rubric:: {line}", "")
        elif entry:
            section = True
            yield from ("", f"- **{escaped(entry[1])}**: {escaped(entry[2])}")
        elif section and line.startswith("    ") and not example:
            yield f"  {escaped(line.strip())}"
        else:
            if section and line.strip():
                section = False
                yield ""
            yield line if example or line.startswith("    ") else escaped(line)


def escaped(text: str) -> str:
    """Prose in which only code is special."""
    pieces = enumerate(CODE.split(text))
    return "".join(f"``{part.strip('`')}``" if place % 2 else SPECIAL.sub(r"\\\g<0>", part) for place, part in pieces)


def change(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Change the lines of a docstring in place, as autodoc asks for."""
    lines[:] = list(as_rst(lines))


def skip(app: Sphinx, what: str, name: str, thing: object, skipped: bool, options: object) -> bool | None:
    """Leave out what scikit-learn's classes bring along; its own pages describe that."""
    home = getattr(thing, "__module__", None) or ""
    return True if home.startswith("sklearn") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("autodoc-process-docstring", change)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
