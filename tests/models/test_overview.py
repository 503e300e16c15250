"""A usual model is shown from its file alone: the same words as with its class, and the same refusals."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier, load
from likely.cli.commands import show
from likely.cli.run import run
from likely.models.evidence import glance as evidence
from likely.models.overview import Overview, usual_overview
from likely.models.registry import WORDS
from likely.models.settings import USUAL
from likely.models.tree import glance as tree
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


def test_usual_settings_of_the_other_models_are_those_of_their_classes() -> None:
    told = EvidenceClassifier()._settings_kept()
    assert told == evidence.USUAL
    told = TreeClassifier()._settings_kept()
    assert told.pop("text_tokens") is None
    assert told == tree.USUAL


@pytest.fixture(params=["naive", "evidence", "tree", "words", "few classes"])
def any_path(request: pytest.FixtureRequest, fitted: BayesClassifier, tmp_path: Path) -> str:
    """A file of each model that is shown without its class."""
    columns = mails()
    y = columns.pop("kind")
    clf: Any = {
        "naive": lambda: fitted,
        "evidence": lambda: EvidenceClassifier().fit(columns, y),
        "tree": lambda: TreeClassifier(schema=None).fit({k: v for k, v in columns.items() if k != "subject"}, y),
        "words": lambda: TreeClassifier(text_tokens=WORDS).fit(columns, y),
        "few classes": lambda: EvidenceClassifier().fit({"n": list(range(60))}, ["a", "b", "b"] * 20),
    }[request.param]()
    clf.save(tmp_path / "m.likely")
    return str(tmp_path / "m.likely")


def test_a_file_says_what_the_classifier_says(
    any_path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert usual_overview(any_path) is not None
    for more in ([], ["--values", "2", "--depth", "1"]):
        assert run(["show", any_path, *more]) == 0
        quick = capsys.readouterr().out
        with monkeypatch.context() as patched:
            patched.setattr(show, "_write_usual", lambda path, values, depth: False)
            assert run(["show", any_path, *more]) == 0
        assert quick == capsys.readouterr().out
        assert "Classifier(" in quick


def test_beliefs_are_those_of_the_classifier(path: str, fitted: BayesClassifier) -> None:
    shown = usual_overview(path)
    assert isinstance(shown, Overview)
    assert shown.model.prior.tolist() == fitted.model_.prior.tolist()
    ranked = fitted.rank().set_index("column")["held_out"]
    assert shown.bits == pytest.approx(ranked.to_dict(), rel=1e-9)


@pytest.mark.parametrize(
    "other",
    [
        BayesClassifier(smoothing=0.5),
        BayesClassifier(weights="learned"),
        TreeClassifier(min_cases=3),
        TreeClassifier(text_tokens=7),
        EvidenceClassifier(depth="pairs"),
        SVMClassifier(),
    ],
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


def test_stale_corrections_are_left_to_load(tmp_path: Path) -> None:
    clf = EvidenceClassifier().fit({"n": list(range(60))}, ["a", "b", "b"] * 20)
    clf.partial_fit({"n": [1, 2]}, ["a", "b"]).save(tmp_path / "m.likely")
    assert usual_overview(str(tmp_path / "m.likely")) is None


def test_show_imports_no_compiler_no_frames_and_no_classifier(any_path: str) -> None:
    code = (
        "import sys; from likely.cli.run import run; assert run(['show', sys.argv[1]]) == 0; "
        "heavy = {'numba', 'sklearn', 'pandas', 'pyarrow', 'scipy.special', 'scipy.optimize', 'scipy.sparse'}; "
        "heavy &= set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code, any_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Columns, the most informative first" in done.stdout


def test_a_date_is_one_column_that_tells_what_its_best_part_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"2025-01-{1 + k % 28:02d} {8 + k % 3:02d}:00,{'abc'[k % 3]}" for k in range(200)]
    Path("rows.csv").write_text("\n".join(["when,y", *lines]))
    assert run(["train", "rows.csv", "--target", "y", "--model", "naive"]) == 0
    assert "Learned 200 rows, 1 column, 3 classes" in capsys.readouterr().err
    best = load("rows.likely").rank()["held_out"].max()
    assert run(["show", "rows.likely"]) == 0
    shown = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("when "))
    assert f"{best:.4f}" in shown
