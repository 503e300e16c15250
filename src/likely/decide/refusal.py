"""The answer of a classifier that declines to decide."""

from __future__ import annotations

from typing import Final, final


@final
class Refusal:
    """A value of its own: equal to itself and to no label, the same after pickling, last in any order.

    >>> sorted([REFUSED, "grant", "deny"])
    ['deny', 'grant', REFUSED]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "REFUSED"

    def __reduce__(self) -> str:
        return "REFUSED"  # copies and pickles find this one again, by name

    # Labels sort before it, so that tools that sort what they are given (np.unique, groupby) work.
    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __le__(self, other: object) -> bool:
        return other is self

    def __ge__(self, other: object) -> bool:
        return True


REFUSED: Final = Refusal()
"""No decision: none was cheap enough, or the row is like none that was learned."""
