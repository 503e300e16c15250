"""The served studio in a browser: from a table to a model, and what only the service can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely
from likely import BayesClassifier, evaluate
from likely.studio.material import Material
from likely.text.tokenizer import Tokenizer
from tests.studio.browser import until
from tests.studio.serving import studio
from tests.studio.test_rules import people

SLOW = 300_000


def table_in(folder: Path, n: int = 240) -> Path:
    table, y = people(n, 2)
    path = folder / "Kunden.csv"
    pd.DataFrame({**table, "risk": y}).to_csv(path, index=False, sep=";")
    return path


def test_from_a_table_to_a_model(tab: Any, tmp_path: Path) -> None:
    with studio() as address:
        tab.goto(address)
        tab.wait_for_selector("text=Drop a table here")
        tab.set_input_files("input[type=file]", table_in(tmp_path))
        tab.wait_for_selector("[data-use=target]")
        assert tab.locator("text=240 rows, 7 columns").count() == 1
        assert tab.evaluate("document.querySelector('[data-use=target]').selectedOptions[0].textContent") == "risk"
        tab.select_option("[data-use=target]", label="town")
        tab.select_option("[data-use=target]", label="risk")
        tab.select_option("[data-kind=code]", label="nominal")
        tab.select_option("[data-use=model]", label="naive")
        tab.click("[data-work=train]")
        tab.wait_for_selector("text=Predicts “risk”", timeout=SLOW)
        assert tab.locator("text=Accuracy").count() == 1
        assert tab.evaluate("likely.state.byName.get('code').kind") == "nominal"
        with tab.expect_download() as got:
            tab.click("#download")
        assert got.value.suggested_filename == "Kunden.likely"
        got.value.save_as(tmp_path / "got.likely")
        tab.click("nav a[href='#start']")
        tab.wait_for_selector("text=Drop a table here")
    clf = likely.load(tmp_path / "got.likely")
    assert isinstance(clf, BayesClassifier) and clf.summary_.n_rows == 240 and clf.schema_.target == "risk"


def test_another_table_and_refusals_in_one_sentence(tab: Any, tmp_path: Path) -> None:
    with studio() as address:
        tab.goto(address)
        (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04 no table")
        tab.on("console", lambda _: None)
        answer = tab.request.post(f"{address}/studio/table?name=book.xlsx", data=b"PK\x03\x04 no table")
        told = answer.json()["error"]
        assert answer.status == 422 and told.startswith("book.xlsx ") and "dropped" not in told
        assert tab.request.post(f"{address}/studio/table", data=b"").status == 422
        tab.set_input_files("input[type=file]", table_in(tmp_path, 40))
        tab.wait_for_selector("[data-use=target]")
        tab.click("button:has-text('Another table')")
        assert tab.locator("text=Drop a table here").count() == 1
        begun = tab.request.post(f"{address}/studio/train", data={"target": "nothing", "model": "auto", "kinds": {}})
        name = begun.json()["job"]
        for _ in range(200):
            told = tab.request.get(f"{address}/studio/jobs/{name}").json()
            if told["state"] in ("done", "failed"):
                break
            tab.wait_for_timeout(50)
        assert told["state"] == "failed" and "nothing" in told["error"]
        for body in ({"target": 1}, {"target": "a", "kinds": {"a": 2}}, {"wrong": 1}):
            assert tab.request.post(f"{address}/studio/train", data=body).status == 422
        assert tab.request.get(f"{address}/studio/jobs/none").status == 404
        assert tab.request.get(f"{address}/studio/model").status == 404


def test_refusals_are_worded_in_the_language_of_the_reader(browser: Any, tmp_path: Path) -> None:
    told = {
        "empty.csv": (b"", "Die Datei ist leer."), "head.csv": (b"a,b\n", "Die Tabelle hat keine Zeilen."),
        "book.xlsx": (b"PK\x03\x04 no table", "Die Datei ist ein ZIP-Archiv."),
    }  # fmt: skip
    says = "(told) => document.querySelector('[role=alert]').textContent.includes(told)"
    with studio() as address, browser.new_context(locale="de-DE") as context:
        page = context.new_page()
        page.goto(f"{address}/studio")
        for name, (content, sentence) in told.items():
            (tmp_path / name).write_bytes(content)
            page.set_input_files("input[type=file]", tmp_path / name)
            until(page, says, sentence)
        page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('gone')); }")
        page.set_input_files("input[type=file]", table_in(tmp_path, 40))
        until(page, says, "Läuft er noch?")


def test_training_is_watched_and_stopped(tab: Any, tmp_path: Path) -> None:
    """What is done is told in words and as a share, in the language that is chosen meanwhile; then it is stopped."""
    rng = np.random.default_rng(1)
    rows = {f"x{k}": rng.normal(size=6_000).round(4) for k in range(14)}
    frame = pd.DataFrame({**rows, "y": (rows["x0"] * rows["x1"] + rows["x2"] > 0).astype(str)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with studio() as address:
        tab.goto(address)
        tab.set_input_files("input[type=file]", tmp_path / "rows.csv")
        tab.wait_for_selector("[data-use=target]")
        tab.click("[data-work=train]")
        tab.wait_for_selector("text=/^Step [1-6] of 6: .+ · \\d+%$/", timeout=SLOW)
        tab.click("#language")
        tab.wait_for_selector("text=/^(Schritt [1-6] von 6: .+|Bewertet.*) · \\d+\\s%$/", timeout=SLOW)
        assert tab.locator("progress").count() == 1 and tab.locator("[data-work=train]").count() == 0
        tab.click("[data-stop]")
        tab.wait_for_selector("text=Angehalten", timeout=SLOW)
        assert tab.request.get(f"{address}/studio/model").status == 404
        tab.select_option("[data-use=model]", index=1)
        tab.click("[data-work=train]")
        tab.wait_for_selector("text=Sagt „y“ voraus", timeout=SLOW)


def test_pages_from_elsewhere_may_not_ask(tab: Any) -> None:
    with studio() as address:
        strange = {"origin": "http://evil.example"}
        assert tab.request.post(f"{address}/studio/train", data={"target": "a"}, headers=strange).status == 403
        assert tab.request.get(f"{address}/studio", headers={"host": "evil.example"}).status == 421
        policy = tab.request.get(f"{address}/studio").headers["content-security-policy"]
        assert "script-src 'sha256-" in policy and "unsafe" not in policy


def test_a_model_that_only_python_scores(tab: Any) -> None:
    table, y = people(120, 2)
    rows = pa.table({**table, "words": ["very good", "very bad"] * 60, "risk": y})
    letters = Tokenizer(analyzer="char", ngram_range=(2, 3))
    clf = BayesClassifier(schema={"words": "text"}, text=letters).fit(rows, "risk")
    wanted = clf.predict_proba(rows.slice(0, 1))[0]
    with studio(Material(classifier=clf, rows=rows, name="c.likely"), rows) as address:
        tab.goto(f"{address}/studio#case")
        tab.wait_for_selector(".verdict b")
        assert tab.locator("nav a[href='#nomogram']").count() == 0
        shown = tab.locator(".value").first.text_content()
        assert shown.startswith(f"{wanted.max():.1%}"[:4])
        tab.get_by_label("leave age open").click()
        answer = tab.request.post(f"{address}/studio/score", data={"cells": "all"})
        assert answer.status == 422


def test_comparison_and_learning_curve(tab: Any) -> None:
    table, y = people(150, 2)
    rows = pa.table({"age": np.asarray(table["age"]), "visits": np.asarray(table["visits"]), "risk": y})
    clf = BayesClassifier().fit(rows, "risk")
    report = evaluate(clf, rows, "risk", cv=3)
    with studio(Material(classifier=clf, rows=rows, report=report), rows) as address:
        tab.goto(f"{address}/studio#evaluation")
        tab.click("[data-work=curve]")
        tab.wait_for_selector("svg[aria-label='Learning curve']", timeout=SLOW)
        assert tab.evaluate("likely.model.learning_curve.length") >= 4
        tab.click("nav a[href='#comparison']")
        tab.click("[data-work=compare]")
        tab.wait_for_selector("text=Leaderboard", timeout=SLOW)
        assert tab.locator("tbody tr").count() >= 4


def test_a_network_looks_at_what_is_drawn(tab: Any) -> None:
    pytest.importorskip("jax")
    from likely import ConvNetClassifier

    rng = np.random.default_rng(0)
    images = {f"p{k}": rng.integers(0, 17, 40).astype(float) for k in range(64)}
    rows = pa.table({**images, "letter": ["a", "b"] * 20})
    clf = ConvNetClassifier(epochs=1).fit(rows, "letter")
    with studio(Material(classifier=clf, rows=rows, name="net.likely"), rows) as address:
        tab.goto(f"{address}/studio#letters")
        tab.click("button[aria-label='b'] >> nth=0")
        tab.wait_for_selector("[role=status] .bars")
        wanted = clf.predict_proba(rows.slice(1, 1))[0].max()
        assert tab.locator(".value").first.text_content() == f"{wanted:.1%}"
        tab.click("button:has-text('Clear')")
        box = tab.locator(".pad").bounding_box()
        tab.mouse.move(box["x"] + 60, box["y"] + 60)
        tab.mouse.down()
        tab.mouse.move(box["x"] + 160, box["y"] + 160, steps=4)
        tab.mouse.up()
        middle = "document.querySelector('.pad').getContext('2d').getImageData(3, 3, 1, 1).data[0]"
        assert tab.evaluate(middle) < 128
