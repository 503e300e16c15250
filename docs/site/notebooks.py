"""Notebooks as pages: a parser that reads the cells of an `.ipynb` file as Markdown."""

from __future__ import annotations

import json

from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx


class NotebookParser(MystParser):
    """Text cells as they are, code cells in fences; outputs are not shown, since none are stored."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a notebook as the page that its cells make."""
        super().parse(as_markdown(inputstring), document)


def as_markdown(notebook: str) -> str:
    """The cells of a notebook, one below the other."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
