"""Tables of evidence are drawn as they are: steps and marks at the contributions, rows beneath, pairs as heat maps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from likely import EvidenceClassifier
from likely.errors import SchemaError, SettingsError
from likely.models.evidence.plot import plot_main_effects
from tests.render.test_pictures import EVIL, shapes


@pytest.fixture(scope="module")
def trips() -> EvidenceClassifier:
    """A number with gaps, two categories that speak together, a heavy tail."""
    rng = np.random.default_rng(0)
    n = 400
    a, b = rng.choice(["x", "y"], n), rng.choice(["u", "v", "w"], n)
    number = rng.normal(size=n)
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, number),
            "a": a,
            "b": b,
            "tail": np.exp(4 * rng.normal(size=n)),
        }
    )
    score = 2.0 * number + 3.0 * ((a == "x") == (b == "u")) - 1.5
    return EvidenceClassifier(max_triples=0).fit(table, np.where(rng.logistic(size=n) < score, "yes", "no"))


def test_a_panel_shows_the_table_and_the_rows(trips: EvidenceClassifier) -> None:
    picture = trips.plot_table("number")
    shapes(picture)
    above, below = picture.figure.axes
    table = trips.table_of("number")
    drawn = [patch.get_data().values for patch in above.patches]
    odds = (table["yes"] - table["no"]).to_numpy()  # one curve, for that of the other class mirrors it
    np.testing.assert_allclose(drawn, [odds[:-1]])
    marks = [line.get_ydata()[0] for line in above.lines if line.get_marker() in ("o", "s")]
    np.testing.assert_allclose(marks, odds[-1:])
    heights, edges, _ = below.patches[0].get_data()
    np.testing.assert_allclose(heights * np.diff(edges), table["weight"][:-1] / table["weight"].sum())
    assert above.get_ylabel() == "nats"
    assert any("gap" in text.get_text() for text in below.texts)


def test_categories_and_heavy_tails(trips: EvidenceClassifier) -> None:
    picture = trips.plot_table("b", "tail")
    shapes(picture)
    above, below, _, tail = picture.figure.axes
    table = trips.table_of("b").set_index("b")
    names = [label.get_text() for label in below.get_xticklabels()]
    marks = [line.get_ydata() for line in above.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(marks[0], table.loc[names, "yes"] - table.loc[names, "no"])
    assert "equal shares" in tail.get_xlabel(), "bins of a heavy tail stand side by side"


def test_without_names_the_columns_that_say_most(trips: EvidenceClassifier) -> None:
    picture = trips.plot_table()
    shapes(picture)
    assert picture.figure.axes[0].get_title(loc="left") == "number"
    assert len(picture.figure.axes) == 2 * 4
    assert "3 further columns" in plot_main_effects(trips.model_, most=1).title


def test_a_pair_is_a_heat_map(trips: EvidenceClassifier) -> None:
    for pair in (("a", "b"), ("b", "a")):
        picture = trips.plot_pair(*pair)
        shapes(picture)
        axes = picture.figure.axes[0]
        table = trips.table_of("a", "b").set_index(list(pair))["yes"]
        rows, columns = (
            [label.get_text() for label in some()] for some in (axes.get_yticklabels, axes.get_xticklabels)
        )
        expected = [[table[(row, column)] for column in columns] for row in rows]
        np.testing.assert_allclose(np.asarray(axes.images[0].get_array()), expected)


def test_bins_of_a_pair_are_named_in_full() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 300))
    picture = EvidenceClassifier().fit({"a": a, "b": 1000.0 + b}, a * b > 0).plot_pair("a", "b")
    axes = picture.figure.axes[0]
    for labels in (axes.get_yticklabels(), axes.get_xticklabels()):
        names = [label.get_text() for label in labels]
        assert all(len([float(end) for end in name.strip("≤> ").split(" … ")]) in (1, 2) for name in names)
        assert len(set(names)) == len(names)
    shapes(picture)


def test_many_classes_and_odd_names() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.rename(columns=lambda name: f"_{EVIL} {name}")
    clf = EvidenceClassifier(max_pairs=3, max_triples=0).fit(X, np.where(np.arange(150) % 15 == 0, 10 + y, y))
    shapes(clf.plot_table())
    for pair in clf.pairs_[:1]:
        shapes(clf.plot_pair(*pair))


def test_constant_columns_and_one_class_are_drawn() -> None:
    shapes(EvidenceClassifier().fit({"same": [1.0] * 30, "none": [None] * 30}, ["p", "q"] * 15).plot_table())
    shapes(EvidenceClassifier().fit({"x": np.arange(20.0)}, ["only"] * 20).plot_table("x"))


def test_what_has_no_table_is_said(trips: EvidenceClassifier) -> None:
    with pytest.raises(SchemaError, match="nmber"):
        trips.plot_table("nmber")
    with pytest.raises(SettingsError, match="pairs_"):
        trips.plot_pair("a", "nothing")
    texts = EvidenceClassifier().fit(["cheap pills", "see you soon"] * 10, ["spam", "ham"] * 10)
    with pytest.raises(SettingsError, match="words"):
        texts.plot_table()


def test_long_names_of_values_stay_apart() -> None:
    long = [f"an extremely long name of a value, number {k} of many" for k in range(4)]
    rng = np.random.default_rng(0)
    a, b = rng.choice(long, (2, 240))
    clf = EvidenceClassifier().fit({"a": a, "b": b}, [x == y for x, y in zip(a, b, strict=True)])
    for picture in (clf.plot_table("a"), clf.plot_pair("a", "b")):
        named = [[label.get_text() for label in axes.get_xticklabels()] for axes in picture.figure.axes]
        (values,) = [labels for labels in named if len(labels) == 4 and all("of many" in label for label in labels)]
        assert len(set(values)) == 4, values
