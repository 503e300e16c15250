"""How far long work has come: a bar, a function that is told, or nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import likely
from likely.progress import Progress, StepBar

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) % 2


@pytest.mark.parametrize("classifier", [likely.BayesClassifier(), GaussianNB()], ids=["counts", "fitted anew"])
def test_a_function_is_told_every_fold(classifier: object, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[Progress] = []
    likely.evaluate(classifier, X, Y, cv=4, progress=told.append)
    assert told == [Progress(k, k / 4, 4, "fold") for k in (1, 2, 3, 4)]
    assert [step.share for step in told] == [0.25, 0.5, 0.75, 1.0]
    assert capsys.readouterr().err == ""


def test_a_function_is_told_every_classifier() -> None:
    told: list[Progress] = []
    likely.compare(X, Y, {"a": GaussianNB(), "b": GaussianNB(var_smoothing=0.1)}, cv=2, progress=told.append)
    assert told == [Progress(1, 0.5, 2, "classifier"), Progress(2, 1.0, 2, "classifier")]


@pytest.mark.parametrize(("shown", "wanted"), [(True, "fold 2 of 2\n"), (False, ""), (None, "")])
def test_a_bar_is_shown_if_wanted(shown: bool | None, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    bar = StepBar(2, "fold", shown)
    bar.step()
    bar.step()
    bar.end()
    assert capsys.readouterr().err.endswith(wanted)
    assert bool(wanted) == bool(shown)


def test_work_that_ends_early_ends_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    bar = StepBar(3, "fold", True)
    bar.step()
    bar.end()
    assert capsys.readouterr().err.endswith("fold 1 of 3\n")
