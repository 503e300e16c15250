"""German: one dictionary that holds all that the page says, and no view that says anything past it.

The walk replaces the German of every sentence by one in brackets, and takes data whose names are all marked: letters
that stand in neither are a sentence that nobody translates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely import BayesClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier, compare, evaluate
from likely.comparison.candidates import MAJORITY
from likely.families import FAMILIES
from likely.models.evidence.fit import STEPS
from likely.models.registry import entries
from likely.studio import page
from likely.studio.jobs import CODES
from likely.table.dates import PARTS, WEEKDAYS
from likely.table.infer import IGNORED, KINDS
from tests.studio.browser import until
from tests.studio.conftest import Open
from tests.studio.serving import studio

WEB = Path(page.__file__).parent / "web"
STRING = r'"((?:[^"\\]|\\.)*)"'
MARK = "§"


def dictionary() -> str:
    return "".join(path.read_text("utf-8") for path in WEB.glob("german*.js"))


def german() -> dict[str, str]:
    return dict(re.findall(rf"^  {STRING}: {STRING},$", dictionary(), re.MULTILINE))


def sources() -> str:
    return "".join(path.read_text("utf-8") for path in WEB.glob("*.js") if not path.name.startswith("german"))


def test_every_sentence_is_there_in_german() -> None:
    known = german()
    said = set(re.findall(rf"\bt\({STRING}", sources()))
    said |= set(re.findall(r'label: "([^"]+)", show', sources()))
    assert len(said) > 200 and said - set(known) == set()
    for english, other in known.items():
        assert sorted(re.findall(r"\{\d\}", english)) == sorted(re.findall(r"\{\d\}", other)), english


def test_words_of_the_package_are_there_in_german() -> None:
    """What the page is told by name: kinds of columns and models, families, parts of dates, reasons."""
    wanted = {
        *KINDS,
        *FAMILIES,
        *PARTS,
        *WEEKDAYS,
        *IGNORED.values(),
        *STEPS,
        *(entry.title for entry in (*entries(), MAJORITY)),
    }
    assert wanted - set(german()) == set()


def test_every_general_refusal_has_words() -> None:
    known = re.search(r"const ABOUT = \{(.*?)\};", sources(), re.DOTALL)
    assert known is not None and {code for _, code in CODES} <= set(re.findall(r"(\w+): \(\) => t\(", known[1]))


def test_no_sentence_is_there_twice_or_for_nothing() -> None:
    keys = re.findall(rf"^  {STRING}: ", dictionary(), re.MULTILINE)
    assert len(keys) == len(set(keys))
    package = Path(page.__file__).parents[1]
    said = sources() + "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    assert [key for key in keys if key.strip(" :;,") not in said] == []


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A page whose German stands in brackets."""
    read = page._web

    def bracketed(name: str) -> str:
        text = read(name)
        if not name.startswith("german"):
            return text
        return re.sub(rf"^(  {STRING}: )\"((?:[^\"\\]|\\.)*)\",$", r'\1"⟦\3⟧",', text, flags=re.MULTILINE)

    monkeypatch.setattr(page, "_web", bracketed)
    page.bundled.cache_clear()
    yield
    page.bundled.cache_clear()


SAID = """() => {
  const NAMES = ['aria-label', 'title', 'placeholder', 'aria-valuetext', 'alt'];
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walk.currentNode; node; node = walk.nextNode()) {
    if (node.nodeType === 1) found.push(...NAMES.map((name) => node.getAttribute(name) || ''));
    else if (!node.parentElement.closest('script, style, noscript, code, .mark, dd')) found.push(node.data);
  }
  return [...found, document.title.replace('likely', '')];
}"""

NOT_TRANSLATED = re.compile(
    r"likely|\b(?:True|False)\b|\S*…\S*|\bzz\w*|\bx1\b|\bnone\b|English|Deutsch|JSON|\bCSV\b|\bUTF\b|\bF\b|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
)


def leftovers(tab: Any) -> list[str]:
    """What the page says in letters that stand in no bracket, and are no name of the data."""
    left = []
    for text in tab.evaluate(SAID):
        bare, before = text, ""
        while bare != before:
            bare, before = re.sub(r"⟦[^⟦⟧]*⟧", " ", bare), bare
        bare = NOT_TRANSLATED.sub(" ", re.sub(rf"\S*{MARK}\S*", " ", bare))
        if re.search(r"[^\W\d_]", bare):
            left.append(text[:200])
    return left


def speak_german(tab: Any) -> None:
    tab.click("#language")
    until(tab, "document.documentElement.lang === 'de'")


