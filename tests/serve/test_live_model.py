"""A served model learns and forgets as `partial_fit` and `forget` do, once for each request, and loses nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import SettingsError
from likely.serve.catalogue import read_source
from likely.serve.changes import Change, read_change
from likely.serve.journal import JournalError, journal_of
from likely.serve.live_model import LiveModel, Outcome, with_journal
from likely.serve.refusals import HTTPRefusal
from tests.serve.conftest import Serve, fitted, weather, without_label

BASE, NEW = weather(200), weather(60, seed=9)
ASKED = without_label(weather(40, seed=11))


def live(path: Path, compact_rows: int = 10**9) -> LiveModel:
    return LiveModel(read_source(str(path)), compact_rows=compact_rows, most_classes=20)


def change(rows: list[dict[str, Any]], key: str | None = None, kind: Any = "learn") -> Change:
    schema = fitted(BASE[:30]).schema_
    return read_change(kind, {"rows": rows}, schema, key, 1000, 1000)


def assert_same(model: Any, rows: list[dict[str, Any]]) -> None:
    assert_allclose(model.predict_proba(ASKED), fitted(rows).predict_proba(ASKED), rtol=1e-9, atol=1e-12)


def test_live_model_on_is_learning_all(own: Path) -> None:
    one = live(own)
    outcomes = one.commit([change([row]) for row in NEW])
    assert all(isinstance(outcome, Outcome) for outcome in outcomes)
    assert_same(one.snapshot.classifier, BASE + NEW)
    one.commit([change(NEW[:20], kind="forget"), change(BASE[:10], kind="forget")])
    assert_same(one.snapshot.classifier, BASE[10:] + NEW[20:])
    one.journal.close()
    again = live(own)
    assert again.snapshot.revision == one.snapshot.revision
    assert_same(again.snapshot.classifier, BASE[10:] + NEW[20:])
    assert_same(with_journal(read_source(str(own))).classifier, BASE[10:] + NEW[20:])
    again.close()
    assert_same(likely.load(own), BASE[10:] + NEW[20:])
    assert with_journal(read_source(str(own))).revision == again.snapshot.revision


def test_a_snapshot_never_changes(own: Path) -> None:
    one = live(own)
    before, said = one.snapshot, one.snapshot.classifier.predict_proba(ASKED)
    one.commit([change(NEW)])
    assert one.snapshot is not before
    assert_allclose(before.classifier.predict_proba(ASKED), said, rtol=0)
    one.close()


@pytest.mark.parametrize("model", ["evidence", "aode", "full"])
def test_other_models_that_count(model: str, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    clf = fitted(BASE, model)
    clf.save(path)
    one = live(path)
    before, said = one.snapshot, one.snapshot.classifier.predict_proba(ASKED)
    one.commit([change(NEW[:30]), change(NEW[30:])])
    rows = without_label(NEW)
    clf.partial_fit(rows, [row["day"] for row in NEW])
    assert_allclose(one.snapshot.classifier.predict_proba(ASKED), clf.predict_proba(ASKED), rtol=1e-9, atol=1e-12)
    assert_allclose(before.classifier.predict_proba(ASKED), said, rtol=0)
    one.close()
    assert_allclose(likely.load(path).predict_proba(ASKED), clf.predict_proba(ASKED), rtol=1e-9, atol=1e-12)


def test_a_request_counts_once(own: Path) -> None:
    one = live(own)
    first, twin, other = one.commit([change(NEW[:5], "k"), change(NEW[:5], "k"), change(NEW[5:6], "l")])
    assert isinstance(first, Outcome) and first.rows == 5 and not first.repeated
    assert isinstance(twin, Outcome) and twin.repeated and twin.revision == first.revision
    assert isinstance(other, Outcome)
    clash = one.commit([change(NEW[:4], "k")])[0]
    assert isinstance(clash, HTTPRefusal) and clash.status == 409
    assert one.compact()
    assert one.commit([change(NEW[:5], "k")]) == [Outcome(5, first.revision, repeated=True)]
    one.journal.close()
    again = live(own)
    assert again.commit([change(NEW[:5], "k")]) == [Outcome(5, first.revision, repeated=True)]
    assert_same(again.snapshot.classifier, BASE + NEW[:6])
    again.close()


def test_what_is_wrong_harms_nobody_else(own: Path) -> None:
    one = live(own)
    strange = [{**NEW[0], "day": 1}], [{**NEW[0], "wind": "much"}], [{**NEW[0], "rain": 10**400}]
    outcomes = one.commit([change(NEW[:2]), *(change(rows) for rows in strange), change(NEW[2:4])])
    assert [isinstance(outcome, Outcome) for outcome in outcomes] == [True, False, False, False, True]
    assert [o.status for o in outcomes if isinstance(o, HTTPRefusal)] == [422] * 3
    never = one.commit([change([{**NEW[0], "town": "Rome"}], kind="forget")])[0]
    assert isinstance(never, HTTPRefusal) and never.status == 409
    assert_same(one.snapshot.classifier, BASE + NEW[:4])
    one.journal.close()
    assert_same(live(own).snapshot.classifier, BASE + NEW[:4])


def test_new_classes_and_values_are_learned_up_to_a_limit(own: Path) -> None:
    one = live(own)
    fog = [{**row, "day": "fog", "town": "Rome"} for row in NEW[:5]]
    assert isinstance(one.commit([change(fog)])[0], Outcome)
    assert one.snapshot.labels == ["dry", "fog", "wet"]
    assert_same(one.snapshot.classifier, BASE + fog)
    many = [{**NEW[0], "day": f"c{k}"} for k in range(30)]
    assert isinstance(one.commit([change(many)])[0], HTTPRefusal)
    one.close()


def test_a_model_that_was_replaced_is_not_written_over(own: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = live(own)
    one.commit([change(NEW)])
    fitted(BASE[:50]).save(own)
    assert not one.compact()
    assert "replaced" in caplog.text
    one.journal.close()
    with pytest.raises(JournalError, match="replaced"):
        live(own)
    with pytest.raises(JournalError, match="replaced"):
        with_journal(read_source(str(own)))
    journal_of(own).unlink()
    assert_same(live(own).snapshot.classifier, BASE[:50])


def test_a_model_that_cannot_learn(tmp_path: Path, serve: Serve) -> None:
    path = tmp_path / "tree.likely"
    fitted(BASE, "tree").save(path)
    with pytest.raises(SettingsError, match="cannot learn on"):
        live(path)
    with pytest.raises(SettingsError, match="No model here"):
        serve(path, learn=True)


def test_over_http(own: Path, serve: Serve) -> None:
    client = serve(own, learn=True, compact_rows=25)
    assert client.get("/model").json()["learns"]
    asked = {"rows": NEW[:10]}
    for repeated in (False, True):
        said = client.post("/learn", json=asked, headers={"idempotency-key": "one"}).json()
        assert said["learned"] == 10 and said["repeated"] is repeated
    labels = [row["day"] for row in NEW[10:40]]
    said = client.post("/learn", json={"rows": without_label(NEW[10:40]), "labels": labels}).json()
    assert said["learned"] == 30
    assert client.post("/forget", json={"rows": NEW[:10]}).json()["forgotten"] == 10
    found = client.post("/predict", json={"rows": ASKED}).json()["predictions"]
    wanted = fitted(BASE + NEW[10:40]).predict_proba(ASKED)
    assert_allclose([row["probabilities"]["wet"] for row in found], wanted[:, 1], rtol=1e-9)
    assert 'likely_rows_changed_total{model="weather",kind="learn"} 40' in client.get("/metrics").text


@pytest.mark.parametrize(
    "body",
    [
        {}, {"rows": []}, {"rows": [{"wind": 1, "town": "x", "rain": 1}]}, {"rows": NEW[:2], "labels": ["wet"]},
        {"rows": NEW[:1], "labels": [None]}, {"rows": NEW[:1], "labels": [["wet"]]}, {"rows": NEW[:1], "labels": "w"},
        {"rows": NEW[:1], "labels": [True]}, {"rows": [{**NEW[0], "wind": []}]}, {"rows": [{"day": "wet"}]},
    ],
)  # fmt: skip
def test_requests_that_make_no_sense(body: dict[str, Any], own: Path, serve: Serve) -> None:
    client = serve(own, learn=True)
    for path in ("/learn", "/forget"):
        assert client.post(path, json=body).status_code == 422
    assert client.post("/learn", json={"rows": NEW[:1]}, headers={"idempotency-key": "x" * 201}).status_code == 422
    assert client.get("/model").json()["rows"] == 200


def test_learners_at_once_lose_no_row_and_readers_see_whole_groups(own: Path, serve: Serve) -> None:
    """Each learner adds the same row and label; a reader's answer is that of some whole number of them."""
    client = serve(own, learn=True, compact_rows=40)
    row = {"wind": 5.0, "town": "Ulm", "rain": 2, "day": "wet"}
    wanted, clf = set(), likely.load(own)
    for _ in range(101):
        wanted.add(round(float(clf.predict_proba(ASKED[:1])[0, 0]), 12))
        clf.partial_fit(without_label([row]), ["wet"])

    async def learn(k: int) -> int:
        answer = await client.http.post("/learn", json={"rows": [row]}, headers={"idempotency-key": f"k{k}"})
        assert answer.status_code == 200
        return int(answer.json()["learned"])

    async def read() -> float:
        answer = await client.http.post("/predict", json={"rows": ASKED[:1]})
        return round(float(answer.json()["predictions"][0]["probabilities"]["dry"]), 12)

    async def all_at_once() -> tuple[list[int], list[float]]:
        learning = [asyncio.ensure_future(learn(k)) for k in range(100)]
        reading = [await asyncio.gather(*(read() for _ in range(10))) for _ in range(10)]
        return await asyncio.gather(*learning), [x for some in reading for x in some]

    learned, seen = client.run(all_at_once())
    assert learned == [1] * 100
    assert client.get("/model").json()["rows"] == 300
    assert set(seen) <= wanted
