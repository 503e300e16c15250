"""What a user may hand over as a table of an engine: Ibis, DuckDB, Spark, or an address and a name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, unquote, urlsplit
from uuid import uuid4

from likely.arrow import pa
from likely.engines.casts import Cast, duckdb_casts, postgres_casts, recast
from likely.engines.relation import Backend, EngineError, Expression, Relation, Run, ibis_module, one_line
from likely.errors import LikelyError, MissingExtra, SettingsError, did_you_mean, listed, to_install

SCHEMES = {
    "postgres": "postgres", "postgresql": "postgres", "duckdb": "duckdb", "sqlite": "sqlite", "spark": "pyspark",
    "pyspark": "pyspark", "mysql": "mysql", "mssql": "mssql", "snowflake": "snowflake", "bigquery": "bigquery",
    "clickhouse": "clickhouse", "trino": "trino", "databricks": "databricks", "oracle": "oracle",
}  # fmt: skip
"""The engines that an address may name, as SQLAlchemy calls them and as Ibis does."""

SECRETS = ("password", "passwd", "pwd", "token", "access_token", "sslpassword", "private_key")
"""Parameters of an address that are told to nobody."""

VIEW = "likely_rows"

SPARK_ODD = ("interval", "variant")
"""Types of Spark that Ibis does not know."""

INTERRUPT_EVERY = 0.1
"""Seconds between attempts to end a query."""

Result = TypeVar("Result")


@runtime_checkable
class HasAddress(Protocol):
    """An address as SQLAlchemy holds it."""

    def render_as_string(self, hide_password: bool = True) -> str: ...


def is_relation(table: object) -> bool:
    """Whether this is a table of an engine; nothing is imported to find out."""
    return isinstance(table, Relation) or _kind(table) is not None


def is_ibis(table: object) -> bool:
    """Whether this is a table of Ibis."""
    return _kind(table) == "ibis"


def as_relation(table: object) -> Relation:
    """A table of an engine, ready to be asked."""
    if isinstance(table, Relation):
        return table
    made = {"ibis": _from_ibis, "duckdb": _from_duckdb, "spark": _from_spark}
    kind = _kind(table)
    if kind is None:
        raise SettingsError(f"A table of an engine is needed, not {type(table).__name__}.")
    return made[kind](table)


def _kind(table: object) -> str | None:
    ibis, duckdb = sys.modules.get("ibis"), sys.modules.get("duckdb")
    if ibis is not None and isinstance(table, ibis.Table):
        return "ibis"
    if duckdb is not None and isinstance(table, duckdb.DuckDBPyRelation):
        return "duckdb"
    spark = [sys.modules.get(name) for name in ("pyspark.sql.dataframe", "pyspark.sql.connect.dataframe")]
    if any(module is not None and isinstance(table, module.DataFrame) for module in spark):
        return "spark"
    return None


def _from_ibis(table: Expression) -> Relation:
    try:
        backend = table.get_backend()
    except Exception as error:  # noqa: BLE001 — Ibis has many errors for a table that belongs nowhere
        raise SettingsError(f"The Ibis table belongs to no engine: {one_line(error)}.") from None
    return _readable(backend, Relation(table, _name_of(table), backend.name, _asking(backend)))


def _readable(backend: Backend, relation: Relation) -> Relation:
    """The same where columns that could not be fetched are cast in the engine; what goes wrong here is told later."""
    table, engine = relation.table, relation.engine
    if engine not in ("postgres", "duckdb"):
        return relation
    try:
        query = str(backend.compile(table))
        if engine == "postgres":
            casts = postgres_casts(backend, query, table.schema())
        else:
            asked = backend.con.sql(query)
            casts = duckdb_casts(dict(zip(asked.columns, map(str, asked.types), strict=True)))
    except Exception:  # noqa: BLE001 — the first query says what is wrong, and names the table
        return relation
    if not casts:
        return relation

    def with_casts(some: Mapping[str, Cast]) -> Expression:
        kinds = dict(table.schema()) | {name: cast.held for name, cast in some.items()}
        return backend.sql(recast(query, table.columns, some, engine), schema=ibis_module().schema(kinds))

    apart = {name: cast for name, cast in casts.items() if cast.apart}
    return replace(relation, table=with_casts(casts), as_given=with_casts(apart) if apart else table)


def _asking(backend: Backend) -> Run:
    """How queries are run: as Ibis does it; but Spark 4 hands over Arrow itself, which is faster."""

    def ask(query: Expression) -> pa.Table:
        if backend.name == "pyspark":
            found = backend._session.sql(str(backend.compile(query)))
            if hasattr(found, "toArrow"):
                return found.toArrow()
        if backend.name == "duckdb":
            return _interruptible(lambda: backend.to_pyarrow(query), backend.con.interrupt)
        return backend.to_pyarrow(query)

    return ask


def _interruptible(ask: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
    """What a query gives; Ctrl-C ends it, even where an engine does not listen while it works."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            while not answer.done():  # one that comes before the query has begun is lost
                interrupt()
                wait([answer], timeout=INTERRUPT_EVERY)
            raise


