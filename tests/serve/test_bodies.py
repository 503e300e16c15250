"""Bodies from strangers: JSON, CSV and Arrow that lie about what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.serve.answers import ARROW, CSV
from likely.serve.bodies import Body, media_type, read_arrow, read_object
from likely.serve.refusals import HTTPRefusal
from tests.serve.conftest import Serve, weather, without_label

ROWS = without_label(weather(20, seed=1))


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


WHOLE = stream(pa.Table.from_pylist(ROWS))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"nul", b'{"rows": [1e400]}'[:9], b'{"rows": NaN}', b'{"rows": [{"wind": Infinity}]}',
        b'"\xff"', b'{"rows": "\xed\xa0\x80"}', b"[" * 200_000, b'{"a":' * 200_000, b"\x00", b"3",
    ],
)  # fmt: skip
def test_what_is_no_json_object(content: bytes) -> None:
    with pytest.raises(HTTPRefusal) as refused:
        read_object(Body(content, "application/json"))
    assert refused.value.status in (400, 422)


def test_types_of_bodies() -> None:
    assert media_type(None) == "application/json"
    assert media_type("Text/CSV; charset=utf-8") == CSV
    with pytest.raises(HTTPRefusal):
        read_object(Body(b"{}", CSV))


def test_a_misspelt_field_is_refused() -> None:
    """A key or a weight that is passed over in silence would be a row learned twice."""
    assert read_object(Body(b'{"rows": []}', "application/json"), "rows", "labels") == {"rows": []}
    with pytest.raises(HTTPRefusal, match="'rows', 'labels', and nothing else"):
        read_object(Body(b'{"rows": [], "key": "a"}', "application/json"), "rows", "labels")


def test_an_arrow_stream_is_read_whole() -> None:
    assert read_arrow(WHOLE, 20, 10).to_pylist() == ROWS


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (stream(pa.table({"a": pa.nulls(30)})), 413),
        (stream(pa.table({f"c{k}": [1] for k in range(11)})), 413),
        (stream(pa.Table.from_pylist(ROWS * 1000), compression="zstd"), 415),
        (stream(pa.table({"a": list(range(19))}), compression="lz4"), 415),
        (stream(pa.table({"a": [[1, 2]]})), 422),
        (stream(pa.table({"a": [{"b": 1}]})), 422),
        (stream(pa.table({"a": [b"x"]})), 422),
        (stream(pa.table({"a": pa.array([], pa.int64())})), 422),
        (b"", 400), (b"ARROW1\0\0", 400), (b"\xff" * 100, 400), (WHOLE[: len(WHOLE) // 2], 400),
    ],
)  # fmt: skip
def test_arrow_streams_that_are_refused(content: bytes, status: int) -> None:
    with pytest.raises(HTTPRefusal) as refused:
        read_arrow(content, 20, 10)
    assert refused.value.status == status


def test_dictionaries_are_categories(trained: Path, serve: Serve) -> None:
    table = pa.Table.from_pylist(ROWS)
    coded = table.set_column(1, "town", table["town"].dictionary_encode())
    client = serve(trained)
    one, other = (client.post("/predict", content=stream(t), headers={"content-type": ARROW}) for t in (table, coded))
    assert one.status_code == 200 and one.content == other.content


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_stream_is_refused_or_read(damage: list[tuple[int, int]]) -> None:
    """Never a crash, never another error: offsets that lead out of their buffers are found before they are followed."""
    content = bytearray(WHOLE)
    for place, byte in damage:
        content[place] = byte
    try:
        table = read_arrow(bytes(content), 1000, 100)
    except HTTPRefusal as refused:
        assert refused.status in (400, 413, 415, 422)
    else:
        table.to_pylist()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"wind,town,rain\n", b"wind,wind,town,rain\n1,2,x,3\n", b"wind;town\n1;2\n", b"\x1f\x8b..",
        b"wind,town,rain\nmuch,Ulm,2\n", b"wind,town,rain\n1,Ulm,2,9\n", b"wind,town,rain\n1,\xff\xfe,2\n\x00\n",
        b"PAR1", b"ARROW1\0\0", b"\xf3\x8c\xbf\x89\x00x\r\xa0", b"\0\n\0", b"\xc2\x85", b"1\n\xef\xbb\xbf",
        b"PK\x03\x04", b'wind,town,rain\n1,"Ulm\n', b"(\xb5/\xfd",
    ],
)  # fmt: skip
def test_csv_that_is_refused(content: bytes, trained: Path, serve: Serve) -> None:
    answer = serve(trained).post("/predict", content=content, headers={"content-type": CSV})
    assert answer.status_code in (400, 415, 422), answer.text
    assert "/" not in answer.json()["error"], "no path of a temporary file"
