"""The cells that families stand for, and what a user may decide about beliefs."""

from __future__ import annotations

import numpy as np
import pytest

from likely import Laplace, MEstimate
from likely.families import FAMILIES
from likely.families.protocol import Chained, Domain, Settings

CELLS = np.array([-1.5, -0.0, 0.0, 0.5, 3.0, np.nan])


@pytest.mark.parametrize(
    ("domain", "outside"),
    [
        (Domain.ANY, [False] * 6),
        (Domain.REAL, [False] * 6),
        (Domain.POSITIVE, [True, True, True, False, False, False]),
        (Domain.COUNTS, [True, False, False, False, False, False]),
    ],
)
def test_what_lies_outside(domain: Domain, outside: list[bool]) -> None:
    assert domain.outside(CELLS).tolist() == outside


@pytest.mark.parametrize(
    ("values", "suited"),
    [
        ([0.0, 3.0], {Domain.ANY, Domain.REAL, Domain.COUNTS}),
        ([1.0, 3.0], {Domain.ANY, Domain.REAL, Domain.COUNTS, Domain.POSITIVE}),
        ([0.5, 3.0], {Domain.ANY, Domain.REAL, Domain.POSITIVE}),
        ([-1.0, 3.0], {Domain.ANY, Domain.REAL}),
    ],
)
def test_what_suits(values: list[float], suited: set[Domain]) -> None:
    assert {domain for domain in Domain if domain.suits(np.array(values))} == suited


def test_what_is_believed_unless_a_user_says_otherwise() -> None:
    usual = Settings()
    assert (usual.missing, usual.unseen, usual.covariance, usual.shrinkage) == ("ignore", "ignore", "full", "auto")
    assert usual.unbiased and not usual.normalise and usual.weighting == "counts"
    assert (usual.variance_floor, usual.bins, usual.fewest) == (1e-9, 10, 1.0)
    assert usual.smoothing_of("any") == Laplace(1.0)
    assert Settings(smoothing={"x": MEstimate(2.0)}).smoothing_of("x") == MEstimate(2.0)


def test_weights_that_only_compare_classes_do_not_say_how_probable_a_row_is() -> None:
    assert {name for name, family in FAMILIES.items() if not family.has_density} == {"complement", "text complement"}


def test_pairs_depend_on_each_other() -> None:
    assert FAMILIES["aode"].chained and not isinstance(FAMILIES["gaussian"], Chained)  # type: ignore[attr-defined]
