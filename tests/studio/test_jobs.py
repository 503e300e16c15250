"""Work of the studio: one thing at a time, refusals in one sentence, and no end of patience."""

from __future__ import annotations

import threading
import time

import pytest

from likely.errors import SettingsError
from likely.serve.refusals import HTTPRefusal
from likely.studio.jobs import MOST_WAITING, Job, Jobs


def ended(job: Job) -> Job:
    for _ in range(500):
        if job.state in ("done", "failed", "stopped"):
            return job
        time.sleep(0.01)
    raise AssertionError("it does not end")


def test_work_is_done_and_told() -> None:
    jobs = Jobs()
    job = ended(jobs.start(lambda job: job.tell("learning", 0.5) or 7))
    known = {"state": "done", "share": 0.5, "step": "learning", "done": None, "total": None}
    assert jobs.find(job.name).told() == {**known, "result": 7}
    jobs.close()


def test_a_bar_never_goes_back() -> None:
    job = Job()
    for share in (None, 0.4, 0.1, None, 0.6):
        job.tell("learning", share)
        if share == 0.1:
            assert job.share == 0.4
    job.tell("judging")
    assert job.share == 0.6 and job.step == "judging"


def test_work_that_is_stopped_ends_where_it_tells_how_far_it_has_come() -> None:
    jobs, begun, hold, after = Jobs(), threading.Event(), threading.Event(), []

    def long(job: Job) -> None:
        begun.set()
        hold.wait(10)
        job.tell("learning", 0.5)
        after.append("it went on")

    running, waiting = jobs.start(long), jobs.start(long)
    begun.wait(10)
    jobs.stop(running.name)
    jobs.stop(waiting.name)
    hold.set()
    assert ended(running).state == ended(waiting).state == "stopped" and after == []
    assert "error" not in running.told()
    jobs.close()


def test_what_fails_is_one_sentence() -> None:
    def refused(_: Job) -> None:
        raise SettingsError("No.")

    def broken(_: Job) -> None:
        raise RuntimeError("secret")

    jobs = Jobs()
    told = ended(jobs.start(refused)).told()
    assert (told["error"], told["code"], told["facts"]) == ("No.", "settings", [])
    told = ended(jobs.start(broken)).told()
    assert told["code"] == "failed" and "secret" not in str(told)
    with pytest.raises(HTTPRefusal):
        jobs.find("strange")
    jobs.close()


def test_too_much_is_refused() -> None:
    jobs, hold = Jobs(), threading.Event()
    for _ in range(MOST_WAITING):
        jobs.start(lambda _: hold.wait(10))
    with pytest.raises(HTTPRefusal, match="busy"):
        jobs.start(lambda _: None)
    hold.set()
    jobs.close()
