"""The engines under test: memory, DuckDB, PostgreSQL and Spark, each loaded with the same tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest

from tests.engines.servers import NotHere, join_postgres, leave_postgres, start_spark

ENGINES = ("duckdb", "postgres", "spark")

Load = Callable[..., Any]
"""Puts a table into an engine, and gives what is handed over to `likely`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Spark come first, so that one process runs them all and one session is started."""

    def engine(item: pytest.Item) -> bool:
        called = getattr(item, "callspec", None)
        return called is None or called.params.get("engine") != "spark"

    items.sort(key=engine)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all test processes know."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def duck() -> Any:
    import ibis

    return ibis.duckdb.connect()


@pytest.fixture(scope="session")
def postgres_url(shared: Path) -> Iterator[str]:
    try:
        url = join_postgres(shared)
    except NotHere as reason:
        pytest.skip(str(reason))
    yield url
    leave_postgres(shared)


@pytest.fixture(scope="session")
def postgres(postgres_url: str) -> Iterator[Any]:
    import ibis

    backend = ibis.connect(postgres_url)
    yield backend
    backend.disconnect()


@pytest.fixture(scope="session")
def spark(shared: Path) -> Iterator[Any]:
    try:
        session = start_spark(shared)
    except NotHere as reason:
        pytest.skip(str(reason))
    yield session
    session.stop()


def copied(backend: Any, table: pa.Table, name: str) -> Any:
    """A table written to PostgreSQL by COPY: names go there as they are."""
    import ibis
    from psycopg import sql

    backend.create_table(name, schema=ibis.Schema.from_pyarrow(table.schema))
    names = sql.SQL(", ").join(map(sql.Identifier, table.column_names))
    command = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(name), names)
    with backend.con.cursor() as cursor, cursor.copy(command) as copy:
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            copy.write_row(row)
    backend.con.commit()
    return backend.table(name)


@pytest.fixture
def load(engine: str, request: pytest.FixtureRequest) -> Iterator[Load]:
    """Put an Arrow table into the engine of this test; it is removed afterwards."""
    import ibis

    if engine == "spark":
        session = request.getfixturevalue("spark")
        backend = ibis.pyspark.connect(session)
    else:
        backend = request.getfixturevalue({"duckdb": "duck"}.get(engine, engine))
    made: list[str] = []

    def put(table: pa.Table, name: str | None = None) -> Any:
        called = name or f"t{uuid4().hex[:10]}"
        made.append(called)
        if engine == "spark":
            session.createDataFrame(table).createOrReplaceTempView(called)
            return backend.table(called)
        if engine == "postgres":
            return copied(backend, table, called)
        return backend.create_table(called, obj=table)

    yield put
    for name in made:
        if engine == "spark":
            session.catalog.dropTempView(name)
        else:
            backend.drop_table(name, force=True)
