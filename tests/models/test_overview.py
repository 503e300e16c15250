"""A usual model is shown from its file alone: the same words as with its class, and the same refusals."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from likely import BayesClassifier, TreeClassifier
from likely.cli.commands import show
from likely.cli.run import run
from likely.models.overview import usual_overview
from likely.models.settings import USUAL
from likely.store.container import pack, unpack
from likely.teaching.mails import mails


@pytest.fixture(scope="module")
def fitted() -> BayesClassifier:
    columns = mails()
    return BayesClassifier().fit({name: cells for name, cells in columns.items() if name != "kind"}, columns["kind"])


@pytest.fixture
def path(fitted: BayesClassifier, tmp_path: Path) -> str:
    fitted.save(tmp_path / "m.likely")
    return str(tmp_path / "m.likely")


def test_usual_settings_are_those_of_the_classifier() -> None:
    parameters = inspect.signature(BayesClassifier).parameters.values()
    assert {each.name: each.default for each in parameters} == USUAL


def test_a_file_says_what_the_classifier_says(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", path]) == 0
    quick = capsys.readouterr().out
    monkeypatch.setattr(show, "_write_usual", lambda path, values: False)
    assert run(["show", path]) == 0
    assert quick == capsys.readouterr().out and "BayesClassifier()" in quick


def test_beliefs_are_those_of_the_classifier(path: str, fitted: BayesClassifier) -> None:
    shown = usual_overview(path)
    assert shown is not None
    assert shown.model.prior.tolist() == fitted.model_.prior.tolist()
    ranked = fitted.rank().set_index("column")["held_out"]
    assert shown.bits == pytest.approx(ranked.to_dict(), rel=1e-9)


@pytest.mark.parametrize(
    "other", [BayesClassifier(smoothing=0.5), BayesClassifier(weights="learned"), TreeClassifier()]
)
def test_other_models_are_shown_by_their_classes(other: BayesClassifier, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    other.fit(X, X[:, 0] > 0).save(tmp_path / "m.likely")
    assert usual_overview(str(tmp_path / "m.likely")) is None


def test_what_is_to_be_refused_is_left_to_load(path: str, tmp_path: Path) -> None:
    assert usual_overview(str(tmp_path / "none.likely")) is None
    document, arrays = unpack(Path(path).read_bytes())
    arrays = {name: array + 1.0 if array.dtype == np.float64 else array for name, array in arrays.items()}
    Path(path).write_bytes(pack(document, arrays))
    assert usual_overview(path) is None
    assert run(["show", path]) == 2


def test_show_imports_no_compiler_no_frames_and_no_classifier(path: str) -> None:
    code = (
        "import sys; from likely.cli.run import run; assert run(['show', sys.argv[1]]) == 0; "
        "heavy = {'numba', 'sklearn', 'pandas', 'pyarrow', 'scipy.special', 'scipy.optimize'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Columns, the most informative first" in done.stdout
