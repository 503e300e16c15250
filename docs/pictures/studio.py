"""Pictures of the studio, as Debian's Chromium draws it: `python docs/pictures/studio.py`.

It needs the extra `dev`. Fonts differ from machine to machine, so no test compares them.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_wine

from likely import BayesClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier, evaluate
from likely.store import Provenance
from likely.studio.document import packed_document
from likely.studio.material import Material
from likely.studio.page import page

HERE = Path(__file__).parent
COLOURS = 256
TILE = 560, 400


def rows_of(loaded: Any, target: str, most: int) -> pa.Table:
    """A table that comes with scikit-learn, with names for its classes."""
    frame = loaded.data.iloc[:, :most].copy()
    frame[target] = [str(loaded.target_names[k]) for k in loaded.target]
    return pa.Table.from_pandas(frame, preserve_index=False)


def written(folder: Path, name: str, classifier: Any, rows: pa.Table, target: str) -> str:
    """The address of a page of a model."""
    clf = classifier.fit(rows, target)
    report = evaluate(clf, rows, target, cv=5)
    origin = Provenance((f"{name}.csv",), "2026-11-18T00:00:00+00:00")
    material = Material(
        classifier=clf, name=f"{name}.likely", origin=origin, rows=rows, report=report, data_name=f"{name}.csv"
    )
    path = folder / f"{name}-{type(clf).__name__}.html"
    path.write_text(page(name, packed_document(material)), "utf-8")
    return path.as_uri()


UNSURE = """() => likely.model.rows.cells.findIndex((cells) => { const p = likely.posterior(
likely.model.rows.columns.map((name, k) => [name, cells[k]])); return Math.max(...p) < 0.97; })"""


def shot(browser: Any, address: str, view: str, leave: str = "", **look: Any) -> Image.Image:
    """A view of the first case that is not too sure, perhaps with a column left open, as a picture."""
    context = browser.new_context(viewport={"width": 1360, "height": 970}, locale="en-GB", **look)
    tab = context.new_page()
    tab.goto(f"{address}#case")
    tab.wait_for_selector("main h1")
    tab.select_option("[data-use=row]", index=max(tab.evaluate(UNSURE), 0))
    if leave:
        tab.click(f"button[aria-label='leave {leave} open']")
    if view != "case":
        tab.click(f"nav a[href='#{view}']")
        tab.wait_for_selector(f"nav a[href='#{view}'][aria-current=page]")
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    context.close()
    return picture


def saved(picture: Image.Image, name: str, colours: int | None = None) -> None:
    """The contact sheet with few colours, for its size."""
    few = picture if colours is None else picture.quantize(colours, Image.Quantize.MEDIANCUT, kmeans=3)
    few.save(HERE / name, optimize=True)


def main() -> None:
    """Draw both pictures."""
    from playwright.sync_api import sync_playwright

    wine = rows_of(load_wine(as_frame=True), "cultivar", 13)
    cells = rows_of(load_breast_cancer(as_frame=True), "diagnosis", 10)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        naive = written(folder, "cells", BayesClassifier(), cells, "diagnosis")
        wines = written(folder, "wine", BayesClassifier(), wine, "cultivar")
        evidence = written(folder, "cells", EvidenceClassifier(), cells, "diagnosis")
        tree = written(folder, "wine", TreeClassifier(), wine, "cultivar")
        machine = written(folder, "cells", SVMClassifier(), cells, "diagnosis")
        saved(shot(browser, naive, "case", "mean texture"), "studio.png")
        dark: dict[str, Any] = {"color_scheme": "dark"}
        tiles = [
            shot(browser, naive, "overview"), shot(browser, naive, "column"), shot(browser, naive, "nomogram", **dark),
            shot(browser, wines, "decisions"), shot(browser, naive, "evaluation"), shot(browser, evidence, "column"),
            shot(browser, tree, "tree"), shot(browser, machine, "plane", **dark), shot(browser, wines, "case", **dark),
        ]  # fmt: skip
        browser.close()
    sheet = Image.new("RGB", (3 * TILE[0], 3 * TILE[1]), "white")
    for place, tile in enumerate(tiles):
        sheet.paste(tile.resize(TILE, Image.Resampling.LANCZOS), ((place % 3) * TILE[0], (place // 3) * TILE[1]))
    saved(sheet, "studio-sheet.png", COLOURS)


if __name__ == "__main__":
    main()
