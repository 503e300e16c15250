"""Summaries come back as they were; arrays that do not fit together and numbers that do not follow are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from likely import AODEClassifier, BayesClassifier, FullBayesClassifier
from likely.arrays import AnyArray
from likely.errors import ModelFileError
from likely.stats import Summary
from likely.store import codec
from likely.store.codec import Reader, Writer
from likely.store.summaries import arrays_in, check_parameters, read_summary, write_parameters, write_summary
from likely.text.vocabulary import Words

N = 30
Y = np.array(["p", "q", "r"])[np.arange(N) % 3]
ROWS: dict[str, Any] = {
    "x": np.arange(N) % 7 + 0.5,
    "town": ["u", "v", None, "w", "v"] * 6,
    "note": ["red wine", "blue sky", "sky"] * 10,
}


def fitted(kind: str = "naive") -> Any:
    if kind == "pairs":
        return AODEClassifier(n_jobs=1).fit({key: ROWS[key] for key in ("x", "town")}, Y)
    if kind == "full":
        return FullBayesClassifier(n_jobs=1).fit({"x": ROWS["x"], "z": np.arange(N) % 5}, Y)
    return BayesClassifier(n_jobs=1, schema={"note": "text"}).fit(ROWS, Y)


def stored(summary: Summary) -> tuple[Any, dict[str, AnyArray]]:
    writer = Writer()
    return json.loads(json.dumps(write_summary(summary, writer), allow_nan=False)), writer.arrays


@pytest.mark.parametrize("kind", ["naive", "pairs", "full"])
def test_a_summary_comes_back_as_it_was(kind: str) -> None:
    summary = fitted(kind).summary_
    document, arrays = stored(summary)
    again = read_summary(document, Reader(arrays))
    assert again.classes.labels.tolist() == ["p", "q", "r"] and again.n_rows == N
    assert [str(part) for part in again.parts] == [str(part) for part in summary.parts]
    for part, seen in summary.parts.items():
        assert type(again.parts[part]) is type(seen)
        for (name, a), (other, b) in zip(arrays_in(seen), arrays_in(again.parts[part]), strict=True):
            assert name == other and a.dtype == b.dtype and np.array_equal(a, b), name
    assert stored(again)[0] == document


def test_a_column_that_is_described_twice_is_refused() -> None:
    document, arrays = stored(fitted().summary_)
    document["parts"].append(document["parts"][0])
    with pytest.raises(ModelFileError, match="twice"):
        read_summary(document, Reader(arrays))


@pytest.mark.parametrize(
    "change", [{"kind": "nosuch"}, {"statistic": "nosuch"}, {"statistic": "moments", "kind": "counts"}]
)
def test_statistics_that_are_not_known_are_refused(change: dict[str, str]) -> None:
    document, arrays = stored(fitted().summary_)
    for place in range(len(document["parts"])):
        parts = [dict(part) for part in document["parts"]]
        parts[place].update(change)
        with pytest.raises(ModelFileError, match="statistic that this version"):
            read_summary({**document, "parts": parts}, Reader(arrays))


# Words.


def words_of(arena: bytes, starts: list[int]) -> Words:
    arrays: dict[str, AnyArray] = {"a": np.frombuffer(arena, np.uint8), "s": np.array(starts, np.int64)}
    return codec.read(Words, {"arena": "a", "starts": "s"}, Reader(arrays))


def test_words_come_back() -> None:
    assert words_of(b"", [0]).to_list() == []
    assert words_of("köln".encode(), [0, 5]).to_list() == ["köln"]
    assert words_of(b"abc", [0, 0, 1, 3]).to_list() == ["", "a", "bc"]
    assert words_of(b"abc", [0, 2, 3]).to_list() == ["ab", "c"]


@pytest.mark.parametrize(
    ("arena", "starts", "why"),
    [
        (b"", [], "fit together"),
        (b"abc", [], "fit together"),
        (b"abc", [1, 2, 3], "fit together"),
        (b"abc", [-1, 2, 3], "fit together"),
        (b"abc", [0, 1, 2], "fit together"),
        (b"abc", [0, 1, 4], "fit together"),
        (b"abc", [0, 2, 1, 3], "fit together"),
        (b"abc", [0, 4, 3], "fit together"),
        ("ö".encode(), [0, 1, 2], "no text"),
        (b"\xff", [0, 1], "no text"),
        (b"aba", [0, 1, 2, 3], "twice"),
        (b"a", [0, 0, 0, 1], "twice"),
    ],
)
def test_words_that_are_none_are_refused(arena: bytes, starts: list[int], why: str) -> None:
    with pytest.raises(ModelFileError, match=why):
        words_of(arena, starts)


# Settled numbers.


def settled(kind: str) -> tuple[Any, Any, dict[str, AnyArray]]:
    model, writer = fitted(kind).model_, Writer()
    return model, json.loads(json.dumps(write_parameters(model, writer))), writer.arrays


@pytest.mark.parametrize("kind", ["naive", "pairs", "full"])
def test_every_settled_number_is_written_and_must_follow_from_the_counts(kind: str) -> None:
    model, document, arrays = settled(kind)
    check_parameters(document, model, Reader(arrays))
    names = {document["prior"], *(name for belief in document["beliefs"] for name in belief["arrays"].values())}
    assert names == set(arrays) and len(names) > 1
    changes: list[Callable[[AnyArray], AnyArray]] = [lambda a: a + 1e-4 * (1 + abs(a)), lambda a: a[:0]]
    for name in names:
        slightly = {name: (arrays[name] * (1.0 + 1e-12)).astype(arrays[name].dtype)}
        check_parameters(document, model, Reader({**arrays, **slightly}))
        for change in changes if arrays[name].dtype == np.float64 and np.isfinite(arrays[name]).any() else changes[1:]:
            with pytest.raises(ModelFileError):
                check_parameters(document, model, Reader({**arrays, name: change(arrays[name])}))


def test_settled_numbers_of_other_families_are_refused() -> None:
    model, document, arrays = settled("naive")
    first, *rest = document["beliefs"]
    fewer = dict(list(first["arrays"].items())[1:])
    for beliefs in (
        rest,
        [first, *rest, first],
        [{**first, "family": "Oracle"}, *rest],
        [{**first, "arrays": fewer}, *rest],
        [{**first, "arrays": {**first["arrays"], "more": document["prior"]}}, *rest],
    ):
        with pytest.raises(ModelFileError, match="do not belong"):
            check_parameters({**document, "beliefs": beliefs}, model, Reader(arrays))


@dataclass(frozen=True, eq=False)
class Belief:
    """A family whose table has a cell that no row ever asks for."""

    table: AnyArray


@dataclass(frozen=True, eq=False)
class Believing:
    """As much of a model as is written."""

    prior: AnyArray
    beliefs: tuple[Belief, ...]


def test_a_cell_that_is_no_number_is_none_again_and_stands_for_no_other() -> None:
    empty: Any = Believing(np.array([1.0]), (Belief(np.array([0.5, np.nan])),))
    full: Any = Believing(np.array([1.0]), (Belief(np.array([0.5, 0.0])),))
    for written, met, fair in ((empty, empty, True), (full, full, True), (empty, full, False), (full, empty, False)):
        writer = Writer()
        document = write_parameters(written, writer)
        if fair:
            check_parameters(document, met, Reader(writer.arrays))
        else:
            with pytest.raises(ModelFileError, match="table does not follow"):
                check_parameters(document, met, Reader(writer.arrays))
