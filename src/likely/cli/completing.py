"""Names of columns for the shell's completion, where a table has been named already."""

from __future__ import annotations

import os

import typer


def complete_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table on the command line; nothing if it cannot be read, and never an error."""
    named = [value for value in ctx.params.values() if value] + list(ctx.args)
    paths = [path for value in named for path in (value if isinstance(value, (list, tuple)) else [value])]
    for path in [path for path in paths if isinstance(path, str) and os.path.isfile(path)]:
        from likely.errors import LikelyError
        from likely.files import open_table

        try:
            return [name for name in open_table(path).names if name.startswith(incomplete)]
        except (LikelyError, OSError):
            continue
    return []
