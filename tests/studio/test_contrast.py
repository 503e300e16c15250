"""One class against the rest is shared out among the columns as in Python: however sure the model, and whatever rules
a class out; what is shown adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import BayesClassifier
from tests.studio.conftest import Open

CONTRAST = """([names, rows, target]) => rows.map((cells) => {
  const found = likely.contrast(names.map((name, k) => [name, cells[k]]), target);
  return [found.before, ...found.shares].map(String);
})"""
SHOWN = "[...document.querySelectorAll('.bars.whole .value')].map((each) => each.textContent)"


def towns() -> tuple[dict[str, Any], list[str]]:
    """Values that only some classes have, so that without smoothing each of them rules others out."""
    kinds = ["a", "b", "c"] * 20
    return {
        "town": [{"a": "Ulm", "b": "Bonn", "c": "Kiel"}[k] if n % 4 else "Trier" for n, k in enumerate(kinds)],
        "size": [{"a": "small", "b": "large", "c": "large"}[k] if n % 7 else "small" for n, k in enumerate(kinds)],
        "colour": [["red", "blue"][(n * n + ord(k)) % 2] for n, k in enumerate(kinds)],
    }, kinds


@pytest.mark.parametrize("smoothing", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_are_those_of_python(show: Open, smoothing: float, n_classes: int) -> None:
    table, kinds = towns()
    known = [k for k, kind in enumerate(kinds) if kind in "abc"[:n_classes]]
    table, kinds = {name: [cells[k] for k in known] for name, cells in table.items()}, [kinds[k] for k in known]
    clf = BayesClassifier(smoothing=smoothing).fit(table, kinds)
    values = {name: sorted(set(cells)) for name, cells in table.items()}
    rows = [[a, b, c] for a in values["town"] for b in values["size"] for c in values["colour"]]
    tab = show(clf)
    why = clf.explain({name: [row[k] for row in rows] for k, name in enumerate(values)})
    for target, label in enumerate(clf.classes_):
        wanted = why.contrast(label)
        told = tab.evaluate(CONTRAST, [list(values), rows, target])
        for row, (before, *shares) in enumerate(told):
            assert float(before) == pytest.approx(wanted.prior, abs=1e-9)
            mine = [float(share.replace("Infinity", "inf")) for share in shares]
            assert np.allclose(mine, wanted.contributions[row], atol=1e-9), (label, rows[row])


def test_what_is_shown_adds_up_however_sure_the_model_is(show: Open) -> None:
    texts = [" ".join(f"{kind}{(k * 7 + n) % 90}" for n in range(120)) for k, kind in enumerate("abc" * 20)]
    clf = BayesClassifier(schema={"text": "text"}).fit({"text": texts}, list("abc" * 20))
    tab = show(clf, "case", rows={"text": texts, "kind": list("abc" * 20)})
    tab.wait_for_selector(".bars.whole .value")
    shown = [float(text.replace("−", "-").replace(",", "")) for text in tab.evaluate(SHOWN)]
    total = tab.locator("strong:has-text('together')").text_content().split(" ")[1].rstrip(",")
    assert len(shown) == 2 and sum(shown) == pytest.approx(float(total.replace(",", "")), abs=0.02)
    assert sum(shown) > 100
