"""`likely demo`: the whole way on twelve patients."""

from __future__ import annotations


def demo() -> None:
    """Show the whole way on a small table that comes along.

    \b
    likely demo

    Learns twelve patients, predicts three more, shows why, decides by cost, and says how good it is.
    """
    from likely.teaching.demo import main

    main()
