"""Pictures are drawn for every case, save themselves, and are safe with any name."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from likely import BayesClassifier, FullBayesClassifier, render
from likely.errors import DataError, LikelyError, NoSuchFile, SchemaError, SettingsError
from likely.explain.conditionals import conditionals
from likely.render import Picture
from likely.render.picture import COLOURS, chances, colour, dashes, marker, named, round_values, written
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather

EVIL = "<script>alert('x')</script> $\\frac{a}$ & --> _日本"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def clf() -> BayesClassifier:
    X, y = weather()
    return BayesClassifier(families=FAMILIES).fit(X, y)


@pytest.fixture(scope="module")
def many() -> tuple[BayesClassifier, pd.DataFrame]:
    """Forty columns and twelve classes, all with long and odd names."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 40))).rename(columns=lambda k: f"_{EVIL} {k}")
    return BayesClassifier().fit(X, [f"_{EVIL} {k % 12}" for k in range(120)]), X


def shapes(picture: Picture) -> None:
    """What every picture must be: pixels, and a page with a well-formed drawing in it and nothing from elsewhere."""
    assert picture.to_png(30).startswith(PNG)
    page = picture.to_html()
    root = ET.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    assert picture.title in root.get("aria-label", "")
    assert "<script" not in page
    assert not re.search(r"(?:src|href|url)\s*[=(]\s*[\"']?\s*(?!#|data:)\w", page), (
        "a page needs nothing from elsewhere"
    )


def test_bars_and_odds(clf: BayesClassifier) -> None:
    X, _ = weather()
    why = clf.explain(X[:3])
    shapes(why.plot())
    shapes(why.plot(row=2))
    shapes(why.plot("odds"))
    shapes(why.plot("odds", contrast=("rain", "snow")))
    shapes(clf.explain(X[:1], contrast="rain").plot())
    with pytest.raises(SettingsError, match="no row 3"):
        why.plot(row=3)


def test_nomogram_conditionals_ranking(clf: BayesClassifier) -> None:
    X, _ = weather()
    shapes(clf.nomogram("rain").plot())
    shapes(clf.nomogram(("rain", "dry")).plot({"sky": "grey", "pressure": 1000.0}))
    shapes(conditionals(clf))
    shapes(conditionals(clf, ["sky", "calls"]))
    shapes(render.ranking(clf.rank()))
    shapes(render.ranking(clf.rank(X)))


def test_many_classes_and_columns_with_odd_names(many: tuple[BayesClassifier, pd.DataFrame]) -> None:
    clf, X = many
    why = clf.explain(X[:1])
    pictures = [why.plot(), why.plot("odds"), clf.nomogram(clf.classes_[0]).plot(X.iloc[0].to_dict())]
    pictures += [conditionals(clf), render.ranking(clf.rank(X))]
    pictures += [render.regions(clf, X, clf.predict(X), (X.columns[0], X.columns[1]))]
    for picture in pictures:
        shapes(picture)


def test_impossible_values_are_drawn() -> None:
    table = datasets.patients()
    clf = BayesClassifier(smoothing=0).fit(table, table.pop("drug"))
    row = {"sex": ["male"], "age": [61], "blood_pressure": ["low"]}
    for target in ("A", "B"):
        shapes(clf.explain(row, contrast=target).plot())
        shapes(clf.nomogram(target).plot({"blood_pressure": "low", "age": 1e6}))
    shapes(clf.explain(row).plot())
    shapes(render.ranking(clf.rank(table)))


def test_constant_and_single_columns_are_drawn() -> None:
    clf = BayesClassifier().fit({"same": [2.0, 2.0, 2.0, 2.0], "x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"])
    shapes(conditionals(clf))
    shapes(clf.nomogram().plot())
    shapes(clf.explain({"same": [2.0], "x": [None]}).plot())


