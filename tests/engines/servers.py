"""Real engines for tests: one PostgreSQL server for all test processes, one Spark session, DuckDB in memory."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BINARIES = [Path("/usr/local/bin"), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]

GUARDED = "guarded"
"""A user of PostgreSQL who needs a password."""


class NotHere(Exception):
    """An engine that cannot be had on this machine, and why."""


@contextmanager
def locked(folder: Path) -> Iterator[dict[str, Any]]:
    """What test processes know together, for one of them at a time."""
    with open(folder / "engines.lock", "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        path = folder / "engines.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        yield known
        path.write_text(json.dumps(known))


def binary(name: str) -> str:
    """Where a program of PostgreSQL lies."""
    found = shutil.which(name) or next((str(p / name) for p in BINARIES if (p / name).exists()), None)
    if found is None:
        raise NotHere(f"PostgreSQL's {name} is neither on the PATH nor in /usr/lib/postgresql")
    return found


def as_user(command: list[str]) -> list[str]:
    """A command that never runs as root: PostgreSQL refuses that."""
    if os.geteuid() != 0:
        return command
    user = next((name for name in ("postgres", "nobody") if _exists(name)), None)
    if user is None or shutil.which("runuser") is None:
        raise NotHere("PostgreSQL does not run as root, and there is no other user to run it as")
    return ["runuser", "-u", user, "--", *command]


def _exists(user: str) -> bool:
    return subprocess.run(["id", user], capture_output=True, check=False).returncode == 0


def join_postgres(folder: Path) -> str:
    """The address of the server that all test processes share; the first one starts it."""
    with locked(folder) as known:
        if known.get("users", 0) == 0:
            known["home"] = tempfile.mkdtemp(prefix="likely-postgres-")  # the user of the server must get there
            known["postgres"] = _start(Path(known["home"]))
        known["users"] = known.get("users", 0) + 1
        return str(known["postgres"])


def leave_postgres(folder: Path) -> None:
    """The last one out stops the server and removes its files."""
    with locked(folder) as known:
        known["users"] -= 1
        if known["users"] == 0:
            home = Path(known["home"])
            _run([binary("pg_ctl"), "-D", str(home / "data"), "-m", "immediate", "-w", "stop"])
            shutil.rmtree(home, ignore_errors=True)


def _start(home: Path) -> str:
    home.chmod(0o777)
    data, port = home / "data", _free_port()
    _run([binary("initdb"), "-D", str(data), "-U", "likely", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"])
    rules = data / "pg_hba.conf"
    rules.write_text(f"host all {GUARDED} all scram-sha-256\n{rules.read_text()}")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home} -c fsync=off"
    _run([binary("pg_ctl"), "-D", str(data), "-l", str(home / "log"), "-o", options, "-w", "start"])
    return f"postgresql://likely@127.0.0.1:{port}/postgres"


def _run(command: list[str]) -> None:
    with open(os.devnull) as nothing:
        done = subprocess.run(
            as_user(command),
            stdin=nothing,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            check=False,
            timeout=120,
        )
    if done.returncode:
        raise NotHere(f"{Path(command[0]).name} failed: {done.stdout.decode()[-300:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_spark(folder: Path) -> Any:
    """A local Spark session, small and quiet."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise NotHere("Java is not on the PATH, and Spark needs Java 17")
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise NotHere(f"pyspark is not installed: {error}") from None
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]").appName("likely tests")
        .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
        .config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "1g")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse")).config("spark.sql.adaptive.enabled", "false")
        .config("spark.default.parallelism", "2").config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .getOrCreate()
    )  # fmt: skip
    session.sparkContext.setLogLevel("OFF")
    return session
