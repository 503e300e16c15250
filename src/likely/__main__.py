"""`python -m likely` is the program `likely`."""

from __future__ import annotations

from likely.cli import main

if __name__ == "__main__":
    main()
