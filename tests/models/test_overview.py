"""A usual model is shown from its file alone: the same words as with its class, and the same refusals."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely import (
    AODEClassifier,
    BayesClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
    load,
)
from likely.cli.commands import show
from likely.cli.run import run
from likely.models.evidence import glance as evidence
from likely.models.overview import Overview, usual_overview
from likely.models.registry import WORDS, entries
from likely.models.settings import USUAL
from likely.models.svm import Gauss
from likely.models.svm import glance as svm
from likely.models.tree import glance as tree
from likely.store.container import pack, unpack
from likely.table.schema import Schema
from likely.teaching.mails import mails


@pytest.fixture(scope="module")
def fitted() -> BayesClassifier:
    columns = mails()
    return BayesClassifier().fit({name: cells for name, cells in columns.items() if name != "kind"}, columns["kind"])


@pytest.fixture
def path(fitted: BayesClassifier, tmp_path: Path) -> str:
    fitted.save(tmp_path / "m.likely")
    return str(tmp_path / "m.likely")


@pytest.mark.parametrize("kind", [BayesClassifier, FullBayesClassifier, AODEClassifier])
def test_usual_settings_are_those_of_the_classifier(kind: type) -> None:
    parameters = inspect.signature(kind).parameters.values()
    assert {each.name: each.default for each in parameters} == USUAL[kind.__name__]


def test_usual_settings_are_known_of_every_classifier_that_counts() -> None:
    assert {entry.kind for entry in entries() if entry.counts} == USUAL.keys()


def test_usual_settings_of_the_other_models_are_those_of_their_classes() -> None:
    told = EvidenceClassifier()._settings_kept()
    assert told == evidence.USUAL
    told = TreeClassifier()._settings_kept()
    assert told.pop("text_tokens") is None
    assert told == tree.USUAL
    assert SVMClassifier()._settings_kept() == svm.USUAL


KINDS = {"words": "nominal", "links": "ignored"}
MORE_KINDS = {"received": "ignored", "subject": "ignored"}


@pytest.fixture(
    params=[
        "naive",
        "full",
        "AODE",
        "SVM",
        "evidence",
        "tree",
        "words",
        "few classes",
        "tree in two lines",
        *map(
            "{} with kinds".format,
            (
                "naive",
                "evidence",
                "tree",
            ),
        ),
    ]
)
def any_path(request: pytest.FixtureRequest, fitted: BayesClassifier, tmp_path: Path) -> str:
    """A file of each model that is shown without its class."""
    columns = mails()
    y = columns.pop("kind")
    clf: Any = {
        "naive": lambda: fitted,
        "full": lambda: FullBayesClassifier().fit(columns, y),
        "AODE": lambda: AODEClassifier().fit(columns, y),
        "SVM": lambda: SVMClassifier().fit(columns, y),
        "naive with kinds": lambda: BayesClassifier(schema=KINDS).fit(columns, y),
        "evidence with kinds": lambda: EvidenceClassifier(schema=KINDS).fit(columns, y),
        "tree with kinds": lambda: TreeClassifier(text_tokens=WORDS, schema=KINDS).fit(columns, y),
        "tree in two lines": lambda: TreeClassifier(text_tokens=WORDS, schema=MORE_KINDS).fit(columns, y),
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
        FullBayesClassifier(covariance="pooled"),
        AODEClassifier(min_cases=2.0),
        SVMClassifier(C=2.0),
        SVMClassifier(kernel=Gauss(1.0)),
        BayesClassifier(schema=Schema.infer(np.zeros((2, 4)))),
        BayesClassifier(schema=dict.fromkeys(["x0", "x1", "x2", "x3"], "numeric")),
    ],
)
def test_other_models_are_shown_by_their_classes(other: BayesClassifier, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
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
        "assert heavy <= set(sys.argv[2:]), heavy"
    )
    vectors = ["scipy.sparse"] if isinstance(load(any_path), SVMClassifier) else []  # a class of SciPy holds them
    done = subprocess.run([sys.executable, "-c", code, any_path, *vectors], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\nColumns" in done.stdout


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
