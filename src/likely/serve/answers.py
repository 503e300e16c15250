"""What a model says, as JSON, CSV or Arrow."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from likely.arrays import Array
from likely.explain import Explanation
from likely.families.protocol import Token
from likely.io.write import table_writer
from likely.serve.catalogue import Judged, Snapshot, json_label

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

JSON = "application/json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"

_ENCODER = msgspec.json.Encoder()
STRONGEST_WORDS = 50


class HasFrame(Protocol):
    """An explanation of another kind than prior × factors: a tree's, a machine's."""

    def to_frame(self) -> pd.DataFrame: ...


def encode(content: object) -> bytes:
    """Content as JSON."""
    return _ENCODER.encode(content)


def predictions(model: Snapshot, judged: Judged, *, probabilities: bool = True) -> dict[str, object]:
    """The answer of /predict: of each row the class, and P(class) by class."""
    labels = model.labels
    chosen = [labels[place] for place in judged.chosen.tolist()]
    if not probabilities:
        return {**model.about, "predictions": [{"prediction": label} for label in chosen]}
    names = [str(label) for label in labels]
    rows = [
        {"prediction": label, "probabilities": dict(zip(names, shares, strict=True))}
        for label, shares in zip(chosen, judged.posterior.tolist(), strict=True)
    ]
    return {**model.about, "predictions": rows}


def decisions(model: Snapshot, frame: pd.DataFrame) -> dict[str, object]:
    """The answer of /decide: of each row the cheapest decision, what it is expected to cost, and why none was taken."""
    columns = zip(frame["decision"].tolist(), frame["risk"].tolist(), frame["reason"].tolist(), strict=True)
    rows = [
        {"decision": None if reason else json_label(decision), "risk": finite(risk), "reason": reason}
        for decision, risk, reason in columns
    ]
    return {**model.about, "decisions": rows}


def explanations(model: Snapshot, why: HasFrame) -> dict[str, object]:
    """The answer of /explain: prior and one factor for each column, in logs, which add up to the log joint."""
    if not isinstance(why, Explanation):
        return {**model.about, "explanations": [{"steps": record} for record in _records(why)]}
    names = [str(label) for label in model.labels]
    joint, posterior = why.joint, why.posterior
    told = []
    for row in range(len(why)):
        factors = [
            {
                "column": name,
                "value": json_cell(why.cells[row][place]),
                "status": why.status(row, place),
                "log_likelihood": _by_class(names, why.contributions[row, place]),
            }
            for place, name in enumerate(why.columns)
        ]
        one: dict[str, object] = {
            "prior": _by_class(names, why.prior),
            "factors": factors,
            "log_joint": _by_class(names, joint[row]),
            "posterior": _by_class(names, posterior[row]),
        }
        words = {column: _words(names, texts[row]) for column, texts in why.words.items()}
        told.append({**one, "words": words} if words else one)
    return {**model.about, "explanations": told}


def _words(names: Sequence[str], tokens: Iterable[Token]) -> list[dict[str, object]]:
    """The words that tell classes apart best."""
    ordered = sorted(tokens, key=lambda token: -float(np.ptp(token.evidence)))[:STRONGEST_WORDS]
    return [{"word": t.word, "weight": t.weight, "log_likelihood": _by_class(names, t.evidence)} for t in ordered]


def _by_class(names: Sequence[str], numbers: Array) -> dict[str, float | None]:
    return dict(zip(names, map(finite, numbers.tolist()), strict=True))


def _records(why: HasFrame) -> list[list[dict[str, object]]]:
    """Another explanation: the lines of its frame, row by row."""
    frame = why.to_frame()
    lines = [{str(key): json_cell(cell) for key, cell in line.items()} for line in frame.to_dict("records")]
    if "row" not in frame:
        return [[line] for line in lines]
    rows: dict[object, list[dict[str, object]]] = {}
    for line in lines:
        rows.setdefault(line.pop("row"), []).append(line)
    return list(rows.values())


def finite(number: float) -> float | None:
    """A number that JSON has; null for infinity."""
    return number if math.isfinite(number) else None


def json_cell(cell: object) -> object:
    """A cell as JSON has it."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float):
        return finite(cell)
    return cell if cell is None or isinstance(cell, str | int) else str(cell)


# Many rows at once: columns prediction and P(class).


def columns(model: Snapshot, judged: Judged, *, probabilities: bool = True) -> pa.Table:
    """A table beside the rows that were sent, in their order."""
    import pyarrow as pa

    labels = pa.array(model.labels)
    made: dict[str, pa.Array] = {"prediction": labels.take(pa.array(judged.chosen))}
    if probabilities:
        posterior = np.ascontiguousarray(judged.posterior.T)
        made |= {f"P({label})": pa.array(posterior[place]) for place, label in enumerate(model.labels)}
    return pa.table(made)


def as_arrow(table: pa.Table) -> bytes:
    """An Arrow IPC stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def as_csv(table: pa.Table) -> bytes:
    """CSV with a line of names; text that a spreadsheet would run as a formula is guarded."""
    sink = io.BytesIO()
    with table_writer(sink, kind=".csv", guard=True) as write:
        write(table)
    return sink.getvalue()


def headers_of(model: Snapshot) -> Mapping[str, str]:
    """Where an answer without JSON comes from."""
    return {"x-likely-model": header_text(model.name), "x-likely-revision": model.revision}


def header_text(text: str) -> str:
    """A name as a header can hold it."""
    return "".join(sign if sign.isascii() and sign.isprintable() else "?" for sign in text)
