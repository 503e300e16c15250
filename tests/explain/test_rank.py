"""Columns ranked by what they tell and by what they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from likely import AODEClassifier, BayesClassifier, EvidenceClassifier, FullBayesClassifier
from likely.errors import SettingsError
from likely.explain import outcomes_of
from likely.measures import entropy, information_gain
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather


def test_nominal_columns_by_their_counts() -> None:
    table = datasets.patients()
    ranked = BayesClassifier().fit(table, table.pop("drug")).rank().set_index("column")
    assert ranked.loc["blood_pressure", "information"] == 0.5
    assert ranked.loc["sex", "information"] == 0.0
    assert ranked["share"].tolist() == ranked["held_out"].tolist()  # one bit is all there is


def test_many_values_do_not_win_by_being_many() -> None:
    """A ticket number tells all as counted, and nothing about the next row; the class itself tells nearly all."""
    y = np.repeat(["no", "yes"], 100)
    table = {"ticket": [f"t{k}" for k in range(200)], "leak": np.where(y == "yes", "b", "a"), "coin": ["h", "t"] * 100}
    ranked = BayesClassifier(schema={"ticket": "nominal"}).fit(table, y).rank().set_index("column")
    assert list(ranked.index) == ["leak", "ticket", "coin"]
    assert ranked.loc["ticket", "information"] == 1.0 and ranked.loc["ticket", "held_out"] == 0.0
    assert ranked.loc["leak", "held_out"] == pytest.approx(1.0)


@pytest.mark.parametrize("classifier", [BayesClassifier, FullBayesClassifier, AODEClassifier, EvidenceClassifier])
def test_gaps_speak(classifier: type) -> None:
    """A cabin is known for those who were saved, whatever its number; of a number it is the same."""
    rng = np.random.default_rng(0)
    y = np.repeat(["lost", "saved"], 150)
    known = rng.random(300) < np.where(y == "saved", 0.8, 0.1)
    cabin = np.where(known, rng.choice(list("ABCDEFGH"), 300), None)
    table = {
        "cabin": cabin,
        "deck": np.where(known, rng.normal(size=300), np.nan),
        "noise": rng.choice(["a", "b"], 300),
    }
    ranked = classifier().fit(table, y).rank().set_index("column")
    exact = information_gain([[(~known[y == side]).sum(), known[y == side].sum()] for side in ("lost", "saved")])
    for name in ("cabin", "deck"):
        assert ranked.loc[name, "gaps"] == pytest.approx(exact, abs=0.02)
        assert ranked.loc[name, "held_out"] >= ranked.loc[name, "gaps"]
    assert ranked.loc["noise", "held_out"] < 0.02


def test_gaussian_columns_by_integration() -> None:
    """Against SciPy's adaptive quadrature of the same two bells."""
    table = datasets.patients()
    clf = BayesClassifier().fit({"age": table["age"]}, table["drug"])
    bells = [stats.norm(36.3333333, np.sqrt(161.8666667)), stats.norm(47.8333333, np.sqrt(310.9666667))]

    def bits(x: float) -> float:
        p = np.array([0.5 * bell.pdf(x) for bell in bells])
        return float((p * np.log2(p / p.sum() / 0.5)).sum())

    exact = integrate.quad(bits, -60.0, 160.0, limit=200)[0]
    assert clf.rank()["information"].item() == pytest.approx(exact, abs=1e-6)


