"""A packed document is unpacked to the last bit."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import numpy as np
import pytest

from likely.studio.payload import packed, plain_value

READ = """(text) => likely.unpack(text).then((told) => JSON.stringify(Object.fromEntries(
  Object.entries(told).filter(([, v]) => ArrayBuffer.isView(v)).map(([k, v]) => [k, Array.from(v)]))))"""


def head_of(content: bytes) -> Any:
    raw = zlib.decompress(content)
    size = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + size])


def test_the_same_document_gives_the_same_bytes() -> None:
    document = {"a": np.arange(100.0), "b": ["x", None, True, 1.5], "c": {"d": np.zeros((3, 4))}}
    assert packed(document) == packed(document)


def test_few_values_are_codes_and_many_are_planes() -> None:
    rng = np.random.default_rng(0)
    head = head_of(packed({"few": rng.integers(0, 5, 1000) * 0.1, "many": rng.normal(size=1000)}))
    assert head["few"]["$"]["as"] == "code8" and head["many"]["$"]["as"] == "planes"


def test_counts_take_little_room() -> None:
    counts = np.log(np.random.default_rng(1).poisson(0.3, (20_000, 2)) + 1.0)
    assert len(packed({"lines": counts})) < 20_000


@pytest.mark.parametrize(
    ("largest", "kind", "how"),
    [
        (2**31 - 1, np.int64, "i32"), (2**31, np.int64, "f64"), (-(2**31), np.int64, "i32"),
        (-(2**31) - 1, np.int64, "f64"), (2**32 - 1, np.uint64, "u32"), (2**32, np.uint64, "f64"),
    ],
)  # fmt: skip
def test_whole_numbers_beyond_32_bits_stay_what_they_are(largest: int, kind: type, how: str) -> None:
    content = packed({"n": np.array([largest, 1], dtype=kind)})
    told, raw = head_of(content)["n"]["$"], zlib.decompress(content)
    first = 8 + int.from_bytes(raw[:8], "little") + told["at"]
    read = {"i32": "<i4", "u32": "<u4", "f64": "<f8"}[how]
    assert told["as"] == how
    assert np.frombuffer(raw, dtype=read, count=2, offset=first).tolist() == [largest, 1]


def test_what_json_has_no_word_for() -> None:
    head = head_of(packed({"x": [math.inf, -math.inf, math.nan, 2**70, b"bytes"]}))
    assert head["x"] == [{"#": "inf"}, {"#": "-inf"}, {"#": "nan"}, str(2**70), "b'bytes'"]
    assert plain_value(np.float64(2.5)) == 2.5 and plain_value(np.bool_(True)) is True


def test_lone_surrogates_do_not_stop_it() -> None:
    assert head_of(packed({"name": "a\ud800b"}))["name"] == "a?b"


def test_every_kind_of_array_comes_back(tab: Any) -> None:
    """In the browser, through the page's own modules."""
    import base64

    from likely.studio.page import page

    rng = np.random.default_rng(2)
    arrays = {
        "short": np.array([1.5, -0.0, 1e-300]), "codes": rng.integers(0, 300, 4000) / 7.0,
        "planes": rng.normal(size=500), "whole": np.arange(-3, 4, dtype=np.int32), "flags": np.array([True, False]),
        "small": np.float32([0.5, 2.0]),
    }  # fmt: skip
    content = packed({"classes": [], "scorer": {"form": "service"}, **arrays})
    told = {name: array.astype(float).tolist() for name, array in arrays.items()}
    tab.set_content(page("x", None).replace("</body>", "<p id=done></p></body>"))
    back = tab.evaluate(READ, base64.b64encode(content).decode())
    assert {name: np.array(values).tolist() for name, values in json.loads(back).items()} == told
