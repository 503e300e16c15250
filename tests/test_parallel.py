"""Tasks side by side are done whether or not anybody looks, in order; and matrix products get their threads back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from likely.parallel import WorkerPool, one_thread_each, pipeline, run, total, within_pool

CONTROLLER = ThreadpoolController().select(user_api="blas")


def threads() -> list[int]:
    return [library["num_threads"] for library in CONTROLLER.info()]


def test_within_there_is_one_thread_and_afterwards_as_many_as_before() -> None:
    before = threads()
    assert len(before) > 0
    with one_thread_each():
        assert set(threads()) == {1}
        with one_thread_each():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_an_error_gives_the_threads_back() -> None:
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread_each():
        np.ones(1) / (1 // 0)
    assert threads() == before


def test_two_at_once_leave_no_trace() -> None:
    before, meet = threads(), Barrier(2)

    def come_and_go() -> None:
        for _ in range(20):
            meet.wait()
            with one_thread_each():
                np.ones((50, 50)) @ np.ones((50, 50))

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(come_and_go) for _ in range(2)]:
            done.result()
    assert threads() == before


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_tasks_are_done_without_anybody_asking_for_results(n_jobs: int) -> None:
    done: list[int] = []
    found = run(lambda item: done.append(item) or item * item, range(20), n_jobs)
    assert found == [item * item for item in range(20)]
    assert sorted(done) == list(range(20))
    with pytest.raises(ZeroDivisionError):
        run(lambda item: 1 // item, [1, 0], n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_pipeline_keeps_the_order_and_runs_only_a_little_ahead(n_jobs: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(50):
            taken.append(item)
            yield item

    for place, (item, result) in enumerate(pipeline(lambda item: -item, items(), n_jobs)):
        assert (item, result) == (place, -place)
        assert len(taken) <= place + n_jobs + 2
    assert total(lambda item: np.full(2, item), range(5), n_jobs, np.zeros(2)).tolist() == [10.0, 10.0]


def test_of_several_errors_the_first_one_is_raised_and_nothing_begins_after_it() -> None:
    begun: list[int] = []

    def fail_later(item: int) -> int:
        begun.append(item)
        if item in (3, 5):
            raise KeyError(item)
        return item

    for n_jobs in (1, 2, 7):
        begun.clear()
        with pytest.raises(KeyError, match="3"):
            run(fail_later, range(400), n_jobs)
        assert len(begun) < 400


def test_tasks_within_tasks_are_done_by_whoever_is_free() -> None:
    def rows(item: int) -> int:
        return sum(run(lambda inner: inner * item, range(5), 4))

    assert run(rows, range(20), 4) == [10 * item for item in range(20)]
    pool = WorkerPool(3)
    assert pool.do(lambda item: (sum(pool.do(lambda inner: inner, range(item))), within_pool()), range(4)) == [
        (0, True), (0, True), (1, True), (3, True)
    ]  # fmt: skip
    assert not within_pool()


FORKS = """
import os
from likely.parallel import run
assert run(abs, [-1, -2, -3], 3) == [1, 2, 3]
child = os.fork()
if child == 0:
    os._exit(0 if run(abs, [-1, -2, -3], 3) == [1, 2, 3] else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """In a process without other libraries that have threads: they warn, and may hang."""
    assert subprocess.run([sys.executable, "-c", FORKS], check=False).returncode == 0
