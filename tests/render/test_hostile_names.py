"""Names that would be markup stay names, wherever a page shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import likely
from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, Loss, SVMClassifier, TreeClassifier
from likely.markup import tag
from likely.models.display import model_page
from likely.models.tree.plot import SCRIPT
from likely.table.schema import Schema
from tests.test_markup import Reader

EVIL = "<script>alert('&')</script>\"><img src=x onerror=y> -->"
OTHER = f"{EVIL} & co"
DRAWN = {"cc:work", "clippath", "dc:format", "dc:type", "defs", "image", "metadata", "rdf:rdf", "use"}
HARMLESS = DRAWN | {
    "body", "br", "button", "caption", "details", "div", "mark", "summary",
    "figcaption", "figure", "g", "h1", "h2", "head", "html",
    "meta", "p", "path", "pre", "rect", "span", "strong", "style", "svg", "table", "tbody", "td", "text", "th",
    "thead", "title", "tr",
}  # fmt: skip


def hostile() -> tuple[pd.DataFrame, list[str]]:
    """Columns, values and classes that all try to be elements."""
    values = [EVIL, OTHER, EVIL, OTHER, EVIL, OTHER, EVIL, EVIL]
    numbers = [1.0, 2.5, 1.5, 3.0, 0.5, 2.0, 1.0, 2.0]
    labels = [EVIL, OTHER, EVIL, OTHER, EVIL, OTHER, OTHER, EVIL]
    return pd.DataFrame({EVIL: values, OTHER: numbers, f"{EVIL}!": values[::-1]}), labels


X, Y = hostile()
LOSS = Loss({EVIL: {EVIL: 0, OTHER: 1}, OTHER: {EVIL: 2, OTHER: 0}}, refuse=0.5)


def naive() -> Any:
    return BayesClassifier().fit(X, Y)


def plane() -> Any:
    return SVMClassifier(kernel="linear").fit(X, Y)


PAGES: dict[str, Callable[[], Any]] = {
    "schema": lambda: Schema.infer(X)._repr_html_(),
    "loss": LOSS._repr_html_,
    "naive": lambda: naive()._repr_html_(),
    "model page": lambda: model_page(naive()),
    "explanation": lambda: naive().explain(X[:2])._repr_html_(),
    "contrast": lambda: naive().explain(X[:2]).contrast(EVIL)._repr_html_(),
    "nomogram": lambda: naive().nomogram(EVIL)._repr_html_(),
    "picture": lambda: naive().explain(X[:1]).plot().to_html(),
    "marked text": lambda: BayesClassifier().fit([f"{EVIL} {label}" for label in Y], Y).explain([EVIL]).highlight(),
    "evidence": lambda: EvidenceClassifier().fit(X, Y)._repr_html_(),
    "dependence": lambda: AODEClassifier().fit(X, Y).dependence()._repr_html_(),
    "tree": lambda: TreeClassifier().fit(X, Y)._repr_html_(),
    "tree picture": lambda: TreeClassifier().fit(X, Y).plot().to_html(),
    "paths": lambda: TreeClassifier().fit(X, Y).explain(X[:2])._repr_html_(),
    "machine": lambda: plane()._repr_html_(),
    "plane": lambda: plane().explain(X[:2])._repr_html_(),
    "report": lambda: likely.evaluate(BayesClassifier(), X, Y, cv=2, loss=LOSS).to_html(),
    "comparison": lambda: likely.compare(X, Y, {EVIL: BayesClassifier(), OTHER: GaussianNB()}, cv=2).to_html(),
}


@pytest.mark.parametrize("shown", list(PAGES))
def test_names_stay_names(shown: str) -> None:
    page = str(PAGES[shown]()).replace(tag("script", SCRIPT), "", 1)  # our own, which no name is part of
    read = Reader(page)
    assert {name for name, _ in read.elements} <= HARMLESS
    assert not [key for _, attributes in read.elements for key in attributes if key.startswith("on")]
    texts = [read.words, *(value for _, attributes in read.elements for value in attributes.values() if value)]
    assert any("<script>alert" in text for text in texts), "the name itself can be read"