def test_regions_of_any_classifier() -> None:
    X, y = weather()
    numbers = X[["pressure", "income"]].dropna()
    labels = y[numbers.index]
    naive, full = BayesClassifier().fit(numbers, labels), FullBayesClassifier().fit(numbers, labels)
    other = QuadraticDiscriminantAnalysis().fit(numbers, labels)
    shapes(render.regions({"naive": naive, "full": full, "theirs": other}, numbers, labels, ("pressure", "income")))
    shapes(render.regions([naive, naive], X, y, ("pressure", "income")))
    arrays = BayesClassifier().fit(np.column_stack([numbers, numbers]), labels)
    shapes(render.regions(arrays, np.column_stack([numbers, numbers]), labels, ("x0", "x3")))
    with pytest.raises(SchemaError, match="presure"):
        render.regions(naive, X, y, ("presure", "income"))
    with pytest.raises(DataError, match="No row"):
        render.regions(naive, X.assign(pressure=np.nan), y, ("pressure", "income"))


def test_means_and_ellipses_are_what_the_classifier_believes() -> None:
    from likely.render.regions import bells

    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([1.0, 2.0], [[2.0, 1.2], [1.2, 1.0]], 400)
    y = np.repeat(["a", "b"], 200)
    for clf, off in ((BayesClassifier(), 0.0), (FullBayesClassifier(), 1.2)):
        (mean, covariance), _ = bells(clf.fit(X, y), ("x0", "x1"))
        np.testing.assert_allclose(mean, X[:200].mean(axis=0))
        np.testing.assert_allclose(np.diag(covariance), X[:200].var(axis=0, ddof=1), rtol=1e-6)
        assert covariance[0, 1] == pytest.approx(off if off == 0.0 else np.cov(X[:200].T)[0, 1])


def test_a_picture_saves_itself_by_suffix(clf: BayesClassifier, tmp_path: Path) -> None:
    picture = clf.explain(weather()[0][:1]).plot()
    assert picture.save(tmp_path / "why.png").read_bytes().startswith(PNG)
    assert picture.save(str(tmp_path / "why.svg")).read_text(encoding="utf-8").startswith("<?xml")
    page = picture.save(tmp_path / "why.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    with pytest.raises(SettingsError, match=r"why\.pdf"):
        picture.save(tmp_path / "why.pdf")
    assert repr(picture) == "Picture('Row 0: snow, P = 0.8130')"
    assert picture.to_svg() == picture.to_svg()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_a_picture_is_written_whole_or_not_at_all(
    clf: BayesClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    picture = render.ranking(clf.rank())
    with pytest.raises(NoSuchFile, match=rf"There is no folder .*missing' to write 'p{suffix}' to"):
        picture.save(tmp_path / "missing" / f"p{suffix}")
    path = picture.save(tmp_path / f"p{suffix}")
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        render.ranking(clf.rank()).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_without_the_library_the_extra_is_named(clf: BayesClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install .*the extra 'plot'") as told:
        clf.explain(weather()[0][:1]).plot()
    assert isinstance(told.value, LikelyError)


def test_a_user_s_own_style_stays(clf: BayesClassifier) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 33.0}):
        clf.explain(weather()[0][:1]).plot()
        assert mpl.rcParams["font.size"] == 33.0


@pytest.mark.parametrize("draw", [conditionals])
def test_words_have_no_distribution_of_their_own(draw: Callable[..., Picture]) -> None:
    words = BayesClassifier(families="multinomial").fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(SettingsError, match="counts of words"):
        draw(words)
    with pytest.raises(SchemaError, match="x9"):
        draw(words, ["x9"])


def test_colour_never_stands_alone() -> None:
    """The palette is Okabe and Ito's; classes differ in shape, and in dashes once the colours are used up."""
    assert len({(colour(k), dashes(k)) for k in range(4 * len(COLOURS))}) == 4 * len(COLOURS)
    assert len({(colour(k), marker(k)) for k in range(80)}) == 80


def test_names_and_ticks() -> None:
    assert named("a\n b\tc") == "a b c"
    assert named("") == "(empty)"
    assert named("pressure of the air = 1003", 16) == "pressure o…1003"
    assert round_values(0.0, 1.0, 5).tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert round_values(-3.0, 12.0, 4).tolist() == [0.0, 5.0, 10.0]
    assert round_values(2.0, 2.0, 4).tolist() == [2.0]
    assert written(-0.5) == "−0.5"
    assert [label for _, label in chances(-3.0, 3.0, 0.05)] == ["0.05", "0.1", "0.25", "0.5", "0.75", "0.9", "0.95"]
