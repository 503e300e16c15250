"""Categories with many values: rows are sparse, and LIBSVM reads them as they are once they are many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from likely import Loss, SVMClassifier, load


@pytest.mark.parametrize("kernel", ["gauss", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rows_say_what_few_would(
    kernel: str, n_classes: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, n_classes, 300)
    table = {f"c{j}": np.char.add("v", ((rng.integers(0, 60, 300) + 30 * y) // 2).astype(str)) for j in range(4)}
    few = SVMClassifier(kernel=kernel, tolerance=1e-8).fit(table, y)
    monkeypatch.setattr("likely.models.svm.solver.GRAM_ROWS", 100)
    many = SVMClassifier(kernel=kernel, tolerance=1e-8).fit(table, y)
    assert sparse.issparse(many.support_vectors_)
    assert many.dual_coef_.shape == few.dual_coef_.shape
    np.testing.assert_allclose(many.decision_pairs(table), few.decision_pairs(table), atol=1e-5)
    np.testing.assert_allclose(many.predict_proba(table), few.predict_proba(table), atol=1e-4)
    np.testing.assert_allclose(many.margin_, few.margin_, rtol=1e-5)
    many.save(tmp_path / "machine.likely")
    again = load(tmp_path / "machine.likely")
    np.testing.assert_array_equal(again.predict(table), many.predict(table))
    np.testing.assert_array_equal(again.predict_proba(table), many.predict_proba(table))
    classes = many.classes_.tolist()
    loss = Loss({decision: {truth: float(decision != truth) for truth in classes} for decision in classes})
    np.testing.assert_array_equal(many.decide(table, loss), many.predict(table))
    assert len(many.cases(table, y)) == 300
    if kernel == "linear":
        np.testing.assert_allclose(many.explain(table).value, few.explain(table).value, atol=1e-5)
