"""Everything that takes long takes the same `progress`: a function, True, False or None."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import likely
from likely.progress import Progress, StepBar, row_bar
from likely.streaming import train_file

ROWS = {"sky": ["grey", "grey", "blue", "blue"] * 3, "day": ["wet", "wet", "dry", "wet"] * 3}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_function_is_told_by_files_and_folds_alike(tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text("sky,day\n" + "grey,wet\nblue,dry\n" * 6)
    seen: list[Progress] = []
    train_file(tmp_path / "days.csv", "day", progress=seen.append)
    assert seen == [Progress(12, 1.0)]
    seen.clear()
    likely.evaluate(likely.BayesClassifier(), ROWS, "day", cv=3, progress=seen.append)
    assert sorted(seen, key=lambda one: one.rows) == [Progress(k, k / 3, 3, "fold") for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("shown", "on_terminal", "elsewhere"), [(None, True, False), (True, True, True), (False, False, False)]
)
def test_bars_are_for_terminals_unless_somebody_says_otherwise(
    shown: bool | None, on_terminal: bool, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream, wanted in ((Terminal(), on_terminal), (io.StringIO(), elsewhere)):
        monkeypatch.setattr(sys, "stderr", stream)
        bar = StepBar(2, "fold", shown)
        bar.step()
        assert ("fold 1 of 2" in stream.getvalue()) == wanted
        with row_bar("learning", shown) as tell:
            assert bool(tell) == wanted
            if tell:
                tell(Progress(5, 0.5))
