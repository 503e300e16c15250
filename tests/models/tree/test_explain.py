"""How a tree is drawn, said and written out; names come from data and are quoted everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from likely import LikelyError, Loss, TreeClassifier
from likely.teaching import datasets

rng = np.random.default_rng(3)

HOSTILE = ['<b>"x"</b>', "it's; DROP TABLE t --", "Köln & ☂", "\\ back"]


def hostile(n: int = 120) -> tuple[pd.DataFrame, Any]:
    y = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            'a "quoted" <name>': np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) + y),
            "select; --": rng.choice([*HOSTILE, None], n),
            "flag": rng.random(n) < 0.3 + 0.2 * y,
            "third": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) - y),
        }
    )
    return table, np.array(HOSTILE[:3], dtype=object)[y]


X, Y = hostile()


def in_duckdb(clf: TreeClassifier, table: pd.DataFrame) -> list[Any]:
    with duckdb.connect() as database:
        database.register("t", table)
        found = database.execute(clf.to_sql(table="t")).df()
    np.testing.assert_allclose(found[[f"P({c})" for c in clf.classes_]], clf.predict_proba(table), rtol=0, atol=1e-12)
    return list(found["prediction"])


@pytest.mark.parametrize("settings", [{}, {"subsets": True}, {"binary": True, "measure": "gini"}], ids=str)
def test_sql_with_stand_ins_is_predict(settings: dict[str, Any]) -> None:
    clf = TreeClassifier(missing="surrogates", **settings).fit(X, Y)
    assert clf.n_nodes_ > 15
    assert in_duckdb(clf, X) == clf.predict(X).tolist()


def test_sql_with_weights_is_predict() -> None:
    clf = TreeClassifier().fit(X, Y)
    assert (clf.apply(X) < 0).any()
    assert in_duckdb(clf, X) == clf.predict(X).tolist()


def test_rules_say_the_same_as_the_tree() -> None:
    data = load_iris(as_frame=True)
    clf = TreeClassifier(prune=None, restrained=False).fit(data.data, data.target_names[data.target])
    said = [str(rule) for rule in clf.rules()]
    assert said[0] == "if petal length (cm) < 2.45 then setosa, 50 cases, confidence 0.962"
    assert "4.95 ≤ petal length (cm) < 5.35 and petal width (cm) < 1.55 then virginica, 2 cases" in said[2]
    assert len(said) == clf.tree_.n_leaves
    assert sum(rule.cases for rule in clf.rules()) == 150


def test_rules_of_values() -> None:
    table = {"colour": ["red", "red", "green", "green", "blue", "blue"] * 3}
    said = [str(rule) for rule in TreeClassifier(binary=True).fit(table, ["a", "a", "b", "b", "b", "b"] * 3).rules()]
    assert said[0].startswith("if colour ≠ red then b") or said[1].startswith("if colour ≠ red then b")
    grouped = TreeClassifier(subsets=True).fit(table, ["a", "a", "b", "b", "b", "b"] * 3)
    assert grouped.to_text() == "colour\n├─ ≠ red: b (12)\n└─ red: a (6)"
    four = {"colour": ["red", "green", "blue", "grey"] * 4}
    pairs = TreeClassifier(subsets=True).fit(four, ["a", "b", "b", "a"] * 4)
    assert "colour in {blue, green} then b" in str(pairs.rules()[0])


def test_json_is_strict_and_complete() -> None:
    for missing in ("weights", "surrogates"):
        clf = TreeClassifier(missing=missing).fit(X, Y)
        document = json.loads(clf.to_json(), parse_constant=lambda name: pytest.fail(name))
        assert document["classes"] == sorted(HOSTILE[:3])
        assert len(document["nodes"]) == clf.n_nodes_
        below = sorted(child for node in document["nodes"] for child in node.get("children", []))
        assert below == list(range(1, clf.n_nodes_))
        assert any("stand_ins" in node for node in document["nodes"]) == (missing == "surrogates")


def test_dot_has_every_node_and_edge() -> None:
    clf = TreeClassifier().fit(X, Y)
    text = clf.to_dot()
    assert len(re.findall(r"^  n\d+ \[label=", text, re.MULTILINE)) == clf.n_nodes_
    assert text.count(" -> ") == clf.n_nodes_ - 1
    assert all(line.count('"') % 2 == 0 for line in text.replace('\\"', "").replace("\\\\", "").splitlines())


def test_the_picture_is_well_formed_and_marks_one_way(tmp_path: Path) -> None:
    clf = TreeClassifier().fit(X, Y)
    known = X.dropna().iloc[[0]]
    picture = clf.plot(known)
    root = ElementTree.fromstring(picture.to_svg())
    titles = [element for element in root.iter() if element.tag.endswith("title")]
    assert len(titles) == clf.n_nodes_
    marked = picture.to_svg().count('stroke-width="2.6"')
    assert marked == clf.tree_.depths[clf.apply(known)[0]] + 1
    assert clf.plot().to_svg().count('stroke-width="2.6"') == 0
    for name in ("t.svg", "t.html"):
        assert "<b>" not in picture.save(tmp_path / name).read_text(encoding="utf-8")
    with pytest.raises(LikelyError, match=r"\.png, \.svg, \.html"):
        picture.save(tmp_path / "t.pdf")
    assert clf.plot(max_depth=1).to_svg().count("<title>") < clf.n_nodes_


def test_large_trees_are_drawn_in_part() -> None:
    numbers = rng.normal(size=(3000, 3))
    clf = TreeClassifier(measure="gini", collapse=False).fit(numbers, rng.integers(0, 2, 3000))
    assert clf.n_nodes_ > 500
    assert clf.plot().to_svg().count("<title>") <= 250
    assert len(clf.to_text().splitlines()) <= 401
    assert clf.to_text(max_depth=1).count("\n") == 2
    assert "nodes" in clf._repr_mimebundle_()["text/html"]


def test_a_notebook_sees_the_tree_and_nothing_else() -> None:
    page = TreeClassifier().fit(X, Y)._repr_mimebundle_()["text/html"]
    assert "<svg" in page
    assert '<b>"x"' not in page
    assert "<svg" not in TreeClassifier()._repr_mimebundle_()["text/html"]


def test_paths_add_up_to_the_posterior() -> None:
    for missing in ("weights", "surrogates"):
        clf = TreeClassifier(missing=missing).fit(X, Y)
        why, shares = clf.explain(X), clf.tree_.probabilities(1.0)
        for row in range(len(X)):
            leaves = why.leaves(row)
            assert sum(leaves.values()) == pytest.approx(1.0)
            mixed = sum(weight * shares[leaf] for leaf, weight in leaves.items())
            np.testing.assert_allclose(mixed, clf.predict_proba(X.iloc[[row]])[0])
        frame = why.to_frame()
        assert (frame.groupby("row")["weight"].first() == 1.0).all()
        assert set(frame["how"]) >= ({"spread", "known", "leaf"} if missing == "weights" else {"surrogate", "known"})
        assert '<b>"x"' not in why._repr_html_()
        with pytest.raises(LikelyError, match="no row"):
            why.text(len(X))


def test_a_path_is_told() -> None:
    clf = TreeClassifier().fit(datasets.patients(), "drug")
    why = clf.explain({"sex": ["male", "male"], "age": [61, None], "blood_pressure": ["normal", "normal"]})
    assert str(why) == "\n".join(
        [
            "row 0: B, P = 0.8000",
            "blood_pressure = normal",
            "  age ≥ 41 (it is 61)",
            "    → B (3)",
            "",
            "row 1: A, P = 0.5000",
            "blood_pressure = normal",
            "  age is not known: all branches",
            "    → A (3) (0.500 of the row)",
            "    → B (3) (0.500 of the row)",
        ]
    )


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
def test_sql_decides_as_predict_does(missing: str) -> None:
    classes = sorted(set(Y))
    costs = {f"decision {a}": {b: (1.0, 4.0)[b == classes[0]] * (a != b) for b in classes} for a in classes}
    clf = TreeClassifier(missing=missing, min_cases=8, loss=Loss(costs)).fit(X, Y)
    decided = clf.predict(X).tolist()
    assert in_duckdb(clf, X) == decided
    probable = [f"decision {classes[best]}" for best in clf.predict_proba(X).argmax(axis=1)]
    assert len(set(decided)) > 1
    assert decided != probable


def test_a_loss_is_told_wherever_a_tree_is_shown() -> None:
    X, y = {"x": [1.0, 1.0, 1.0, 5.0, 5.0, 5.0]}, ["well", "well", "ill", "ill", "ill", "ill"]
    clf = TreeClassifier(
        prune=None, restrained=False, loss={"well": {"well": 0.0, "ill": 10.0}, "ill": {"well": 1.0, "ill": 0.0}}
    ).fit(X, y)
    assert clf.predict(X).tolist() == ["ill"] * 6
    assert "ill, though most are well (3/1)" in clf.to_text()
    assert "ill, though most are well" in clf.to_dot()
    assert [rule.then for rule in clf.rules()] == ["ill", "ill"]
    assert clf.rules()[0].confidence == pytest.approx(2 / 5)
    assert str(clf.explain(X)).startswith("row 0: ill is decided; most probable is well, P = 0.6000")
    assert [node["decision"] for node in json.loads(clf.to_json())["nodes"]] == ["ill"] * 3
