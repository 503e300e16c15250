"""Any registered frozen dataclass comes back from a file as it was; anything else in its place is refused."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from likely.arrays import Array, Int64
from likely.errors import DataError, ModelFileError
from likely.store import codec
from likely.store.codec import Form, Reader, Writer, expect, read, read_matrix, register, write, write_matrix
from likely.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Leg:
    """A part of a whole."""

    name: str
    length: float
    marks: Array


@dataclass(frozen=True, eq=False)
class Wing:
    """Another part: told from a leg by its fields."""

    span: int
    feathers: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Animal:
    """A toy with every kind of field."""

    kind: Literal["bird", "beast"]
    wild: bool
    limbs: tuple[Leg | Wing, ...]
    places: Int64
    pair: tuple[str, str]
    names: tuple[str, ...]
    recipe: Tokenizer
    first: Leg
    age: int | None = None
    weight: NDArray[np.float64] | None = None
    herd: str = "none"

    def validate(self) -> None:
        if (np.diff(self.places) <= 0).any():
            raise DataError("The places of an animal are not in order.")


@dataclass(frozen=True)
class Stranger:
    """A dataclass that was never registered."""

    name: str


FORM = Form(names={"first.name": "leader", "first.marks": "tracks.first", "places": "at"}, left_out=frozenset({"herd"}))


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    for kind, form in ((Leg, Form()), (Wing, Form()), (Animal, FORM)):
        register(kind, form)
    yield
    for kind in (Leg, Wing, Animal):
        del codec.FORMS[kind]


FLOATS = arrays(np.float64, st.tuples(st.integers(0, 3), st.integers(0, 3)))
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.tuples(st.integers())
LEGS = st.builds(Leg, name=st.text(), length=st.floats(allow_nan=False), marks=FLOATS)
WINGS = st.builds(Wing, span=st.integers(-(2**62), 2**62), feathers=st.lists(VALUES).map(tuple))
ANIMALS = st.builds(
    Animal,
    kind=st.sampled_from(["bird", "beast"]),
    wild=st.booleans(),
    limbs=st.lists(LEGS | WINGS, max_size=3).map(tuple),
    places=st.lists(st.integers(-(2**62), 2**62), unique=True).map(lambda found: np.array(sorted(found), np.int64)),
    pair=st.tuples(st.text(), st.text()),
    names=st.lists(st.text(), unique=True).map(tuple),
    recipe=st.builds(Tokenizer, lowercase=st.booleans(), ngram_range=st.sampled_from([(1, 1), (1, 3)])),
    first=LEGS,
    age=st.none() | st.integers(0, 9),
    weight=st.none() | FLOATS,
    herd=st.text(),
)


def plain(value: Any) -> Any:
    """A value in which arrays can be compared."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if isinstance(value, Leg | Wing | Animal):
        return type(value), *(plain(getattr(value, entry.name)) for entry in fields(value))
    return type(value), value


@given(ANIMALS)
def test_what_is_written_is_read(animal: Animal) -> None:
    writer = Writer()
    document = json.loads(json.dumps(write(animal, writer), allow_nan=False))
    again = read(Animal, document, Reader(writer.arrays), herd=animal.herd)
    assert plain(again) == plain(animal)
    assert document["leader"] == animal.first.name and "herd" not in document
    assert document["tracks"]["first"] in writer.arrays and "marks" not in document["first"]


def sound() -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    writer = Writer()
    leg = Leg("l", 1.5, np.zeros((1, 2)))
    limbs = (leg, Wing(3, ("a", 2)))
    toy = Animal("bird", True, limbs, np.array([1, 5]), ("x", "y"), ("c",), Tokenizer(), leg, 7, np.ones(2))
    return write(toy, writer), writer.arrays


