"""A runtime of ONNX gives the labels and the probabilities that the classifier gives."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from likely import (
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    Loss,
    SVMClassifier,
    TreeClassifier,
)
from likely.errors import SettingsError
from likely.models.classifier import Classifier
from likely.version import __version__

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def feeds(clf: Classifier, rows: object, dtype: type = np.float64) -> dict[str, np.ndarray]:
    """The inputs of some rows: numbers and texts, n × 1, with NaN and "" for gaps."""
    table, given = clf._read(rows), {}  # type: ignore[arg-type]
    for name in clf.schema_.features:
        if clf.schema_.kinds[name] == "numeric":
            given[name] = np.asarray(table.numbers(name), dtype=dtype)[:, None]
        else:
            texts = table.strings(name).to_pylist()
            given[name] = np.array([["" if text is None else text] for text in texts], dtype=object)
    return given


def node_names(graph: onnx.GraphProto) -> list[str]:
    """Of all nodes, those within loops included: onnxruntime 1.20 refuses some graphs whose nodes have none."""
    bodies = [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return [node.name for node in graph.node] + [name for body in bodies for name in node_names(body)]


def run(clf: Classifier, rows: object, precision: str = "double") -> tuple[np.ndarray, np.ndarray]:
    model = clf.to_onnx(precision)  # type: ignore[arg-type]
    onnx.checker.check_model(model, full_check=True)
    names = node_names(model.graph)
    assert all(names) and len(set(names)) == len(names)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = feeds(clf, rows, np.float64 if precision == "double" else np.float32)
    label, shares = session.run(None, given)
    return label, shares


def agree(clf: Classifier, rows: object, atol: float = 1e-9) -> None:
    label, shares = run(clf, rows)
    assert shares.dtype == np.float64
    np.testing.assert_allclose(shares, clf.predict_proba(rows), rtol=0, atol=atol)  # type: ignore[arg-type]
    assert label.tolist() == clf.predict(rows).tolist()  # type: ignore[arg-type]


def with_gaps(rows: pd.DataFrame, share: float = 0.2) -> pd.DataFrame:
    return rows.mask(np.random.default_rng(0).random(rows.shape) < share)


def mixed(n: int, n_classes: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, n)
    z = y * 3.0 / n_classes
    rows = pd.DataFrame(
        {
            'it\'s a "name"': rng.choice(["it's", 'a "b"', "c;--", "", "ü", "日本"], n),
            "flag": rng.choice([True, False], n).astype(object),
            "größe": rng.normal(z, 1.5),
            "age": rng.gamma(2.0 + z),
            "income": rng.lognormal(z / 3.0, 0.7),
            "visits": rng.poisson(z + 1.0).astype(float),
            "seen": rng.integers(0, 2, n).astype(float),
            "zip": rng.integers(10, 30, n),
            "label": rng.choice(list("abc"), n),
            "constant": np.ones(n),
        }
    )
    rows.loc[rng.random(n) < 0.1, ["größe", "visits", "age"]] = np.nan
    rows.loc[rng.random(n) < 0.1, "flag"] = None
    rows.loc[rng.random(n) < 0.1, "label"] = None
    return rows.assign(y=np.array([f"class {k}" for k in range(n_classes)])[y])


def unfamiliar(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with values that were never seen, beside some that were."""
    rows = rows.drop(columns="y").reset_index(drop=True)
    rows.loc[:9, 'it\'s a "name"'] = "never seen"
    rows.loc[5:15, "zip"] = 99
    rows.loc[10:20, "income"] = -1.0
    rows.loc[15:18, "größe"] = 1e9
    return rows


FAMILIES = {
    "age": "bins", "income": "lognormal", "visits": "poisson", "seen": "bernoulli", "zip": "categorical",
}  # fmt: skip

CLASSIFIERS: dict[str, Callable[[], Classifier]] = {
    "naive": lambda: BayesClassifier(families=FAMILIES),
    "gaps as values": lambda: BayesClassifier(families=FAMILIES, missing="value"),
    "unseen smoothed": lambda: BayesClassifier(families=FAMILIES, unseen="smooth", smoothing=0.5),
    "no smoothing": lambda: BayesClassifier(families=FAMILIES, smoothing=0, priors="uniform"),
    "weighted": lambda: BayesClassifier(weights="learned"),
    "full": lambda: FullBayesClassifier(schema={"zip": "nominal"}),
    "pooled": lambda: FullBayesClassifier(covariance="pooled"),
    "shrunk": lambda: FullBayesClassifier(covariance="shrunk", missing="value"),
    "diagonal": lambda: FullBayesClassifier(covariance="diagonal"),
    "aode": lambda: AODEClassifier(),
    "aode with few parents": lambda: AODEClassifier(smoothing=0, min_cases=60),
    "tree": lambda: TreeClassifier(),
    "large tree": lambda: TreeClassifier(prune=None, restrained=False, collapse=False),
    "surrogates": lambda: TreeClassifier(missing="surrogates", prune=None),
    "subsets": lambda: TreeClassifier(subsets=True, prune=None),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 35])