def test_bells_of_very_different_width() -> None:
    """A needle inside a wide bell tells nearly all: no grid may step over it."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0.0, 1e-6, 500), rng.normal(0.0, 1.0, 500)])
    clf = BayesClassifier(variance_floor=0.0).fit({"x": x}, np.repeat(["needle", "hay"], 500))
    assert clf.rank()["information"].item() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("column", ["pressure", "calls", "income", "late"])
def test_outcomes_are_distributions(column: str) -> None:
    X, y = weather()
    model = BayesClassifier(families=FAMILIES).fit(X, y).model_
    told = [outcomes_of(belief, column, 3) for belief in model.beliefs if column in belief.columns]
    outcomes = next(each for each in told if each is not None)
    np.testing.assert_allclose(outcomes.shares.sum(axis=0), 1.0)
    mean = np.asarray(outcomes.values) @ outcomes.shares
    settled = {"pressure": lambda b: b.mean[:, 0], "calls": lambda b: b.rate[:, 0]}
    for belief in model.beliefs:
        if column in settled and column in belief.columns:
            np.testing.assert_allclose(mean, settled[column](belief.only(column)), rtol=1e-6)
    assert list(outcomes.to_frame(model.classes).columns) == ["dry", "rain", "snow"]


def test_large_counts_are_summed_over_a_grid() -> None:
    rng = np.random.default_rng(0)
    n = np.concatenate([rng.poisson(1_000_000, 50), rng.poisson(1_004_000, 50)]).astype(float)
    clf = BayesClassifier(families="poisson", smoothing=0.0).fit({"n": n}, np.repeat(["a", "b"], 50))
    bells = [stats.norm(rate, np.sqrt(rate)) for rate in (n[:50].mean(), n[50:].mean())]
    x = np.linspace(9.9e5, 1.02e6, 200_001)
    p = np.array([0.5 * bell.pdf(x) for bell in bells])
    exact = np.trapezoid((p * np.log2(p / p.sum(axis=0) / 0.5, where=p > 0, out=np.zeros_like(p))).sum(axis=0), x)
    assert clf.rank()["information"].item() == pytest.approx(exact, abs=2e-3)


def test_gaps_lower_what_a_column_is_worth() -> None:
    whole = {"sky": ["grey", "grey", "blue", "blue"] * 10}
    y = ["wet", "wet", "dry", "dry"] * 10
    half = {"sky": [cell if row % 8 < 4 else None for row, cell in enumerate(whole["sky"])]}
    assert BayesClassifier().fit(whole, y).rank()["information"].item() == pytest.approx(1.0)
    assert BayesClassifier().fit(half, y).rank()["information"].item() == pytest.approx(0.5)


def test_presence_and_words() -> None:
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 4.0], [0.0, 0.0, 4.0]])
    y = ["a", "a", "b", "b"]
    present = BayesClassifier(families="bernoulli").fit(X, y).rank().set_index("column")["information"]
    assert present.to_dict() == pytest.approx({"x0": 1.0, "x1": 0.0, "x2": 1.0})
    words = BayesClassifier(families="multinomial").fit(X, y).rank()
    assert words["column"].tolist()[0] == "x2"
    assert (words["information"] >= 0.0).all()


def test_mean_contribution_on_rows() -> None:
    X, y = weather(classes=("dry", "rain"))
    clf = BayesClassifier(families=FAMILIES).fit(X, y)
    why = clf.explain(X)
    exact = np.abs(why.contributions[:, :, 1] - why.contributions[:, :, 0]).mean(axis=0)
    ranked = clf.rank(X, by="contribution")
    assert ranked["contribution"].is_monotonic_decreasing
    assert ranked.set_index("column")["contribution"].to_dict() == pytest.approx(
        dict(zip(why.columns, exact, strict=True))
    )
    assert (clf.rank(X)["held_out"].diff().dropna() <= 0.0).all()


def test_full_bayes_ranks_by_its_margins() -> None:
    X, y = weather()
    numbers = X[["pressure", "income"]]
    naive, full = BayesClassifier().fit(numbers, y), FullBayesClassifier().fit(numbers, y)
    np.testing.assert_allclose(full.rank()["information"], naive.rank()["information"], atol=1e-9)
    total = entropy(np.unique(y, return_counts=True)[1] / len(y))
    assert (full.rank()["information"] <= total).all()


def test_orders_that_do_not_exist_are_refused() -> None:
    clf = BayesClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(SettingsError, match="Give rows"):
        clf.rank(by="contribution")
    with pytest.raises(SettingsError, match="'held_out', 'information'"):
        clf.rank(by="beauty")


def test_a_text_column_tells_what_its_best_word_tells() -> None:
    mails = datasets.dwarfs()
    table = {"text": mails["text"], "noise": [1, 2, 1, 2]}
    clf = BayesClassifier().fit(table, mails["label"])
    found = clf.rank().set_index("column")["information"]
    assert found["text"] == pytest.approx(1.0)  # "fraßen" and "traten" tell the two kinds of mail apart
    words = clf.rank_words()
    assert set(words["word"][:2]) == {"fraßen", "traten"}
    assert dict(zip(words["word"], words["speaks_for"], strict=True))["traten"] == "SPAM"
    np.testing.assert_allclose(words["information"][2:], 0.0, atol=1e-12)


def test_the_information_of_words_is_that_of_their_tables() -> None:
    texts = ["a1 b1", "a1 c1", "b1 b1", "", None, "c1 a1 b1"]
    y = ["x", "x", "y", "y", "z", "z"]
    words = (
        BayesClassifier(schema={"body": "text"})
        .fit({"body": texts}, y)
        .rank_words("body")
        .set_index("word")["information"]
    )
    held = {"a1": [[2, 0], [0, 2], [1, 0]], "b1": [[1, 1], [1, 1], [1, 0]], "c1": [[1, 1], [0, 2], [1, 0]]}
    assert words.to_dict() == pytest.approx({word: information_gain(table) for word, table in held.items()})


def test_words_of_no_or_of_an_unknown_column_are_refused() -> None:
    mails = datasets.dwarfs()
    with pytest.raises(SettingsError, match="No text column"):
        BayesClassifier().fit({"a": [1.0, 2.0]}, ["x", "y"]).rank_words()
    with pytest.raises(SettingsError, match="the text columns are"):
        BayesClassifier().fit(mails["text"], mails["label"]).rank_words("body")
