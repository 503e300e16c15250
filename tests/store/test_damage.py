"""Files that were cut, flipped or made up are refused, quickly and with one kind of error."""

from __future__ import annotations

import copy
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_arrays

import likely
from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, ModelFileError
from likely.stats import Histogram
from likely.store import container

FULL = os.environ.get("LIKELY_TORTURE") == "full"
FLIPS = 20_000 if FULL else 1_000


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=40), "b": rng.choice(["x", "y"], 40), "c": rng.poisson(2, 40).astype(float)}
    path = tmp_path_factory.mktemp("model") / "m.likely"
    BayesClassifier(families={"c": "bernoulli"}).fit(table, rng.choice(["no", "yes"], 40)).save(path)
    return path.read_bytes()


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        likely.load(path)
    assert type(caught.value) is ModelFileError
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_flipped_bit_is_noticed(content: bytes, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for bit in rng.choice(len(content) * 8, min(FLIPS, len(content) * 8), replace=False):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        refused(tmp_path / "m.likely", bytes(flipped))


def test_every_truncation_is_noticed(content: bytes, tmp_path: Path) -> None:
    for length in range(0, len(content), 1 if FULL else 23):
        refused(tmp_path / "m.likely", content[:length])
    refused(tmp_path / "m.likely", content + b"\0")


def test_a_newer_format_is_named(content: bytes, tmp_path: Path) -> None:
    newer = bytearray(content)
    newer[8] = 9
    assert "format 9" in refused(tmp_path / "m.likely", bytes(newer))


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(place: str) -> None:
    with pytest.raises(ModelFileError, match="no file has such a name"):
        likely.load("model\0.likely")
    with pytest.raises(ModelFileError, match="regular"):
        likely.load(place)


def test_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError):
        likely.load(tmp_path / "pipe")
    with pytest.raises(ModelFileError):
        likely.load(tmp_path)


# Files that were made up, with a checksum that agrees: whoever makes one can compute it, too.


Change = Callable[[dict[str, Any], dict[str, Any]], None]


def sealed(text: bytes, body: bytes) -> bytes:
    head = container.HEAD.pack(container.MAGIC, container.FORMAT, 0, len(text), len(body))
    digest = container.hashlib.sha256(head + text + body).digest()
    return head + digest + text + body


