"""What a page says of files and choices that are refused: kinds and facts in the reader's language, with ways out.

The walk drops every bad file of the corpus, in both languages, and takes every way out that is offered.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely.io.parse import SPELT
from likely.serve.refusals import HTTPRefusal
from likely.studio.jobs import CODES, Job
from likely.studio.workbench import Workbench
from tests.io.corpus import CASES, Case
from tests.studio.browser import until
from tests.studio.serving import studio

WEB = Path(likely.__file__).parent / "studio" / "web"
BAD = [case for case in CASES if case.refusal is not None and not case.options]
GENERAL = {code for _, code in CODES} | {"failed"}
OF_PYTHON = re.compile(r"\w=['\"\[{]|\w= |likely\.")
REFUSED = "[role=alert] .wrong"


def worded() -> set[str]:
    """Kinds of refusals that the page has words for."""
    text = (WEB / "refusals.js").read_text("utf-8")
    table = text[text.index("const WRONG = {") : text.index("};", text.index("const WRONG = {"))]
    return {a or b for a, b in re.findall(r'^  (?:"([\w ]+)"|(\w+)): ', table, re.MULTILINE)} | {"too long"}


def told() -> Iterator[str]:
    """Kinds of refusals that the package tells."""
    for path in Path(likely.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "About":
                first = node.args[0]
                kinds = (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,)
                yield from (kind.value for kind in kinds if isinstance(kind, ast.Constant))
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                yield str(node.value.value)


def test_every_kind_of_refusal_has_words_and_no_words_are_for_nothing() -> None:
    kinds = {str(kind) for kind in told()} - {""} | {f"not {spelt}" for spelt in SPELT.values()}
    assert len(kinds) > 80
    assert kinds - worded() == set()
    assert worded() - kinds - {"too short", "too long"} == set()


@pytest.fixture
def bench() -> Iterator[Workbench]:
    made = Workbench()
    yield made
    made.close()


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_file_is_refused_by_a_kind_of_its_own(bench: Workbench, case: Case) -> None:
    with pytest.raises(HTTPRefusal) as caught:
        bench.take_table(case.file, case.content, 2_000)
        bench.train(Job(), "y" if b",y" in case.content[:200] else "b", "auto", {})
    assert caught.value.status == 422 and caught.value.code in worded()
    if case.line is not None:
        assert caught.value.place == {"line": case.line}


def table(**columns: Any) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    return out.getvalue()


N = 24
Y = np.array(["no", "yes"])[np.arange(N) % 2]
X = np.arange(N) / 3.0
LEARNED: dict[str, tuple[bytes, str, str, dict[str, str], str]] = {
    "a quantity as target": (table(x=X, y=Y), "x", "auto", {}, "quantity"),
    "no label": (table(x=X, y=[None, *Y[1:]]), "y", "auto", {}, "no label"),
    "no labels at all": (table(x=X, y=[None] * N), "y", "tree", {}, "no labels seen"),
    "an infinite label": (table(x=Y, y=np.where(np.arange(N) % 2, 1.0, np.inf)), "y", "auto", {}, "infinite label"),
    "words as numbers": (table(x=Y, y=Y), "y", "naive", {"x": "numeric"}, "no number"),
    "lists as numbers": (table(x=[[1, 2]] * N, y=Y), "y", "naive", {"x": "numeric"}, "no numbers"),
    "lists as categories": (table(x=[[1, 2]] * N, y=Y), "y", "naive", {"x": "nominal"}, "nested"),
    "words as dates": (table(x=Y, y=Y), "y", "auto", {"x": "date"}, "no date"),
    "numbers as dates": (table(x=X, y=Y), "y", "auto", {"x": "date"}, "no dates"),
    "infinite": (table(x=np.where(np.arange(N) % 2, 1.0, np.inf), y=Y), "y", "auto", {}, "infinite"),
    "far too large": (table(x=np.where(np.arange(N) % 3, 1.7e308, -1.7e308), y=Y), "y", "naive", {}, "sum too large"),
    "bytes as a text": (table(x=[b"\xff"] * N, y=Y), "y", "naive", {"x": "text"}, "no text"),
    "nothing to learn from": (table(x=X, y=Y), "y", "svm", {"x": "ignored"}, "no columns left"),
    "no such column": (table(x=X, y=Y), "z", "auto", {}, "no column"),
    "no such kind": (table(x=X, y=Y), "y", "auto", {"x": "strange"}, "kind"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEARNED)
def test_a_choice_that_cannot_be_learned_is_refused_by_a_kind_of_its_own(bench: Workbench, name: str) -> None:
    content, target, model, kinds, code = LEARNED[name]
    bench.take_table("rows.parquet", content, 2_000)
    with pytest.raises(HTTPRefusal) as caught:
        bench.train(Job(), target, model, kinds)
    assert caught.value.code == code and code in worded()


def test_all_kinds_of_models_are_trained(bench: Workbench) -> None:
    bench.take_table("rows.parquet", table(x=X, y=Y), 2_000)
    for model in ("auto", "naive", "evidence", "full", "aode", "tree", "svm"):
        bench.train(Job(), "y", model, {})


def say(tab: Any) -> tuple[str, list[str]]:
    """What is said of the file that was dropped, and the ways out; nothing where it was read."""
    tab.wait_for_selector(f"{REFUSED}, [data-use=target]")
    if tab.locator("[data-use=target]").count():
        return "", []
    return tab.locator(REFUSED).text_content(), tab.locator(".ways button").all_text_contents()


def drop(tab: Any, path: Path) -> tuple[str, list[str]]:
    if tab.locator("[data-use=target]").count():
        tab.reload()
    tab.evaluate("document.querySelector('[role=alert]')?.replaceChildren()")
    tab.set_input_files("input[type=file]", path)
    return say(tab)


def test_bad_files_are_worded_in_both_languages_with_ways_out(browser: Any, tmp_path: Path) -> None:
    said: dict[str, dict[str, str]] = {"en-GB": {}, "de-DE": {}}
    with studio() as address:
        for locale in said:
            with browser.new_context(locale=locale) as context:
                tab = context.new_page()
                tab.goto(f"{address}/studio")
                for case in BAD[::2] if locale == "en-GB" else BAD[::3]:
                    path = tmp_path / case.file
                    path.write_bytes(case.content)
                    text, ways = drop(tab, path)
                    said[locale][case.name] = text
                    assert not OF_PYTHON.search(text), text
                    if locale == "en-GB" and ways:
                        tab.click(".ways button")
                        until(tab, "document.querySelector('[aria-busy]') === null")
                        assert say(tab)[0] != text, "a way out leads on"
    english, german = said["en-GB"], said["de-DE"]
    assert len(english) > 40 and len(german) > 25
    both = [name for name in english if german.get(name)]
    assert len(both) > 10 and all(english[name] != german[name] for name in both)
    assert not any("Dienst sagt" in text for text in german.values())


def test_a_label_that_is_missing_is_left_out_where_a_person_says_so(tab: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "1,a\n2,b\n" * 20 + "3,\n")
    with studio() as address:
        tab.goto(f"{address}/studio")
        tab.set_input_files("input[type=file]", path)
        tab.select_option("[data-use=target]", label="y")
        tab.click("[data-work=train]")
        tab.wait_for_selector("text=Line 42: The target is missing in a row.")
        tab.click(".ways button")
        tab.wait_for_selector("text=Predicts “y”")
        assert tab.evaluate("likely.model.model.rows") == 40


def test_a_cell_far_down_is_mended_where_a_person_says_how(tab: Any, tmp_path: Path) -> None:
    """The table is read again in the way that was chosen, and learned at once; what was chosen before stays."""
    path = tmp_path / "rows.csv"
    path.write_text("y,x\n" + "a,1\nb,2\n" * 60_000 + "a,many\n" + "b,2\n" * 60_000)
    with studio() as address:
        tab.goto(f"{address}/studio")
        tab.set_input_files("input[type=file]", path)
        tab.select_option("[data-use=target]", label="y")
        tab.select_option("[data-use=model]", label="naive")
        tab.click("[data-work=train]")
        tab.wait_for_selector(REFUSED)
        assert "“x”" in tab.locator(REFUSED).text_content() and "“many”" in tab.locator(REFUSED).text_content()
        tab.click(".ways button:has-text('is a gap')")
        tab.wait_for_selector("text=Predicts “y”")
        assert tab.evaluate("likely.model.columns.length") == 1
