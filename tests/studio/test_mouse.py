"""What people do with a mouse: files are dropped, points are dragged, trees are moved and zoomed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely import BayesClassifier, TreeClassifier
from likely.studio.material import Material
from tests.studio.conftest import Open
from tests.studio.serving import studio
from tests.studio.test_routes import table_in
from tests.studio.test_views import labelled


def centre(tab: Any, selector: str) -> tuple[float, float]:
    tab.locator(selector).first.scroll_into_view_if_needed()
    box = tab.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(tab: Any, start: tuple[float, float], way: tuple[float, float]) -> None:
    tab.mouse.move(*start)
    tab.mouse.down()
    tab.mouse.move(start[0] + way[0], start[1] + way[1], steps=8)
    tab.mouse.up()


def carry(tab: Any, path: Path, place: tuple[float, float], *steps: str) -> None:
    """Carry a file over the page, as the desktop does: the browser itself makes the events, and reads the file."""
    session = tab.context.new_cdp_session(tab)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for step in steps:
        session.send("Input.dispatchDragEvent", {"type": step, "x": place[0], "y": place[1], "data": data})


def test_a_table_is_dropped(tab: Any, tmp_path: Path) -> None:
    with studio() as address:
        tab.goto(f"{address}/studio")
        tab.wait_for_selector(".drop")
        path, place = table_in(tmp_path, 60), centre(tab, ".drop")
        carry(tab, path, place, "dragEnter", "dragOver")
        tab.wait_for_selector(".drop.over")
        carry(tab, path, (20.0, 400.0), "dragOver")
        tab.wait_for_selector(".drop:not(.over)")
        carry(tab, path, place, "dragEnter", "dragOver", "drop")
        tab.wait_for_selector("[data-use=target]")
        assert tab.locator("text=60 rows, 7 columns").count() == 1


def test_a_file_beside_the_field_does_not_lead_away(tab: Any, tmp_path: Path) -> None:
    """A browser opens a file that is dropped where nobody takes it, and the page with all that was typed is gone."""
    with studio(Material(classifier=BayesClassifier().fit(labelled(60), "risk"))) as address:
        tab.goto(f"{address}/studio#case")
        tab.wait_for_selector(".verdict")
        carry(tab, table_in(tmp_path, 60), (30.0, 600.0), "dragEnter", "dragOver", "drop")
        tab.wait_for_timeout(300)
        assert tab.url.endswith("/studio#case") and tab.locator(".verdict").count() == 1


def test_points_of_the_nomogram_are_dragged(show: Open) -> None:
    table = labelled(300, 2)
    tab = show(BayesClassifier().fit(table, "risk"), "nomogram", rows=table)
    before = tab.evaluate("Array.from(likely.scorer.posterior(likely.state.row))")
    slider = "[role=slider] >> nth=0"
    said = tab.locator(slider).get_attribute("aria-valuetext")
    for way in ((400.0, 0.0), (-300.0, 4.0)):
        drag(tab, centre(tab, slider), way)
        now = tab.locator(slider).get_attribute("aria-valuetext")
        assert now != said
        said = now
    assert tab.evaluate("Array.from(likely.scorer.posterior(likely.state.row))") != pytest.approx(before, abs=1e-6)
    tab.mouse.move(700, 500)  # let go: moving on changes nothing
    assert tab.locator(slider).get_attribute("aria-valuetext") == said


def test_a_tree_is_moved_zoomed_and_folded(show: Open) -> None:
    table = labelled(400)
    tab = show(TreeClassifier(prune=None).fit(table, "risk"), "tree", rows=table)

    def placed() -> list[float]:
        text = tab.locator(".pan svg > g").get_attribute("transform")
        return [float(part) for part in text.replace("translate(", "").replace(") scale(", " ").rstrip(")").split()]

    box = tab.locator(".pan").bounding_box()
    corner = box["x"] + 12, box["y"] + box["height"] - 12
    x, y, zoom = placed()
    drag(tab, corner, (120.0, -60.0))
    moved = placed()
    assert moved == pytest.approx([x + 120, y - 60, zoom], abs=1.5)
    tab.mouse.move(corner[0] + 50, corner[1] - 90)
    assert placed() == moved
    tab.mouse.wheel(0, -300)
    assert placed()[2] > zoom
    tab.mouse.wheel(0, 300)
    tab.mouse.wheel(0, 300)
    assert placed()[2] < zoom
    tab.click("button:has-text('Back to the root')")
    nodes = tab.locator(".node").count()
    tab.mouse.click(*centre(tab, ".node[aria-expanded=true]"))
    assert tab.locator(".node").count() < nodes
    assert tab.locator(".node[aria-expanded=false]").count() > 0


def test_a_place_of_the_plane_is_taken(show: Open) -> None:
    table = labelled()
    tab = show(BayesClassifier().fit(table, "risk"), "plane", rows=table)
    box = tab.locator("main svg").first.bounding_box()
    tab.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4)
    assert tab.evaluate("likely.state.rowNumber") is None
    tab.mouse.click(box["x"] + 2, box["y"] + 2)  # beside the axes there is no place


def test_the_price_of_no_decision_is_dragged(show: Open) -> None:
    table = labelled(200, 2)
    tab = show(BayesClassifier().fit(table, "risk"), "decisions", rows=table)
    tab.click("input[type=checkbox]")
    before = tab.text_content("output")
    drag(tab, centre(tab, "input[type=range]"), (-120.0, 0.0))
    assert tab.text_content("output") != before
