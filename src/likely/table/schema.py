"""What each column is: its kind, why it was taken for that, and whether a later table still fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from likely.arrays import TableLike
from likely.errors import (
    Aside,
    Message,
    SchemaError,
    SettingsError,
    did_you_mean,
    missing_columns,
    refuse_missing,
    say_kind,
)
from likely.markup import joined, tag
from likely.parallel import run
from likely.table.cells import Storage
from likely.table.infer import (
    JUDGED,
    SAMPLE,
    Column,
    Kind,
    ManyColumns,
    Note,
    infer_column,
    infer_matrix,
    sparse_pattern,
)
from likely.table.read import as_table
from likely.table.table import Numbered, Table

if TYPE_CHECKING:
    import pandas as pd

KINDS: tuple[Kind, ...] = get_args(Kind)
ROLES = ("target", "weight")

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
        overrides: Mapping[str, str] | Schema | None = None,
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

        def judge(name: str) -> Column:
            return _column(given, name, wanted.get(name), inferred.get(name))

        alone = bool(inferred) or given.n_rows <= SAMPLE
        columns = tuple(run(judge, names, 1 if alone else None))
        return cls(columns, target, weight)

    @cached_property
    def names(self) -> Sequence[str]:
        """All columns but target and weight, in the order of the table."""
        return self.columns.names if isinstance(self.columns, ManyColumns) else tuple(c.name for c in self.columns)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each column."""
        if isinstance(self.columns, ManyColumns):
            kinds = dict.fromkeys(self.columns.names, self.columns.pattern.kind)
            return kinds | {column.name: column.kind for column in self.columns.changed.values()}
        return {column.name: column.kind for column in self.columns}

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
        """Names of the columns that are learned from."""
        return tuple(name for name, kind in self.kinds.items() if kind != "ignored")

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
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        names = self.names
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
        missing = [name for name in self.features if name not in there]
        if not missing:
            return given
        if len(missing) == len(self.features) and self.names == Numbered(len(self)):
            return self._by_place(given, estimator)
        raise missing_columns(missing, given.names)

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
            changed = {str(place): asdict(column) for place, column in self.columns.changed.items()}
            return {"many": len(self), "like": asdict(self.columns.pattern), "changed": changed, **roles}
        return {"columns": [asdict(column) for column in self.columns], **roles}

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
        return tuple(_column_from(column) for column in data["columns"])
    changed = {int(place): _column_from(column) for place, column in data["changed"].items()}
    return ManyColumns(data["many"], _column_from(data["like"]), changed)


def _column_from(data: Mapping[str, Any]) -> Column:
    name, storage, levels, gaps, why = (data[key] for key in ("name", "storage", "levels", "gaps", "why"))
    words = isinstance(name, str) and isinstance(why, str) and storage in get_args(Storage)
    if not words or not all(number is None or type(number) is int for number in (levels, gaps)):
        raise TypeError(f"column {name!r}")
    low, high = (data.get(key) for key in ("low", "high"))
    if not all(end is None or type(end) in (int, float) for end in (low, high)):
        raise TypeError(f"column {name!r}")
    return Column(name, as_kind(data["kind"], name), storage, levels, gaps, _parted(why, name), low, high)


def _parted(why: str, name: str) -> str:
    """A reason that was written as text, with the parts that it had."""
    text, mark, rest = why.partition(JUDGED)
    rows, end, more = rest.partition(")")
    told = Message(Aside(f"{mark}{rows}{end}") if mark else "", more)
    for kind in KINDS:
        before, said, after = text.partition(str(say_kind(name, kind)))
        if said:
            return Message(before, say_kind(name, kind), after, told)
    return Message(text, told)


def schema_for(table: Table, target: str | None, given: object) -> Schema:
    """The schema of a table that is to be learned: as guessed, and above all as the user's setting says."""
    if isinstance(given, Schema):
        return Schema.infer(table, target or given.target, given.weight, overrides=given)
    if given is not None and not isinstance(given, Mapping):
        raise SettingsError(f"schema is {given!r}, but it is a Schema or a mapping of column names to kinds.")
    texts = {table.names[0]: "text"} if table.is_text else {}
    return Schema.infer(table, target, overrides={**texts, **(given or {})})


def with_weight(given: Any, weight: str | None) -> Any:
    """What a user said of the columns, and that one of them holds weights."""
    if weight is None or not isinstance(given, Schema | Mapping | None):
        return given
    return replace(given, weight=weight) if isinstance(given, Schema) else {**(given or {}), weight: "weight"}


def as_kind(kind: object, name: str) -> Kind:
    """A kind as a user writes it, checked."""
    for known in KINDS:
        if kind == known:
            return known
    hint = did_you_mean(str(kind), (*KINDS, *ROLES))
    raise SchemaError(f"Column {name!r} cannot be {kind!r}; the kinds are {', '.join(KINDS)}.{hint}")


def _settled_roles(
    table: Table, target: str | None, weight: str | None, overrides: Mapping[str, str] | Schema | None
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
    refuse_missing(schema.features, table.names)
    return {name: schema.kinds.get(name, "ignored") for name in table.names}


def _column(table: Table, name: str, wanted: Kind | None, inferred: Column | None) -> Column:
    """A column as guessed, or as the user wants it."""
    if wanted is None:
        return inferred or infer_column(table, name)
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
