"""Draws the pictures of docs/gallery.md by running the code of that page: do so after a change to a plot."""

from __future__ import annotations

import os
import re
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run the page in the folder of the pictures."""
    page = HERE.parent / "gallery.md"
    os.chdir(HERE)
    exec(compile("\n".join(BLOCK.findall(page.read_text())), page.name, "exec"), {})


if __name__ == "__main__":
    main()
