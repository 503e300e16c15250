"""Texts in a tree: the words that tell most, asked for one by one, against a tokeniser and a gain written down anew."""

from __future__ import annotations

import json
import re
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely import ModelFileError, SchemaError, SettingsError, TreeClassifier, compare
from likely.models.tree.data import informative_words
from likely.streaming import train_tree_file
from likely.table import as_table
from tests.store.test_damage import sealed

TEXTS = [
    "Free prize now",
    "call me at noon",
    "free call today",
    "see you at noon",
    None,
    "lunch, noon?",
    "hello you",
] * 5
LABELS = np.array(["spam", "ham", "spam", "ham", "ham", "ham", "ham"] * 5)
TABLE: dict[str, Any] = {"length": [float(len(text or "")) for text in TEXTS], "body": TEXTS}
KINDS = {"body": "text"}


def tokens(text: str) -> set[str]:
    return set(re.findall(r"\b\w\w+\b", text.lower()))


def entropy(counts: list[float]) -> float:
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c)


def gain(texts: list[str | None], labels: list[int], weights: list[int], word: str) -> float:
    known = [(word in tokens(t), c, w) for t, c, w in zip(texts, labels, weights, strict=True) if t is not None]

    def by_class(some: list[tuple[bool, int, int]]) -> list[float]:
        return [sum(w for _, c, w in some if c == k) for k in range(3)]

    sides = [by_class([case for case in known if case[0] == there]) for there in (False, True)]
    total = sum(map(sum, sides))
    return entropy(by_class(known)) - sum(sum(side) / total * entropy(side) for side in sides if sum(side))


WORDS = st.sampled_from(["red", "green", "blue", "Été", "of", "x"])


@given(
    cases=st.lists(
        st.tuples(st.none() | st.lists(WORDS, max_size=4).map(" ".join), st.integers(0, 2), st.integers(1, 3)),
        min_size=1,
        max_size=12,
    ),
    most=st.integers(1, 4),
)
def test_the_most_telling_words_by_gain(cases: list[tuple[str | None, int, int]], most: int) -> None:
    texts, labels, weights = (list(cells) for cells in zip(*cases, strict=True))
    table = as_table({"t": pd.Series(texts, dtype=object), "n": weights})
    known = np.array(labels, dtype=np.int32), np.array(weights, dtype=np.float64)
    found = informative_words(table, "t", *known, 3, most)
    all_words = sorted(set().union(*(tokens(text) for text in texts if text is not None)))
    gains = {word: gain(texts, labels, weights, word) for word in all_words}
    wanted = [word for word in sorted(all_words, key=lambda word: -round(gains[word], 9)) if gains[word] > 1e-9]
    assert found == wanted[:most]


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
def test_a_word_is_a_column_of_yes_and_no(missing: str) -> None:
    clf = TreeClassifier(text_tokens=4, schema=KINDS, missing=missing, collapse=False, min_cases=1).fit(TABLE, LABELS)
    features = clf.tree_.features
    assert [feature.column for feature in features] == ["length", *["body"] * 4]
    by_hand: dict[str, Any] = {"length": TABLE["length"]}
    for feature in features[1:]:
        assert feature.word is not None
        assert feature.name == f"body has '{feature.word[1]}'"
        answers = [None if t is None else "yes" if feature.word[1] in tokens(t) else "no" for t in TEXTS]
        by_hand[feature.name] = answers
    other = TreeClassifier(missing=missing, collapse=False, min_cases=1).fit(by_hand, LABELS)
    assert clf.to_text() == other.to_text()
    assert [str(rule) for rule in clf.rules()] == [str(rule) for rule in other.rules()]
    np.testing.assert_array_equal(clf.predict_proba(TABLE), other.predict_proba(by_hand))
    assert str(clf.explain(TABLE)) == str(other.explain(by_hand))
    assert (clf.apply(TABLE) == other.apply(by_hand)).all()
    assert clf.to_dot() == other.to_dot()


def test_texts_alone_are_drawn_and_told() -> None:
    clf = TreeClassifier(text_tokens=3).fit(TEXTS, LABELS)
    assert clf.to_text().startswith("text has 'free'\n├─ no:")
    assert clf.rules()[-1].conditions == ("text has 'free' = yes",)
    assert "text has 'free' = yes" in str(clf.explain(["now it is FREE!"]))
    assert "text has" in clf.plot(["free"]).to_svg()
    columns = json.loads(clf.to_json())["columns"]
    assert {
        "name": "text has 'free'",
        "kind": "nominal",
        "values": ["no", "yes"],
        "text": "text",
        "word": "free",
    } in columns
    assert clf.predict(["free", "noon", ""]).tolist() == ["spam", "ham", "ham"]


def test_sql_asks_for_words_where_they_are_tested() -> None:
    assert "'free'" in TreeClassifier(text_tokens=1, schema=KINDS).fit(TABLE, LABELS).to_sql()
    numbers = TreeClassifier(text_tokens=1, schema=KINDS, max_depth=0).fit(TABLE, LABELS)
    assert "JOIN" not in numbers.to_sql()  # nothing is asked of the text


def test_weights_are_copies_and_the_number_of_words_matters() -> None:
    weight = np.random.default_rng(0).integers(0, 4, len(TEXTS))
    copies = TreeClassifier(text_tokens=4).fit([t for t, n in zip(TEXTS, weight, strict=True) for _ in range(n)],
                                               np.repeat(LABELS, weight))  # fmt: skip
    weighed = TreeClassifier(text_tokens=4).fit(TEXTS, LABELS, sample_weight=weight)
    assert [f.name for f in weighed.tree_.features] == [f.name for f in copies.tree_.features]
    assert weighed.to_text() == copies.to_text()
    assert len(TreeClassifier(text_tokens=2).fit(TEXTS, LABELS).tree_.features) == 2


