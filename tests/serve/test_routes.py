"""The plain addresses say what the classifier says, in whatever format rows come."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import likely
from likely.serve.answers import ARROW, CSV
from likely.serve.options import Limits
from tests.serve.conftest import Serve, fitted, weather, without_label

ROWS = without_label(weather(50, seed=1))


@pytest.mark.parametrize("model", ["naive", "evidence", "tree", "svm", "aode"])
def test_predictions_are_those_of_the_classifier(model: str, serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    fitted(weather(120), model).save(path)
    clf = likely.load(path)
    said = serve(path).post("/predict", json={"rows": ROWS}).json()
    classes = [str(label) for label in clf.classes_.tolist()]
    assert [row["prediction"] for row in said["predictions"]] == clf.predict(ROWS).tolist()
    shares = [[row["probabilities"][label] for label in classes] for row in said["predictions"]]
    assert_allclose(shares, clf.predict_proba(ROWS), rtol=1e-12, atol=1e-15)


def test_columns_come_in_any_order_and_further_ones_are_ignored(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    row = ROWS[0]
    turned = {"else": [1, {"deep": []}], **dict(reversed(row.items()))}
    one, other = (client.post("/predict", json={"rows": [r]}).json() for r in (row, turned))
    assert one == other
    assert one["model"] == "weather"


def test_a_column_that_no_row_has_is_named(trained: Path, serve: Serve) -> None:
    answer = serve(trained).post("/predict", json={"rows": [{"wind": 3.0, "twon": "Ulm", "rain": 1}]})
    assert answer.status_code == 422
    assert "'town'" in answer.json()["error"] and "'twon'" in answer.json()["error"]


def test_a_gap_is_null_or_absent_in_some_rows(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    whole = {"wind": 3.0, "town": None, "rain": 1}
    said = client.post("/predict", json={"rows": [whole, {"wind": 3.0, "rain": 1}]}).json()["predictions"]
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", [CSV, ARROW])
def test_batches_as_tables(kind: str, trained: Path, serve: Serve) -> None:
    table = pa.Table.from_pylist(ROWS)
    if kind == ARROW:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        content = sink.getvalue().to_pybytes()
    else:
        lines = [
            "town,rain,wind",
            *(f"{r['town'] or ''},{r['rain']},{'' if r['wind'] is None else r['wind']}" for r in ROWS),
        ]
        content = "\n".join([*lines, ""]).encode()
    answer = serve(trained).post("/predict", content=content, headers={"content-type": kind})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(kind)
    clf = likely.load(trained)
    if kind == ARROW:
        found = pa.ipc.open_stream(answer.content).read_all().to_pylist()
        assert_allclose([row["P(wet)"] for row in found], clf.predict_proba(ROWS)[:, 1], rtol=1e-12)
    else:
        found = [
            dict(zip(("prediction", "P(dry)", "P(wet)"), line.split(","), strict=True))
            for line in answer.text.split()[1:]
        ]
        assert_allclose([float(row["P(wet)"]) for row in found], clf.predict_proba(ROWS)[:, 1], rtol=1e-12)
    assert [row["prediction"] for row in found] == clf.predict(ROWS).tolist()
    assert answer.headers["x-likely-model"] == "weather"


def test_the_format_of_the_answer_can_be_chosen(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    answer = client.post("/predict", json={"rows": ROWS[:3]}, headers={"accept": CSV})
    assert answer.text.splitlines()[0] == "prediction,P(dry),P(wet)"
    answer = client.post(
        "/predict", content="wind,town,rain\n1,Ulm,2\n", headers={"content-type": CSV, "accept": "application/json"}
    )
    assert answer.json()["predictions"][0]["prediction"] in ("wet", "dry")


def test_probabilities_can_be_left_out(trained: Path, serve: Serve) -> None:
    client = serve(trained)
    for answer in (
        client.post("/predict?probabilities=false", json={"rows": ROWS[:2]}),
        client.post("/predict", json={"rows": ROWS[:2], "probabilities": False}),
    ):
        assert [set(row) for row in answer.json()["predictions"]] == [{"prediction"}] * 2


def test_decisions_follow_costs(trained: Path, serve: Serve) -> None:
    clf, client = likely.load(trained), serve(trained)
    loss = {"go": {"wet": 4.0, "dry": 0.0}, "stay": {"wet": 0.0, "dry": 1.0}}
    said = client.post("/decide", json={"rows": ROWS, "loss": loss}).json()["decisions"]
    wanted = clf.decisions(ROWS, likely.Loss(loss))
    assert [row["decision"] for row in said] == wanted["decision"].tolist()
    assert_allclose([row["risk"] for row in said], wanted["risk"])
    refused = client.post("/decide", json={"rows": ROWS, "refuse": 0.05}).json()["decisions"]
    assert {row["reason"] for row in refused} == {"", "ambiguous"}
    assert all((row["decision"] is None) == (row["reason"] == "ambiguous") for row in refused)


@pytest.mark.parametrize(
    "more",
    [
        {"loss": {"go": {"rain": 1}}},
        {"loss": {"go": {"wet": "1"}}},
        {"loss": []},
        {"refuse": "x"},
        {"loss": {"go": {"wet": 1}}},
    ],
)
def test_costs_that_make_no_sense(more: dict[str, Any], trained: Path, serve: Serve) -> None:
    assert serve(trained).post("/decide", json={"rows": ROWS[:1], **more}).status_code == 422


def test_explanations_add_up(trained: Path, serve: Serve) -> None:
    clf = likely.load(trained)
    said = serve(trained).post("/explain", json={"rows": ROWS[:3]}).json()["explanations"]
    joint = clf.predict_joint_log_proba(ROWS[:3])
    for row, one in enumerate(said):
        for place, label in enumerate(("dry", "wet")):
            total = sum(factor["log_likelihood"][label] for factor in one["factors"])
            assert_allclose(one["log_joint"][label], joint[row, place])
            assert_allclose(
                total + likely.load(trained).predict_joint_log_proba([dict.fromkeys(ROWS[0])])[0, place],
                joint[row, place],
            )


@pytest.mark.parametrize("model", ["tree", "evidence"])
def test_every_model_explains_in_its_way(model: str, serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    fitted(weather(120), model).save(path)
    answer = serve(path).post("/explain", json={"rows": ROWS[:2]})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["explanations"]) == 2


def test_what_there_is_to_know_of_models(trained: Path, serve: Serve, tmp_path: Path) -> None:
    other = tmp_path / "b.likely"
    fitted(weather(60, seed=3)).save(other)
    client = serve(trained, f"spam@7={other}", f"spam@8={trained}")
    assert [(m["model"], m["version"]) for m in client.get("/models").json()["models"]] == [
        ("weather", "1"), ("spam", "7"), ("spam", "8"),
    ]  # fmt: skip
    assert client.get("/schema").json()["columns"][1] == {"name": "town", "kind": "nominal", "stored_as": "string"}
    about = client.get("/model?model=spam&version=7").json()
    assert about["rows"] == 60 and about["kind"] == "BayesClassifier" and not about["learns"]
    assert client.get("/model?model=spam").json()["rows"] == 200  # the last version that was named
    assert client.get("/model?model=nobody").status_code == 404
    assert client.get("/model?model=spam&version=9").status_code == 404


def test_limits_of_rows_columns_and_answers(trained: Path, serve: Serve) -> None:
    client = serve(trained, limits=Limits(rows=10, columns=20, cells=24, explained_cells=12))
    assert client.post("/predict", json={"rows": ROWS[:8]}).status_code == 200
    for status, rows in ((413, ROWS[:9]), (413, ROWS[:11]), (413, [{**ROWS[0], **{f"c{k}": 1 for k in range(20)}}])):
        assert client.post("/predict", json={"rows": rows}).status_code == status
    assert client.post("/explain", json={"rows": ROWS[:2]}).status_code == 200
    assert client.post("/explain", json={"rows": ROWS[:3]}).status_code == 413
    assert client.post("/predict", content=b"a,b\n" * 30, headers={"content-type": CSV}).status_code == 413
    wide = ",".join(f"c{k}" for k in range(30))
    assert client.post("/predict", content=f"{wide}\n{wide}\n", headers={"content-type": CSV}).status_code == 413


def test_texts(serve: Serve, tmp_path: Path) -> None:
    texts = {"text": ["win money now", "see you at lunch", "money money", "lunch at noon"], "kind": ["spam", "ham"] * 2}
    path = tmp_path / "sms.likely"
    likely.train(texts, "kind", model="naive", schema={"text": "text"}).save(path)
    client = serve(path)
    said = client.post("/predict", json={"rows": [{"text": "money at lunch"}]}).json()["predictions"][0]
    assert_allclose(said["probabilities"]["spam"], likely.load(path).predict_proba({"text": ["money at lunch"]})[0, 1])
    words = client.post("/explain", json={"rows": [{"text": "money at lunch"}]}).json()["explanations"][0]["words"]
    assert {token["word"] for token in words["text"]} == {"money", "at", "lunch"}


def test_labels_that_are_no_strings(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "n.likely"
    likely.BayesClassifier().fit({"x": [1.5, 2.5, 9.5, 8.5]}, [0, 0, 1, 1]).save(path)
    client = serve(path)
    said = client.post("/predict", json={"rows": [{"x": 9.1}]}).json()["predictions"][0]
    assert said["prediction"] == 1 and set(said["probabilities"]) == {"0", "1"}
    loss = {"0": {"0": 0, "1": 1}, "1": {"0": 1, "1": 0}}
    assert client.post("/decide", json={"rows": [{"x": 9.1}], "loss": loss}).json()["decisions"][0]["decision"] == 1
    arrow = client.post("/predict", content="x\n9.1\n", headers={"content-type": CSV, "accept": ARROW})
    assert pa.ipc.open_stream(io.BytesIO(arrow.content)).read_all()["prediction"].to_pylist() == [1]
