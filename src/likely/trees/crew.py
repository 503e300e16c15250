"""Who grows a tree: threads that stay, but are not woken up for a level that is soon done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from likely import threads
from likely.threads import Item, Result

WORTH_THREADS = 1 << 13
"""Cases below which one thread is quicker than several: a column is done before another thread wakes up."""


class Crew(threads.Crew):
    """A crew that knows how much there is to do."""

    def each(self, task: Callable[[Item], Result], items: Sequence[Item], n_cases: int) -> list[Result]:
        """Results of `task` for every item, in the order of the items; each of them looks at so many cases."""
        return [task(item) for item in items] if n_cases < WORTH_THREADS else self.do(task, items)
