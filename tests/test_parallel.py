"""The linear algebra library gets back its threads, whoever comes and goes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from likely.parallel import one_thread_each

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