def test_mixed_columns_gaps_and_unseen_values(name: str, n_classes: int) -> None:
    rows = mixed(500, n_classes)
    clf = CLASSIFIERS[name]().fit(rows[:400], "y")
    agree(clf, unfamiliar(rows[350:]))
    agree(clf, rows.drop(columns="y")[:1])


@pytest.mark.parametrize("n_classes", [2, 4])
def test_evidence_with_pairs_and_triples(n_classes: int) -> None:
    rng = np.random.default_rng(3)
    rows = mixed(1500, n_classes)
    two, three = (rng.choice(list("uv"), len(rows)) for _ in range(2))
    told = np.where((two == three) ^ (rows["flag"] == True), "class 0", "class 1")  # noqa: E712
    rows = rows.assign(two=two, three=three, y=np.where(rng.random(len(rows)) < 0.5, told, rows["y"]))
    clf = EvidenceClassifier(random_state=0, depth="triples").fit(rows[:1300], "y")
    assert len(clf.pairs_)
    agree(clf, unfamiliar(rows[1200:]))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize(
    "clf",
    [BayesClassifier(), FullBayesClassifier(covariance="shrunk"), TreeClassifier(), AODEClassifier(max_cells=100_000)],
    ids=lambda clf: type(clf).__name__,
)
def test_real_tables(load: Callable[..., object], clf: Classifier) -> None:
    found = load(as_frame=True)
    rows, y = found.data, found.target  # type: ignore[attr-defined]
    clf.fit(rows, y)
    agree(clf, rows[::5])
    agree(clf, with_gaps(rows[:: 5 if len(rows) < 1000 else 50]))


def test_in_single_precision_rounding_is_all_that_differs() -> None:
    rows = mixed(300)
    numbers = rows.select_dtypes("number").columns
    rows[numbers] = rows[numbers].astype(np.float32)
    for clf in (BayesClassifier(families=FAMILIES), TreeClassifier(), FullBayesClassifier()):
        clf.fit(rows, "y")
        label, shares = run(clf, rows.drop(columns="y"), "float")
        assert shares.dtype == np.float32
        np.testing.assert_allclose(shares, clf.predict_proba(rows), rtol=0, atol=1e-5)
        assert label.tolist() == clf.predict(rows).tolist()


def test_a_row_that_every_class_rules_out_has_the_prior() -> None:
    rows = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    clf = BayesClassifier(smoothing=0).fit(rows, [True, True, False])
    agree(clf, pd.DataFrame({"a": ["x", "y", "x", None], "b": ["v", "v", "u", None]}))


def test_numbers_around_a_hundred_million_keep_their_variance() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": 1e8 + rng.normal(size=200), "y": rng.normal(size=200)})
    labels = np.where(rows["x"] > 1e8, "up", "down")
    for clf in (BayesClassifier(), FullBayesClassifier(), TreeClassifier()):
        agree(clf.fit(rows, labels), with_gaps(rows))


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["p", "q"], ["p", "q"]),
        ([3, 1], [3, 1]),
        ([True, False], [True, False]),
        ([1.0, 2.0], [1.0, 2.0]),
        ([datetime.date(2024, 2, 29), datetime.date(2025, 1, 1)], ["2024-02-29", "2025-01-01"]),
        ([10**30, 7], [str(10**30), "7"]),
    ],
    ids=str,
)
def test_labels_keep_their_type_where_onnx_has_it(labels: list[object], told: list[object]) -> None:
    y = np.empty(40, dtype=object)
    y[:] = labels * 20
    clf = BayesClassifier().fit({"x": np.arange(40.0) % 2}, y)
    label, _ = run(clf, {"x": [0.0, 1.0]})
    assert label.tolist() == told


def test_thousands_of_values_are_one_look_up() -> None:
    rng = np.random.default_rng(0)
    town = rng.integers(0, 5000, 20_000)
    clf = BayesClassifier(schema={"town": "nominal"}).fit({"town": [f"t{k}" for k in town]}, town % 3)
    assert len(clf.to_onnx().graph.node) < 30
    agree(clf, {"town": ["t1", "t2", "t4999", "no such town", None]})


