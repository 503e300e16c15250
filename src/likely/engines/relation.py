"""A table where it lives, in a database or on a cluster: its columns, its queries, and what goes wrong there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from likely.errors import (
    DataError,
    LikelyError,
    MissingExtra,
    SchemaError,
    listed,
    missing_columns,
    say_kind,
    to_install,
)
from likely.table.dates import DAY, ELAPSED, PARTS, WEEKDAYS, WRITTEN, Part, part_of

if TYPE_CHECKING:
    import pyarrow as pa

Expression = Any
"""An expression of Ibis, which is imported only where it is needed and whose values have no types to check against."""

Backend = Any
"""A connection of Ibis, or a session of Spark."""

Cell = Literal["string", "integer", "boolean", "float"]
"""What can be counted value by value."""

SHOWN_REASON = 200
"""Characters of what an engine says that are shown."""

LONG_BY_UNNEST = frozenset({"pyspark", "databricks"})
"""Engines that read all rows for every arm of a union, and so unfold the columns of a row instead."""

ENDED = ("QueryCanceled", "InterruptException")
"""Errors that are no column's fault: somebody or the clock ended a query."""

SHOWN_COLUMNS = 3
"""Columns of a query that are named in an error."""

SECOND = 1_000_000
"""Microseconds of a second."""

Run = Callable[[Expression], "pa.Table"]


class EngineError(DataError):
    """An engine refused a query, or could not be reached; `reason` is what it said."""

    reason = ""


def ibis_module() -> Backend:
    """Ibis, or a sentence on how to get it."""
    try:
        import ibis
    except ImportError:
        raise MissingExtra(f"Tables in engines are read through Ibis: {to_install('engines')}.") from None
    return ibis


@cache
def refresh_dialects() -> None:
    """Ibis adds to sqlglot's dialects; what sqlglot has prepared of them before, for `to_sql` say, lacks that."""
    import ibis.backends.sql.dialects  # noqa: F401
    from sqlglot import generator

    vars(generator).get("_DISPATCH_CACHE", {}).clear()


def builtin(name: str, given: str, result: str) -> Callable[[Expression], Expression]:
    """A function of an engine, by its own name, where Ibis has none or a worse one."""

    def body(x: Expression) -> Expression:
        return x

    made: Callable[[Expression], Expression] = ibis_module().udf.scalar.builtin(
        body, name=name, signature=((given,), result)
    )
    return made


