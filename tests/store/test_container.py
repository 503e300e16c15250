"""The bytes of a model file lie where the page of its module says, and within limits that are kept to the last one."""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as load_arrays

from likely.errors import ModelFileError
from likely.store import container
from likely.store.container import pack, unpack

DIGITS = 400


def sealed(text: bytes, body: bytes = b"", version: int = 1) -> bytes:
    head = struct.pack("<8sIIQQ", b"likely\r\n", version, 0, len(text), len(body))
    return head + hashlib.sha256(head + text + body).digest() + text + body


def test_a_file_is_laid_out_as_it_is_described() -> None:
    """Readers of other languages go by this: magic, format, zero, two lengths, a digest, JSON, safetensors."""
    document, arrays = {"name": "Köln", "of": [1, 2.5, None]}, {"a0": np.arange(6.0).reshape(2, 3)[:, ::2]}
    content = pack(document, arrays)
    magic, version, reserved, size, rest = struct.unpack("<8sIIQQ", content[:32])
    assert (magic, version, reserved) == (b"likely\r\n", 1, 0) and 64 + size + rest == len(content)
    assert content[32:64] == hashlib.sha256(content[:32] + content[64:]).digest()
    text = content[64 : 64 + size]
    assert text.isascii() and b" " not in text and json.loads(text) == document
    assert load_arrays(content[64 + size :])["a0"].tolist() == [[0.0, 2.0], [3.0, 5.0]]
    found, again = unpack(memoryview(content))
    assert found == document and again["a0"].tolist() == [[0.0, 2.0], [3.0, 5.0]]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.uint16, np.uint8])
def test_arrays_come_back_with_their_type_and_shape(kind: type) -> None:
    for shape in ((0,), (3,), (2, 0), (2, 3), ()):
        array = np.ones(shape, dtype=kind)
        again = unpack(pack({}, {"a": array}))[1]["a"]
        assert again.dtype == kind and again.shape == shape and (again == array).all()


def test_what_json_has_no_word_for_is_not_written() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            pack({"value": value}, {})


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "too short"),
        (sealed(b"{}")[:63], "too short"),
        (sealed(b""), "document cannot be read"),
        (sealed(b"{}")[:65], "length"),
        (sealed(b"{}") + b" ", "length"),
        (b"L" + sealed(b"{}")[1:], "begin like"),
        (sealed(b"{}", version=2), "format 2"),
        (sealed(b"{}")[:-1] + b"]", "checksum"),
        (sealed(b"{}"), "arrays cannot be read"),
        (sealed(b"[]"), "no object"),
        (sealed(b'{"a":1,"a":2}'), "key twice"),
        (sealed(b'{"a":NaN}'), "NaN"),
        (sealed(b"{\xff}"), "document cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_says_what_is_wrong(content: bytes, why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        unpack(content)


@pytest.mark.parametrize("sign", ["", "-"])
def test_numbers_have_four_hundred_digits_at_most(sign: str) -> None:
    arrays = pack({}, {})[64 + 2 :]
    longest = int(sign + "9" * DIGITS)
    assert unpack(sealed(json.dumps({"n": longest}).encode(), arrays))[0] == {"n": longest}
    with pytest.raises(ModelFileError, match=r"40[12] digits"):
        unpack(sealed(b'{"n":%s1%s}' % (sign.encode(), b"0" * DIGITS), arrays))


def test_a_document_has_so_many_bytes_and_none_more(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pack({"a": 1}, {})
    monkeypatch.setattr(container, "MOST_DOCUMENT", len(b'{"a":1}'))
    assert unpack(content)[0] == {"a": 1}
    monkeypatch.setattr(container, "MOST_DOCUMENT", len(b'{"a":1}') - 1)
    with pytest.raises(ModelFileError, match="length"):
        unpack(content)


def test_of_a_document_above_a_quarter_of_a_gigabyte_no_more_than_the_head_is_read() -> None:
    """The length agrees with the file's own; the digest would not, if anyone came to look at it."""
    size = (1 << 28) + 1
    with mmap.mmap(-1, 64 + size) as content:
        content[:32] = struct.pack("<8sIIQQ", b"likely\r\n", 1, 0, size, 0)
        view: Any = memoryview(content)
        try:
            with pytest.raises(ModelFileError, match="length"):
                unpack(view)
        finally:
            view.release()
