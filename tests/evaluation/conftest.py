"""A guard for all tests of evaluation: classifiers that count are never fitted again."""

from __future__ import annotations

from typing import Any

import pytest

import likely
from likely.models.learner import Learner


@pytest.fixture(autouse=True)
def nothing_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a test evaluates, fitting is an error: otherwise it would compare refitting with itself."""
    usual = likely.evaluate

    def evaluate(*given: Any, **named: Any) -> Any:
        with monkeypatch.context() as here:
            here.setattr(Learner, "fit", refuse_to_fit)
            return usual(*given, **named)

    monkeypatch.setitem(vars(likely), "evaluate", evaluate)


def refuse_to_fit(*given: Any, **named: Any) -> None:
    raise AssertionError("a classifier that counts was fitted again")
