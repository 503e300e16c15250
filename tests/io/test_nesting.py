"""The flat scan agrees with a count by hand, whatever stands in texts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.io.scan import MOST_DEEP, _is_deep, is_deep, nesting

cells = st.recursive(
    st.text() | st.sampled_from(['"', "[", "]\\", '\\"{', "\n"]) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


def depth(cell: Any) -> int:
    """How deep a cell is nested, by definition."""
    if isinstance(cell, dict):
        cell = list(cell.values())
    return 1 + max(map(depth, cell), default=0) if isinstance(cell, list) else 0


@given(cells)
def test_the_scan_finds_the_depth(cell: Any) -> None:
    for text in (json.dumps(cell), json.dumps(cell, ensure_ascii=False, indent=1)):
        array = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        assert not _is_deep(array, depth(cell))
        assert depth(cell) == 0 or _is_deep(array, depth(cell) - 1)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":', b"[\n", b'["]",', b'["\\"]",'])
def test_what_never_closes_is_deep(opening: bytes) -> None:
    assert is_deep(opening * (MOST_DEEP + 1))
    assert not is_deep(opening * (MOST_DEEP // 2))


@given(st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b'"', b"\\", b"\n", b"a"]), max_size=40).map(b"".join))
def test_short_texts_are_judged_as_long_ones_are(text: bytes) -> None:
    array = np.frombuffer(text, dtype=np.uint8)
    deep = nesting(text)
    assert not _is_deep(array, deep)
    assert deep == 0 or _is_deep(array, deep - 1)
