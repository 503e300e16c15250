"""Entries of predictions are written in any order, from any first entry on, and kept as far as there is room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely.decide import Loss
from likely.evaluation import predictions as module
from likely.evaluation.predictions import PredictionBuffer, Predictions

POSTERIOR = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]])
TRUTH = np.array([0, 2, 1, 1], dtype=np.int32)


def buffer_of(loss: Loss | None = None, times: int = 1) -> PredictionBuffer:
    n = 4 * times
    weight = np.arange(1.0, n + 1.0)
    return PredictionBuffer(np.arange(3), np.tile(TRUTH, times), weight, np.tile(np.arange(4), times), loss)


def by_slice(buffer: PredictionBuffer) -> None:
    buffer.write(slice(0, 4), POSTERIOR)


def by_rows(buffer: PredictionBuffer) -> None:
    for rows in ([3, 1], [0, 2]):
        buffer.write(np.array(rows), POSTERIOR[rows])


def by_parts(buffer: PredictionBuffer) -> None:
    buffer.write(slice(2, 4), POSTERIOR[2:])
    buffer.write(slice(0, 2), POSTERIOR[:2])


@pytest.mark.parametrize("most", [12, 11], ids=["kept", "noted"])
@pytest.mark.parametrize("write", [by_slice, by_rows, by_parts])
def test_what_is_said_of_each_entry(write: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", most)
    buffer = buffer_of()
    write(buffer)
    found = buffer.finish()
    assert len(found) == 4 and found.may_refuse is False and found.cost is None
    assert (found.posterior is not None) is (found.noted is None) is (most == 12)
    if found.posterior is not None:
        assert found.posterior.tolist() == POSTERIOR.tolist()
    assert found.top.tolist() == found.decided.tolist() == [0, 1, 2, 1]
    assert found.shares is not None
    assert found.shares.likelihood.tolist() == [0.7, 0.4, 0.3, 1.0]
    assert found.shares.squares.tolist() == pytest.approx([0.54, 0.42, 0.34, 1.0])
    assert found.shares.confidence.tolist() == [0.7, 0.5, 0.4, 1.0]


@pytest.mark.parametrize("most", [36, 35], ids=["kept", "noted"])
def test_rows_count_from_the_first_entry_of_their_turn(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", most)
    for rows in (slice(0, 4), np.array([0, 1, 2, 3])):
        buffer = buffer_of(times=3)
        buffer.write(slice(0, 4), POSTERIOR)
        buffer.write(rows, POSTERIOR[:, ::-1], first=4)
        buffer.write(rows, POSTERIOR[:, [1, 2, 0]], first=8)
        found = buffer.finish()
        assert found.top.tolist() == [0, 1, 2, 1, 2, 1, 0, 1, 2, 0, 1, 0]
        assert found.shares is not None
        assert found.shares.likelihood[4:].tolist() == [0.1, 0.1, 0.3, 1.0, 0.2, 0.1, 0.4, 0.0]


def test_what_a_classifier_chooses_leads_over_its_shares() -> None:
    buffer = buffer_of(times=3)
    for first, chosen in ((0, [2, 2, 2, 2]), (4, [1, 0, 1, 0]), (8, [0, 0, 1, 2])):
        buffer.write(np.arange(4), POSTERIOR, np.array(chosen, dtype=np.int32), first)
    found = buffer.finish()
    assert found.top.tolist() == [2, 2, 2, 2, 1, 0, 1, 0, 0, 0, 1, 2] and found.posterior is not None


def test_labels_alone_leave_no_shares() -> None:
    buffer = buffer_of(times=3)
    buffer.write_labels(np.arange(4), TRUTH)
    buffer.write_labels(np.array([3, 0]), np.array([2, 1], dtype=np.int32), 4)
    buffer.write_labels(np.array([1]), np.array([2], dtype=np.int32), 8)
    found = buffer.finish()
    assert found.top.tolist() == [0, 2, 1, 1, 1, 0, 0, 2, 0, 2, 0, 0]
    assert found.posterior is None and found.noted is None and found.shares is None


@pytest.mark.parametrize("most", [24, 23], ids=["kept", "noted"])
def test_costs_of_single_rows_are_those_of_their_row_in_every_turn(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", most)
    prices = np.array([1.0, 2.0, 3.0, 4.0])
    loss = Loss(prices[:, None, None] * (1.0 - np.eye(3)), decisions=[0, 1, 2], truths=[0, 1, 2], refuse=1.5)
    buffer = buffer_of(loss, times=2)
    buffer.write(slice(0, 4), POSTERIOR)
    buffer.write(np.arange(4), POSTERIOR[:, [1, 0, 2]], first=4)
    found = buffer.finish()
    assert found.may_refuse is True and found.cost is not None
    assert found.decided.tolist() == [0, 1, -1, 1, 1, 0, -1, 0]
    assert found.cost.tolist() == [0.0, 2.0, 1.5, 0.0, 1.0, 2.0, 1.5, 4.0]


def test_a_loss_without_a_price_refuses_nothing() -> None:
    buffer = buffer_of(Loss.zero_one([0, 1, 2]))
    buffer.write(slice(0, 4), POSTERIOR)
    found = buffer.finish()
    assert found.may_refuse is False and found.cost is not None and found.cost.tolist() == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("most", [12, 11], ids=["kept", "noted"])
def test_some_entries_are_taken_with_all_that_is_known_of_them(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", most)
    buffer = buffer_of(Loss.zero_one([0, 1, 2], refuse=0.55))
    buffer.write(slice(0, 4), POSTERIOR)
    buffer.fold[:] = [5, 6, 7, 8]
    whole, rows = buffer.finish(), np.array([3, 1, 1])
    some: Predictions = whole.take(rows)
    for name in ("truth", "top", "decided", "weight", "unit", "fold", "cost"):
        assert getattr(some, name).tolist() == getattr(whole, name)[rows].tolist(), name
    assert some.shares is not None and whole.shares is not None
    for own, all_of_them in zip(some.shares, whole.shares, strict=True):
        assert own.tolist() == all_of_them[rows].tolist()
    assert some.posterior is None or some.posterior.tolist() == POSTERIOR[rows].tolist()


def test_posteriors_are_kept_up_to_a_gibibyte() -> None:
    """Rooms that nobody has walked through yet take no memory."""
    for n_rows, kept in ((1 << 20, True), ((1 << 20) + 1, False)):
        buffer = PredictionBuffer(np.arange(128), np.zeros(n_rows, np.int32), np.ones(n_rows), np.arange(n_rows), None)
        assert (len(buffer._kept) == n_rows) is kept