def assert_all_views_are_translated(tab: Any, least: int) -> None:
    speak_german(tab)
    views = tab.evaluate("[...document.querySelectorAll('nav a')].map((each) => each.hash.slice(1))")
    assert len(views) >= least
    for view in views:
        tab.evaluate("(view) => { location.hash = view; }", view)
        until(tab, "(view) => likely.state.view === view", view)
        assert leftovers(tab) == [], view
        if view == "column":
            for place in range(tab.evaluate("likely.model.columns.length")):
                tab.evaluate("(place) => { location.hash = `column/${place}`; }", place)
                until(tab, "(place) => likely.state.column === place", place)
                assert leftovers(tab) == [], place


def table(n: int = 260) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    size = np.where(rng.random(n) < 0.1, np.nan, y + rng.normal(size=n))
    words = np.array(["zza zzb", "zzc zzd", "zze zzf"])
    return {
        f"{MARK}size": size,
        f"{MARK}wide": rng.normal(size=n) + (y == 1),
        f"{MARK}count": rng.poisson(2 + y),
        f"{MARK}town": [f"{MARK}t{(k + rng.integers(0, 2)) % 4}" for k in y],
        f"{MARK}flag": (y > 0) ^ (rng.random(n) < 0.2),
        f"{MARK}when": pd.date_range("2025-01-01", periods=n, freq="31h"),
        f"{MARK}text": [f"{words[k]} zz{i} zzv{i % 50} zzu{i % 70}" for i, k in enumerate(y)],
        f"{MARK}one": [f"{MARK}x"] * n,
        f"{MARK}id": [f"{MARK}i{k}" for k in range(n)],
        f"{MARK}class": [f"{MARK}k{k}" for k in y],
    }


@pytest.mark.parametrize("kind", [BayesClassifier, EvidenceClassifier, TreeClassifier, SVMClassifier])
def test_no_view_says_anything_untranslated(marked: None, show: Open, tmp_path: Path, kind: Any) -> None:
    rows, target = table(), f"{MARK}class"
    if kind is SVMClassifier:
        rows = {name: rows[name] for name in (f"{MARK}wide", f"{MARK}count", target)}
    frame = pd.DataFrame(rows)
    fitted = kind(text_tokens=20) if kind is TreeClassifier else kind()
    fitted.fit(frame, target).save(tmp_path / "m.likely")
    clf = likely.load(tmp_path / "m.likely")  # as it is usually shown: reasons have been written and read
    found = compare(["naive", "tree"], frame, target, cv=3) if kind is BayesClassifier else None
    tab = show(
        clf, name=f"{MARK}m", rows=frame, report=evaluate(clf, frame, target, cv=3), data_name=f"{MARK}d",
        comparison=found,
        curve=({"rows": 10, "log_loss": 1.0}, {"rows": 20, "log_loss": 0.5}) if found else (),
    )  # fmt: skip
    assert_all_views_are_translated(tab, 7)


def test_empty_states_are_translated(marked: None, show: Open) -> None:
    frame = pd.DataFrame(table())[[f"{MARK}town", f"{MARK}class"]]
    assert_all_views_are_translated(show(BayesClassifier().fit(frame, f"{MARK}class"), name=f"{MARK}m"), 6)


def test_from_a_table_to_a_model_in_german(marked: None, tab: Any, tmp_path: Path) -> None:
    """Notes about the file, reasons and refusals, too."""
    frame = pd.DataFrame(table()).rename(columns={f"{MARK}wide": ""})
    frame[f"{MARK}code"] = [f"{k:03d}" for k in range(len(frame))]
    frame[f"{MARK}mostly"] = ["?" if k == 9 else str(k) for k in range(len(frame))]
    frame[f"{MARK}none"] = ["none" if k % 2 else f"{MARK}yes" for k in range(len(frame))]
    path, broken = tmp_path / f"{MARK}table.csv", tmp_path / f"{MARK}broken.csv"
    path.write_bytes(frame.to_csv(index=False, sep=";").replace(f"{MARK}t1", f"{MARK}ü").encode("cp1252"))
    broken.write_bytes(b"")
    with studio() as address:
        tab.goto(address)
        until(tab, "document.querySelector('input[type=file]') !== null")
        speak_german(tab)
        assert leftovers(tab) == []
        tab.set_input_files("input[type=file]", path)
        tab.wait_for_selector("[data-use=target]")
        assert tab.locator(".odd li").count() >= 4
        assert leftovers(tab) == []
        tab.select_option("[data-use=target]", label=f"{MARK}class")
        tab.select_option("[data-use=model]", index=1)
        tab.click("[data-work=train]")
        tab.wait_for_selector("#download")
        tab.click("#language")  # German was remembered
        assert_all_views_are_translated(tab, 8)
