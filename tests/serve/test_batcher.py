"""Requests that come together are judged together, and everybody gets his own answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import LikelyError
from likely.serve import batcher
from likely.serve.batcher import Batcher
from likely.serve.catalogue import Judged, Snapshot
from likely.serve.metrics import Metrics
from tests.serve.conftest import weather, without_label

ROWS = without_label(weather(40, seed=7))


@pytest.fixture(scope="module")
def model(trained: Path) -> Snapshot:
    return Snapshot("weather", "1", "r", likely.load(trained))


def judged(model: Snapshot, requests: list[list[dict[str, Any]]]) -> tuple[list[Any], Metrics]:
    metrics = Metrics()

    async def ask() -> list[Any]:
        with ThreadPoolExecutor(2) as threads:
            batcher = Batcher(threads, metrics)
            asked = [batcher.judge(model, model.reader.columns(rows)) for rows in requests]
            return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(ask()), metrics


@pytest.mark.parametrize("quick", [True, False])
def test_everybody_gets_his_own_answer(quick: bool, model: Snapshot) -> None:
    requests = [ROWS[k : k + 1 + k % 3] for k in range(30)]
    found, metrics = judged(replace(model, quick=quick), requests)
    for rows, one in zip(requests, found, strict=True):
        assert_allclose(one.posterior, model.classifier.predict_proba(rows), rtol=1e-12)
        assert one.chosen.shape == (len(rows),)
    assert metrics.batches < len(requests) and metrics.batched_requests == len(requests)


@pytest.mark.parametrize("quick", [True, False])
def test_batches_are_bounded(quick: bool, model: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batcher, "AT_ONCE", 8)
    found, metrics = judged(replace(model, quick=quick), [ROWS[:3]] * 12)
    assert len(found) == 12 and all(isinstance(one, Judged) for one in found)
    assert metrics.batches >= 4


def test_what_is_wrong_with_one_is_told_to_that_one(model: Snapshot) -> None:
    bad = [{**ROWS[0], "wind": float("inf")}]
    found, _ = judged(model, [ROWS[:1], bad, ROWS[1:2]])
    assert isinstance(found[0], Judged) and isinstance(found[2], Judged)
    assert isinstance(found[1], LikelyError)


def test_a_fault_of_ours_is_told_to_all(model: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(Snapshot, "judge", fail)
    for quick in (True, False):
        found, _ = judged(replace(model, quick=quick), [ROWS[:1], ROWS[1:2]])
        assert all(isinstance(one, Exception) for one in found)


def test_large_requests_go_alone(model: Snapshot) -> None:
    found, metrics = judged(model, [ROWS * 20, ROWS[:1]])
    assert len(found[0].posterior) == 800 and len(found[1].posterior) == 1
    assert metrics.batches == 2