WRONG = {
    "kind": ["fish", 1, None, [], {}],
    "wild": [1, None, "true"],
    "limbs": [
        None,
        {},
        "ab",
        [3],
        [{}],
        [{"name": "l"}],
        [{"span": "3", "feathers": []}],
        [{"span": 3}],
        [{"span": 2**63, "feathers": []}],
    ],
    "at": [None, 3, "a99", [1, 5], {}],
    "pair": [["x"], ["x", "y", "z"], ["x", 3], "xy", None],
    "names": [["c", "c"], [3], -1, True, 10**12, None],
    "recipe": [None, "word", {"$": "laplace", "of": 1.0}, {"$": "recipe", "of": {"analyzer": "os"}}],
    "first": [None, 3, {}, {"length": "long"}],
    "leader": [None, 3, ["l"]],
    "tracks": [None, {}, {"first": 3}, "a0"],
    "age": ["7", 7.5, True, 2**64],
    "weight": [1.0, "a99", []],
}


@pytest.mark.parametrize(("key", "wrong"), [(key, wrong) for key, many in WRONG.items() for wrong in many], ids=str)
def test_every_wrong_type_is_refused(key: str, wrong: Any) -> None:
    document, found = sound()
    assert key in document
    read(Animal, document, Reader(found))
    with pytest.raises(ModelFileError):
        read(Animal, {**document, key: wrong}, Reader(found))


def test_every_missing_field_is_refused_unless_it_has_a_default() -> None:
    document, found = sound()
    for key in document:
        fewer = {name: item for name, item in document.items() if name != key}
        if key in ("age", "weight"):
            assert getattr(read(Animal, fewer, Reader(found)), key) is None
        else:
            with pytest.raises(ModelFileError):
                read(Animal, fewer, Reader(found))


def test_every_array_of_another_type_is_refused_and_validate_has_the_last_word() -> None:
    document, found = sound()
    for name, array in found.items():
        other = np.int32 if array.dtype == np.float64 else np.float64
        with pytest.raises(ModelFileError):
            read(Animal, document, Reader({**found, name: array.astype(other)}))
    with pytest.raises(ModelFileError, match=r"not in order$"):
        read(Animal, document, Reader({**found, document["at"]: np.array([5, 1])}))


def test_nothing_is_built_that_is_not_registered() -> None:
    with pytest.raises(TypeError, match="no place in a model file"):
        write(Stranger("x"), Writer())
    with pytest.raises(ModelFileError):
        read(Stranger, {"name": "x"}, Reader({}))


def test_shapes_and_limits_are_said_in_one_place() -> None:
    table = np.array([[0.0, 2.0]])
    expect("table", table, None, 2, least=0.0, most=2.0)
    for shape, least, most in (((2, 2), 0.0, 2.0), ((2,), 0.0, 2.0), ((1, 2), 1.0, 2.0), ((1, 2), 0.0, 1.0)):
        with pytest.raises(ModelFileError, match="table"):
            expect("table", table, *shape, least=least, most=most)
    with pytest.raises(ModelFileError):
        expect("table", np.array([np.nan]), 1)


@pytest.mark.parametrize("wrong", [{"starts": [0, 9]}, {"starts": [1, 2]}, {"places": [0, 9]}, {"places": [1, 0]}])
def test_a_sparse_table_that_does_not_fit_together_is_refused(wrong: dict[str, list[int]]) -> None:
    from scipy import sparse

    writer = Writer()
    document = write_matrix(sparse.csr_array(np.array([[1.0, 2.0]])), writer, "table")
    assert read_matrix(document, Reader(writer.arrays), "table", 2).toarray().tolist() == [[1.0, 2.0]]
    for key, cells in wrong.items():
        writer.arrays[document[key]] = np.array(cells, dtype=writer.arrays[document[key]].dtype)
    with pytest.raises(ModelFileError):
        read_matrix(document, Reader(writer.arrays), "table", 2)


def test_arrays_are_known_where_numpy_keeps_the_name_of_their_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 2.5 on `NDArray[np.float64]` is an alias that says no more than its name."""
    cell = TypeVar("cell", bound=np.generic)
    named = TypeAliasType("named", np.ndarray[tuple[int, ...], np.dtype[cell]], type_params=(cell,))
    monkeypatch.setattr(codec, "NDArray", named)
    assert codec._dtype(named[np.float64]) is np.float64
    assert codec._dtype(np.ndarray[tuple[int, ...], np.dtype[np.int32]]) is np.int32
    assert codec._member_of((type(None), named[np.float64]), np.zeros(2)) == named[np.float64]