@dataclass(frozen=True, eq=False)
class Relation:
    """A table of an engine as Ibis sees it, the engine's name, and how queries are run; rows stay where they are.

    `secrets` never appear in what is told of errors; `drawn` is how many rows may be fetched for what needs rows.
    `as_given` is the table before columns of odd types were cast, if any were.
    """

    table: Expression = field(repr=False)
    name: str
    engine: str
    ask: Run = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    drawn: int | None = None
    as_given: Expression | None = field(default=None, repr=False)
    close: Callable[[], None] = field(default=lambda: None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.table.columns)

    def run(self, query: Expression, *, probe: bool = True) -> pa.Table:
        """The result of a query as an Arrow table; what goes wrong becomes one sentence.

        The sentence names the column at fault; with `probe` the engine is asked for it, if it does not say.
        """
        try:
            return self._asked(query)
        except (LikelyError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 — every engine has errors of its own
            refused = self._refused(query, error, probe)
            refused.reason = self.reason(error)
        raise refused  # here, so that it does not carry along what the engine said

    def _asked(self, query: Expression) -> pa.Table:
        refresh_dialects()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # between the engine and Ibis
            warnings.simplefilter("ignore", UserWarning)
            return self.ask(query)

    def _refused(self, query: Expression, error: Exception, probe: bool) -> EngineError:
        told = f"{self.name}: {self.engine} refused a query"
        if type(error).__name__ in ENDED:
            return EngineError(f"{told}: {self.reason(error)}; see that it may run so long, and begin again.")
        used = self._columns_of(query)
        at_fault = self._unreadable(query, used) if probe else ()
        if at_fault:
            return EngineError(
                f"{self.name}, column {at_fault[0]!r}: {self.engine} cannot read it: {self.reason(error)}; see that it "
                "is there and that you may read it, mend its values, or leave it out (",
                say_kind(at_fault[0], "ignored"), ").",
            )  # fmt: skip
        shown = listed(list(used[:SHOWN_COLUMNS]))
        more = f" and {len(used) - SHOWN_COLUMNS} more" if len(used) > SHOWN_COLUMNS else ""
        return EngineError(
            f"{told} over column{'s' * (len(used) > 1)} {shown}{more}: {self.reason(error)}; see that the table is "
            "there and that you may read it."
        )

    def _columns_of(self, query: Expression) -> tuple[str, ...]:
        """The columns of the table that a query reads; all, if it is text."""
        from ibis.expr import operations as ops

        whole = ops.PhysicalTable | ops.Filter | ops.Sample | ops.Limit
        read = {field.name for field in query.op().find(ops.Field) if isinstance(field.rel, whole)}
        return tuple(name for name in self.names if name in read) or self.names

    def _unreadable(self, query: Expression, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The first column that the engine cannot read by itself, sought by halves; none if it is the whole table.

        Where rows were to be fetched, a column is at fault that can be read but not fetched, too.
        """

        def counted(some: tuple[str, ...]) -> Expression:
            counts = {f"n{k}": self.table[name].count() for k, name in enumerate(some)}
            return self.table.aggregate(rows=self.table.count(), **counts)

        def fetched(some: tuple[str, ...]) -> Expression:
            return query.select(*some)

        if self._fails(counted(())):
            return ()
        probes = [counted, fetched] if set(query.columns) <= set(self.names) else [counted]
        ask = next((probe for probe in probes if self._fails(probe(columns))), None)
        while ask is not None and len(columns) > 1:
            half = columns[: len(columns) // 2]
            columns = half if self._fails(ask(half)) else columns[len(half) :]
        return columns if ask is not None and self._fails(ask(columns)) else ()

    def _fails(self, query: Expression) -> bool:
        try:
            self._asked(query)
        except Exception:  # noqa: BLE001 — what is wrong is known already
            return True
        return False

    def reason(self, error: Exception) -> str:
        """What an engine says, on one line, without what must not be told."""
        return one_line(error, self.secrets)

    def require(self, columns: Sequence[str]) -> None:
        """Raise where a column is not there; a part of a date needs its date."""
        there = set(self.names)
        missing = [name for name in dict.fromkeys(map(self.input_of, columns)) if name not in there]
        if missing:
            raise missing_columns(missing, self.names, self.name)

    def blanked(self, names: Sequence[str]) -> Relation:
        """The same where some columns are gaps throughout, and are not read."""
        none = {name: ibis_module().null("string") for name in names if name in self.names}
        return replace(self, table=self.table.mutate(**none))

    def _part(self, name: str) -> tuple[str, Part] | None:
        """The date column and the part of it that a name means; real columns come first."""
        found = None if name in self.names else part_of(name)
        return found if found is not None and found[0] in self.names else None

    def input_of(self, name: str) -> str:
        """The column that something learned comes from: itself, or the date that it is a part of."""
        part = self._part(name)
        return name if part is None else part[0]

    def cell(self, name: str) -> Cell | None:
        """As what the values of a column are counted; None for dates, lists and other things that are no values."""
        part = self._part(name)
        if part is not None:
            held = PARTS[part[1]][1]
            return "integer" if held == "integer" else "float" if held == "float" else "string"
        kind = self.table[name].type()
        tests: tuple[tuple[bool, Cell], ...] = (
            (kind.is_string(), "string"),
            (kind.is_boolean(), "boolean"),
            (kind.is_integer(), "integer"),
            (kind.is_floating() or kind.is_decimal(), "float"),
        )
        return next((cell for fits, cell in tests if fits), None)

    def column(self, name: str) -> Expression:
        """A column as it is, or a part of a date."""
        part = self._part(name)
        return self.table[name] if part is None else date_part(self.engine, self.table[part[0]], part[1])

    def numbers(self, name: str) -> Expression:
        """A column as floats; nulls are gaps, and so are NaNs, which are told later."""
        column, cell = self.column(name), self.cell(name)
        if cell == "boolean":
            column = column.cast("int8")
        if cell in ("string", None):
            raise SchemaError(
                f"Column {name!r} of {self.name} holds {column.type()} and cannot be read as numbers there; cast it in "
                f"the engine, make it nominal (", say_kind(name, "nominal"), ") or leave it out (",
                say_kind(name, "ignored"), ").",
            )  # fmt: skip
        return column if str(column.type()) in ("float64", "!float64") else column.cast("float64")

    def values(self, name: str) -> Expression:
        """A column as values to be counted; gaps are nulls."""
        column, cell = self.column(name), self.cell(name)
        if cell is None:
            raise SchemaError(
                f"Column {name!r} of {self.name} holds {column.type()}, which cannot be a category there; cast it to "
                "strings in the engine, or leave it out (", say_kind(name, "ignored"), ").",
            )  # fmt: skip
        return self.known_numbers(name) if cell == "float" else column

    def known_numbers(self, name: str) -> Expression:
        """A column as floats where NaN is a gap, too."""
        numbers = self.numbers(name)
        if not self.has_nan(name):
            return numbers
        return numbers.isnan().ifelse(ibis_module().null("float64"), numbers)

    def has_nan(self, name: str) -> bool:
        """Whether the type of a column allows for NaN."""
        return bool(self.column(name).type().is_floating()) and self._part(name) is None and self.engine != "sqlite"

    def sample(self, table: Expression, share: float, seed: int) -> Expression:
        """About such a share of the rows, drawn by the engine itself; the same seed gives the same rows."""
        from ibis.common.exceptions import UnsupportedOperationError

        if share >= 1.0:
            return table
        if self.engine in LONG_BY_UNNEST:  # Spark's TABLESAMPLE has no seed, its random numbers have
            return table.filter(builtin("rand", "int64", "float64")(seed) < share)
        if self.engine == "postgres":  # its TABLESAMPLE is for tables, not for views
            return table.filter(ibis_module().random() < share)
        drawn = table.sample(share, seed=seed)
        try:
            ibis_module().to_sql(drawn, dialect=self.engine)
        except UnsupportedOperationError:
            return table.filter(ibis_module().random() < share)
        return drawn

    def seed(self, seed: int) -> None:
        """Begin the engine's own random numbers anew, where queries draw from them."""
        if self.engine == "postgres":
            set_seed = builtin("setseed", "float64", "string")
            self.run(ibis_module().literal(1).as_table().select(done=set_seed((seed % 1000) / 1000.0).cast("string")))


def one_line(error: Exception, secrets: Sequence[str] = ()) -> str:
    """What an error says, on one line and not for long, without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = (lines[0] if lines else type(error).__name__).rstrip(".;:")
    for secret in secrets:
        text = text.replace(secret, "…") if secret else text
    return text if len(text) <= SHOWN_REASON else f"{text[:SHOWN_REASON]}…"


# Parts of dates: those that `likely.table.dates` hands out, by the same clock.


def date_part(engine: str, column: Expression, part: Part) -> Expression:
    """One part of a column of dates, time stamps, or texts such as 2025-01-31 17:05; null for a gap."""
    moment = moments(column)
    if part == ELAPSED:
        return _microseconds(engine, moment).cast("float64") / float(DAY)
    if part == "weekday":
        return moment.day_of_week.index().cases(*enumerate(WEEKDAYS))
    parts = {"year": moment.year, "month": moment.month, "hour": moment.hour}
    return parts[part]()


def moments(column: Expression) -> Expression:
    """A column as points in time, by the clock on the wall: that of the session, where the engine keeps zones."""
    if column.type().is_string():  # what an engine makes of a zone in a text differs, so it is left out
        column = column.re_extract(WRITTEN, 1).nullif("")
    return column.cast("timestamp")


def _microseconds(engine: str, moment: Expression) -> Expression:
    """Whole microseconds since 1970, exactly as Arrow counts them."""
    days = moment.date().delta(ibis_module().date(1970, 1, 1), unit="day").cast("int64")
    clock = (moment.hour() * 3600 + moment.minute() * 60).cast("int64") + moment.second()
    if engine == "pyspark":  # its seconds have a fraction, whatever Ibis says
        return days * DAY + clock * SECOND
    return days * DAY + clock * SECOND + moment.microsecond().cast("int64")