def _name_of(table: Expression) -> str:
    """What a table is called in errors: its own name, or that of the engine's."""
    try:
        return f"table {table.op().name!r}"
    except Exception:  # noqa: BLE001 — a query has no name
        return "the query"


def _from_duckdb(relation: Expression) -> Relation:
    """A relation of DuckDB is asked on its own connection; nothing is created there."""
    ibis = ibis_module()
    try:
        casts = duckdb_casts(dict(zip(relation.columns, map(str, relation.types), strict=True)))
        if casts:
            relation = relation.query(VIEW, recast(f"FROM {VIEW}", relation.columns, casts, "duckdb"))
        schema = ibis.Schema.from_pyarrow(relation.limit(0).to_arrow_table().schema)
    except Exception as error:  # noqa: BLE001 — every engine has errors of its own
        reason = one_line(error)
        raise EngineError(
            f"The DuckDB relation cannot be read: {reason}; see that its connection is open and its table is there."
        ) from None
    table = ibis.table(schema, name=VIEW)

    def ask(query: Expression) -> pa.Table:
        return relation.query(VIEW, str(ibis.to_sql(query, dialect="duckdb"))).to_arrow_table()

    return Relation(table, "the DuckDB relation", "duckdb", ask)


def _from_spark(frame: Expression) -> Relation:
    """A frame of Spark gets a temporary view for each query, which is dropped again whatever happens."""
    ibis = ibis_module()
    try:
        backend = ibis.pyspark.connect(frame.sparkSession)
    except ImportError:
        raise MissingExtra(f"Spark frames are read through Ibis: {to_install('spark')}.") from None
    name = f"{VIEW}_{uuid4().hex[:12]}"
    frame = _carried(frame)
    frame.createOrReplaceTempView(name)
    try:
        table = ibis.table(backend.table(name).schema(), name=name)
    finally:
        frame.sparkSession.catalog.dropTempView(name)

    ask_spark = _asking(backend)

    def ask(query: Expression) -> pa.Table:
        frame.createOrReplaceTempView(name)
        try:
            return ask_spark(query)
        finally:
            frame.sparkSession.catalog.dropTempView(name)

    return Relation(table, "the Spark frame", "pyspark", ask)


def _carried(frame: Expression) -> Expression:
    """A frame of Spark whose intervals and variants, which Ibis does not know, are texts."""
    from pyspark.sql import functions

    odd = {name for name, kind in frame.dtypes if kind.startswith(SPARK_ODD)}
    if not odd:
        return frame
    columns = {name: functions.col("`{}`".format(name.replace("`", "``"))) for name in frame.columns}
    return frame.select(*(c.cast("string").alias(name) if name in odd else c for name, c in columns.items()))


# An address and the name of a table.


def connect(url: str | HasAddress, table: str) -> Relation:
    """A table that lies at an address, such as "postgresql://user@host/db" or "duckdb:///file.duckdb".

    The address is one of SQLAlchemy's; what it does not say (a password, say) comes from where the engine's own tools
    look for it. `table` may name a schema, too: "schema.table".

    >>> connect("nowhere://host/db", "days")
    Traceback (most recent call last):
    likely.errors.SettingsError: The address begins with 'nowhere', but ...
    """
    text = url.render_as_string(hide_password=False) if isinstance(url, HasAddress) else str(url)
    try:
        parts = urlsplit(text)
    except ValueError:
        raise SettingsError("The address is none: it is written as postgresql://user@host:5432/database.") from None
    scheme = parts.scheme.split("+")[0].lower()
    if scheme not in SCHEMES:
        raise SettingsError(
            f"The address begins with {scheme!r}, but it names an engine: {listed(sorted(SCHEMES))}."
            f"{did_you_mean(scheme, list(SCHEMES))}"
        )
    engine, secrets = SCHEMES[scheme], (text, *_secrets(parts))
    where = f"{engine} at {parts.hostname}" if parts.hostname else engine
    try:
        backend, found = _opened(engine, text, table)
        named = Relation(found, f"table {table!r}", engine, _asking(backend), secrets, close=backend.disconnect)
        return _readable(backend, named)
    except ImportError as error:
        lacking = one_line(error, secrets)
        refused: LikelyError = MissingExtra(
            f"{engine} is not installed ({lacking}): pip install 'ibis-framework[{engine}]'."
        )
    except Exception as error:  # noqa: BLE001 — every engine has errors of its own
        refused = EngineError(
            f"Table {table!r} cannot be opened in {where}: {one_line(error, secrets)}; see that the address, "
            "your rights and the name of the table are right."
        )
    raise refused  # here, so that it does not carry along what the engine said, and with it the address


