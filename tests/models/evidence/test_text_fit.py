"""The words of texts: their own logistic regression beside naive Bayes, stacked on rows that were held out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as Oracle
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

import likely
from likely import EvidenceClassifier, ModelFileError
from likely.models.evidence import text_fit
from likely.models.evidence.predictor import AdditivePredictor
from likely.models.evidence.text_fit import Features, LogisticRegression, TextTrainingRows, fit_texts, stack_texts
from likely.models.evidence.text_scores import CorrectedText, CountedText, assign_folds, is_sampled, tf_idf
from likely.parallel import WorkerPool, one_thread_each
from likely.text import Tokenizer, count_rows

THEMES = ["sport", "money", "court", "film", "weather", "health", "travel", "school", "music", "food", "war", "science"]


def essays(n: int, n_classes: int, seed: int = 0, length: int = 12) -> tuple[list[str], np.ndarray[Any, Any]]:
    """Texts of classes of unequal size: words of the theme, words that themes share, and words that nobody repeats."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, n_classes + 1)
    y = rng.choice(n_classes, n, p=shares / shares.sum())
    y[:n_classes] = np.arange(n_classes)
    texts = []
    for row, label in enumerate(y):
        own = [f"{THEMES[label % 12]}{label}x{k}" for k in rng.zipf(1.6, length // 3) % 40]
        common = [f"word{k}" for k in rng.zipf(1.3, length) % 200]
        texts.append(" ".join(rng.permutation([*own, *common, f"once{row}"])))
    return texts, np.array([THEMES[label % 12] + str(label) for label in y])


def labelled(y: Any, n_classes: int, weight: Any = None) -> TextTrainingRows:
    codes = np.asarray(y, dtype=np.int32)
    return TextTrainingRows(
        codes, np.ones(len(codes)) if weight is None else weight, assign_folds(0, len(codes), 0), n_classes,
        WorkerPool(1),
    )  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_regression_is_the_minimum(n_classes: int) -> None:
    """Of Σ weight · log loss + |W|²/(2 v), with an intercept that nothing holds."""
    texts, names = essays(60, n_classes)
    y = np.unique(names, return_inverse=True)[1].astype(np.int32)
    features = Features.read(texts, Tokenizer(), 2, n_classes, 1)
    weight, variance = np.random.default_rng(0).integers(1, 4, 60).astype(float), 3.0
    class_weights = np.bincount(y, weights=weight)
    problem = LogisticRegression(features.values, y, weight, class_weights)
    found = problem.fit(variance, None, 1e-9)
    dense, n_scores = features.values.toarray(), 1 if n_classes == 2 else n_classes

    def loss(flat: Any) -> float:
        w = flat.reshape(-1, n_scores)
        scores = problem.prior + w[-1] + dense @ w[:-1]
        if n_scores == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        return float(-weight @ log_softmax(scores, axis=1)[np.arange(60), y] + 0.5 * (w[:-1] ** 2).sum() / variance)

    best = minimize(loss, found.ravel(), method="L-BFGS-B", options={"maxiter": 30})
    assert loss(found.ravel()) <= best.fun + 1e-3
    assert loss(found.ravel()) < loss(np.zeros(found.size)) - 1.0


def test_tf_idf_is_that_of_scikit_learn() -> None:
    texts, _ = essays(50, 3)
    counts = count_rows([*texts, "", "the the the"]).to_csr()
    rarity = np.random.default_rng(0).random(counts.shape[1])
    values = tf_idf(counts, rarity).toarray()
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit([*texts, "the the the"])
    vectorizer.idf_ = rarity
    np.testing.assert_allclose(values, vectorizer.transform([*texts, "", "the the the"]).toarray(), atol=1e-12)
    assert not values[50].any()


def test_stacking_finds_weights_and_offsets() -> None:
    """Scores that are half as large as they should be, and a class that is more common than they say."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    truth = 2.0 * scores + [1.0, 0.0, -1.0] + rng.gumbel(size=scores.shape)
    rows = labelled(truth.argmax(axis=1), 3)
    prior = np.log(np.bincount(rows.y) / 4000)
    weights, offsets = stack_texts([scores, rng.normal(size=scores.shape)], rows, np.array([1.0, 0.0]))
    assert weights[0] == pytest.approx(2.0, abs=0.2)
    assert 0.0 <= weights[1] < 0.1
    together = offsets + prior
    np.testing.assert_allclose(together - together.mean(), [1.0, 0.0, -1.0], atol=0.2)


@pytest.mark.parametrize("n_classes", [2, 9])
def test_many_classes_are_told_at_least_as_well_as_by_scikit_learn(n_classes: int) -> None:
    texts, y = essays(700, n_classes, seed=1)
    clf = EvidenceClassifier().fit(texts[:500], y[:500])
    peer = make_pipeline(TfidfVectorizer(), Oracle(max_iter=1000)).fit(texts[:500], y[:500])
    for more in (1.0, 10.0):
        peer.set_params(logisticregression__C=more).fit(texts[:500], y[:500])
        ours, theirs = clf.predict_proba(texts[500:]), peer.predict_proba(texts[500:])
        assert log_loss(y[500:], ours, labels=clf.classes_) <= log_loss(y[500:], theirs, labels=clf.classes_)
        assert clf.score(texts[500:], y[500:]) >= peer.score(texts[500:], y[500:])


def test_rare_classes_are_predicted() -> None:
    texts, y = essays(900, 12, seed=2)
    clf = EvidenceClassifier().fit(texts[:700], y[:700])
    assert set(clf.predict(texts[700:])) == set(y[700:])


@pytest.mark.parametrize("n_classes", [2, 5])
def test_words_add_up_to_their_text(n_classes: int) -> None:
    texts, y = essays(300, n_classes)
    table = pd.DataFrame({"body": texts, "other": texts[::-1], "n": np.arange(300.0)})
    clf = EvidenceClassifier(schema={"other": "text"}).fit(table, y)
    some = pd.concat([table[:5], pd.DataFrame({"body": ["", "unheard of"], "other": [None, "word1"], "n": [1.0, 2.0]})])
    for model in (clf, clf.emptied().partial_fit(table, y)):
        why = model.explain(some)
        np.testing.assert_allclose(why.joint, model.predict_joint_log_proba(some), atol=1e-9)
        for name in ("body", "other"):
            place = why.columns.index(name)
            for row, tokens in enumerate(why.words[name]):
                said = np.sum([token.evidence for token in tokens], axis=0) if tokens else np.zeros(n_classes)
                np.testing.assert_allclose(said, why.contributions[row, place], atol=1e-9)
        assert not why.contributions[5, why.columns.index("body")].any(), "an empty text says nothing"


def test_word_evidence_is_what_a_word_usually_adds() -> None:
    texts, y = essays(300, 3)
    clf = EvidenceClassifier().fit(texts, y)
    for model in (clf, clf.emptied().partial_fit(texts, y)):
        assert isinstance(model.model_, AdditivePredictor)
        (scorer,) = model.model_.text_models
        assert isinstance(scorer, CorrectedText if model is clf else CountedText)
        words, evidence = scorer.word_evidence()
        assert evidence.shape == (len(words), 3)
        best = words[int(np.argmax(evidence[:, 1] - evidence[:, 0]))]
        assert best.startswith(clf.classes_[1])
        told = {line.value for line in scorer.parameters()}
        assert told == set(words)


def test_word_pairs_are_heard_where_they_speak() -> None:
    """No word tells the class, but neighbours do; and a tokenizer that somebody has named is not changed."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    said = ["but good not cheap", "not good but cheap"]
    texts = [" ".join([*rng.permutation(["and", "so", "on"]), said[c], f"in{rng.integers(9)}"]) for c in y]
    clf = EvidenceClassifier().fit(texts[:300], y[:300])
    assert clf.model_.evidence.texts[0].tokenizer.ngram_range == (1, 2)
    assert clf.score(texts[300:], y[300:]) > 0.9
    named = EvidenceClassifier(text=Tokenizer()).fit(texts[:300], y[:300])
    assert named.model_.evidence.texts[0].tokenizer == Tokenizer()
    assert named.score(texts[300:], y[300:]) < 0.7
    told = [" ".join(rng.permutation(["and", "so", "on", "or", "in", ["no", "yes"][c]])) for c in y]
    assert EvidenceClassifier().fit(told, y).model_.evidence.texts[0].tokenizer.ngram_range == (1, 1)


@pytest.mark.parametrize("n_rows", [2, 5, 12, 40])
def test_few_texts_suffice(n_rows: int) -> None:
    texts, y = (["cheap pills now", "see you soon"] * n_rows)[:n_rows], (["spam", "ham"] * n_rows)[:n_rows]
    clf = EvidenceClassifier().fit(texts, y)
    found = clf.predict_proba([*texts, "", "never seen"])
    assert np.isfinite(found).all()
    if n_rows > 5:
        assert clf.predict(["cheap pills", "you soon"]).tolist() == ["spam", "ham"]


@pytest.mark.parametrize(
    "texts", [["a b"] * 20, [""] * 20, [None] * 10 + ["so"] * 10], ids=["no words", "empty", "gaps"]
)
def test_texts_without_words_give_the_prior(texts: list[str | None]) -> None:
    y = ["x", "y", "y", "y"] * 5
    clf = EvidenceClassifier(schema={"t": "text"}).fit({"t": texts}, y)
    np.testing.assert_allclose(clf.predict_proba({"t": [None]}), [[0.25, 0.75]], atol=0.05)
    assert np.isfinite(clf.partial_fit({"t": texts}, y).predict_proba({"t": texts})).all()


def test_a_class_alone() -> None:
    clf = EvidenceClassifier(schema={"t": "text"}).fit({"t": ["one text", "two texts"]}, ["x", "x"])
    assert clf.predict_proba({"t": ["text"]}).tolist() == [[1.0]]


def test_weights_count() -> None:
    texts, y = essays(300, 3)
    weight = np.where(y == y[0], 9.0, 1.0)
    heavy = EvidenceClassifier().fit(texts, y, weight).predict_proba([""])[0]
    light = EvidenceClassifier().fit(texts, y).predict_proba([""])[0]
    place = sorted(set(y)).index(y[0])
    assert heavy[place] > light[place] + 0.1


def test_rows_beyond_the_sample_are_scored_out_of_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely.models.evidence import prepare

    texts, y = essays(600, 3)
    whole = EvidenceClassifier().fit(texts, y)
    monkeypatch.setattr(prepare, "MAX_TOKENS", 5_000)
    some = EvidenceClassifier().fit(texts, y)
    sizes = [len(clf.model_.evidence.texts[0].words) for clf in (some, whole)]
    assert sizes[0] < 0.9 * sizes[1]
    assert some.score(texts, y) > 0.6


def test_the_sample_follows_from_row_numbers() -> None:
    whole = is_sampled(0, 10_000, 3, 0.3)
    assert 0.27 < whole.mean() < 0.33
    np.testing.assert_array_equal(is_sampled(400, 100, 3, 0.3), whole[400:500])
    assert (whole != is_sampled(0, 10_000, 4, 0.3)).any()
    assert is_sampled(0, 5, 3, 1.0).all()


def test_rare_words_leave_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, y = essays(300, 4)
    monkeypatch.setattr(text_fit, "MAX_COEFFICIENTS", 400)
    clf = EvidenceClassifier().fit(texts, y)
    assert 0 < len(clf.model_.evidence.texts[0].words) <= 100
    assert clf.score(texts, y) > 0.5


def test_threads_do_not_matter() -> None:
    texts, y = essays(400, 4)
    codes = np.unique(y, return_inverse=True)[1]
    found = [EvidenceClassifier(n_jobs=n).fit(texts, codes).predict_proba(texts) for n in (1, 2)]
    np.testing.assert_array_equal(*found)


def test_out_of_fold_experts_have_not_seen_their_fold() -> None:
    """A word that tells the class by heart, once in each row, helps nobody who has not seen it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    texts = [f"secret{row}" for row in range(200)]
    fitted = fit_texts([(texts, Tokenizer())], labelled(y, 2))
    assert np.abs(fitted.without_fold[0][0].word_scores(texts, 1)[assign_folds(0, 200, 0) == 0]).max() == 0.0
    assert EvidenceClassifier(schema={"t": "text"}).fit({"t": texts}, y).predict_proba({"t": ["new"]})[0, 0] > 0.3


def damaged() -> list[Any]:
    def coefficients(text: dict[str, Any]) -> None:
        text["coefficients"] = text["intercept"]

    def swapped(text: dict[str, Any]) -> None:
        text["rarity"], text["coefficients"] = text["coefficients"], text["rarity"]

    def words(text: dict[str, Any]) -> None:
        text["words"]["starts"] = text["words"]["arena"]

    def tokenizer(text: dict[str, Any]) -> None:
        text["tokenizer"] = "word"

    def lost(text: dict[str, Any]) -> None:
        del text["count_coefficients"]

    return [coefficients, swapped, words, tokenizer, lost]


@pytest.mark.parametrize("change", damaged(), ids=lambda change: change.__name__)
def test_made_up_words_are_refused(
    change: Callable[[dict[str, Any]], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, y = essays(60, 3)
    clf = EvidenceClassifier().fit(texts, y)
    write = EvidenceClassifier._write_learned

    def forged(self: EvidenceClassifier, writer: Any) -> Any:
        learned: Any = write(self, writer)
        change(learned["evidence"]["words"][0])
        return learned

    clf.save(tmp_path / "fair.likely")
    np.testing.assert_array_equal(likely.load(tmp_path / "fair.likely").predict_proba(texts), clf.predict_proba(texts))
    monkeypatch.setattr(EvidenceClassifier, "_write_learned", forged)
    with pytest.raises(ModelFileError, match="could not be loaded again"):
        clf.save(tmp_path / "forged.likely")


def test_texts_of_an_older_form_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from likely.models.evidence import codec

    monkeypatch.setattr(codec, "FORM", 2)
    texts, y = essays(60, 3)
    EvidenceClassifier().fit(texts, y).save(tmp_path / "texts.likely")
    EvidenceClassifier().fit({"n": np.arange(60.0)}, y).save(tmp_path / "numbers.likely")
    monkeypatch.undo()
    assert likely.load(tmp_path / "numbers.likely").predict({"n": [1.0]}).shape == (1,)
    with pytest.raises(ModelFileError, match="fit it anew"):
        likely.load(tmp_path / "texts.likely")


@pytest.mark.parametrize("name", ["gnad10_test_de", "tweeteval_emotion"])
def test_real_texts_are_told_at_least_as_well_as_by_scikit_learn(name: str, data_dir: Path) -> None:
    table = pd.read_csv(data_dir / f"{name}.csv.gz", dtype=str, keep_default_na=False).sample(1000, random_state=0)
    texts, y = table["text"].str[:1000].tolist(), table["label"].to_numpy()
    clf = EvidenceClassifier().fit(texts[:700], y[:700])
    ours = log_loss(y[700:], clf.predict_proba(texts[700:]), labels=clf.classes_)
    with one_thread_each():
        peer = make_pipeline(TfidfVectorizer(), Oracle(C=10.0, max_iter=1000)).fit(texts[:700], y[:700])
        assert ours < log_loss(y[700:], peer.predict_proba(texts[700:]), labels=clf.classes_)
        assert clf.score(texts[700:], y[700:]) > peer.score(texts[700:], y[700:]) - 0.01
