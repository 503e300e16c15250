"""What a fitted evidence classifier tells of itself and of rows: nomogram, next measurement, novelty, words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from likely import REFUSED, DataError, EvidenceClassifier, Loss, SettingsError, load
from tests.models.evidence.test_classifier import mixed


@pytest.fixture(scope="module")
def fitted() -> EvidenceClassifier:
    return EvidenceClassifier().fit(*mixed())


@pytest.fixture(scope="module")
def mails() -> EvidenceClassifier:
    rng = np.random.default_rng(0)
    y = rng.choice(["ham", "spam"], 300)
    words = {"ham": ["meeting", "lunch", "report"], "spam": ["win", "money", "now"]}
    text = [" ".join(rng.choice([*words[label], "the", "a", "of"], 4)) for label in y]
    table = pd.DataFrame({"body": text, "length": rng.normal(size=300)})
    return EvidenceClassifier(schema={"body": "text"}).fit(table, y)


def test_points_add_up_to_the_probability_pairs_and_missing_values_included(fitted: EvidenceClassifier) -> None:
    assert fitted.pairs_
    table = mixed(20, 8)[0]
    sheet = fitted.nomogram()
    for place, row in enumerate(table.astype(object).where(table.notna(), None).to_dict("records")):
        expected = fitted.predict_proba(table.iloc[[place]])[0, 1]
        assert sheet.probability(sheet.total(row)) == pytest.approx(expected, abs=1e-12)
    strange = {"number": 0.3, "a": "never", "b": "u", "constant": 1.0}
    assert sheet.probability(sheet.total(strange)) == pytest.approx(fitted.predict_proba(strange)[0, 1], abs=1e-12)
    assert sheet.points("a × b", ("x", "u")).shape == (1,)
    assert "Nomogram for yes" in sheet.plot({"number": 0.3, "a": "x", "b": "u"}).title


def test_a_nomogram_of_three_classes() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = EvidenceClassifier(depth="triples", max_triples=2).fit(X, y)
    sheet = clf.nomogram(1)
    for place in range(0, 150, 30):
        row = {name: float(value) for name, value in X.iloc[place].items()}
        assert sheet.probability(sheet.total(row)) == pytest.approx(clf.predict_proba(row)[0, 1], abs=1e-12)
    with pytest.raises(SettingsError, match="Say which class"):
        clf.nomogram()


def test_a_text_has_no_scale(mails: EvidenceClassifier) -> None:
    with pytest.raises(SettingsError, match="'body'"):
        mails.nomogram()


def test_the_next_measurement_is_what_all_values_would_make_of_the_class(fitted: EvidenceClassifier) -> None:
    """By hand: a row lacks b; each of its values comes as often as counted, and the class is what is predicted then."""
    row = {"number": 0.2, "a": "x", "constant": 1.0}
    found = fitted.next_measurement(row).set_index("column")["information"]
    table, y = mixed()
    counts = pd.crosstab(table["b"], y).reindex(columns=["no", "yes"])
    shares = (counts.T + counts.sum(axis=1) / counts.to_numpy().sum()).T / (counts.sum() + 1.0)
    after = np.vstack([fitted.predict_proba({**row, "b": value}) for value in counts.index])
    without = fitted.predict_proba({**row, "b": "never seen"})[0]
    weights = shares.to_numpy() @ without

    def bits(p: np.ndarray) -> np.ndarray:
        return -(p * np.log2(p)).sum(axis=-1)

    expected = bits(weights @ after) - weights @ bits(after)
    assert found["b"] == pytest.approx(expected, rel=1e-9)
    assert set(found.index) == {"b"}
    saved = fitted.next_measurement(row, [[0.0, 1.0], [1.0, 0.0]])["saving"].item()
    assert saved == pytest.approx((weights @ after).min() - weights @ after.min(axis=1), abs=1e-12)


def test_values_that_were_never_seen_are_listed(fitted: EvidenceClassifier) -> None:
    found = fitted.unseen_values({"number": [1.0, 2.0], "a": ["x", "z"], "b": [None, "u"], "constant": [1.0, 1.0]})
    assert found.to_dict("list") == {"row": [1], "column": ["a"], "value": ["z"]}


def test_a_row_far_beyond_all_others_is_novel(fitted: EvidenceClassifier) -> None:
    table, _ = mixed(200, 9)
    usual = fitted.novelty(table, 0.01)
    odd = table[:2].assign(number=[0.0, 1e6])
    decided = fitted.decide(odd, Loss.zero_one(["no", "yes"]), novelty=usual)
    assert decided[0] != REFUSED and decided[1] == REFUSED


def test_the_most_telling_values_have_their_strength(fitted: EvidenceClassifier, mails: EvidenceClassifier) -> None:
    frame = fitted.telling_values(3)
    assert list(frame.columns) == ["class", "column", "value", "log_odds", "share"]
    assert frame.groupby("class").size().max() <= 3 and (frame["log_odds"] > 0.0).all()
    assert "a × b" in set(frame["column"])
    words = mails.telling_values(3)
    spam = words[words["class"] == "spam"]
    assert set(spam["value"]) == {"“win”", "“money”", "“now”"}
    why = mails.explain({"body": "money", "length": None})
    token = why.words["body"][0][0]
    told = spam.set_index("value").loc["“money”", "log_odds"]
    alone = float(token.evidence[1] - token.evidence[0])  # among others a word has a smaller part of its text
    assert 0.3 * alone < told < alone
    assert set(mails.rank_words()["word"][:6]) == {"meeting", "lunch", "report", "win", "money", "now"}


def test_class_weights_are_those_of_the_prior() -> None:
    table, y = mixed()
    clf = EvidenceClassifier(class_weight="balanced").fit(table, y)
    np.testing.assert_allclose(clf.model_.prior, 0.5)
    even = EvidenceClassifier(priors="uniform").fit(table, y)
    np.testing.assert_allclose(clf.predict_proba(table), even.predict_proba(table), atol=1e-12)
    heavy = EvidenceClassifier(class_weight={"yes": 3.0}).fit(table, y)
    plain = EvidenceClassifier().fit(table, y)
    odds = np.log(heavy.predict_proba(table)[:, 1] / heavy.predict_proba(table)[:, 0])
    before = np.log(plain.predict_proba(table)[:, 1] / plain.predict_proba(table)[:, 0])
    np.testing.assert_allclose(odds - before, np.log(3.0), atol=1e-9)
    with pytest.raises(SettingsError, match="'perhaps'"):
        EvidenceClassifier(class_weight={"perhaps": 1.0}).fit(table, y)
    with pytest.raises(SettingsError, match="a number above 0"):
        EvidenceClassifier(class_weight={"yes": 0.0, "no": 0.0}).fit(table, y)


def test_class_weights_are_saved(tmp_path: object) -> None:
    clf = EvidenceClassifier(max_pairs=0, class_weight={"yes": 3.0}).fit(*mixed())
    path = f"{tmp_path}/model.likely"
    clf.save(path)
    assert load(path).class_weight == {"yes": 3.0}
    np.testing.assert_array_equal(load(path).model_.prior, clf.model_.prior)


def test_sparse_matrices_are_read_column_by_column() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(200, 12, density=0.3, random_state=0, format="csr")
    y = np.where(X[:, [0]].toarray()[:, 0] + rng.normal(scale=0.1, size=200) > 0.1, "a", "b")
    clf, dense = EvidenceClassifier().fit(X, y), EvidenceClassifier().fit(X.toarray(), y)
    np.testing.assert_array_equal(clf.predict_proba(X), dense.predict_proba(X.toarray()))
    assert clf.explain(X[:1]).columns[1] == "x0"
    with pytest.raises(DataError, match=r"1,001 of them"):
        EvidenceClassifier().fit(sparse.csr_array((4, 1001)), ["a", "b", "a", "b"])


def test_pairs_are_named_as_pairs_and_the_strongest_come_first(fitted: EvidenceClassifier) -> None:
    why = fitted.explain({"number": 2.0, "a": "x", "b": "u", "constant": 1.0})
    lines = why.row_factors(0).lines
    assert lines[0].name == "prior"
    strengths = [line.strength for line in lines[1:]]
    assert strengths == sorted(strengths, reverse=True)
    assert "a = x × b = u" in [line.label for line in lines]
    assert "intercept" in why.columns and why.terms[why.columns.index("intercept")] == ()
    with_gap = fitted.explain({"number": 2.0, "a": "x", "b": None, "constant": 1.0})
    assert "a = x × b (gap)" in [line.label for line in with_gap.row_factors(0).lines]


def test_a_missing_value_stands_on_the_sheet(fitted: EvidenceClassifier) -> None:
    """Of a category it is a value among others, of a number a mark of its own."""
    sheet = fitted.nomogram()
    axes = sheet.plot().figure.axes[0]
    said = [text.get_text() for text in axes.texts]
    assert said.count("missing") == 2, "number and b have gaps"
    note = " ".join(text.get_text() for text in sheet.plot().figure.texts)
    assert "a missing value has none" not in note
    frame = sheet.to_frame()
    ages = frame.loc[frame["column"] == "number", "value"].to_numpy(dtype=float)
    assert (np.diff(ages) > 0.0).all() and len(ages) <= 12
