"""Text columns: alone, beside numbers, growing, shrinking, saved, and explained word by word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pytest import approx
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import likely
from likely import BayesClassifier, FullBayesClassifier, NotMergeable, SettingsError
from likely.teaching import datasets
from likely.text import Tokenizer

DWARFS, DISHES = datasets.dwarfs(), datasets.dishes()
T1, T2 = "Sieben Zwerge fraßen sieben Wölfe", "Sieben Zwerge traten sieben Ziegen"
D5, D6 = "hanoi hanoi buncha hutiu", "pho hutiu banhbo"


def test_e_seven_dwarfs_from_raw_strings() -> None:
    clf = BayesClassifier().fit(DWARFS["text"], DWARFS["label"])
    assert len(clf.summary_["text"].words) == 7
    np.testing.assert_allclose(clf.predict_proba([T1, T2]), [[0.75, 0.25], [0.25, 0.75]], rtol=1e-12)
    assert clf.predict([T1, T2]).tolist() == ["OK", "SPAM"]


def test_f_dishes_from_raw_strings() -> None:
    clf = BayesClassifier().fit(DISHES["text"], DISHES["label"])
    assert np.exp(clf.predict_joint_log_proba([D5]))[0] == approx([1.5e-4, 1.75e-5], rel=0.01)
    assert clf.predict_proba([D5])[0, 0] == approx(0.89548823, abs=5e-9)
    assert clf.predict_proba([D6])[0, 1] == approx(0.70824665, abs=5e-9)
    bernoulli = BayesClassifier(families="bernoulli").fit(DISHES["text"], DISHES["label"])
    assert bernoulli.predict_proba([D5])[0, 0] == approx(0.76554295, abs=5e-9)
    assert bernoulli.predict_proba([D6])[0, 1] == approx(0.83051419, abs=5e-9)


@pytest.mark.parametrize(
    "convert", [list, np.array, pd.Series, pl.Series, pa.array, lambda texts: np.array(texts, object)]
)
def test_any_list_of_strings_is_a_table_with_one_text_column(convert: Any) -> None:
    clf = BayesClassifier().fit(convert(DWARFS["text"]), DWARFS["label"])
    assert clf.schema_.text == ("text",)
    assert clf.predict(convert([T1, T2])).tolist() == ["OK", "SPAM"]


WORDS = ["red", "green", "blue", "soup", "bread", "fish", "the", "a"]


def corpus(n: int = 200, seed: int = 0) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    likes = np.array([[6, 1, 1, 1, 1, 1, 9, 3], [1, 4, 2, 5, 1, 1, 9, 3], [1, 1, 4, 1, 6, 1, 9, 3]], dtype=float)
    likes /= likes.sum(axis=1, keepdims=True)
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 12), p=likes[c])) for c in y], y


@pytest.mark.parametrize(("family", "peer"), [("multinomial", MultinomialNB()), ("bernoulli", BernoulliNB())])
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_as_scikit_learn_does_it(family: str, peer: Any, ngrams: tuple[int, int]) -> None:
    texts, y = corpus()
    clf = BayesClassifier(families=family, text=Tokenizer(ngram_range=ngrams)).fit(texts, y)
    peer = make_pipeline(CountVectorizer(ngram_range=ngrams), peer).fit(texts, y)
    more = [text for text in corpus(seed=1)[0] if len(text) > 1]
    np.testing.assert_allclose(clf.predict_log_proba(more), peer.predict_log_proba(more), rtol=1e-9, atol=1e-12)


def test_complement_is_scikit_learns_but_for_the_prior() -> None:
    texts, y = corpus()
    for norm in (False, True):
        clf = BayesClassifier(families="complement", normalise=norm, priors="uniform").fit(texts, y)
        peer = make_pipeline(CountVectorizer(), ComplementNB(norm=norm)).fit(texts, y)
        np.testing.assert_allclose(clf.predict_log_proba(texts), peer.predict_log_proba(texts), rtol=1e-8, atol=1e-10)


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    texts, y = corpus()
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"body": texts, "length": rng.normal(size=len(y)) + y, "sender": rng.choice(["x", "y"], len(y))}
    )
    table.loc[5, "body"] = None
    return table, y


TEXT = {"schema": {"body": "text"}}


def test_text_beside_numbers_and_categories() -> None:
    X, y = mixed()
    clf = BayesClassifier(**TEXT).fit(X, y)
    assert clf.score(X, y) > BayesClassifier(schema={"body": "ignored"}).fit(X, y).score(X, y)
    why = clf.explain(X[:10])
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(X[:10]), rtol=1e-10)
    full = FullBayesClassifier(**TEXT).fit(X, y)
    assert np.isfinite(full.predict_proba(X)).all()


def test_long_free_strings_are_found_to_be_text() -> None:
    X = pd.DataFrame({"note": [f"this is a rather long note number {k} about things" for k in range(30)]})
    clf = BayesClassifier().fit(X, np.arange(30) % 2)
    assert clf.schema_.text == ("note",)
    assert clf.families_ == {"note": "text multinomial"}


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_live_model_on_forgetting_and_merging(family: str) -> None:
    X, y = mixed()
    settings: dict[str, Any] = {**TEXT, "families": {"body": family}}
    whole = BayesClassifier(**settings).fit(X, y)
    grown = BayesClassifier(**settings).fit(X[:70], y[:70]).partial_fit(X[70:], y[70:])
    np.testing.assert_allclose(grown.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    both = BayesClassifier(**settings).fit(X[:70], y[:70]) + BayesClassifier(**settings).fit(X[70:], y[70:])
    np.testing.assert_allclose(both.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    odd = pd.DataFrame({"body": ["unheard of"], "length": [1.0], "sender": ["x"]})
    grown.partial_fit(odd, [0])
    assert "unheard" in grown.summary_["body"].words.to_list()
    grown.forget(odd, [0])
    assert "unheard" not in grown.summary_["body"].words.to_list()
    np.testing.assert_allclose(grown.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-8, atol=1e-8)
    with pytest.raises(NotMergeable):
        grown.forget(odd, [0])


def test_other_ways_to_cut_words_do_not_merge() -> None:
    texts, y = corpus()
    with pytest.raises(NotMergeable, match="cut into words"):
        BayesClassifier().fit(texts, y).merge(BayesClassifier(text=Tokenizer(ngram_range=(1, 2))).fit(texts, y))


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_texts_that_say_nothing_get_the_prior(family: str) -> None:
    texts, y = corpus()
    clf = BayesClassifier(families=family).fit(texts, y)
    silent = clf.predict_proba(["", None, "wholly unknown words", "? !"])
    np.testing.assert_allclose(silent, np.tile(clf.model_.prior, (4, 1)), rtol=1e-12)


def test_composed_and_decomposed_accents_are_one_word() -> None:
    clf = BayesClassifier().fit(["tiếng Việt", "English text"], ["vi", "en"])
    assert clf.predict(["tie\u0302\u0301ng"]).tolist() == ["vi"]


def test_weighting_and_families_change_without_data() -> None:
    texts, y = corpus()
    clf = BayesClassifier().fit(texts, y)
    usual = clf.predict_log_proba(texts)
    for changes in ({"weighting": "tf-idf"}, {"families": "bernoulli"}, {"families": {"text": "complement"}}):
        fresh = BayesClassifier(**{**clf.get_params(), **changes}).fit(texts, y)
        changed = clf.resettle(**changes).predict_log_proba(texts)
        np.testing.assert_allclose(changed, fresh.predict_log_proba(texts), rtol=1e-12)
        assert np.abs(changed - usual).max() > 1e-6


def test_words_that_spoke() -> None:
    clf = BayesClassifier().fit(DWARFS["text"], DWARFS["label"])
    tokens = clf.explain([T1]).tokens()
    assert tokens["word"][0] == "fraßen"
    assert tokens["ratio"][0] == approx(np.log(3))
    assert tokens["weight"].tolist() == [1.0, 2.0, 1.0, 1.0]
    assert tokens[["OK", "SPAM"]].sum().tolist() == approx(clf.explain([T1]).contributions[0, 0].tolist())


def test_saved_texts_come_back(tmp_path: Path) -> None:
    X, y = mixed()
    recipe = Tokenizer(ngram_range=(1, 2), stop_words=frozenset({"the"}), numbers=True)
    clf = BayesClassifier(**TEXT, text={"body": recipe}, weighting="tf-idf").fit(X, y)
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.get_params() == clf.get_params()
    again.partial_fit(X, y).forget(X, y)


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, y = corpus(400)
    results = [BayesClassifier(n_jobs=n).fit(texts, y).predict_log_proba(texts) for n in (1, 2, 3)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("text", ["words", {"body": "words"}, {"length": Tokenizer()}, {"bdy": Tokenizer()}], ids=str)
def test_recipes_that_make_no_sense_are_refused(text: Any) -> None:
    X, y = mixed()
    with pytest.raises(SettingsError):
        BayesClassifier(**TEXT, text=text).fit(X, y)


def test_many_classes_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 20_000, 12)) for _ in range(3000)]
    y = rng.integers(0, 1500, 3000)
    clf = BayesClassifier().fit(texts, y)
    seen = clf.summary_["text"]
    assert sparse.issparse(seen.counts.table)
    assert sparse.issparse(seen.documents.table)
    assert (clf.predict(texts[:50]) == y[:50]).mean() > 0.9


def test_a_text_has_no_nomogram() -> None:
    clf = BayesClassifier().fit(DWARFS["text"], DWARFS["label"])
    with pytest.raises(SettingsError, match="no scale"):
        clf.nomogram()


def test_folds_are_read_by_the_same_recipe() -> None:
    texts, y = corpus()
    report = likely.evaluate(BayesClassifier(text=Tokenizer(ngram_range=(1, 2))), texts, y, cv=5)
    peer = likely.evaluate(make_pipeline(CountVectorizer(ngram_range=(1, 2)), MultinomialNB()), texts, y, cv=5)
    assert report.log_loss == approx(peer.log_loss, rel=1e-9)
    assert likely.evaluate(BayesClassifier(), texts[:40], y[:40], cv="loo").accuracy > 0.4
