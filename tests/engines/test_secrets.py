"""A password is in no error, no log, no repr and no model, whatever goes wrong on the way."""

from __future__ import annotations

import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.errors import LikelyError
from tests.engines import tables
from tests.engines.servers import GUARDED

SECRET = "s3cr%2Ft-w%40rd"
SPELLINGS = (SECRET, "s3cr/t-w@rd", "s3cr/t-w%40rd", "s3cr", "w@rd")
SLOW = "?options=-c%20statement_timeout%3D50"

pytestmark = pytest.mark.parametrize("engine", ["postgres"])


class Address:
    """What SQLAlchemy's URL has: a text with the password, if one asks for it, and one without."""

    def __init__(self, url: str) -> None:
        self.url = url

    def render_as_string(self, hide_password: bool = True) -> str:
        return self.url.replace(SECRET, "***") if hide_password else self.url


@pytest.fixture
def server(postgres_url: str, load: Callable[..., Any], postgres: Any) -> Iterator[str]:
    """The address of a server with a password in it, which knows a good table, a slow one and a broken one."""
    load(tables.plain(200), "secret_days")
    postgres.raw_sql("create view secret_slow as select 'a' as label, pg_sleep(9)::text as x").close()
    postgres.raw_sql("create view secret_broken as select label, 1 / (size - size) as x from secret_days").close()
    postgres.con.commit()
    yield postgres_url.replace("likely@", f"likely:{SECRET}@")
    postgres.raw_sql("drop view secret_slow, secret_broken").close()
    postgres.con.commit()


def quiet(told: str) -> None:
    assert not [spelling for spelling in SPELLINGS if spelling in told], told


def failed(task: Callable[[], Any]) -> str:
    """What a user may see of an error: its sentence, its repr, its traceback and all that it carries along."""
    with pytest.raises(LikelyError) as refused:
        task()
    error: BaseException | None = refused.value
    sentence = str(error)
    while error is not None:
        quiet(f"{error} {error!r} {vars(error)}")
        error = error.__cause__ or error.__context__
    quiet("".join(traceback.format_exception_only(refused.value)))
    return sentence


WRONG_ADDRESSES = {
    "host": f"postgresql://someone:{SECRET}@no-such-host.invalid/db",
    "port": f"postgresql://someone:{SECRET}@127.0.0.1:1/db",
    "no port": f"postgresql://someone:{SECRET}@127.0.0.1:port/db",
    "brackets": f"postgresql://someone:{SECRET}@[::1/db",
    "scheme": f"postgrsql://someone:{SECRET}@127.0.0.1/db",
    "option": f"postgresql://someone:{SECRET}@127.0.0.1:1/db?nonsense=1",
    "parameter": f"postgresql://someone@127.0.0.1:1/db?password={SECRET}",
    "another engine": f"mysql://someone:{SECRET}@127.0.0.1:1/db",
}


@pytest.mark.parametrize("wrong", WRONG_ADDRESSES)
def test_an_address_that_leads_nowhere(wrong: str, engine: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    failed(lambda: likely.engine_table(WRONG_ADDRESSES[wrong], "days"))
    failed(lambda: likely.engine_table(Address(WRONG_ADDRESSES[wrong]), "days"))
    quiet(caplog.text)


def test_an_address_in_the_place_of_a_file(engine: str) -> None:
    address = WRONG_ADDRESSES["host"]
    assert "engine_table" in failed(lambda: likely.train(address, "label"))
    assert "engine_table" in failed(lambda: likely.evaluate(likely.BayesClassifier(), address, "label"))
    failed(lambda: likely.engine_table(address))


def test_a_server_that_refuses(server: str, engine: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    guarded = server.replace("likely:", f"{GUARDED}:")
    assert "password authentication failed" in failed(lambda: likely.engine_table(guarded, "secret_days"))
    assert "does not exist" in failed(lambda: likely.engine_table(f"{server}x", "secret_days"))
    assert "secret_nights" in failed(lambda: likely.engine_table(server, "secret_nights"))
    days = likely.engine_table(Address(server), "secret_days")
    assert "'labels'" in failed(lambda: likely.train(days, "labels"))
    assert "'tow'" in failed(lambda: likely.train(days, "label", schema={"tow": "nominal"}))
    quiet(repr(days) + str(days))
    days.close()
    quiet(caplog.text)


def test_a_query_that_fails_or_is_ended(server: str, engine: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    slow, broken = likely.engine_table(f"{server}{SLOW}", "secret_slow"), likely.engine_table(server, "secret_broken")
    assert "statement timeout" in failed(lambda: likely.train(slow, "label", model="naive"))
    sentence = failed(lambda: likely.train(broken, "label", model="naive"))
    assert sentence.startswith("table 'secret_broken', column 'x': postgres cannot read it: division by zero; see")
    for relation in (slow, broken):
        relation.close()
    quiet(caplog.text)


def test_a_model_and_what_it_says(server: str, engine: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    days = likely.engine_table(server, "secret_days")
    for model in ("naive", "evidence"):
        clf = likely.train(days, "label", model=model)
        clf.save(tmp_path / "m.likely")
        said = f"{clf!r} {clf} {vars(clf)} {clf.schema_} {clf.to_sql('postgres')}"
        quiet(said + likely.evaluate(clf, days, "label", cv=2).to_json())
        quiet((tmp_path / "m.likely").read_bytes().decode("latin-1"))
    days.close()
    quiet(caplog.text)


def test_the_command_line(server: str, engine: str, tmp_path: Path) -> None:
    guarded = server.replace("likely:", f"{GUARDED}:")
    asked = {
        "no file": [WRONG_ADDRESSES["host"]],
        "resolve": ["--connect", WRONG_ADDRESSES["host"], "--table", "days"],
        "password": ["--connect", guarded, "--table", "secret_days"],
        "'secret_nights'": ["--connect", server, "--table", "secret_nights"],
        "timeout": ["--connect", f"{server}{SLOW}", "--table", "secret_slow"],
        "column 'x'": ["--connect", server, "--table", "secret_broken"],
    }
    code = (
        "import logging, sys; logging.basicConfig(level=logging.DEBUG); import ast\n"
        "from likely.cli import main\n"
        "for one in ast.literal_eval(sys.stdin.read()):\n"
        "    sys.argv = ['likely', 'train', *one, '-t', 'label', '--model', 'naive']\n"
        "    try: main()\n"
        "    except SystemExit as end: print('ended with', end.code, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=repr(list(asked.values())), cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.stderr.count("ended with 2") == len(asked), done.stderr
    quiet(done.stderr + done.stdout)
    told = " ".join(done.stderr.split())
    assert not [reason for reason in asked if reason not in told], told
    assert "Traceback" not in told and list(tmp_path.iterdir()) == []
