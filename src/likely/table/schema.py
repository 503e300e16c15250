"""What each column is: its kind, why it was taken for that, and whether a later table still fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from likely.arrays import TableLike
from likely.errors import Message, SchemaError, SettingsError, missing_columns, refuse_missing
from likely.markup import joined, tag
from likely.parallel import run
from likely.table.dates import PARTS, Part, name_of_part
from likely.table.infer import (
    ROLES,
    SAMPLE,
    Column,
    Kind,
    ManyColumns,
    Note,
    as_kind,
    column_from_dict,
    column_to_dict,
    date_parts,
    infer_column,
    infer_matrix,
    sparse_pattern,
    without_parts,
)  # fmt: skip
from likely.table.read import as_table
from likely.table.table import Numbered, Table

if TYPE_CHECKING:
    import pandas as pd


ESTIMATOR = "BayesClassifier"
SHOWN = ("column", "kind", "levels", "gaps", "why")
SHOWN_COLUMNS = 40
AS_SAID = "as you said"


@dataclass(frozen=True)
class Schema:
    """The columns of a table, and the names of its target and weight columns, which are not among them.

    >>> schema = Schema.infer({"age": [31, 44], "town": ["Ulm", "Bonn"], "ill": ["no", "yes"]}, target="ill")
    >>> schema.numeric, schema.nominal, schema["town"].levels
    (('age',), ('town',), 2)
    """

    columns: Sequence[Column]
    target: str | None = None
    weight: str | None = None
    notes: tuple[Note, ...] = field(default=(), compare=False)
    """What whoever trained on the table should know of it; not kept in files."""

    @classmethod
    def infer(
        cls,
        table: TableLike | Table,
        target: str | None = None,
        weight: str | None = None,
        overrides: SchemaLike = None,
    ) -> Schema:
        """Infer the kind of every column; `overrides` gives kinds that you know better, by name."""
        given = as_table(table)
        wanted, target, weight = _settled_roles(given, target, weight, overrides)
        if given.sparse is not None:
            pattern = sparse_pattern(given.sparse.dtype)
            return cls(_sparse_columns(given, pattern, wanted, target, weight), target, weight)
        names = [name for name in given.names if name not in (target, weight)]
        of_matrix = [] if given.matrix is None else infer_matrix(given, given.matrix)
        inferred = {column.name: column for column in of_matrix}
        parts = {column.name: column.parts for column in overrides} if isinstance(overrides, Schema) else {}

        def judge(name: str) -> Column:
            return _column(given, name, wanted.get(name), inferred.get(name), parts.get(name, ()))

        alone = bool(inferred) or given.n_rows <= SAMPLE
        columns = tuple(run(judge, names, 1 if alone else None))
        return cls(tuple(without_parts(column, wanted) for column in columns), target, weight)

    @cached_property
    def names(self) -> Sequence[str]:
        """All columns but target and weight, in the order of the table."""
        return self.columns.names if isinstance(self.columns, ManyColumns) else tuple(c.name for c in self.columns)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each column, and of each part of a date."""
        if isinstance(self.columns, ManyColumns):
            kinds = dict.fromkeys(self.columns.names, self.columns.pattern.kind)
            return kinds | {column.name: column.kind for column in self.columns.changed.values()}
        found: dict[str, Kind] = {}
        for column in self.columns:
            found[column.name] = column.kind
            found |= {name_of_part(column.name, part): PARTS[part][0] for part in column.parts}
        return found

    @cached_property
    def parts(self) -> Mapping[str, tuple[str, Part]]:
        """The parts of dates by the names under which they are learned, each with its column."""
        if isinstance(self.columns, ManyColumns):
            return {}
        return {
            name_of_part(column.name, part): (column.name, part) for column in self.columns for part in column.parts
        }

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Names of the columns read as numbers."""
        return self._of("numeric")

    @cached_property
    def nominal(self) -> tuple[str, ...]:
        """Names of the columns read as categories."""
        return self._of("nominal")

    @cached_property
    def text(self) -> tuple[str, ...]:
        """Names of the columns read as free text."""
        return self._of("text")

    @cached_property
    def ignored(self) -> tuple[str, ...]:
        """Names of the columns that are left out."""
        return self._of("ignored")

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of the columns, and of the parts of dates, that are learned from."""
        return tuple(name for name, kind in self.kinds.items() if kind not in ("ignored", "date"))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns that a table needs to have: those that are learned from, dates as a whole."""
        return tuple(name for name, kind in self.kinds.items() if kind != "ignored" and name not in self.parts)

    def input_of(self, name: str) -> str:
        """The column that something learned comes from: itself, or the date that it is a part of."""
        return self.parts[name][0] if name in self.parts else name

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def _of(self, kind: Kind) -> tuple[str, ...]:
        return tuple(name for name, its in self.kinds.items() if its == kind)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names or name in self.parts

    def __getitem__(self, name: str) -> Column:
        names = self.names
        if name in self.parts:
            whole, part = self.parts[name]
            kind, storage = PARTS[part]
            return Column(name, kind, storage, None, self[whole].gaps, f"the {part} of {whole!r}")
        place = names.find(name) if isinstance(names, Numbered) else self._places.get(name)
        if place is None:
            raise missing_columns([name], names)
        return self.columns[place]

    def with_gaps(self, gaps: Mapping[str, int]) -> Schema:
        """The same schema with the number of gaps of some columns filled in."""
        return self._with({name: replace(self[name], gaps=n) for name, n in gaps.items()})

    def with_reasons(self, reasons: Mapping[str, str]) -> Schema:
        """The same schema, with something more to say about why some columns are what they are."""
        columns = [(self[name], why) for name, why in reasons.items()]
        told = [replace(c, why=Message(c.why, "; " if c.why and why else "", why)) for c, why in columns]
        return self._with({column.name: column for column in told})

    def _with(self, changed: Mapping[str, Column]) -> Schema:
        if isinstance(self.columns, ManyColumns):
            placed = {self._places[name]: column for name, column in changed.items()}
            columns: Sequence[Column] = ManyColumns(len(self), self.columns.pattern, self.columns.changed | placed)
        else:
            columns = tuple(changed.get(column.name, column) for column in self.columns)
        return replace(self, columns=columns)

    def check(self, table: TableLike | Table, estimator: str = ESTIMATOR) -> None:
        """Refuse a table that lacks a learned column, or an array of another width."""
        self.align(table, estimator)

    def align(self, table: TableLike | Table, estimator: str = ESTIMATOR) -> Table:
        """The table under this schema's names: columns are found by name, or by place if they have none."""
        given = as_table(table)
        if given.names == self.names:
            return given
        if not given.named:
            return self._by_place(given, estimator)
        there = set(given.names)
        missing = [name for name in self.inputs if name not in there and not self._in_parts(name, there)]
        if not missing:
            return given
        if len(missing) == len(self.inputs) and self.names == Numbered(len(self)):
            return self._by_place(given, estimator)
        raise missing_columns(missing, given.names)

    def _in_parts(self, name: str, there: set[str]) -> bool:
        """Whether a date is there part by part."""
        own = [part for part, (whole, _) in self.parts.items() if whole == name]
        return bool(own) and there.issuperset(own)

    def _by_place(self, table: Table, estimator: str) -> Table:
        n, expected = table.n_columns, len(self)
        if n != expected:
            raise SchemaError(f"X has {n} features, but {estimator} is expecting {expected} features as input.")
        return table.renamed(self.names)

    def to_frame(self) -> pd.DataFrame:
        """One row per column: column, kind, levels, gaps, why."""
        import pandas as pd

        frame = pd.DataFrame([_shown(column) for column in self.columns], columns=list(SHOWN))
        return frame.astype({"levels": "Int64", "gaps": "Int64"})

    def to_dict(self) -> dict[str, object]:
        """The schema in plain JSON types."""
        roles = {"target": self.target, "weight": self.weight}
        if isinstance(self.columns, ManyColumns):
            changed = {str(place): column_to_dict(column) for place, column in self.columns.changed.items()}
            return {"many": len(self), "like": column_to_dict(self.columns.pattern), "changed": changed, **roles}
        return {"columns": [column_to_dict(column) for column in self.columns], **roles}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` wrote."""
        try:
            roles = data["target"], data["weight"]
            if not all(role is None or isinstance(role, str) for role in roles):
                raise TypeError("target or weight")
            return cls(_columns_from(data), *roles)
        except (KeyError, TypeError, AttributeError) as error:
            raise SchemaError(f"This is no schema: {error} is missing or of the wrong type.") from None

    def __str__(self) -> str:
        shown = self.columns[:SHOWN_COLUMNS]
        width = max((len(column.name) for column in shown), default=0)
        lines = [_line(column, width) for column in shown]
        if len(self) > len(shown):
            lines.append(f"… and {len(self) - len(shown)} more columns")
        return "\n".join([self._title(), *lines, *(f"note: {note}" for note in self.notes)])

    def _title(self) -> str:
        roles = [f"{role} {name!r}" for role, name in (("target", self.target), ("weight", self.weight)) if name]
        return ", ".join([f"{len(self)} column{'s' * (len(self) != 1)}", *roles])

    def _repr_html_(self) -> str:
        head = tag("tr", *(tag("th", name) for name in SHOWN))
        rows = [tag("tr", *(tag("td", cell) for cell in _shown(c))) for c in self.columns[:SHOWN_COLUMNS]]
        more = len(self) - SHOWN_COLUMNS
        foot = tag("p", f"… and {more} more columns") if more > 0 else None
        return joined(tag("p", self._title()), tag("table", tag("thead", head), tag("tbody", *rows)), foot)


def _shown(column: Column) -> tuple[object, ...]:
    return column.name, column.kind, column.levels, column.gaps, column.why


def _columns_from(data: Mapping[str, Any]) -> Sequence[Column]:
    """The columns that `to_dict` wrote, one by one or in short."""
    if "many" not in data:
        return tuple(column_from_dict(column) for column in data["columns"])
    changed = {int(place): column_from_dict(column) for place, column in data["changed"].items()}
    return ManyColumns(data["many"], column_from_dict(data["like"]), changed)


def schema_for(table: Table, target: str | None, given: object) -> Schema:
    """The schema of a table that is to be learned: as guessed, and above all as the user's setting says."""
    if isinstance(given, Schema):
        return Schema.infer(table, target or given.target, given.weight, overrides=given)
    if given is not None and not isinstance(given, Mapping):
        raise SettingsError(f"schema is {given!r}, but it is a Schema or a mapping of column names to kinds.")
    texts = {table.names[0]: "text"} if table.is_text else {}
    return Schema.infer(table, target, overrides={**texts, **(given or {})})


SchemaLike: TypeAlias = Schema | Mapping[str, str] | None
"""What a user says of the columns: all of it, the kinds of some by name, or nothing."""


def with_weight(given: SchemaLike, weight: str | None) -> SchemaLike:
    """What a user said of the columns, and that one of them holds weights."""
    if weight is None or not isinstance(given, Schema | Mapping | None):
        return given
    return replace(given, weight=weight) if isinstance(given, Schema) else {**(given or {}), weight: "weight"}


def _settled_roles(
    table: Table, target: str | None, weight: str | None, overrides: SchemaLike
) -> tuple[dict[str, Kind], str | None, str | None]:
    """The kinds that the user wants, by name, and the target and weight columns."""
    if isinstance(overrides, Schema):
        wanted = _given_schema(table, overrides)
        target = target or (overrides.target if overrides.target in table else None)
        weight = weight or (overrides.weight if overrides.weight in table else None)
        roles: dict[str, str] = {}
    else:
        said = overrides or {}
        for name in said:
            if name not in table:
                raise missing_columns([name], table.names)
        roles = {kind: name for name, kind in said.items() if kind in ROLES}
        wanted = {name: as_kind(kind, name) for name, kind in said.items() if kind not in ROLES}
    target, weight = _role("target", target, roles, table), _role("weight", weight, roles, table)
    if target is not None and target == weight:
        raise SchemaError(f"Column {target!r} cannot be both the target and the weight.")
    return wanted, target, weight


def _role(role: str, name: str | None, roles: Mapping[str, str], table: Table) -> str | None:
    """The column that plays a role, from the argument or the overrides."""
    if name is not None and name not in table:
        raise missing_columns([name], table.names)
    if name is not None and roles.get(role, name) != name:
        raise SchemaError(f"Both {name!r} and {roles[role]!r} are called the {role}; name one.")
    return name if name is not None else roles.get(role)


def _given_schema(table: Table, schema: Schema) -> dict[str, Kind]:
    """Kinds from a whole schema: columns that it does not know are ignored."""
    refuse_missing(schema.inputs, table.names)
    return {name: schema.kinds.get(name, "ignored") for name in table.names}


def _column(
    table: Table, name: str, wanted: Kind | None, inferred: Column | None, parts: tuple[Part, ...] = ()
) -> Column:
    """A column as guessed, or as the user wants it; a date with the parts that were wanted before, if any."""
    if wanted is None:
        return inferred or infer_column(table, name)
    if wanted == "date":
        found = parts or date_parts(table, name)
        return Column(name, wanted, table.storage(name), None, table.gaps(name), AS_SAID, parts=found)
    long_matrix = table.matrix is not None and table.n_rows > SAMPLE
    levels = len(table.codes(name).levels) if wanted == "nominal" and not long_matrix else None
    gaps = inferred.gaps if inferred is not None else table.gaps(name)
    return Column(name, wanted, table.storage(name), levels, gaps, AS_SAID)


def _sparse_columns(
    table: Table, pattern: Column, wanted: Mapping[str, Kind], target: str | None, weight: str | None
) -> ManyColumns:
    others = {name: kind for name, kind in wanted.items() if kind != pattern.kind}
    changed = {name: replace(pattern, name=name, kind=kind, why=AS_SAID) for name, kind in others.items()}
    for role, name in (("target", target), ("weight", weight)):
        if name is not None:
            changed[name] = replace(pattern, name=name, kind="ignored", why=f"the {role}")
    return ManyColumns(table.n_columns, pattern, {table.position(n): c for n, c in changed.items()})


def _line(column: Column, width: int) -> str:
    counts = [f"{n} {what}{'s' * (n != 1)}" for n, what in ((column.levels, "level"), (column.gaps, "gap")) if n]
    notes = "; ".join([part for part in (", ".join(counts), column.why) if part])
    return f"  {column.name:<{width}}  {column.kind:<8} {notes}".rstrip()
