"""The laws of adding up, stated once: every statistic must obey all of them.

A law gets `make`, which turns rows into a statistic, `same`, which compares two, and three lists of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rows = list[Any]
Make = Callable[[Rows], Any]
Same = Callable[[Any, Any], None]


def empty_changes_nothing(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    same(make([]) + make(a), make(a))
    same(make(a) + make([]), make(a))
    same(make(a) - make([]), make(a))


def order_is_free(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    same(make(a) + make(b), make(b) + make(a))
    same(make(a + b), make(list(reversed(a + b))))


def grouping_is_free(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    same((make(a) + make(b)) + make(c), make(a) + (make(b) + make(c)))


def parts_make_the_whole(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    same(make(a) + make(b) + make(c), make(a + b + c))


def taking_out_undoes(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    same((make(a) + make(b)) - make(b), make(a))
    same(make(a + b + c) - make(b), make(a + c))


def what_is_counted_is_sound(make: Make, same: Same, a: Rows, b: Rows, c: Rows) -> None:
    for seen in (make(a), make(a) + make(b), make(a + b + c) - make(b)):
        seen.validate()


LAWS = [
    empty_changes_nothing,
    order_is_free,
    grouping_is_free,
    parts_make_the_whole,
    taking_out_undoes,
    what_is_counted_is_sound,
]
