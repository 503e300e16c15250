"""Trees and discriminant of a model of evidence, made up under a valid checksum: refused before a kernel sees them."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save as save_arrays

import likely
from likely import EvidenceClassifier, ModelFileError
from likely.models.evidence.codec import MOST_TREES
from likely.models.evidence.encoding import N_CODES
from likely.models.evidence.ensemble import MAX_QUESTIONS, N_LEAVES
from likely.stats.protocol import HEAVIEST_COUNT
from likely.store import container
from likely.studio import write_page
from tests.store.test_damage import sealed

N_COLUMNS, N_TREES = 3, 2
rng = np.random.default_rng(5)
ROWS = rng.normal(size=(200, N_COLUMNS))
Sections = dict[str, dict[str, NDArray[Any]]]


def sections(n_trees: int = N_TREES) -> Sections:
    """Sound trees and a sound discriminant for a model of two classes and three columns."""
    return {
        "trees": {
            "columns": rng.integers(0, N_COLUMNS, (n_trees, MAX_QUESTIONS)).astype(np.int32),
            "sides": rng.integers(0, 2, (n_trees, MAX_QUESTIONS, N_CODES)).astype(np.uint8),
            "leaves": rng.normal(size=(n_trees, N_LEAVES, 1)),
            "covers": np.ones((n_trees, N_LEAVES)),
        },
        "discriminant": {
            "columns": np.array([0, 2], dtype=np.int32),
            "values": rng.normal(size=(2, N_CODES)),
            "linear": np.ones((2, 1)),
            "products": np.ones((3, 1)),
            "base": np.zeros((2, 1)),
        },
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("evidence") / "m.likely"
    EvidenceClassifier(max_pairs=0, max_triples=0, n_jobs=1).fit(ROWS, ROWS[:, 0] > 0.0).save(path)
    return path.read_bytes()


def with_sections(plain: bytes, made_up: Sections) -> bytes:
    """The model with these sections in place of its own, under a checksum that holds."""
    document, arrays = container.unpack(plain)
    arrays = dict(arrays)
    for section, fields in made_up.items():
        names = {field: f"forged.{section}.{field}" for field in fields}
        document["learned"]["evidence"][section] = names
        arrays |= {names[field]: np.ascontiguousarray(cells) for field, cells in fields.items()}
    return sealed(json.dumps(document).encode(), save_arrays(arrays))


def test_sound_sections_are_read_and_count(plain: bytes, tmp_path: Path) -> None:
    """So that what is refused below is refused for what is wrong in it."""
    for name, content in {"plain": plain, "more": with_sections(plain, sections())}.items():
        (tmp_path / name).write_bytes(content)
    before, after = (likely.load(tmp_path / name).predict_proba(ROWS) for name in ("plain", "more"))
    assert np.isfinite(after).all()
    assert not np.allclose(before, after)


def cell(value: float) -> Any:
    """Put a number into the first place of an array."""

    def change(cells: NDArray[Any]) -> NDArray[Any]:
        out = cells.copy()
        out.flat[0] = value
        return out

    return change


FORGERIES = {
    ("trees", "columns"): [cell(N_COLUMNS), cell(-1), cell(2**31 - 1), cell(-(2**31)), lambda a: a.astype(np.float64)],
    ("trees", "sides"): [cell(2), cell(255), lambda a: a[:, :, :-1], lambda a: a.astype(np.int32)],
    ("trees", "leaves"): [cell(np.nan), cell(np.inf), cell(1e308), cell(-1e308), lambda a: np.repeat(a, 2, axis=2)],
    ("trees", "covers"): [cell(np.nan), cell(-1.0), cell(1e308), lambda a: a[:, :-1]],
    ("discriminant", "columns"): [cell(-1), cell(N_COLUMNS), cell(2), lambda a: a[::-1], lambda a: a[:, None]],
    ("discriminant", "values"): [cell(np.nan), cell(1e308), lambda a: a[:, :-1], lambda a: a[0]],
    ("discriminant", "linear"): [cell(np.nan), cell(np.inf), cell(1e308), lambda a: a.T],
    ("discriminant", "products"): [cell(np.nan), cell(1e308), lambda a: a[:-1], lambda a: np.repeat(a, 2, axis=1)],
    ("discriminant", "base"): [cell(np.nan), cell(-np.inf), lambda a: a[:0]],
}
CASES = [(*place, k) for place, changes in FORGERIES.items() for k in range(len(changes))]
CASES += [(section, field, -1) for section, field in FORGERIES]
"""The last place of a field: no cells at all where there are some in its siblings."""


def assert_refused(path: Path, content: bytes) -> None:
    """A load says `ModelFileError`, in little memory."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            likely.load(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("section", "field", "number"), CASES)
def test_a_forged_section_is_refused(plain: bytes, tmp_path: Path, section: str, field: str, number: int) -> None:
    made_up = sections()
    sound = made_up[section][field]
    made_up[section][field] = sound[:0] if number < 0 else FORGERIES[section, field][number](sound)
    assert_refused(tmp_path / "forged.likely", with_sections(plain, made_up))


def test_more_trees_than_are_grown_are_refused(plain: bytes, tmp_path: Path) -> None:
    assert_refused(tmp_path / "forged.likely", with_sections(plain, sections(MOST_TREES + 1)))


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_that_are_read_do_not_overflow(plain: bytes, tmp_path: Path) -> None:
    """What passes the limits makes probabilities, and never NaN."""
    made_up = sections()
    for field in ("values", "linear", "products"):
        made_up["discriminant"][field] = np.full_like(made_up["discriminant"][field], HEAVIEST_COUNT)
    (tmp_path / "large.likely").write_bytes(with_sections(plain, made_up))
    shares = likely.load(tmp_path / "large.likely").predict_proba(ROWS)
    assert np.isfinite(shares).all()
    assert np.allclose(shares.sum(axis=1), 1.0)


def with_own(plain: bytes, trail: tuple[str | int, ...], change: Any) -> bytes:
    """The model with one of its own arrays changed."""
    document, arrays = container.unpack(plain)
    name: Any = document["learned"]["evidence"]
    for key in trail:
        name = name[key]
    changed = {**arrays, name: np.ascontiguousarray(change(arrays[name]))}
    return sealed(json.dumps(document).encode(), save_arrays(changed))


@pytest.mark.parametrize("value", [np.nan, 1e308, -1e308])
@pytest.mark.parametrize("trail", [("tables",), ("base",), ("ways", "offsets")], ids=str)
def test_scores_whose_multiples_overflow_are_refused(
    plain: bytes, tmp_path: Path, trail: tuple[str | int, ...], value: float
) -> None:
    assert_refused(tmp_path / "forged.likely", with_own(plain, trail, cell(value)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("change", [np.zeros_like, cell(0.0)], ids=["all", "first"])
def test_bins_without_rows_have_a_page_and_finite_priors(plain: bytes, tmp_path: Path, change: Any) -> None:
    """Rows may be forgotten or weigh nothing, so that a bin without any is no forgery."""
    (tmp_path / "m.likely").write_bytes(with_own(plain, ("columns", 0, "mass"), change))
    clf = likely.load(tmp_path / "m.likely", EvidenceClassifier)
    write_page(tmp_path / "page.html", clf)
    for resolution in clf.model_.evidence.encoding.prior_covariances:
        assert all(np.isfinite(covariance).all() for covariance in resolution)
