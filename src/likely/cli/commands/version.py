"""`likely version`: the version, and what it runs on."""

from __future__ import annotations

import platform
from importlib.metadata import version as version_of

from likely.cli.output import OutputOptions, write, write_json
from likely.version import __version__

SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "pandas")


def version(output: OutputOptions) -> None:
    """Show the version, and those of Python and the main libraries.

    \b
    likely version
    likely version --json
    """
    found = {"likely": __version__, "python": platform.python_version(), **{name: version_of(name) for name in SHOWN}}
    if output.json:
        write_json(found)
    else:
        write("\n".join(f"{name} {number}" for name, number in found.items()))
