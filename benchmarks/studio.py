"""The studio's budget: bytes of a page, first paint, and how long a keystroke takes, in Debian's Chromium.

`python -m benchmarks.studio` prints one line for each model; nothing is compared, because nobody else has such a page.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier, TreeClassifier, evaluate
from likely.studio.document import packed_document
from likely.studio.material import Material
from likely.studio.page import page

TYPE = """() => { const box = document.querySelector('.field input'), times = [];
for (let k = 0; k < 40; k++) { box.value = String(k / 10); const begin = performance.now();
box.dispatchEvent(new Event('input')); times.push(performance.now() - begin); } return times; }"""
COST = """() => { const box = document.querySelector('[data-cost]'), times = [];
for (let k = 1; k < 40; k++) { box.value = String(k / 10); const begin = performance.now();
box.dispatchEvent(new Event('input')); times.push(performance.now() - begin); } return times; }"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def table(n_rows: int, n_columns: int) -> dict[str, Any]:
    """Numbers and categories, half of each, and two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    numbers = {f"number {k}": rng.normal(0.1 * k * y / n_columns, 1.0) for k in range(n_columns // 2)}
    levels = {
        f"level {k}": rng.choice(["a", "b", "c", "d"], n_rows).tolist() for k in range(n_columns - n_columns // 2)
    }
    return {**numbers, **levels, "class": np.where(y, "yes", "no").tolist()}


MODELS: dict[str, tuple[Callable[[], Any], int]] = {
    "naive Bayes, 20 columns": (BayesClassifier, 20),
    "naive Bayes, 200 columns": (BayesClassifier, 200),
    "full Bayes, 40 columns": (FullBayesClassifier, 40),
    "AODE, 12 columns": (AODEClassifier, 12),
    "evidence, 20 columns": (EvidenceClassifier, 20),
    "evidence, 200 columns": (EvidenceClassifier, 200),
    "tree, 20 columns": (TreeClassifier, 20),
}


def main() -> None:
    """Print a line for each model."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        print(f"{'model':<28}{'page kB':>9}{'made s':>8}{'paint ms':>10}{'key ms':>8}{'cost ms':>9}   (medians)")
        for name, (kind, n_columns) in MODELS.items():
            rows = table(1_000, n_columns)
            clf = kind().fit(rows, "class")
            report = evaluate(clf, rows, "class", cv=None)
            begin = time.perf_counter()
            text = page(name, packed_document(Material(classifier=clf, rows=rows, report=report)))
            made = time.perf_counter() - begin
            file = Path(folder, "page.html")
            file.write_text(text, "utf-8")
            tab = browser.new_page()
            tab.goto(file.as_uri() + "#case")
            tab.wait_for_selector(".field input")
            tab.evaluate("likely.interval(likely.state.row)")  # evidence has work to do before its first interval
            paint, keys = tab.evaluate(PAINT), tab.evaluate(TYPE)
            tab.goto(file.as_uri() + "#decisions")
            tab.wait_for_selector("[data-cost]")
            costs = statistics.median(tab.evaluate(COST))
            tab.close()
            size = len(text.encode()) / 1e3
            print(f"{name:<28}{size:9.0f}{made:8.2f}{paint:10.0f}{statistics.median(keys):8.1f}{costs:9.1f}")
        browser.close()


if __name__ == "__main__":
    main()
