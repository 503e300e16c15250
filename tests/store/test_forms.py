"""How a dataclass lies in a file: other places, tags, fields that are left out or written by hand, and limits."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest

from likely.arrays import Array, Int64
from likely.errors import DataError, ModelFileError
from likely.store import codec
from likely.store.codec import ByHand, Context, Form, Reader, Writer, read, register, write


@dataclass(frozen=True)
class Stone:
    """Told by a tag from others of the same fields."""

    size: int


@dataclass(frozen=True)
class Shell:
    """The same fields, another tag."""

    size: int


@dataclass(frozen=True)
class Twig:
    """Written by hand: as its own letters."""

    letters: str


@dataclass(frozen=True, eq=False)
class Inner:
    """All of its fields lie elsewhere."""

    depth: int
    rough: bool = False


@dataclass(frozen=True, eq=False)
class Find:
    """What was found on a beach."""

    lone: tuple[int]
    both: tuple[str, float]
    many: tuple[float, ...]
    thing: Stone | Shell | Twig | None
    inner: Inner
    grain: Literal["fine", "coarse"]
    label: Hashable
    names: Sequence[str]
    share: float
    counts: Int64 | tuple[int, ...] | None = None
    note: str | None = None
    age: int = 3
    words: tuple[str, ...] = ()
    lengths: Array | None = None
    parts: Stone | tuple[int, ...] = ()
    seen: int = field(default=0, init=False)


def check_size(found: Any, context: Context) -> None:
    if found.age > context.get("oldest", 100):
        raise DataError("It is too old.")


def lengths_of(data: Any, reader: Reader, context: Context) -> Any:
    return None if data is None else reader.get(data, (context["n_words"],))


FORMS: dict[type, Form | ByHand] = {
    Stone: Form(tag=("made of", "stone")),
    Shell: Form(tag=("made of", "lime")),
    Twig: ByHand(lambda twig, writer: {"twig": twig.letters}, lambda data, reader, context: Twig(data["twig"])),
    Inner: Form(),
    Find: Form(
        names={"inner.depth": "below.depth", "inner.rough": "rough", "age": "years"},
        left_out=frozenset({"note"}),
        by_hand={"lengths": ByHand(lambda cells, writer: None if cells is None else writer.put(cells), lengths_of)},
        lengths={"n_words": "words"},
        check=check_size,
    ),
}


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    for kind, form in FORMS.items():
        register(kind, form)
    yield
    for kind in FORMS:
        del codec.FORMS[kind]


def find(**changes: Any) -> Find:
    usual: dict[str, Any] = {
        "lone": (7,), "both": ("a", 1.5), "many": (1.0, 2.0), "thing": Stone(4), "inner": Inner(5, True),
        "grain": "fine", "label": ("x", 1), "names": ("b", "c"), "share": 0.25,
    }  # fmt: skip
    return Find(**(usual | changes))


def stored(value: Any) -> tuple[Any, Reader]:
    writer = Writer()
    return json.loads(json.dumps(write(value, writer), allow_nan=False)), Reader(writer.arrays)


def again(value: Find, **context: object) -> Find:
    document, reader = stored(value)
    return read(Find, document, reader, **context)


def test_fields_lie_where_the_form_says() -> None:
    document, _ = stored(find(note="secret"))
    assert document["below"] == {"depth": 5} and document["rough"] is True and document["years"] == 3
    assert not {"inner", "age", "note", "seen"} & set(document)
    assert document["thing"] == {"made of": "stone", "size": 4} and document["lone"] == [7]
    found = again(find(), note="told")
    assert (found.inner.depth, found.inner.rough, found.age, found.note, found.seen) == (5, True, 3, "told", 0)
    assert again(find(note="secret")).note is None


def test_fields_with_a_default_may_be_absent_wherever_they_lie() -> None:
    document, reader = stored(find(age=9))
    for key, name in (("years", "age"), ("counts", "counts"), ("words", "words"), ("lengths", "lengths")):
        fewer = {there: item for there, item in document.items() if there != key}
        assert getattr(read(Find, fewer, reader), name) == {"age": 3, "words": ()}.get(name)
    assert read(Find, {key: item for key, item in document.items() if key != "rough"}, reader).inner.rough is False
    for key in ("lone", "both", "many", "thing", "below", "grain", "label", "names", "share"):
        with pytest.raises(ModelFileError):
            read(Find, {there: item for there, item in document.items() if there != key}, reader)


@pytest.mark.parametrize("thing", [Stone(1), Shell(1), Twig("abc"), None], ids=str)
def test_each_member_of_a_union_comes_back_as_itself(thing: Any) -> None:
    assert again(find(thing=thing)).thing == thing


@pytest.mark.parametrize("wrong", [{"made of": "glass", "size": 1}, {"size": 1}, {"made of": "stone"}, "stone", [], {}])
def test_what_is_no_member_of_a_union_is_refused(wrong: Any) -> None:
    document, reader = stored(find())
    with pytest.raises(ModelFileError):
        read(Find, {**document, "thing": wrong}, reader)


def test_arrays_and_tuples_are_told_apart() -> None:
    found = again(find(counts=np.array([3, 4], dtype=np.int64)))
    assert isinstance(found.counts, np.ndarray) and found.counts.dtype == np.int64 and found.counts.tolist() == [3, 4]
    assert stored(find(counts=(3, 4)))[0]["counts"] == [3, 4]
    assert again(find(counts=None)).counts is None


def test_a_list_is_no_dataclass_of_a_union() -> None:
    assert again(find(parts=(3, 4))).parts == (3, 4) and again(find(parts=Stone(3))).parts == Stone(3)


def test_whole_numbers_are_those_of_sixty_four_bits() -> None:
    for age in (2**63 - 1, 1 - 2**63, 0):
        assert again(find(age=age), oldest=2**63).age == age
    document, reader = stored(find())
    for wrong in (2**63, -(2**63), 10**30, 1.0, "1", True, None):
        with pytest.raises(ModelFileError):
            read(Find, {**document, "years": wrong}, reader, oldest=2**70)


def test_numbers_texts_and_words_of_a_choice_are_what_they_are() -> None:
    document, reader = stored(find())
    assert type(read(Find, {**document, "share": 1}, reader).share) is float
    assert read(Find, {**document, "label": None}, reader).label is None
    wrong: dict[str, list[Any]] = {
        "share": ["1", None, True, [1.0]], "grain": ["rough", "", None, 1, ["fine"]],
        "both": [["a"], ["a", "b"], [1, 1.0]],
        "lone": [[], [1, 2], 1, "7", None], "many": [[1.0, "x"], [None], 3.0, {}], "rough": [1, None, "true"],
        "label": [[1], {"a": 1}], "names": [["b", "b"], 5.0], "below": [{}, 3, None, {"depth": "5"}],
    }  # fmt: skip
    for key, many in wrong.items():
        for one in many:
            with pytest.raises(ModelFileError):
                read(Find, {**document, key: one}, reader)


def test_the_length_of_a_field_is_known_to_those_behind_it() -> None:
    found = again(find(words=("a", "b"), lengths=np.array([1.0, 2.0])))
    assert found.lengths is not None and found.lengths.tolist() == [1.0, 2.0]
    with pytest.raises(ModelFileError, match="shape"):
        again(find(words=("a", "b"), lengths=np.array([1.0])))


def test_the_check_of_a_form_has_the_context_and_the_last_word() -> None:
    assert again(find(age=100)).age == 100
    with pytest.raises(ModelFileError, match=r"too old$"):
        again(find(age=101))
    with pytest.raises(ModelFileError, match=r"too old$"):
        again(find(age=5), oldest=4)


def test_numbers_and_choices_of_another_type_are_not_written_as_arrays() -> None:
    """Cells are never rounded to fit: what the type does not hold is refused."""
    with pytest.raises(TypeError):
        stored(find(counts=np.array([0.5])))
    assert stored(find(counts=np.array([3], dtype=np.int32)))[1].arrays["a0"].dtype == np.int64


def test_a_form_that_builds_its_value() -> None:
    register(Inner, Form(left_out=frozenset({"rough"}), build=lambda depth: Inner(depth + 1, True)))
    try:
        found = read(Inner, {"depth": 4}, Reader({}))
        assert (found.depth, found.rough) == (5, True)
    finally:
        register(Inner, FORMS[Inner])
