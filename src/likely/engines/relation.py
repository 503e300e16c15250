"""A table where it lives, in a database or on a cluster: its columns, its queries, and what goes wrong there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from likely.errors import DataError, LikelyError, MissingExtra, SchemaError, missing_columns, say_kind, to_install

if TYPE_CHECKING:
    import pyarrow as pa

Expression = Any
"""An expression of Ibis, which is imported only where it is needed and whose values have no types to check against."""

Cell = Literal["string", "integer", "boolean", "float"]
"""What can be counted value by value."""

SHOWN_REASON = 200
"""Characters of what an engine says that are shown."""

LONG_BY_UNNEST = frozenset({"pyspark", "databricks"})
"""Engines that read all rows for every arm of a union, and so unfold the columns of a row instead."""

Run = Callable[[Expression], "pa.Table"]


class EngineError(DataError):
    """An engine refused a query, or could not be reached."""


def ibis_module() -> Any:
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


def builtin(name: str, given: str, result: str) -> Callable[[Any], Expression]:
    """A function of an engine, by its own name, where Ibis has none or a worse one."""

    def body(x: Any) -> Any:
        return x

    made: Callable[[Any], Expression] = ibis_module().udf.scalar.builtin(body, name=name, signature=((given,), result))
    return made


@dataclass(frozen=True, eq=False)
class Relation:
    """A table of an engine as Ibis sees it, the engine's name, and how queries are run; rows stay where they are.

    `secrets` never appear in what is told of errors; `drawn` is how many rows may be fetched for what needs rows.
    """

    table: Expression
    name: str
    engine: str
    ask: Run
    secrets: tuple[str, ...] = ()
    drawn: int | None = None
    close: Callable[[], None] = field(default=lambda: None)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.table.columns)

    def run(self, query: Expression) -> pa.Table:
        """The result of a query as an Arrow table; what goes wrong becomes one sentence."""
        refresh_dialects()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # between the engine and Ibis
                warnings.simplefilter("ignore", UserWarning)
                return self.ask(query)
        except (LikelyError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 — every engine has errors of its own
            raise EngineError(
                f"{self.name}: {self.engine} refused a query: {self.reason(error)}; see that the table is there "
                "and that you may read it."
            ) from None

    def reason(self, error: Exception) -> str:
        """What an engine says, on one line, without what must not be told."""
        return one_line(error, self.secrets)

    def require(self, columns: Sequence[str]) -> None:
        """Raise where a column is not there."""
        there = set(self.names)
        missing = [name for name in columns if name not in there]
        if missing:
            raise missing_columns(missing, self.names)

    def cell(self, name: str) -> Cell | None:
        """As what the values of a column are counted; None for dates, lists and other things that are no values."""
        kind = self.table[name].type()
        tests: tuple[tuple[bool, Cell], ...] = (
            (kind.is_string(), "string"),
            (kind.is_boolean(), "boolean"),
            (kind.is_integer(), "integer"),
            (kind.is_floating() or kind.is_decimal(), "float"),
        )
        return next((cell for fits, cell in tests if fits), None)

    def numbers(self, name: str) -> Expression:
        """A column as floats; nulls are gaps, and so are NaNs, which are told later."""
        column, cell = self.table[name], self.cell(name)
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
        column, cell = self.table[name], self.cell(name)
        if cell is None:
            raise SchemaError(
                f"Column {name!r} of {self.name} holds {column.type()}, which cannot be a category there; cast it to "
                "strings in the engine, or leave it out (", say_kind(name, "ignored"), ").",
            )  # fmt: skip
        if cell == "float":
            numbers = self.numbers(name)
            return numbers.isnan().ifelse(ibis_module().null("float64"), numbers) if self.has_nan(name) else numbers
        return column

    def has_nan(self, name: str) -> bool:
        """Whether the type of a column allows for NaN."""
        return bool(self.table[name].type().is_floating()) and self.engine != "sqlite"

    def sample(self, table: Expression, share: float, seed: int) -> Expression:
        """About such a share of the rows, drawn by the engine itself; the same seed gives the same rows."""
        from ibis.common.exceptions import UnsupportedOperationError

        if share >= 1.0:
            return table
        if self.engine in LONG_BY_UNNEST:  # Spark's TABLESAMPLE has no seed, its random numbers have
            return table.filter(builtin("rand", "int64", "float64")(seed) < share)
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
