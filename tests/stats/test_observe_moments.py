"""The one-pass way through rows whose classes are well known gives what two passes give."""

from __future__ import annotations

import numpy as np
import pytest

from likely.stats import Moments, moments_of_blocks

N_ROWS, N_COLUMNS, N_CLASSES = 30_000, 9, 4


def plainly(rows: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Moments:
    n, mean, root = np.zeros((3, N_CLASSES, N_COLUMNS))
    for c in range(N_CLASSES):
        for j in range(N_COLUMNS):
            mine = (y == c) & ~np.isnan(rows[:, j])
            x, w = rows[mine, j].astype(np.longdouble), weight[mine].astype(np.longdouble)
            if w.sum() > 0:
                n[c, j], mean[c, j] = w.sum(), np.average(x, weights=w)
                root[c, j] = np.sqrt((w * (x - np.average(x, weights=w)) ** 2).sum())
    return Moments(n, mean, root)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("gaps", [0.0, 1e-5, 0.3])
@pytest.mark.parametrize("arranged", ["mixed", "sorted", "class by class", "a class comes late"])
def test_any_arrangement(arranged: str, gaps: float, shift: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, N_ROWS).astype(np.int32)
    # At 1e8 floats stand 1.5e-8 apart, which a spread below one would feel.
    spread = np.logspace(0 if shift else -3, 3, N_COLUMNS)
    rows = rng.normal(size=(N_ROWS, N_COLUMNS)) * spread + shift
    if arranged == "sorted":
        rows = np.sort(rows, axis=0)
    elif arranged == "class by class":
        y = np.sort(y)
    elif arranged == "a class comes late":
        y[:-500] = np.minimum(y[:-500], 2)
    rows[rng.random(rows.shape) < gaps] = np.nan
    weight = rng.gamma(1.0, size=N_ROWS)
    seen, expected = Moments.observe(rows, y, weight, N_CLASSES), plainly(rows, y, weight)
    np.testing.assert_allclose(seen.n, expected.n, rtol=1e-12)
    np.testing.assert_allclose(seen.mean, expected.mean, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(seen.root, expected.root, rtol=1e-7 if shift else 1e-12)


def test_an_infinite_cell_shows() -> None:
    rows = np.ones((5000, 2))
    rows[4000, 1] = np.inf
    assert not np.isfinite(Moments.observe(rows, np.zeros(5000, dtype=np.int32)).root).all()


def test_a_class_that_is_far_smaller_than_the_others_can_leave() -> None:
    """The squares of 2e-308 vanish beside those of 1, so that its class seems constant though its mean is not."""
    least = np.finfo(np.float64).tiny
    y = np.array([0, 0, 1, 0, 0, 1], dtype=np.int32)
    rows = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [least]])
    left = Moments.observe(rows, y) - Moments.observe(rows[:3], y[:3])
    assert left.n.tolist() == [[2.0], [1.0]]
    np.testing.assert_allclose(left.mean, [[0.5], [least]])


def test_weights_of_almost_nothing_say_what_others_say() -> None:
    """The product of a weight of 1e-200 and a square of 1e-200 is no float."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(40, 2)) * [1.0, 1e-100], (np.arange(40) % 2).astype(np.int32)
    weight = rng.gamma(1.0, size=40)
    light, usual = Moments.observe(rows, y, 1e-200 * weight), Moments.observe(rows, y, weight)
    np.testing.assert_allclose(light.n, 1e-200 * usual.n, rtol=1e-12)
    np.testing.assert_allclose(light.mean, usual.mean, rtol=1e-9)
    np.testing.assert_allclose(light.root, 1e-100 * usual.root, rtol=1e-9)


def blockwise(rows: np.ndarray, y: np.ndarray, weight: np.ndarray | None, n_jobs: int = 3) -> Moments | None:
    blocks = [slice(at, min(at + 700, len(rows))) for at in range(0, len(rows), 700)]
    return moments_of_blocks(rows.__getitem__, blocks, y, weight, (N_CLASSES, rows.shape[1]), n_jobs)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_blocks_add_up_to_the_whole_whatever_threads_there_are(gaps: float, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    rows = np.where(rng.random((5000, N_COLUMNS)) < gaps, np.nan, rng.normal(50.0, 2.0, (5000, N_COLUMNS)))
    rows[:, 3] = 0.0
    y = np.sort(rng.integers(0, N_CLASSES, 5000)).astype(np.int32)
    weight = rng.random(5000) if weighted else None
    whole, one, many = (
        Moments.observe(rows, y, weight, N_CLASSES),
        blockwise(rows, y, weight, 1),
        blockwise(rows, y, weight),
    )
    assert one is not None and many is not None
    for name in ("n", "mean", "root"):
        assert (getattr(one, name) == getattr(many, name)).all()
        np.testing.assert_allclose(getattr(many, name), getattr(whole, name), rtol=1e-11)


@pytest.mark.parametrize("cell", [np.inf, -np.inf, 1e200, 1e-170])
def test_extreme_cells_are_left_to_a_closer_look(cell: float) -> None:
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(3000, 2)), rng.integers(0, N_CLASSES, 3000).astype(np.int32)
    rows[:, 1] = 0.0 if cell < 1.0 else 1.0
    rows[1500, 1] = cell
    assert blockwise(rows, y, None) is None
    assert blockwise(rows[:1400], y[:1400], None) is not None
    assert blockwise(rows[:1400], y[:1400], np.full(1400, 1e-200)) is None
