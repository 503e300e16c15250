"""Every control of the page is used once, and does what it says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier, EvidenceClassifier, Loss, SVMClassifier, TreeClassifier, evaluate
from tests.studio.conftest import Open
from tests.studio.test_rules import people, posts


def labelled(n: int = 300, n_classes: int = 3) -> dict[str, Any]:
    table, y = people(n, n_classes)
    return {**table, "risk": y}


@pytest.fixture
def naive(show: Open) -> Any:
    table = labelled()
    clf = BayesClassifier().fit(table, "risk")
    return show(clf, rows=table, report=evaluate(clf, table, "risk", cv=5), name="people.likely", data_name="p.csv")


def go(tab: Any, view: str) -> None:
    tab.click(f"nav a[href='#{view}']")
    tab.wait_for_selector(f"nav a[href='#{view}'][aria-current=page]")


def posterior(tab: Any) -> list[float]:
    return tab.evaluate("Array.from(likely.scorer.posterior(likely.state.row))")


def test_overview_leads_on(naive: Any) -> None:
    assert naive.text_content("main h1") == "Predicts “risk”"
    naive.click("button:has-text('Look closer')")
    assert naive.text_content("main h1") == "Evaluation"
    go(naive, "overview")
    naive.click(".bars button.name >> nth=0")
    assert naive.evaluate("location.hash").startswith("#column/")


def test_figures_stand_beside_what_guessing_reaches(naive: Any) -> None:
    """The baseline of a report: how common the majority class is, and the entropy of the classes."""
    share = np.unique(labelled()["risk"], return_counts=True)[1] / len(labelled()["risk"])
    said = naive.locator(".measured .fact").all_text_contents()
    assert f"baseline: {100 * share.max():.1f}%" in said[0]
    assert f"baseline: {-(share * np.log(share)).sum():.3f}" in said[1] and "less is better" in said[1]
    assert "baseline: 0.500" in said[2]
    assert naive.locator(".measured .guess").count() == 3


COLOURS = """() => {
  const shown = (node) => getComputedStyle(node).backgroundColor, lines = [...document.querySelectorAll('.whole > li')];
  const chip = (place) => shown([...document.querySelectorAll('.bars .chip')][place]);
  return { classes: [0, 1].map(chip), bars: lines.map((line) => [
    line.querySelector('.value').textContent.startsWith('+'), shown(line.querySelector('.fill'))]) };
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_speaks_for_a_class_has_its_colour(show: Open, theme: str) -> None:
    table = labelled(300, 2)
    tab = show(BayesClassifier().fit(table, "risk"), "case", rows=table)
    tab.emulate_media(color_scheme=theme)
    names = tab.locator("section[aria-live] .bars .name").all_text_contents()
    for place in range(2):
        tab.select_option("[data-use=focus]", index=place)
        found = tab.evaluate(COLOURS)
        own = found["classes"][names.index(f"class {place}")]
        other = found["classes"][names.index(f"class {1 - place}")]
        assert own != other and len(found["bars"]) > 3
        assert {colour for towards, colour in found["bars"] if towards} == {own}
        assert {colour for towards, colour in found["bars"] if not towards} == {other}
    go(tab, "column")
    tab.select_option("[data-use=focus]", index=0)
    bars = tab.locator("section:has([data-use=focus]) .fill, section:has([data-use=focus]) svg path[opacity]")
    assert bars.first.evaluate("(e) => getComputedStyle(e).getPropertyValue('--for').trim()") == tab.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--class-0').trim()"
    )


def test_why_is_asked_of_what_is_said_until_somebody_chooses(show: Open) -> None:
    table = labelled(300, 2)
    clf = BayesClassifier().fit(table, "risk")
    tab = show(clf, "case", rows=table)
    predicted = clf.predict({name: cells for name, cells in table.items() if name != "risk"})
    for row in (0, 1, 2, 3, 4, 5):
        tab.select_option("[data-use=row]", index=row)
        number = tab.evaluate("likely.state.rowNumber")
        assert tab.locator(f"h2:text-is('Why “{predicted[number]}”?')").count() == 1
    tab.select_option("[data-use=focus]", index=1)
    for row in (0, 1, 2, 3, 4, 5):
        tab.select_option("[data-use=row]", index=row)
        assert tab.locator("h2:text-is('Why “class 1”?')").count() == 1