def test_a_tree_with_a_loss_gives_the_cheapest_decision() -> None:
    rows = mixed(300, 2)
    loss = Loss({"treat": {"class 0": 0, "class 1": 9}, "wait": {"class 0": 1, "class 1": 0}})
    clf = TreeClassifier(loss=loss).fit(rows, "y")
    label, _ = run(clf, rows.drop(columns="y"))
    assert label.tolist() == clf.predict(rows).tolist()
    assert set(label) == {"treat", "wait"}


def test_a_gap_ends_where_no_branch_has_had_a_case() -> None:
    rows = mixed(300).drop(columns='it\'s a "name"')  # it has the empty text as a value, which ONNX takes a gap for
    clf = TreeClassifier(prune=None, restrained=False).fit(rows, "y")
    tree, new = clf.tree_, with_gaps(rows.drop(columns="y"))
    agree(clf, new)
    before = clf.predict_proba(new)
    emptied = next(node for node in np.flatnonzero(~tree.is_leaf)[1:] if all(tree.is_leaf[list(tree.children(node))]))
    counts = tree.counts.copy()
    counts[list(tree.children(emptied))] = 0.0
    clf.tree_ = tree.with_counts(counts)
    assert not np.allclose(before, clf.predict_proba(new))
    agree(clf, new)


def test_calibrated_probabilities() -> None:
    rows = mixed(300)
    for inner in (BayesClassifier(smoothing=0), TreeClassifier()):
        clf = CalibratedClassifier(inner, method="temperature").fit(rows, "y")
        assert clf.calibrator_.power != 1.0
        agree(clf, unfamiliar(rows[200:]))
    with pytest.raises(SettingsError, match="'isotonic' makes of probabilities cannot be written as ONNX"):
        CalibratedClassifier(method="isotonic").fit(rows, "y").to_onnx()
    with pytest.raises(SettingsError, match="without a schema"):
        CalibratedClassifier(GaussianNB()).fit(np.eye(20)[:, :3], [0, 1] * 10).to_onnx()


def test_metadata_tells_classes_schema_and_version() -> None:
    rows = mixed(100)
    model = BayesClassifier(families=FAMILIES).fit(rows, "y").to_onnx()
    told = {prop.key: json.loads(prop.value) for prop in model.metadata_props}
    assert told["classes"] == ["class 0", "class 1", "class 2"]
    assert told["version"] == __version__
    assert told["schema"]["target"] == "y"
    kinds = {column["name"]: column["kind"] for column in told["schema"]["columns"]}
    assert kinds["größe"] == "numeric" and kinds["flag"] == "nominal"
    assert [value.name for value in model.graph.input] == list(kinds)
    # A column is called label, so the output is not.
    assert told["outputs"] == ["label_", "probabilities"] == [value.name for value in model.graph.output]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=8, unique=True))
def test_any_text_is_a_value_and_a_name(words: list[str]) -> None:
    rows = {
        words[0] or "w": np.array(words * 2, dtype=object),
        "other": np.array(["a", "b"] * len(words), dtype=object),
    }
    clf = BayesClassifier(schema=dict.fromkeys(rows, "nominal")).fit(rows, ["p", "q"] * len(words))
    agree(clf, rows)


def test_what_onnx_cannot_say() -> None:
    texts = {"t": ["a few words here", "some other words"]}
    for clf in (BayesClassifier(schema={"t": "text"}), TreeClassifier(schema={"t": "text"}, text_tokens=5)):
        with pytest.raises(SettingsError, match="'t' holds free text"):
            clf.fit(texts, ["p", "q"]).to_onnx()
    x = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(SettingsError, match="SVMClassifier cannot be written as ONNX"):
        SVMClassifier().fit(x, [0, 1] * 10).to_onnx()
    clf = BayesClassifier(schema={"v": "nominal"}).fit({"v": np.array(["1", 1] * 4, dtype=object)}, [0, 1] * 4)
    with pytest.raises(SettingsError, match="Two values of column 'v' are both written '1'"):
        clf.to_onnx()
    with pytest.raises(SettingsError, match="precision is 'half'"):
        clf.to_onnx("half")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="a column without a name"):
        BayesClassifier().fit(pd.DataFrame({"": [1.0, 2.0]}), [0, 1]).to_onnx()
    with pytest.raises(SettingsError, match=r"broken Unicode"):
        BayesClassifier().fit({"v": ["\ud800", "ok"] * 4}, [0, 1] * 4).to_onnx()


def test_likely_does_not_import_onnx_by_itself() -> None:
    code = "import likely, sys; likely.BayesClassifier; print('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