@pytest.mark.parametrize(
    "prune", [("reduced_error", 0.3), ("reduced_error", (TABLE, LABELS)), "mdl", "cost_complexity"]
)
def test_prunings(prune: Any) -> None:
    clf = TreeClassifier(text_tokens=6, schema=KINDS, prune=prune).fit(TABLE, LABELS)
    assert clf.score(TABLE, LABELS) > 0.6
    again = TreeClassifier(text_tokens=6, schema=KINDS).fit(TABLE, LABELS)
    assert again.pruned("reduced_error", TABLE, LABELS).score(TABLE, LABELS) == again.score(TABLE, LABELS)
    assert again.pruned(("pessimistic", 0.5), TABLE, LABELS, raising=True).n_nodes_ <= again.n_nodes_


def test_it_is_evaluated_and_compared() -> None:
    clf = TreeClassifier(text_tokens=10, schema=KINDS)
    assert likely.evaluate(clf, TABLE, LABELS, cv=5).accuracy > 0.9
    board = compare(TEXTS, LABELS, ["naive Bayes", "tree"], cv=5)
    assert not board.failures
    assert board.to_frame().loc["tree", "error"] < 0.1


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"'body' is free text.*text_tokens=100"):
        TreeClassifier(schema=KINDS).fit(TABLE, LABELS)
    for most in (0, -1, 2.5, True, "all"):
        with pytest.raises(SettingsError, match="text_tokens is"):
            TreeClassifier(text_tokens=most).fit(TEXTS, LABELS)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"body has 'free'.*rename"):
        taken = {**TABLE, "body has 'free'": np.arange(len(TEXTS))}
        TreeClassifier(text_tokens=3, schema=KINDS).fit(taken, LABELS)
    path = tmp_path / "rows.csv"
    pd.DataFrame(TABLE).assign(label=LABELS).to_csv(path, index=False)
    with pytest.raises(SchemaError, match="tree from files does not look into"):
        train_tree_file(path, "label", classifier=TreeClassifier(binned=True, text_tokens=3, schema=KINDS))


def test_a_column_that_is_called_like_a_word_does_not_matter_later() -> None:
    clf = TreeClassifier(text_tokens=3, schema=KINDS).fit(TABLE, LABELS)
    more = {**TABLE, "body has 'free'": ["perhaps"] * len(TEXTS)}
    np.testing.assert_array_equal(clf.predict_proba(more), clf.predict_proba(TABLE))


def test_no_word_tells_anything() -> None:
    clf = TreeClassifier(text_tokens=5, schema={"t": "text"}).fit({"t": ["same old text"] * 6}, ["a", "b"] * 3)
    assert clf.tree_.features == ()
    assert clf.predict_proba({"t": ["anything"]}).tolist() == [[0.5, 0.5]]


class TestFiles:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        TreeClassifier(text_tokens=4, schema=KINDS, collapse=False).fit(TABLE, LABELS).save(tmp_path / "t.likely")
        return tmp_path / "t.likely"

    def test_it_comes_back(self, path: Path) -> None:
        clf, again = TreeClassifier(text_tokens=4, schema=KINDS, collapse=False).fit(TABLE, LABELS), likely.load(path)
        assert again.get_params() == clf.get_params()
        assert again.to_json() == clf.to_json()
        np.testing.assert_array_equal(again.predict_proba(TABLE), clf.predict_proba(TABLE))

    @pytest.mark.parametrize(
        "word", [3, [], ["body"], ["body", 3], ["body", "other"], ["length", "free"], ["nowhere", "free"]], ids=str
    )
    def test_a_made_up_word_is_refused(self, path: Path, word: Any) -> None:
        document, arrays = opened(path)
        document["learned"]["tree"]["features"][1]["word"] = word
        if isinstance(word, list) and len(word) == 2 and word[1] == "free":
            document["learned"]["tree"]["features"][1]["name"] = f"{word[0]} has 'free'"
        path.write_bytes(sealed(json.dumps(document).encode(), arrays))
        with pytest.raises(ModelFileError):
            likely.load(path)

    def test_more_words_than_may_be_are_refused(self, path: Path) -> None:
        document, arrays = opened(path)
        document["settings"]["text_tokens"] = 3
        path.write_bytes(sealed(json.dumps(document).encode(), arrays))
        with pytest.raises(ModelFileError, match="more words"):
            likely.load(path)


def test_a_file_from_before_there_were_words_is_read(tmp_path: Path) -> None:
    path, table = tmp_path / "t.likely", {"length": TABLE["length"]}
    clf = TreeClassifier().fit(table, LABELS)
    clf.save(path)
    document, arrays = opened(path)
    for later in ("text_tokens", "restrained"):
        del document["settings"][later]
    path.write_bytes(sealed(json.dumps(document).encode(), arrays))
    again = likely.load(path)
    assert again.to_json() == clf.to_json()
    assert again.get_params() == clf.get_params()


def opened(path: Path) -> tuple[dict[str, Any], bytes]:
    from safetensors.numpy import save as save_arrays

    from likely.store import container

    document, arrays = container.unpack(path.read_bytes())
    return document, save_arrays(arrays)
