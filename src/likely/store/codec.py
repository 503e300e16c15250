"""Frozen dataclasses as JSON and named arrays, and back: by their type hints, and only those that are registered.

A field is an array (its type hint says which dtype), a text, a number, a value of a table, a tuple, a union, or another
registered dataclass. What comes from a file may be hostile: nothing is built that is not registered here by the program
itself, types are compared one by one, and `validate()` of what was built has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import numpy as np
import scipy
from numpy.typing import NDArray

from likely.arrays import AnyArray, Array
from likely.errors import LikelyError, ModelFileError
from likely.stats.protocol import HEAVIEST_COUNT
from likely.store.container import Document
from likely.store.plain import TAGGED, from_plain, to_plain
from likely.table import Numbered

T = TypeVar("T")
Context = Mapping[str, Any]
"""What the reader knows already: sizes, and fields that do not lie in the file."""

SCALARS = (str, int, bool)
MOST = 1 << 63


@dataclass
class Writer:
    """Collects arrays under names that the document refers to."""

    arrays: dict[str, AnyArray] = field(default_factory=dict)

    def put(self, array: AnyArray) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name


@dataclass(frozen=True)
class Reader:
    """Hands out arrays of the shape and type that are expected, or refuses."""

    arrays: dict[str, AnyArray]

    def get(self, name: object, shape: tuple[int | None, ...] | None, dtype: type = np.float64) -> AnyArray:
        array = self.arrays.get(name) if isinstance(name, str) else None
        if array is None or array.dtype != dtype or (shape is not None and array.ndim != len(shape)):
            raise ModelFileError(f"it lacks the array {str(name)[:20]!r}, or has it in another form")
        if shape is not None and any(n is not None and n != there for n, there in zip(shape, array.shape, strict=True)):
            raise ModelFileError(f"its array {name!r} has the shape {array.shape} where {shape} was expected")
        return array

    def counts(self, name: object, shape: tuple[int | None, ...], most: float = HEAVIEST_COUNT) -> Array:
        """Numbers from zero up, none larger than can be counted."""
        array = self.get(name, shape)
        if not ((array >= 0.0) & (array <= most)).all():
            raise ModelFileError(f"its array {name!r} holds something that is no count")
        return array


@runtime_checkable
class Validated(Protocol):
    """What knows whether its own fields fit together."""

    def validate(self) -> None:
        """Raise a `LikelyError` if they do not."""
        ...


class ByHand(NamedTuple):
    """How something is written and read that has no type hints to go by."""

    write: Callable[[Any, Writer], object]
    read: Callable[[Any, Reader, Context], object]


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a dataclass lies in a file, where that is not simply field by field.

    `names` moves a field to another place ("pairs.n": "pair_n"); `tag` is a key and a word that tell it from the other
    members of a union; `left_out` are fields that come from the context, or from `build`. `lengths` makes the length
    of a field a size in the context of those behind it. `check` gets what was built, and the context.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    tag: tuple[str, str] | None = None
    left_out: frozenset[str] = frozenset()
    by_hand: Mapping[str, ByHand] = field(default_factory=dict)
    lengths: Mapping[str, str] = field(default_factory=dict)
    build: Callable[..., object] | None = None
    check: Callable[[Any, Context], None] | None = None


FORMS: dict[object, Form | ByHand] = {}
"""Everything that may be built from a file."""


def register(kind: type, form: Form | ByHand | None = None) -> None:
    """Let a type be written and read."""
    FORMS[kind] = form or Form()


def write(value: object, writer: Writer) -> Any:
    """A registered value as JSON that names its arrays."""
    return _write(type(value), value, writer)


def read(kind: type[T], data: object, reader: Reader, **context: object) -> T:
    """The value that `write` wrote, or a `ModelFileError`."""
    try:
        found: T = _read(kind, data, reader, context)
    except ModelFileError:
        raise
    except LikelyError as error:
        raise ModelFileError(str(error).removesuffix(".")) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its {kind.__name__} cannot be read") from error
    return found


def _write(hint: object, value: Any, writer: Writer) -> object:
    if isinstance(hint, type) and hint in FORMS:
        return _write_registered(hint, value, writer)
    if _dtype(hint) is not None:
        return writer.put(np.asarray(value).astype(_dtype(hint), order="C", casting="safe", copy=False))
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if value is None else _write(_member_of(members, value), value, writer)
    if _are_names(hint):
        return write_names(tuple(value))
    if origin is tuple:
        each = [members[0]] * len(value) if Ellipsis in members else members
        return [_write(inner, item, writer) for inner, item in zip(each, value, strict=True)]
    if _is_plain(hint):
        return to_plain(value)
    raise TypeError(f"{hint} has no place in a model file yet")


def _write_registered(kind: type, value: object, writer: Writer) -> object:
    form = FORMS[kind]
    if isinstance(form, ByHand):
        return form.write(value, writer)
    data = {}
    for name, hint in _hints(kind):
        if name not in form.left_out:
            own, item = form.by_hand.get(name), getattr(value, name)
            data[name] = _write(hint, item, writer) if own is None else own.write(item, writer)
    return dict([form.tag] if form.tag else []) | _moved(data, form.names)


def _read(hint: object, data: Any, reader: Reader, context: Context) -> Any:
    if isinstance(hint, type) and hint in FORMS:
        return _read_registered(hint, data, reader, context)
    dtype = _dtype(hint)
    if dtype is not None:
        return reader.get(data, None, dtype)
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _read_member(members, data, reader, context)
    if _are_names(hint):
        return read_names(data, reader)
    if origin is tuple:
        _refuse_unless(isinstance(data, list), data)
        each = [members[0]] * len(data) if Ellipsis in members else members
        _refuse_unless(len(each) == len(data), data)
        return tuple(_read(inner, item, reader, context) for inner, item in zip(each, data, strict=True))
    return _read_plain(hint, data)


def _read_registered(kind: type, data: Document, reader: Reader, context: Context) -> object:
    form = FORMS[kind]
    _refuse_unless(isinstance(data, dict), data)
    if isinstance(form, ByHand):
        value = form.read(data, reader, context)
    else:
        value = (form.build or kind)(**_read_fields(kind, form, data, reader, context))
    if isinstance(value, Validated):
        value.validate()
    if isinstance(form, Form) and form.check is not None:
        form.check(value, context)
    return value


def _read_fields(kind: type, form: Form, data: Document, reader: Reader, context: Context) -> Document:
    there = _moved(data, {place: name for name, place in form.names.items()})
    found: Document = {}
    optional = {entry.name for entry in fields(kind) if entry.default is not MISSING}
    for name, hint in _hints(kind):
        if name in form.left_out:
            found |= {name: context[name]} if name in context else {}
            continue
        if name not in there and name in optional:
            continue
        own = form.by_hand.get(name)
        found[name] = (
            _read(hint, there[name], reader, context) if own is None else own.read(there[name], reader, context)
        )
        context = {**context, **{size: len(found[name]) for size, of in form.lengths.items() if of == name}}
    return found


def _read_member(members: tuple[object, ...], data: object, reader: Reader, context: Context) -> object:
    if data is None:
        _refuse_unless(type(None) in members, data)
        return None
    for member in members:
        form = FORMS.get(member)
        if member is not type(None) and (form is None or isinstance(form, ByHand) or _is_meant(member, form, data)):
            return _read(member, data, reader, context)
    raise ModelFileError(f"it holds {str(data)[:20]!r}, which this version does not know")


def _is_meant(kind: Any, form: Form, data: object) -> bool:
    """Whether data are those of one member of a union: by its tag, or else by its fields."""
    if not isinstance(data, dict):
        return False
    if form.tag is not None:
        return bool(data.get(form.tag[0]) == form.tag[1])
    there = _moved(data, {place: name for name, place in form.names.items()})
    return all(entry.name in there for entry in fields(kind) if entry.default is MISSING)


def _member_of(members: tuple[object, ...], value: object) -> object:
    """The member of a union that a value is."""
    if type(value) in members:
        return type(value)
    if isinstance(value, np.ndarray):
        return next(member for member in members if _dtype(member) is not None)
    return next(member for member in members if get_origin(member) is (tuple if type(value) is tuple else None))


def _read_plain(hint: Any, data: object) -> object:
    if not _is_plain(hint):
        raise ModelFileError(f"it may not hold a {hint}")
    value = from_plain(data)
    if hint is float and type(value) is int:
        value = float(value)
    if get_origin(hint) is Literal:
        _refuse_unless(type(value) is str and value in get_args(hint), data)
    elif hint in SCALARS or hint is float:
        _refuse_unless(type(value) is hint and not (hint is int and abs(value) >= MOST), data)
    elif hint is not Hashable:
        _refuse_unless(isinstance(value, hint), data)
    return value


def _is_plain(hint: object) -> bool:
    return hint is Hashable or hint is float or hint in SCALARS or hint in TAGGED or get_origin(hint) is Literal


def _are_names(hint: object) -> bool:
    return hint in (tuple[str, ...], Sequence[str])


def _refuse_unless(fair: bool, data: object) -> None:
    if not fair:
        raise ModelFileError(f"its document holds {str(data)[:20]!r} where something else was expected")


@cache
def _hints(kind: type) -> tuple[tuple[str, object], ...]:
    """Fields in their order, each with its type."""
    hints = get_type_hints(kind)
    return tuple((entry.name, hints[entry.name]) for entry in fields(kind) if entry.init)


def _dtype(hint: object) -> type[np.generic] | None:
    """The type of the cells of an array, None if it is no array."""
    if get_origin(hint) is NDArray:  # NumPy from 2.5 on keeps the name of the type
        return get_args(hint)[0]  # type: ignore[no-any-return]
    return get_args(get_args(hint)[1])[0] if get_origin(hint) is np.ndarray else None


def _moved(data: Mapping[str, object], moves: Mapping[str, str]) -> Document:
    """The document with some entries at other places; dots lead into objects."""
    moved: Document = {key: dict(item) if isinstance(item, dict) else item for key, item in data.items()}
    taken = []
    for source, target in moves.items():
        first, _, rest = source.partition(".")
        holder, key = (moved.get(first), rest) if rest else (moved, first)
        if isinstance(holder, dict) and key in holder:
            taken.append((target, holder.pop(key)))
        if rest and not holder:
            moved.pop(first, None)
    for target, item in taken:
        first, _, rest = target.partition(".")
        if rest:
            inside = moved.setdefault(first, {})
            _refuse_unless(isinstance(inside, dict), inside)
            inside[rest] = item
        else:
            moved[first] = item
    return moved


FINITE = float(np.finfo(np.float64).max)


def expect(what: str, array: AnyArray, *shape: int | None, least: float = -FINITE, most: float = FINITE) -> None:
    """Refuse an array of another shape, or one that holds no number or one beyond its limits."""
    fits = array.ndim == len(shape) and all(n in (None, size) for n, size in zip(shape, array.shape, strict=True))
    if not fits or not ((array >= least) & (array <= most)).all():
        raise ModelFileError(f"its {what} do not fit, or hold something that is none")


# Tables that are dense or sparse, and names of columns.


def write_matrix(matrix: Array | scipy.sparse.csr_array, writer: Writer, dense: str) -> Document:
    """A table under the name of its array, or the three arrays of a sparse one."""
    if isinstance(matrix, np.ndarray):
        return {dense: writer.put(matrix)}
    starts, places = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return {"cells": writer.put(matrix.data), "places": writer.put(places), "starts": writer.put(starts)}


def read_matrix(data: Document, reader: Reader, dense: str, width: int) -> Array | scipy.sparse.csr_array:
    """The table that `write_matrix` wrote; a sparse one does not say how wide it is."""
    if dense in data:
        return reader.get(data[dense], (None, width))
    starts, cells = reader.get(data["starts"], (None,), np.int64), reader.get(data["cells"], (None,))
    places = reader.get(data["places"], cells.shape, np.int32)
    if not len(starts) or starts[0] != 0 or starts[-1] != len(cells) or (np.diff(starts) < 0).any():
        raise ModelFileError("its sparse table does not fit together")
    if len(places) and (places.min() < 0 or places.max() >= width):
        raise ModelFileError("its sparse table names a column that does not exist")
    matrix = scipy.sparse.csr_array((cells, places, starts), shape=(len(starts) - 1, width))
    if not matrix.has_canonical_format:
        raise ModelFileError("its sparse table is not in order")
    return matrix


def write_names(names: tuple[str, ...]) -> int | list[str]:
    """Names of columns; those of an array in short, because a sparse matrix may have a million."""
    return len(names) if names == tuple(Numbered(len(names))) else list(names)


FREE_COLUMNS = 1 << 17


def read_width(data: object, reader: Reader) -> int:
    """A number of columns. A million of them must be backed by arrays: a few bytes cannot ask for much memory."""
    most = max(FREE_COLUMNS, sum(array.size for array in reader.arrays.values()))
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= most:
        raise ModelFileError(f"it claims to have {str(data)[:20]} columns")
    return data


def read_names(data: object, reader: Reader) -> tuple[str, ...]:
    """The names that `write_names` wrote."""
    if not isinstance(data, list):
        return tuple(Numbered(read_width(data, reader)))
    if all(isinstance(name, str) for name in data) and len(set(data)) == len(data):
        return tuple(data)
    raise ModelFileError("its column names cannot be read")
