"""The bytes of a model file: a fixed head, a JSON document, arrays; and a digest over all of it.

    8 bytes   magic
    4 bytes   format version            (little endian, as all numbers)
    4 bytes   reserved, zero
    8 bytes   length of the document
    8 bytes   length of the arrays
    32 bytes  SHA-256 of the 32 bytes before it, the document and the arrays
    …         the document: JSON, UTF-8
    …         the arrays: safetensors

Nothing is allocated by a number in the file before it has been compared with the file's own size, and nothing is parsed
before the digest agrees.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from likely.arrays import AnyArray
from likely.errors import ModelFileError
from likely.io.outputs import MODEL_MARK
from likely.io.scan import TOO_DEEP, is_deep

MAGIC = MODEL_MARK
FORMAT = 1
HEAD = struct.Struct("<8sIIQQ")
DIGEST = hashlib.sha256().digest_size
START = HEAD.size + DIGEST

MOST_DOCUMENT = 1 << 28
"""Bytes of JSON that are read at most: far above any real model, far below what would hurt."""

LONGEST_NUMBER = 400
"""Digits of a number in a file: a few letters more, and it could be one that no computer can hold."""

DTYPES = {"F64": np.float64, "F32": np.float32, "I64": np.int64, "I32": np.int32, "U16": np.uint16, "U8": np.uint8}

Document = dict[str, Any]
"""A JSON object as it lies in a file: whoever reads from it checks what is there."""

Arrays = Mapping[str, AnyArray]


def pack(document: Mapping[str, object], arrays: Arrays) -> bytes:
    """A document and its arrays as the bytes of a file."""
    from safetensors.numpy import save

    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    body = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
    head = HEAD.pack(MAGIC, FORMAT, 0, len(text), len(body))
    digest = hashlib.sha256(head + text + body).digest()
    return b"".join([head, digest, text, body])


def unpack(content: bytes | memoryview) -> tuple[Document, dict[str, AnyArray]]:
    """The document and the arrays of a file, or a `ModelFileError` that says what is wrong with it."""
    view = memoryview(content)
    if len(view) < START:
        raise ModelFileError("it is too short to be a model")
    magic, version, reserved, document_size, arrays_size = HEAD.unpack(view[: HEAD.size])
    if magic != MAGIC:
        raise ModelFileError("it does not begin like a model file")
    if version > FORMAT:
        raise ModelFileError(
            f"it has format {version}, and this version of likely reads up to {FORMAT}: upgrade likely"
        )
    if START + document_size + arrays_size != len(view) or document_size > MOST_DOCUMENT or reserved:
        raise ModelFileError("its length is not what its head says: it was cut off or changed")
    middle = START + document_size
    digest = hashlib.sha256(view[: HEAD.size])
    digest.update(view[START:])
    if digest.digest() != bytes(view[HEAD.size : START]):
        raise ModelFileError("its content does not agree with its checksum: it was damaged or changed")
    return _document(bytes(view[START:middle])), _arrays(bytes(view[middle:]))


def _document(text: bytes) -> Document:
    if is_deep(text):
        raise ModelFileError(f"in its document {TOO_DEEP}")
    try:
        document = json.loads(
            text.decode("utf-8"), object_pairs_hook=_no_double_keys, parse_constant=_no_constant, parse_int=_bounded_int
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its document cannot be read ({type(error).__name__})") from None
    if not isinstance(document, dict):
        raise ModelFileError("its document is no object")
    return document


def _arrays(body: bytes) -> dict[str, AnyArray]:
    from safetensors import SafetensorError, deserialize

    try:
        found = deserialize(body)
    except (SafetensorError, ValueError, OverflowError) as error:
        raise ModelFileError(f"its arrays cannot be read ({error})") from None
    arrays = {}
    for name, info in found:
        if info["dtype"] not in DTYPES:
            raise ModelFileError(f"its array {name!r} has the type {info['dtype']}, which no model has")
        try:
            arrays[name] = np.frombuffer(info["data"], dtype=DTYPES[info["dtype"]]).reshape(info["shape"])
        except ValueError as error:
            raise ModelFileError(f"its array {name!r} cannot be read ({error})") from None
    return arrays


def _no_double_keys(pairs: list[tuple[str, object]]) -> Document:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("its document names a key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ModelFileError(f"its document holds {name}, which is no JSON number")


def _bounded_int(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER + digits.startswith("-"):
        raise ModelFileError(f"its document holds a number of {len(digits)} digits")
    return int(digits)
