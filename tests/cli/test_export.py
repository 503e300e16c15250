"""`likely export` to formats of other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import likely as package
from likely.cli.commands.export import FORMATS
from likely.cli.options import complete_choices
from likely.models.export import KINDS, KINDS_OF_TREES
from tests.cli.conftest import Likely


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"size": rng.normal(size=60).round(3), "kind": rng.choice(["wool", "silk"], 60)})
    rows["sold"] = np.where((rows["size"] > 0) | (rows["kind"] == "silk"), "yes", "no")
    rows.to_csv(tmp_path / "cloth.csv", index=False)
    return rows


@pytest.mark.parametrize("model", ["naive", "full", "evidence", "tree"])
def test_onnx_scores_as_predict_does(likely: Likely, table: pd.DataFrame, model: str) -> None:
    assert likely("train", "cloth.csv", "-t", "sold", "--model", model, "-o", "m.likely").code == 0
    for _ in range(2):  # it may be written over
        assert likely("export", "m.likely", "-o", "m.onnx").code == 0
    session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    given = {"size": table[["size"]].to_numpy(), "kind": table[["kind"]].to_numpy(dtype=object)}
    label, shares = session.run(None, given)
    clf = package.load("m.likely")
    np.testing.assert_allclose(shares, clf.predict_proba(table), rtol=0, atol=1e-9)
    assert label.tolist() == clf.predict(table).tolist()


@pytest.mark.parametrize("model", ["naive", "tree"])
def test_pmml_is_written_for_naive_bayes_and_trees(likely: Likely, table: pd.DataFrame, model: str) -> None:
    assert likely("train", "cloth.csv", "-t", "sold", "--model", model, "-o", "m.likely").code == 0
    assert likely("export", "m.likely", "-o", "m.pmml").code == 0
    assert Path("m.pmml").read_text() == package.load("m.likely").to_pmml()
    assert likely("export", "m.likely", "--to", "pmml").out == Path("m.pmml").read_text()


def test_what_a_format_cannot_say_is_one_sentence(likely: Likely, table: pd.DataFrame) -> None:
    assert likely("train", "cloth.csv", "-t", "sold", "--model", "evidence", "-o", "m.likely").code == 0
    refused = likely("export", "m.likely", "-o", "m.pmml")
    assert refused.code == 2 and "EvidenceClassifier cannot be written as PMML" in refused.err
    assert not Path("m.pmml").exists()
    assert likely("train", "cloth.csv", "-t", "sold", "--model", "svm", "-o", "s.likely").code == 0
    refused = likely("export", "s.likely", "-o", "s.onnx")
    assert refused.code == 2 and "SVMClassifier cannot be written as ONNX" in refused.err
    refused = likely("export", "m.likely", "-o", "cloth.csv", "--to", "onnx")
    assert refused.code == 2 and "is there already" in refused.err


def test_formats_are_completed() -> None:
    assert {*KINDS, *KINDS_OF_TREES} == set(FORMATS)
    offered = complete_choices("|".join(FORMATS))
    assert offered("o") == ["onnx"] and offered("") == list(FORMATS)