@pytest.mark.parametrize("width", [390, 1000, 1100, 1280, 1440])
def test_names_and_intervals_of_classes_have_room(show: Open, tab: Any, width: int) -> None:
    """Names that differ at their end only, shares beyond all digits, and two ends that are written alike."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    table = {"x": rng.normal(8.0 * y, 0.3), "z": rng.normal(5.0 * y, 0.3)}
    rows = {**table, "kind": np.array(["tested_negative", "tested_positive", "tested_later on"])[y]}
    tab.set_viewport_size({"width": width, "height": 900})
    show(BayesClassifier().fit(rows, "kind"), "case", rows=rows)
    cut = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1 || each.offsetHeight > 30).length"
    assert tab.locator(".stacked .name").evaluate_all(cut) == 0
    shares = tab.locator(".stacked .value").all_text_contents()
    assert "100.0%" not in " ".join(shares) and all("– " not in share for share in shares[1:])
    assert shares[0].startswith("> 99.999%")
    go(tab, "nomogram")
    ticks = tab.evaluate(
        "[...document.querySelectorAll('main svg text')].map((e) => e.textContent).filter((text) => text.endsWith('%'))"
    )
    assert len(ticks) == len(set(ticks)) and "50%" in ticks


def test_classes_of_like_names_are_told_apart_and_many_are_counted(show: Open) -> None:
    rng = np.random.default_rng(0)
    y = np.concatenate([np.full(60, 3), np.arange(20).repeat(12)])
    kinds = np.array([f"building windows, kind {k}" for k in range(20)])[y]
    table = {"x": rng.normal(y, 1.0), "kind": kinds}
    clf = BayesClassifier().fit(table, "kind")
    tab = show(clf, "evaluation", rows=table, report=evaluate(clf, table, "kind", cv=3))
    heads = tab.locator(".confusion thead th").all_text_contents()
    assert len(heads) == len(set(heads)) == 15 and "building windows, kind 3" in heads
    assert "The 15 most common of 20 classes." in tab.text_content("main")
    assert tab.text_content("main").count("The 12 most common of 20 classes.") == 2  # curves


def test_columns_one_after_the_other(naive: Any) -> None:
    go(naive, "column")
    seen = {naive.text_content("main h1")}
    for _ in range(5):
        naive.click("button[aria-label='Next column']")
        seen.add(naive.text_content("main h1"))
    assert len(seen) == 6 and naive.is_disabled("button[aria-label='Next column']")
    naive.click("button[aria-label='Previous column']")
    naive.select_option("[data-use=column]", index=0)
    first = naive.text_content("main section:last-of-type")
    naive.select_option("[data-use=focus]", index=2)
    assert naive.text_content("main section:last-of-type") != first


def test_a_case_is_redrawn_while_typing(naive: Any) -> None:
    go(naive, "case")
    naive.select_option("[data-use=row]", index=7)
    assert naive.evaluate("likely.state.rowNumber") == naive.evaluate("likely.model.rows.numbers[7]")
    before = posterior(naive)
    field = naive.get_by_label(re.compile("^age"))
    field.fill("71,5")
    assert naive.evaluate("likely.state.row.get('age')") == 71.5 and posterior(naive) != before
    field.fill("many")
    assert field.get_attribute("aria-invalid") == "true" and naive.locator("text=This is not a number.").is_visible()
    field.fill("30")
    naive.click("button[aria-label='leave age open']")
    assert naive.evaluate("likely.state.row.get('age')") is None and field.input_value() == ""
    naive.get_by_label(re.compile("^town")).select_option(label="Bonn")
    assert naive.evaluate("likely.state.row.get('town')") == "Bonn"
    naive.get_by_label(re.compile("^member")).select_option(label="true")
    assert naive.evaluate("likely.state.row.get('member')") is True
    naive.select_option(".case-side [data-use=focus]", index=1)
    assert naive.evaluate("likely.state.focus") == 1


def test_a_row_is_pasted(naive: Any) -> None:
    go(naive, "case")
    paste = naive.get_by_label("Paste")
    paste.fill('{"age": 44, "town": "Ulm", "unknown": 1}')
    paste.press("Enter")
    assert naive.evaluate("[likely.state.row.get('age'), likely.state.row.get('town')]") == [44, "Ulm"]
    names = naive.evaluate("likely.state.features.map((c) => c.name)")
    cells = {"age": "50", "height in m": "1.8", "visits": "3", "town": "Bonn", "member": "false", "code": "2"}
    paste = naive.get_by_label("Paste")
    paste.fill("\t".join(cells[name] for name in names))
    paste.press("Enter")
    assert naive.evaluate("[likely.state.row.get('age'), likely.state.row.get('member')]") == [50, False]
    naive.get_by_label("Paste").evaluate(
        """(field) => { const data = new DataTransfer(); data.setData("text", "town\\tage\\r\\nUlm\\t61.5\\r\\n");
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true })); }"""
    )  # as a spreadsheet copies it: a head and a row
    assert naive.evaluate("[likely.state.row.get('town'), likely.state.row.get('age')]") == ["Ulm", 61.5]
    paste = naive.get_by_label("Paste")
    paste.fill("1;2")
    paste.press("Enter")
    assert naive.locator("text=The row has 2 cells").is_visible()
    naive.click("button:has-text('Leave all open')")
    assert naive.evaluate("[...likely.state.row.values()].every((cell) => cell === null)")


def test_a_change_that_flips_the_decision_is_tried(naive: Any) -> None:
    go(naive, "case")
    naive.select_option("[data-use=row]", index=3)
    before = naive.text_content(".verdict b")
    naive.click("button:has-text('Try') >> nth=0")
    assert naive.text_content(".verdict b") != before


def test_points_are_dragged_and_moved_by_keys(naive: Any) -> None:
    go(naive, "nomogram")
    naive.select_option("[data-use=rival]", index=1)
    slider = naive.locator("[role=slider]").first
    name = slider.get_attribute("aria-label")
    slider.focus()
    slider.press("Home")
    low = naive.evaluate(f"likely.state.row.get({name!r})")
    naive.locator("[role=slider]").first.press("ArrowRight")
    naive.locator("[role=slider]").first.press("PageUp")
    assert naive.evaluate(f"likely.state.row.get({name!r})") != low
    naive.locator("[role=slider]").first.press("Delete")
    assert naive.evaluate(f"likely.state.row.get({name!r})") is None
    box = naive.locator("[role=slider]").first.bounding_box()
    naive.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    naive.mouse.down()
    naive.mouse.move(box["x"] + 150, box["y"] + 5, steps=4)
    naive.mouse.up()
    assert naive.evaluate(f"likely.state.row.get({name!r})") is not None
    naive.select_option("[data-use=focus]", index=1)
    assert naive.evaluate("likely.state.focus") == 1


def test_costs_move_decisions_as_the_package_has_them(naive: Any) -> None:
    table = labelled()
    go(naive, "decisions")
    truth = naive.locator(".matrix tbody tr").nth(1)  # truths down, as in the confusion beneath
    assert truth.locator("th").text_content() == "class 1" and truth.locator("[data-cost='0-1']").count() == 1
    naive.fill("[data-cost='0-1']", "5")
    naive.fill("[data-cost='1-0']", "0.5")
    naive.check("input[type=checkbox]")
    naive.evaluate("() => { const s = document.querySelector('input[type=range]'); s.value = 100;"
                   "s.dispatchEvent(new Event('input')); }")  # fmt: skip
    price = naive.evaluate("likely.state.refuse")
    labels = [f"class {k}" for k in range(3)]
    costs = {d: {t: 0.0 if d == t else 1.0 for t in labels} for d in labels}
    costs[labels[0]][labels[1]], costs[labels[1]][labels[0]] = 5.0, 0.5
    report = evaluate(BayesClassifier(), table, "risk", cv=5, loss=Loss(costs, refuse=price))
    shown = float(naive.text_content(".fact b >> nth=0"))
    assert shown == pytest.approx(report.expected_cost, abs=2e-3)
    naive.fill("[data-cost='0-1']", "-1")
    assert naive.get_attribute("[data-cost='0-1']", "aria-invalid") == "true"
    assert naive.evaluate("likely.state.costs[0][1]") == 5


def test_regions_of_two_classes(show: Open) -> None:
    table = labelled(200, 2)
    tab = show(BayesClassifier().fit(table, "risk"), "decisions", rows=table)
    tab.fill("[data-cost='0-1']", "3")
    assert tab.locator("text=25.0%").count() == 1  # a class is chosen from a quarter on if missing it costs thrice
    assert tab.locator("text=likely studio MODEL --data").count() == 1


def test_evaluation_shows_the_figures(naive: Any) -> None:
    go(naive, "evaluation")
    assert naive.locator("svg[role=img]").count() == 3
    accuracy = naive.evaluate("likely.model.evaluation.figures.find((f) => f.name === 'accuracy').value")
    shown = naive.locator("tr:has-text('Accuracy') td").first.text_content()
    assert float(shown) == pytest.approx(accuracy, abs=5e-4)


def test_language_look_and_print(naive: Any) -> None:
    naive.click("#language")
    assert naive.text_content("nav a >> nth=0") == "Überblick" and naive.get_attribute("html", "lang") == "de"
    go(naive, "case")
    assert naive.text_content("main h1") == "Ein Fall"
    naive.click("#language")
    dark = naive.evaluate("getComputedStyle(document.body).backgroundColor")
    naive.click("#theme")
    assert naive.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    naive.evaluate("window.print = () => { window.printed = true; }")
    naive.click("#print")
    assert naive.evaluate("window.printed")
    naive.keyboard.press("Tab")
    naive.focus(".skip")
    naive.keyboard.press("Enter")
    assert naive.evaluate("document.activeElement.id") == "main"


def test_a_tree_folds_and_zooms(show: Open) -> None:
    table = labelled()
    tab = show(TreeClassifier().fit(table, "risk"), "tree", rows=table)
    shown = tab.locator(".node").count()
    tab.click("button:has-text('Unfold all')")
    assert tab.locator(".node").count() == tab.evaluate("likely.model.scorer.column.length") > shown
    tab.click("button:has-text('Fold') >> nth=0")
    tab.locator(".node[role=button]").first.press("Enter")
    assert tab.locator(".node").count() == 1
    tab.locator(".node[role=button]").first.click()
    where = tab.get_attribute(".pan g", "transform")
    tab.click("button[aria-label='Zoom in']")
    tab.click("button[aria-label='Zoom out']")
    tab.focus(".pan")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("+")
    assert tab.get_attribute(".pan g", "transform") != where
    tab.click("button:has-text('Back to the root')")
    tab.click("button:has-text('Change the case')")
    assert tab.locator("text=These do not add up.").is_visible()


def test_a_plane_takes_values(show: Open) -> None:
    table = labelled(200, 2)
    clf = SVMClassifier().fit({k: v for k, v in table.items() if k in ("age", "height in m", "visits", "risk")}, "risk")
    tab = show(clf, "plane", rows=table)
    tab.select_option("[data-use=across]", label="visits")
    tab.select_option("[data-use=up]", label="age")
    box = tab.locator("main svg").bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.3)
    assert tab.evaluate("likely.state.rowNumber") is None
    assert tab.locator("path[stroke-dasharray='5 4']").count() == 2  # both ends of the margin


def test_a_heat_map_leads_to_a_case(show: Open) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 900), rng.normal(0, 1, 900)
    clf = EvidenceClassifier().fit({"a": a.astype(str), "b": b}, np.where((a == 1) ^ (b > 0.3), "yes", "no"))
    tab = show(clf, "column/0")
    chosen = tab.locator(".heat button").nth(1)
    level = chosen.get_attribute("aria-label").partition(",")[0]
    chosen.click()
    assert tab.text_content("main h1") == "A case" and tab.evaluate("likely.state.row.get('a')") == level


def test_words_are_coloured_by_what_they_say(show: Open) -> None:
    table, y = posts(400)
    tab = show(BayesClassifier(schema={"body": "text"}).fit(table, y), "case")
    tab.get_by_label(re.compile("^body")).fill("Free MONEY, and nothing else; WIN")
    marked = tab.locator(".words mark")
    assert [marked.nth(k).text_content() for k in range(marked.count())] == ["Free", "MONEY", "WIN"]
    assert [marked.nth(k).get_attribute("class") for k in range(3)] == ["against", "against", "for"]
    tab.goto(tab.url.split("#")[0] + "#column/0")
    assert tab.locator("text=Words that tell most").is_visible()


def test_many_columns_are_found_by_name(show: Open) -> None:
    rng = np.random.default_rng(0)
    table = {f"column {k}": rng.normal(size=60) for k in range(200)}
    tab = show(BayesClassifier().fit(table, rng.choice(["a", "b"], 60).tolist()), "case")
    assert tab.locator(".field").count() == 60
    tab.click("button:has-text('Show more of 200 columns')")
    assert tab.locator(".field").count() == 200
    find = tab.get_by_label("Find a column")
    find.fill("column 17")
    find.press("Enter")
    assert tab.locator(".field").count() == 11
    find = tab.get_by_label("Find a column")
    find.fill("nothing")
    find.press("Enter")
    assert tab.locator("text=No column name contains this.").is_visible()
