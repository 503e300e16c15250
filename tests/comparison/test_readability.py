"""What readability costs: evidence of several depths on the same folds."""

from __future__ import annotations

import numpy as np
import pytest

import likely
from likely import compare
from likely.comparison.candidates import candidates
from likely.models.classifier import Classifier


@pytest.fixture(scope="module")
def depths() -> likely.Comparison:
    """Two columns that speak only together, and one that says a little."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 300))
    y = np.where(rng.random(300) < 0.1, c, a ^ b)
    full = likely.EvidenceClassifier()
    return compare({"a": a, "b": b, "c": c}, y, ["evidence-columns", full, "evidence, pairs", "naive Bayes"], cv=3)


class TestReadability:
    def test_evidence_of_each_depth_has_a_name(self, depths: likely.Comparison) -> None:
        assert set(depths.reports) == {
            "evidence", "evidence, columns", "evidence, pairs", "naive Bayes", "majority class",
        }  # fmt: skip
        found = candidates(["evidence triples", "EvidenceClassifier"], images=False, random_state=7)
        assert [one.depth for one in found] == ["triples", "rest"]
        assert [one.classifier.get_params()["random_state"] for one in found if isinstance(one.classifier, Classifier)]
        columns, full = likely.EvidenceClassifier(depth="columns"), likely.EvidenceClassifier()
        by_name = candidates([columns, full], images=False, random_state=0)
        assert [one.name for one in by_name] == ["evidence, columns", "evidence"]
        assert by_name[0].simplicity < by_name[1].simplicity

    def test_its_price_is_the_difference_to_the_deepest(self, depths: likely.Comparison) -> None:
        price = depths.price_of_readability
        assert list(price) == ["evidence, columns", "evidence, pairs"]
        losses = depths.to_frame()["log_loss"]
        for name, gap in price.items():
            assert gap.mean == pytest.approx(losses[name] - losses["evidence"])
        assert not price["evidence, columns"].is_noise
        assert price["evidence, pairs"].is_noise
        told = " ".join(str(depths).split())
        assert "What readability costs: evidence, columns (a table for each column) has 0." in told
        assert "so it may be nothing" in told.split("evidence, pairs (tables of columns and pairs)")[1]
        assert "What readability costs" in depths.to_html()

    def test_it_has_none_where_one_depth_takes_part(self) -> None:
        alone = compare({"a": [0, 1] * 20}, [0, 1] * 20, ["naive Bayes", "evidence"], cv=2)
        assert alone.price_of_readability == {}
        assert "readability" not in str(alone)
