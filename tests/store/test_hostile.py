"""`load` promises a `ModelFileError` or a model that works, whatever stands in the document."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_arrays

import likely
from likely import BayesClassifier, ModelFileError
from likely.errors import LikelyError
from likely.store import container
from tests.store.hostile import SOUND, TABLE, content_of, forged, forged_arrays, sealed

FULL = os.environ.get("LIKELY_TORTURE") == "full"
STEP = 1 if FULL else 101
ARRAY_STEP = 1 if FULL else 37
"""Of how many hostile files one is tried: a prime, so that all values stand in all places sooner or later."""


@pytest.mark.parametrize("name", SOUND)
def test_a_hostile_document_is_refused_or_makes_a_model_that_works(name: str, tmp_path: Path) -> None:
    path, tried, refused = tmp_path / "m.likely", 0, 0
    for trail, new, content in forged(content_of(name), STEP):
        path.write_bytes(content)
        tried += 1
        try:
            clf = likely.load(path)
        except ModelFileError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"{trail} as {str(new)[:80]}") from error
        with suppress(LikelyError):
            told = clf.predict_proba(SOUND[name].rows)
            assert np.isfinite(told).all(), (trail, str(new)[:80])
            clf.predict(SOUND[name].rows)
    assert tried >= 4 and refused > 0.5 * tried


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.filterwarnings("ignore:Row 0 of column:UserWarning")  # numbers that lie far from all that was learned
def test_hostile_arrays_are_refused_or_make_a_model_that_works(name: str, tmp_path: Path) -> None:
    """Predictions are probabilities, whatever stands in an array; nothing beyond one is read, and every loop ends."""
    path, tried, refused = tmp_path / "m.likely", 0, 0
    for array, new, content in forged_arrays(content_of(name), ARRAY_STEP):
        path.write_bytes(content)
        tried += 1
        try:
            clf = likely.load(path)
        except ModelFileError:
            refused += 1
            continue
        with suppress(LikelyError):
            told = clf.predict_proba(SOUND[name].rows)
            assert np.isfinite(told).all(), (array, new)
            np.testing.assert_allclose(told.sum(axis=1), 1.0, rtol=1e-6)
    assert tried > 1 and refused > 0.1 * tried  # other weights of a network make another network


@pytest.mark.parametrize("weight", [3e38, -3e38, 1e31, np.nan])
def test_a_network_whose_scores_overflow_is_refused(tmp_path: Path, weight: float) -> None:
    document, arrays = container.unpack(content_of("network"))
    name = document["learned"]["weights"][-2]
    huge = {**arrays, name: np.full_like(arrays[name], weight)}
    (tmp_path / "m.likely").write_bytes(sealed(document, save_arrays(huge)))
    with pytest.raises(ModelFileError, match="scores overflow"):
        likely.load(tmp_path / "m.likely")


def changed(tmp_path: Path, name: str, trail: tuple[Any, ...], new: Any) -> Path:
    """A sound file with one value of its document replaced."""
    document, arrays = container.unpack(content_of(name))
    inside: Any = document
    for key in trail[:-1]:
        inside = inside[key]
    inside[trail[-1]] = new
    path = tmp_path / "m.likely"
    path.write_bytes(sealed(document, save_arrays(arrays)))
    return path


@pytest.mark.parametrize(
    "label",
    [
        {"$": "fraction", "of": "1e1000000000"},
        {"$": "fraction", "of": "7" * 5000},
        {"$": "decimal", "of": "1e1000000000"},
        {"$": "decimal", "of": "sNaN"},
        {"$": "decimal", "of": "NaN"},
        {"$": "float", "of": "nan"},
        {"$": "timedelta", "of": [0.5, 0, 0]},
        {"$": "datetime64", "of": ["ns", -(2**63)]},
        {"$": "datetime64", "of": ["parsec", 1]},
        10**399,
        None,
    ],
    ids=lambda label: str(label)[:40],
)
def test_a_label_that_is_none_or_that_no_computer_can_hold_is_refused(label: Any, tmp_path: Path) -> None:
    for name in ("numbers as labels", "naive"):
        with pytest.raises(ModelFileError):
            likely.load(changed(tmp_path, name, ("summary", "labels", "of", 0), label))


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("naive", "bins", 400_000_000),
        ("naive", "variance_floor", {"$": "decimal", "of": "sNaN"}),
        ("naive", "smoothing", 10**399),
        ("naive", "priors", [0.5, 10**399]),
        ("naive", "text", {"$": "recipe", "of": {"emoji": {"$": "list", "of": [1]}}}),
        ("naive", "text", {"$": "recipe", "of": {"urls": {"$": "dict", "of": []}}}),
        ("naive", "text", {"$": "recipe", "of": {"ngram_range": {"$": "tuple", "of": [1, 10**6]}}}),
        ("naive", "text", {"$": "recipe", "of": {"min_chars": 10**30}}),
        ("naive", "n_jobs", "all"),
        ("full", "shrinkage", {"$": "fraction", "of": "3/2"}),
        ("pairs", "max_cells", 10**30),
        ("evidence", "progress", {"$": "kernel", "of": ["Linear"]}),
        ("tree", "smoothing", 1e308),
        ("tree", "raising", "?"),
        ("machine", "tolerance", 10**399),
        ("network", "shape", "?"),
        ("temperature", "folds", {"$": "float", "of": "inf"}),
    ],
)
def test_a_setting_of_another_type_or_range_is_refused(name: str, setting: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be loaded"):
        likely.load(changed(tmp_path, name, ("settings", setting), value))


def test_the_recipe_of_counted_words_is_checked_as_well(tmp_path: Path) -> None:
    document, _ = container.unpack(content_of("naive"))
    (place,) = [k for k, part in enumerate(document["summary"]["parts"]) if "recipe" in part]
    for field, value in (
        ("emoji", 2),
        ("urls", {}),
        ("lowercase", None),
        ("stop_words", {"$": "list", "of": [None]}),
        ("language", 3),
        ("min_chars", 10**30),
    ):
        trail = ("summary", "parts", place, "recipe", "of", field)
        with pytest.raises(ModelFileError):
            likely.load(changed(tmp_path, "naive", trail, value))


@pytest.mark.parametrize("trail", [("weights", "of", 0), ("weights", "offsets", 1)])
@pytest.mark.parametrize("value", [1e308, 10**399, -1e300])
def test_weights_that_overflow_are_refused(trail: tuple[Any, ...], value: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError):
        likely.load(changed(tmp_path, "naive", trail, value))


def test_counts_whose_sum_is_no_number_are_refused(tmp_path: Path) -> None:
    document, arrays = container.unpack(content_of("naive"))
    (part,) = [part for part in document["summary"]["parts"] if part["statistic"] == "histogram"]
    full = {**arrays, part["counts"]: np.full_like(arrays[part["counts"]], 1e308)}
    (tmp_path / "m.likely").write_bytes(sealed(document, save_arrays(full)))
    with pytest.raises(ModelFileError, match="no count"):
        likely.load(tmp_path / "m.likely")


def test_what_cannot_be_loaded_never_takes_the_place_of_what_can(tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    clf = BayesClassifier().fit(TABLE, np.arange(40) % 2)
    clf.save(path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"not saved to .*bins is 0"):
        clf.set_params(bins=0).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(ModelFileError, match="not saved to"):
        clf.save(tmp_path / "new.likely")
    assert list(tmp_path.iterdir()) == [path]
