"""The risk–coverage curve."""

from __future__ import annotations

import numpy as np
import pytest

from likely import DataError, Loss
from likely.decide import risk_coverage


def test_by_hand() -> None:
    """Surest first: right, right, wrong, wrong."""
    posterior = [[0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]
    curve = risk_coverage(posterior, ["b", "a", "a", "b"], Loss.zero_one(["a", "b"]), ["a", "b"])
    np.testing.assert_allclose(curve.coverage, [0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(curve.risk, [0, 0, 1 / 3, 2 / 4])
    np.testing.assert_allclose(curve.price, [0.1, 0.2, 0.3, 0.4])
    assert curve.area == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    frame = curve.to_frame()
    assert list(frame) == ["price", "coverage", "risk"]
    assert len(frame) == 4


def test_the_price_is_that_of_a_refusal() -> None:
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([1, 1, 1], 300)
    truth = np.array([rng.choice(3, p=row) for row in posterior])
    loss = Loss(rng.uniform(0, 5, size=(4, 3)), decisions="abcd", truths=range(3))
    curve = risk_coverage(posterior, truth, loss.refusing(1.0), range(3))
    from likely.decide import REFUSED, decide_posterior

    for place in (10, 100, 250):
        decided = decide_posterior(posterior, range(3), loss.refusing(curve.price[place]))
        taken = decided != REFUSED
        assert taken.mean() == pytest.approx(curve.coverage[place])
        assert loss.paid(decided[taken], truth[taken]).mean() == pytest.approx(curve.risk[place])
    assert curve.coverage[-1] == 1.0


def test_the_order_of_rows_is_free() -> None:
    rng = np.random.default_rng(0)
    posterior = rng.choice([0.1, 0.5, 0.7, 0.9], 200)
    posterior = np.column_stack([posterior, 1 - posterior])
    truth, order = rng.integers(0, 2, 200), rng.permutation(200)
    one = risk_coverage(posterior, truth, Loss.binary(1, 5), [0, 1])
    other = risk_coverage(posterior[order], truth[order], Loss.binary(1, 5), [0, 1])
    np.testing.assert_allclose(one.risk, other.risk, rtol=1e-12)
    assert one.area == pytest.approx(other.area, rel=1e-12)
    assert len(one.price) == len(np.unique(one.price)) == 4


def test_useless_confidence_gains_nothing() -> None:
    truth = np.arange(1000) % 2
    curve = risk_coverage(np.full((1000, 2), 0.5), truth, Loss.zero_one([0, 1]), [0, 1])
    assert curve.risk.tolist() == [0.5]
    assert curve.area == pytest.approx(0.5)


def test_shapes_are_checked() -> None:
    for posterior in (np.zeros((2, 3)), np.zeros(2), np.zeros((0, 2))):
        with pytest.raises(DataError, match="2 classes"):
            risk_coverage(posterior, [0, 1], Loss.zero_one([0, 1]), [0, 1])
