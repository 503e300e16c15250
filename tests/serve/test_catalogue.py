"""Names, versions, and files that are read again when they change, without a mixed answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from likely.errors import NoSuchFile, SettingsError
from likely.serve.catalogue import ModelSource, read_source
from tests.serve.conftest import Serve, fitted, weather, without_label

ROWS = without_label(weather(3, seed=3))


def test_how_models_are_named(tmp_path: Path) -> None:
    assert read_source("a/b.likely") == ModelSource("b", "1", Path("a/b.likely"))
    assert read_source("x=a/b.likely") == ModelSource("x", "1", Path("a/b.likely"))
    assert read_source("x@v2=a/b.likely") == ModelSource("x", "v2", Path("a/b.likely"))
    odd = tmp_path / "a=b.likely"
    odd.touch()
    assert read_source(str(odd)) == ModelSource("a=b", "1", odd)
    for wrong in ("=a.likely", "a/b=c.likely", "a?b=c", "a\n=c"):
        with pytest.raises(SettingsError, match="name of a model"):
            read_source(wrong)


def test_two_of_a_name_need_versions(trained: Path, serve: Serve) -> None:
    with pytest.raises(SettingsError, match="NAME@VERSION"):
        serve(trained, trained)
    with pytest.raises(NoSuchFile, match=r"Did you mean 'weather\.likely'"):
        serve(trained.with_name("wether.likely"))
    with pytest.raises(SettingsError, match="at least one"):
        serve()


def test_a_file_that_changes_is_read_again(own: Path, serve: Serve) -> None:
    client = serve(own, watch_seconds=0.01)
    before = client.get("/model").json()
    fitted(weather(50, seed=4)).save(own)

    async def changed() -> dict[str, object]:
        while True:
            found: dict[str, object] = (await client.http.get("/model")).json()
            if found["revision"] != before["revision"]:
                return found
            await asyncio.sleep(0.01)

    assert client.run(changed())["rows"] == 50
    assert 'likely_reloads_total{result="done"} 1' in client.get("/metrics").text


def test_a_file_that_cannot_be_read_leaves_the_model_as_it_was(
    own: Path, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    client = serve(own)
    said = client.post("/predict", json={"rows": ROWS}).json()
    good = own.read_bytes()
    own.write_bytes(good[:-7])
    for _ in range(3):
        client.run(client.service.reload())
    assert client.post("/predict", json={"rows": ROWS}).json() == said
    assert caplog.text.count("cannot be read") == 1, "said once, not at every look"
    own.unlink()
    client.run(client.service.reload())
    assert client.post("/predict", json={"rows": ROWS}).json() == said
    own.write_bytes(good)
    client.run(client.service.reload())
    assert client.service.metrics.reloads["done"] == 1


def test_no_answer_mixes_two_models(own: Path, serve: Serve) -> None:
    """Whatever is read while files change, the answer is one model's: its revision, its classes, its numbers."""
    one, other = own.read_bytes(), own.with_name("other.likely")
    fitted([{**row, "day": f"{row['day']}!"} for row in weather(90, seed=5)]).save(other)
    contents = [one, other.read_bytes()]
    client = serve(own)

    async def ask(found: dict[str, set[str]]) -> None:
        answer = (await client.http.post("/predict", json={"rows": ROWS})).json()
        found.setdefault(answer["revision"], set()).add(str(answer["predictions"]))

    async def all_of_it() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for turn in range(8):
            own.write_bytes(contents[turn % 2])
            await asyncio.gather(*(ask(found) for _ in range(8)), client.service.reload(even_unchanged=True))
        return found

    found = client.run(all_of_it())
    assert len(found) == 2 and all(len(answers) == 1 for answers in found.values())
