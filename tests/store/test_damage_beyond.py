"""Made-up files of classifiers beyond naive Bayes: histograms, pairs, weights, calibrators are refused or harmless."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely import AODEClassifier, BayesClassifier, CalibratedClassifier, ModelFileError, TreeClassifier
from likely.store import container
from tests.store.test_damage import HARMLESS, put, save_arrays, sealed, walked

rng = np.random.default_rng(0)
TABLE = {"a": rng.normal(size=40), "b": rng.choice(["x", "y"], 40), "c": rng.poisson(2, 40).astype(float)}
Y = rng.choice(["p", "q"], 40)
STRANGE = [None, -1, 10**18, "?", [], {}, [[[]]], {"$": "nosuch", "of": []}, True, 0.5]
MODELS = {
    "bins and weights": BayesClassifier(families={"a": "bins"}, weights="learned", bins=3),
    "pairs": AODEClassifier(bins=3),
    "temperature": CalibratedClassifier(BayesClassifier()),
    "isotonic": CalibratedClassifier(BayesClassifier(), method="isotonic"),
    "venn-abers": CalibratedClassifier(BayesClassifier(), method="venn-abers"),
}


@pytest.fixture(params=MODELS)
def content(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    MODELS[request.param].fit(TABLE, Y).save(tmp_path / "whole.likely")
    return (tmp_path / "whole.likely").read_bytes()


def test_a_made_up_document_is_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    body, path = save_arrays(arrays), tmp_path / "m.likely"
    trails = [
        trail for trail in walked(document) if trail and trail[0] in ("weights", "summary", "learned", "settings")
    ]
    assert len(trails) > 5 and not {trail[0] for trail in trails} & HARMLESS
    refusals = 0
    for place, trail in enumerate(trails):
        for new in (STRANGE[place % len(STRANGE)], STRANGE[(place + 3) % len(STRANGE)]):
            changed = copy.deepcopy(document)
            put(changed, trail, new)
            path.write_bytes(sealed(json.dumps(changed).encode(), body))
            try:
                clf = likely.load(path)
            except ModelFileError:
                refusals += 1
                continue
            clf.predict_proba(TABLE)
    assert refusals > 0.4 * len(trails)


def test_made_up_arrays_are_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    text, path = json.dumps(document).encode(), tmp_path / "m.likely"
    for name, array in arrays.items():
        changed: list[Any] = [array[:0], array.ravel()[::-1].reshape(array.shape), array.astype(np.float64)]
        if array.dtype != np.uint8:
            changed += [
                np.full_like(array, bad) for bad in (-7, np.iinfo(np.int64).max if array.dtype == np.int64 else 7)
            ]
        if array.dtype == np.float64:
            changed += [np.full_like(array, bad) for bad in (np.nan, np.inf)]
        for new in changed:
            path.write_bytes(sealed(text, save_arrays({**arrays, name: np.ascontiguousarray(new)})))
            try:
                told = likely.load(path).predict_proba(TABLE)
            except ModelFileError:
                continue
            assert np.isfinite(told).all()


def test_a_file_in_a_file_in_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    CalibratedClassifier(BayesClassifier()).fit(TABLE, Y).save(path)
    document, arrays = container.unpack(path.read_bytes())
    for _ in range(3):
        inside = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        more = {**arrays, document["learned"]["classifier"]: inside}
        path.write_bytes(sealed(json.dumps(document).encode(), save_arrays(more)))
        with pytest.raises(ModelFileError, match="calibrates what is calibrated"):
            likely.load(path)


def test_a_tree_that_has_grown_from_nothing_is_refused(tmp_path: Path) -> None:
    """What a test tells is a share of all cases."""
    TreeClassifier(prune=None).fit(TABLE, Y).save(tmp_path / "m.likely")
    document, arrays = container.unpack((tmp_path / "m.likely").read_bytes())
    counts = next(name for name, cells in arrays.items() if cells.ndim == 2 and cells.shape[1] == 2)
    text = json.dumps(document).encode()
    for root, fair in ((0.0, False), (40.0, True)):
        cells = arrays[counts].copy()
        cells[0] = root
        (tmp_path / "m.likely").write_bytes(sealed(text, save_arrays({**arrays, counts: cells})))
        if fair:
            assert likely.load(tmp_path / "m.likely", TreeClassifier).rank()["share"].notna().all()
        else:
            with pytest.raises(ModelFileError, match="not grown from any case"):
                likely.load(tmp_path / "m.likely")
