"""Probabilities that are worked out when somebody asks for them: they cost several fits more."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

from likely.svm.calibrating import Calibration, calibrate
from likely.svm.problem import Plan, Problem


@dataclass(frozen=True, eq=False)
class Task:
    """What a calibration is worked out from."""

    problem: Problem
    plan: Plan
    n_folds: int


class Later:
    """A calibration, or the rows from which it will be found; these are let go once it is."""

    def __init__(self, known: Calibration | None = None, task: Task | None = None) -> None:
        self._known, self._task, self._lock = known, task, Lock()

    def get(self) -> Calibration:
        """The calibration; of several threads that ask at once, one works."""
        with self._lock:
            if self._known is None:
                assert self._task is not None
                task = self._task
                self._known = calibrate(task.problem, task.plan, task.n_folds)
                self._task = None
            return self._known

    def __getstate__(self) -> dict[str, Any]:
        return {"_known": self._known, "_task": self._task}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()
