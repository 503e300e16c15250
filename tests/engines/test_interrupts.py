"""Ctrl-C and time-outs: the query ends in the engine, nothing is left behind, and the connection goes on."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from likely import BayesClassifier
from likely.api import evaluate
from likely.engines.relation import EngineError, Relation
from tests.engines import tables
from tests.engines.conftest import Load

PATIENCE = 60.0
"""Seconds after which a test that waits for an engine gives up."""

SLOW = {
    "duckdb": "select (i % 5)::double as size, 't' as town, 'l' || (i % 2) as label from range(4000000000) r(i) "
    "where md5(i::varchar) <> 'x'",
    "postgres": "select (i % 5)::float8 as size, 't' as town, 'l' || (i % 2) as label "
    "from generate_series(1, 4000000000) r(i) where md5(i::text) <> 'x'",
}


LOADED = re.compile(r"t[0-9a-f]{10}")
"""The names that the fixture `load` gives to tables."""

RUNNING = (
    "select count(*) from pg_stat_activity where state = 'active' and query like '%4000000000%' "
    "and pid <> pg_backend_pid()"
)


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A signal comes, as from the keyboard, a moment after a query has been sent."""
    sent, over = threading.Event(), threading.Event()
    run = Relation.run

    def told(self: Relation, query: Any, **options: Any) -> Any:
        sent.set()
        return run(self, query, **options)

    def press() -> None:
        sent.wait(PATIENCE)
        time.sleep(0.3)  # the engine may have begun by then; where it has not, the signal comes all the same
        deadline = time.monotonic() + PATIENCE
        while not over.is_set() and time.monotonic() < deadline:
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(3.0)  # a signal that comes between two steps of a query may be lost: a person presses again

    monkeypatch.setattr(Relation, "run", told)
    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def tables_of(backend: Any, engine: str) -> set[str]:
    """All that is there, temporary things included, but not what other tests load into the server."""
    query = "select table_name from information_schema.tables where table_schema not in ('information_schema')"
    if engine == "duckdb":
        return {line[0] for line in backend.con.execute(query).fetchall()}
    with backend.con.cursor() as cursor:
        cursor.execute("select relname from pg_class where relkind in ('r', 'v', 'm', 'S')")
        found = {line[0] for line in cursor.fetchall() if not LOADED.fullmatch(line[0])}
    backend.con.commit()
    return found


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_an_interrupt_ends_the_query_and_leaves_nothing(
    engine: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = load(tables.plain(200))
    backend = there.get_backend()
    columns = there.select("size", "town", "label").schema()
    slow = backend.sql(SLOW[engine], schema=columns)
    before = tables_of(backend, engine)
    for work in (
        lambda: BayesClassifier().fit(slow, "label"),
        lambda: evaluate(BayesClassifier(), slow, "label", cv=3, key="town"),
    ):
        with pytest.raises(KeyboardInterrupt), interrupted(monkeypatch):
            work()
        assert tables_of(backend, engine) == before
        assert BayesClassifier().fit(there, "label").summary_.n_rows == 200
    if engine == "postgres":
        with backend.con.cursor() as cursor:
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                cursor.execute(RUNNING)
                if cursor.fetchone()[0] == 0:
                    break
            else:
                raise AssertionError("the query goes on in the server")
        backend.con.commit()


def test_a_time_out_of_the_server_is_one_sentence(postgres_url: str, postgres: Any) -> None:
    import ibis

    backend = ibis.connect(postgres_url)
    try:
        with backend.con.cursor() as cursor:
            cursor.execute("set statement_timeout = '200ms'")
        backend.con.commit()
        rows = (
            "select i % 3 as x, case when i % 2 = 0 then 'a' else 'b' end as y from generate_series(1, 99999999) r(i)"
        )
        slow = backend.sql(rows, schema={"x": "int64", "y": "string"})
        with pytest.raises(EngineError, match="postgres refused a query: canceling statement due to statement timeout"):
            BayesClassifier().fit(slow, "y")
    finally:
        backend.disconnect()
