"""Trees in files: they come back as they were, and made-up ones are refused or harmless."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_arrays

import likely
from likely import Loss, TreeClassifier
from likely.store import container
from likely.streaming import train_tree_file
from tests.store.test_damage import STRANGE, put, refused, sealed, walked

ROWS: dict[str, list[Any]] = {"a": [0.3, None, 2.0], "b": ["x", "never seen", None], "c": [None, 1.0, 3.0]}


def table(n: int = 60) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(4)
    y = rng.choice(["no", "yes", "perhaps"], n)
    columns = {
        "a": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + (y == "yes")),
        "b": [str(cell) if cell != "gap" else None for cell in rng.choice(["x", "y", "z", "gap"], n)],
        "c": rng.poisson(2 + (y == "no"), n).astype(float),
    }
    return columns, y


SETTINGS: list[dict[str, Any]] = [
    {},
    {"missing": "surrogates", "subsets": True, "measure": "gini"},
    {"prune": ("confidence", 0.5), "binary": True, "priors": {"no": 0.5, "yes": 0.25, "perhaps": 0.25}},
    {"binned": True, "max_depth": 3, "schema": {"c": "nominal"}, "n_jobs": 1},
    {"loss": Loss.zero_one(["no", "perhaps", "yes"]), "prune": "mdl", "smoothing": 0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_tree_comes_back(settings: dict[str, Any], tmp_path: Path) -> None:
    X, y = table()
    clf = TreeClassifier(**settings).fit(X, y)
    clf.save(tmp_path / "t.likely", sources=["rows.csv"])
    again = likely.load(tmp_path / "t.likely")
    assert type(again) is TreeClassifier
    assert again.get_params() == clf.get_params()
    for rows in (X, ROWS):
        np.testing.assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))
        np.testing.assert_array_equal(again.predict(rows), clf.predict(rows))
    assert again.to_json() == clf.to_json()
    assert (again.n_nodes_, again.n_rows_, again.schema_) == (clf.n_nodes_, 60, clf.schema_)
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    assert again.fit(X, y).to_json() == clf.to_json()


def test_a_pruning_set_is_not_kept(tmp_path: Path) -> None:
    X, y = table()
    clf = TreeClassifier(prune=("reduced_error", (X, y))).fit(X, y)
    clf.save(tmp_path / "t.likely")
    again = likely.load(tmp_path / "t.likely")
    assert again.to_json() == clf.to_json()
    assert clf.prune[1][0] is X
    with pytest.raises(likely.SettingsError, match="share of the rows"):
        again.fit(X, y)


@pytest.fixture(scope="module", params=["weights", "surrogates"])
def content(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("tree") / "t.likely"
    TreeClassifier(missing=request.param, collapse=False, prune=None, restrained=False).fit(*table()).save(path)
    return path.read_bytes()


def test_a_made_up_document_is_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    body = save_arrays(arrays)
    path = tmp_path / "t.likely"
    trails = [trail for trail in walked(document) if trail and trail[0] not in ("created", "likely", "sources")]
    refusals = 0
    for trail in trails:
        for new in STRANGE:
            changed = copy.deepcopy(document)
            put(changed, trail, new)
            path.write_bytes(sealed(json.dumps(changed).encode(), body))
            try:
                clf = likely.load(path)
            except likely.ModelFileError:
                refusals += 1
                continue
            assert np.isfinite(clf.predict_proba(ROWS)).all()
            clf.explain(ROWS)
    assert refusals > 0.6 * len(trails) * len(STRANGE)


def test_made_up_arrays_are_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    """Children before their parents, rings, branches out of range: nothing is ever followed out of bounds."""
    document, arrays = container.unpack(content)
    text, path, rng = json.dumps(document).encode(), tmp_path / "t.likely", np.random.default_rng(0)
    n_refused = 0
    for name, array in arrays.items():
        for new in (array[:0], array.ravel()[:1], array.astype(np.int32 if array.dtype != np.int32 else np.int64)):
            if array.size > 1:
                refused(path, sealed(text, save_arrays({**arrays, name: np.ascontiguousarray(new)})))
        refused(path, sealed(text, save_arrays({k: v for k, v in arrays.items() if k != name})))
        for _ in range(60 if array.size else 0):
            changed = array.copy()
            strange = [-7, -1, 0, 1, 2, 3, len(array), 2**31 - 1]
            if array.dtype == np.float64:
                strange += [np.nan, np.inf, 1e300]  # type: ignore[list-item]
            changed.reshape(-1)[rng.integers(array.size)] = rng.choice(np.array(strange))
            path.write_bytes(sealed(text, save_arrays({**arrays, name: changed})))
            try:
                clf = likely.load(path)
            except likely.ModelFileError:
                n_refused += 1
                continue
            assert np.isfinite(clf.predict_proba(ROWS)).all()
            clf.explain(ROWS)
            clf.to_text()
    assert n_refused > 200


@pytest.mark.parametrize("weight", [1.0, 1e5, 1e12])
def test_the_usual_branch_of_many_cases_is_the_largest_and_comes_back(weight: float, tmp_path: Path) -> None:
    """A count less a trifle is the count itself as soon as it is large enough."""
    X, y = {"a": [1.0, *[2.0] * 9]}, ["no"] + ["yes"] * 9
    clf = TreeClassifier(prune=None, restrained=False, min_cases=1).fit(X, y, sample_weight=np.full(10, weight))
    assert clf.tree_.majority_branch[0] == 1
    clf.save(tmp_path / "t.likely")
    assert likely.load(tmp_path / "t.likely").predict(X).tolist() == y
    rows = "\n".join(f"{a},{label},{weight}" for a, label in zip(X["a"], y, strict=True))
    (tmp_path / "t.csv").write_text(f"a,label,w\n{rows}\n")
    grown = train_tree_file(
        tmp_path / "t.csv",
        "label",
        weight="w",
        classifier=TreeClassifier(prune=None, restrained=False, binned=True, min_cases=1),
    )
    assert grown.tree_.majority_branch[0] == 1