def walked(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document."""
    yield trail
    if isinstance(value, dict):
        for key in value:
            yield from walked(value[key], (*trail, key))
    elif isinstance(value, list):
        for place in range(min(len(value), 3)):
            yield from walked(value[place], (*trail, place))


def put(document: dict[str, Any], trail: tuple[Any, ...], new: Any) -> None:
    for step in trail[:-1]:
        document = document[step]
    document[trail[-1]] = new


STRANGE = [None, -1, 10**18, "?", [], {}, [[[]]], {"$": "tuple", "of": 3}, {"$": "nosuch", "of": []}, True, 0.5]

HARMLESS = {"created", "likely", "sources"}
"""Provenance may say anything; nothing depends on it."""


def same_model(a: Any, b: Any) -> bool:
    rows = {"a": [0.3], "b": ["x"], "c": [1.0]}
    return bool(np.allclose(a.predict_proba(rows), b.predict_proba(rows)))


def test_a_made_up_document_is_refused_or_harmless(content: bytes, tmp_path: Path) -> None:
    """Every value of the document replaced by every strange one: a refusal, or a model that still works."""
    document, arrays = container.unpack(content)
    body = save_arrays(arrays)
    path = tmp_path / "m.likely"
    trails = [trail for trail in walked(document) if trail and trail[0] not in HARMLESS]
    refusals = 0
    for trail in trails:
        for new in STRANGE:
            changed = copy.deepcopy(document)
            put(changed, trail, new)
            path.write_bytes(sealed(json.dumps(changed).encode(), body))
            try:
                clf = likely.load(path)
            except ModelFileError:
                refusals += 1
                continue
            clf.predict_proba({"a": [0.3], "b": ["x"], "c": [1.0]})
    assert refusals > 0.6 * len(trails) * len(STRANGE)
    assert len(trails) * len(STRANGE) > 200


@pytest.mark.parametrize("depth", [200, 900, 100_000])
def test_a_deep_document_is_refused(content: bytes, tmp_path: Path, depth: int) -> None:
    document, arrays = container.unpack(content)
    text = json.dumps({**document, "sources": ["?"]}).replace('"?"', "[" * depth + "]" * depth).encode()
    assert "nested" in refused(tmp_path / "m.likely", sealed(text, save_arrays(arrays)))


def test_made_up_arrays_are_refused(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    text = json.dumps(document).encode()
    path = tmp_path / "m.likely"
    for name, array in arrays.items():
        for new in (array[:0], array.ravel()[:1], array.astype(np.int32 if array.dtype != np.int32 else np.int64)):
            refused(path, sealed(text, save_arrays({**arrays, name: np.ascontiguousarray(new)})))
        if array.dtype == np.float64 and array.size:
            for bad in (np.nan, np.inf, -7.0, 1e300):
                refused(path, sealed(text, save_arrays({**arrays, name: np.full_like(array, bad)})))
        refused(path, sealed(text, save_arrays({k: v for k, v in arrays.items() if k != name})))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"kind":NaN}',
        b'{"kind":1e999}',
        b'{"kind":' + b"9" * 5000 + b"}",
        b'{"kind":1,"kind":2}',
        b'{"kind":"BayesClassifier"}',
        b'{"kind":"os.system","settings":{}}',
        b"\xff\xfe",
        b'"' + b"x" * 1_000_000 + b'"',
    ],
    ids=lambda text: repr(text[:16]),
)
def test_a_document_that_is_none_is_refused_in_little_memory(text: bytes, tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        refused(tmp_path / "m.likely", sealed(text, save_arrays({})))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20


@pytest.mark.parametrize(
    "head",
    [
        (container.MAGIC, 1, 0, 2**63, 0),
        (container.MAGIC, 1, 0, 2**64 - 1, 2**64 - 1),
        (container.MAGIC, 1, 0, 0, 2**40),
        (container.MAGIC, 0, 7, 0, 0),
        (container.MAGIC, 2**32 - 1, 0, 0, 0),
        (b"PK\x03\x04....", 1, 0, 0, 0),
    ],
    ids=str,
)
def test_lying_lengths_allocate_nothing(head: tuple[Any, ...], tmp_path: Path) -> None:
    refused(tmp_path / "m.likely", container.HEAD.pack(*head) + b"\0" * 32)


def test_a_lying_table_of_arrays_is_refused(content: bytes, tmp_path: Path) -> None:
    document, _ = container.unpack(content)
    text = json.dumps(document).encode()
    for header in (
        {"a0": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 8]}},
        {"a0": {"dtype": "F64", "shape": [1], "data_offsets": [0, 2**40]}},
        {
            "a0": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
            "a1": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]},
        },
        {"a0": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}},
        {"a0": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 8]}},
        {"a0": {"dtype": "F64", "shape": [1]}},
        {},
    ):
        packed = json.dumps(header).encode()
        refused(tmp_path / "m.likely", sealed(text, len(packed).to_bytes(8, "little") + packed + b"\0" * 8))
    refused(tmp_path / "m.likely", sealed(text, (2**62).to_bytes(8, "little")))


def test_nothing_is_imported_or_called_by_name(content: bytes, tmp_path: Path) -> None:
    document, arrays = container.unpack(content)
    for kind in ("object", "builtins.eval", "likely.teaching.demo", "Learner", "__import__('os')"):
        refused(tmp_path / "m.likely", sealed(json.dumps({**document, "kind": kind}).encode(), save_arrays(arrays)))


def forged(path: Path, change: Callable[[str, np.ndarray], np.ndarray]) -> bytes:
    """A sound file but for its arrays."""
    document, arrays = container.unpack(path.read_bytes())
    changed = {name: np.ascontiguousarray(change(name, array)) for name, array in arrays.items()}
    return sealed(json.dumps(document).encode(), save_arrays(changed))


@pytest.mark.parametrize("count", [1e308, 1e300, 1e150, 0.0])
@pytest.mark.parametrize("clf", [BayesClassifier(families="bins"), AODEClassifier(max_cells=8), EvidenceClassifier()])
def test_counts_that_no_rows_have_are_refused(clf: Any, count: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    clf.fit(rng.normal(size=(120, 3)), rng.choice(["no", "yes"], 120)).save(tmp_path / "m.likely")
    cells = [seen.counts.shape for seen in clf.summary_.parts.values() if isinstance(seen, Histogram)]
    assert cells

    def change(_: str, array: np.ndarray) -> np.ndarray:
        return np.full_like(array, count) if array.shape in cells and array.dtype == np.float64 else array

    assert "count" in refused(tmp_path / "forged.likely", forged(tmp_path / "m.likely", change))


def test_a_histogram_of_more_cells_than_there_is_room_for_is_refused(tmp_path: Path) -> None:
    clf = BayesClassifier(families="bins").fit(np.arange(120.0)[:, None], np.arange(120) % 2)
    clf.save(tmp_path / "m.likely")

    def change(_: str, array: np.ndarray) -> np.ndarray:
        if array.dtype == np.int64 and len(array) == 120:
            return np.arange(10_000, dtype=np.int64)
        return np.ones((2, 10_000)) if array.shape == (2, 120) else array

    assert "too many" in refused(tmp_path / "forged.likely", forged(tmp_path / "m.likely", change))


def test_terms_of_more_cells_than_can_be_named_are_refused(tmp_path: Path) -> None:
    """Two to the power of 32 cells would begin again at place 0 of a small table."""
    rng = np.random.default_rng(3)
    clf = EvidenceClassifier(max_pairs=0, max_triples=0).fit(rng.normal(size=(3000, 4)), rng.integers(0, 2, 3000))
    clf.save(tmp_path / "m.likely")
    document, arrays = container.unpack((tmp_path / "m.likely").read_bytes())
    evidence = document["learned"]["evidence"]
    for column in evidence["columns"]:
        size = len(arrays[column["mass"]])
        arrays[column["tiny"]] = np.arange(size + 1, dtype=np.uint8)
    arrays[evidence["triples"]] = np.array([[0, 1, 2]] * 4096, dtype=np.int32)
    text = json.dumps(document).encode()
    assert "more cells" in refused(tmp_path / "forged.likely", sealed(text, save_arrays(arrays)))