def _secrets(parts: SplitResult) -> tuple[str, ...]:
    """Passwords as they stand in an address, and as they are."""
    asked = parse_qsl(parts.query, keep_blank_values=True)
    found = [parts.password or "", *(value for name, value in asked if name.lower() in SECRETS)]
    spellings = [(word, unquote(word), quote(word), quote_plus(unquote(word))) for word in found if word]
    return tuple(dict.fromkeys(spelling for word in spellings for spelling in word))


def _opened(engine: str, url: str, table: str) -> tuple[Backend, Expression]:
    """A connection, and a table there; a connection without its table is closed again."""
    backend = _backend(engine, url)
    try:
        return backend, _table(backend, table)
    except BaseException:
        backend.disconnect()
        raise


def _backend(engine: str, url: str) -> Backend:
    ibis, rest = ibis_module(), urlsplit(url)
    if engine in ("duckdb", "sqlite"):
        path = url.partition("://")[2].partition("?")[0]
        path = path[1:] if path.startswith("/") else path  # sqlalchemy: three slashes for a relative path, four else
        options = {"read_only": True} if engine == "duckdb" and path else {}
        return getattr(ibis, engine).connect(unquote(path) or None, **options)
    if engine == "pyspark":
        return ibis.pyspark.connect(session())
    return ibis.connect(rest._replace(scheme=engine).geturl())


def _table(backend: Backend, name: str) -> Expression:
    """A table by its name, which may hold dots, after that of its schema, and after that of a catalogue."""
    from ibis.common.exceptions import TableNotFound

    cuts = [place for place, letter in enumerate(name) if letter == "."]
    places: list[tuple[str, str | tuple[str, str] | None]] = [(name, None)]
    places += [(name[cut + 1 :], name[:cut]) for cut in cuts]
    places += [(name[b + 1 :], (name[:a], name[a + 1 : b])) for a in cuts for b in cuts if a < b]
    if len(cuts) > 1 and hasattr(backend, "current_catalog"):
        places += [(name[cut + 1 :], (backend.current_catalog, name[:cut])) for cut in cuts]
    for own, database in places:
        try:
            return backend.table(own, database=database)
        except (TableNotFound, ValueError):  # too many parts are no name either
            continue
    raise LookupError("there is no table of that name that you may see")


def session() -> Backend:
    """The Spark session that is active, or a local one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(f"Spark needs Java 17 and PySpark: {to_install('spark')}.") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    return SparkSession.builder.appName("likely").config("spark.ui.enabled", "false").getOrCreate()


FILES = ("duckdb", "spark")


def read_files(engine: str, paths: list[str]) -> Expression:
    """Files or folders of Parquet, CSV or JSON as a table of an engine, which reads them itself."""
    if engine not in FILES:
        raise SettingsError(
            f"The engine is {engine!r}, but files are read by {listed(FILES)}.{did_you_mean(engine, FILES)}"
        )
    kind = next(
        (kind for kind in ("csv", "json") if paths[0].rstrip("/").removesuffix(".gz").endswith(f".{kind}")), "parquet"
    )
    try:
        if engine == "spark":
            reader = session().read
            made = reader.csv(paths, header=True, inferSchema=True) if kind == "csv" else getattr(reader, kind)
            return made if kind == "csv" else made(*paths)
        backend = ibis_module().duckdb.connect()
        found = [f"{path.rstrip('/')}/**/*.{kind}" if os.path.isdir(path) else path for path in paths]
        return getattr(backend, f"read_{kind}")(found)
    except LikelyError:
        raise
    except Exception as error:  # noqa: BLE001 — every engine has errors of its own
        raise EngineError(
            f"{engine} cannot read {listed(paths)}: {one_line(error)}; see that the files are there."
        ) from None
