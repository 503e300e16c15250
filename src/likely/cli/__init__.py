"""The command line: `likely train`, `likely predict` and so on."""

from __future__ import annotations

import sys


def main() -> None:
    """What the program `likely` runs."""
    try:
        from likely.cli.run import main as run

        run()
    except KeyboardInterrupt:  # before anything has begun
        sys.exit(130)
