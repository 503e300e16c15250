"""The picture of a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Perceptron

from likely import BayesClassifier, evaluate


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_a_report_draws_itself(suffix: str, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    report = evaluate(BayesClassifier(), X, np.array(["a", "<b>", "c & d"])[y], cv=5)
    picture = report.plot()
    assert picture.save(tmp_path / f"report{suffix}").stat().st_size > 10_000
    assert len(picture.figure.axes) == 4
    assert "<b>" not in picture.to_html()


def test_without_probabilities_there_is_only_the_confusion() -> None:
    X, y = load_iris(return_X_y=True)
    assert len(evaluate(Perceptron(), X, y, cv=3).plot().figure.axes) == 1
