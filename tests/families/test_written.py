"""What families write down for others scores as they do: as SQL, as tensors of ONNX, as rules for a page."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import multivariate_normal

from likely import AODEClassifier, BayesClassifier, FullBayesClassifier
from likely.arrays import Array
from likely.families import bernoulli, multivariate_export, text_family
from likely.families.aode import Aode
from likely.families.multivariate import MultivariateGaussian
from likely.families.protocol import Described
from likely.families.tempered import Tempered
from likely.stats.pair_counts import Cuts
from likely.table import as_table
from tests.models.test_onnx import run

N, K = 90, 3
rng = np.random.default_rng(9)
Y = np.array(["p", "q", "r"])[np.arange(N) % K]
SHIFT = np.arange(N) % K


def holed(cells: Array) -> list[Any]:
    return [None if gap else cell for gap, cell in zip(rng.random(len(cells)) < 0.08, cells.tolist(), strict=True)]


A = rng.normal(size=N) + SHIFT
NUMBERS = {"a": holed(A), "b": holed(0.5 * A + rng.normal(size=N)), "c": holed(rng.normal(size=N) * (1 + SHIFT))}
MIXED = {"a": NUMBERS["a"], "town": holed(rng.choice(["u", "v", "w"], N)), "kind": holed(rng.choice(["s", "t"], N))}
COUNTS = {"a": holed(rng.poisson(1.0 + SHIFT).astype(float)), "b": holed(rng.poisson(2.0, N).astype(float))}
APART = {"town": holed(np.array(["u", "v", "w"])[SHIFT]), "kind": holed(np.array(["s", "t"])[np.arange(N) % 2])}
WORDS = {
    "text": [
        " ".join(rng.choice(["ant", "bee", "cat", "dog", "eel", "fox", "gnu"], size)) for size in rng.integers(0, 7, N)
    ]
}
WORDS["text"][3] = None  # type: ignore[call-overload]
ASKED: dict[str, dict[str, Any]] = {
    "numbers": {"a": [0.3, None, None, -40.0, 1e90, 2.0], "b": [0.1, 0.2, None, 9.0, 1e-150, None],
                "c": [None, 1.0, None, 0.0, 1.0, None]},
    "mixed": {"a": [0.3, None, None, 2.0, 0.1], "town": ["u", "new", None, "w", "new"],
              "kind": ["t", "s", None, None, "new"]},
    "apart": {"town": ["u", "v", None, "new"], "kind": ["s", None, "t", "new"]},
    "counts": {"a": [0.0, 3.0, None, -1.0], "b": [1.0, None, 0.0, 0.0]},
    "words": {"text": ["ant bee ant", "strange", "", "gnu ant strange gnu gnu"]},
}  # fmt: skip
CASES: dict[str, tuple[Any, str]] = {
    "bells": (BayesClassifier(), "numbers"),
    "bells and gaps": (BayesClassifier(missing="value"), "numbers"),
    "weighed": (BayesClassifier(weights="learned"), "numbers"),
    "tied bells": (FullBayesClassifier(), "numbers"),
    "bells of one shape": (FullBayesClassifier(covariance="pooled"), "numbers"),
    "bells alone": (FullBayesClassifier(covariance="diagonal"), "numbers"),
    "shares": (BayesClassifier(missing="value", unseen="smooth"), "mixed"),
    "bins": (BayesClassifier(families={"a": "bins"}, bins=4, missing="value"), "mixed"),
    "bins of a tree": (BayesClassifier(families={"a": "tree-bins"}), "mixed"),
    "one parent each": (AODEClassifier(), "mixed"),
    "frequent parents": (AODEClassifier(min_cases=40), "mixed"),
    "what was never seen together is impossible": (AODEClassifier(smoothing=0), "apart"),
    "shares without smoothing": (BayesClassifier(smoothing=0), "apart"),
    "rates": (BayesClassifier(families="poisson"), "counts"),
    "rates without smoothing": (BayesClassifier(families="poisson", smoothing=0), "counts"),
    "logarithms": (BayesClassifier(families="lognormal"), "counts"),
    "presence": (BayesClassifier(families="bernoulli"), "counts"),
    "counts": (BayesClassifier(families="multinomial"), "counts"),
    "words": (BayesClassifier(schema={"text": "text"}), "words"),
    "rare words": (BayesClassifier(schema={"text": "text"}, weighting="tf-idf"), "words"),
    "presence of words": (BayesClassifier(schema={"text": "text"}, families={"text": "bernoulli"}), "words"),
    "words elsewhere": (BayesClassifier(schema={"text": "text"}, families={"text": "complement"}), "words"),
}
ROWS: dict[str, dict[str, Any]] = {"numbers": NUMBERS, "mixed": MIXED, "apart": APART, "counts": COUNTS, "words": WORDS}


def learned(how: str) -> tuple[Any, list[dict[str, Any]]]:
    """A classifier, and tables that it is asked about."""
    clf, kind = CASES[how]
    rows = ROWS[kind]
    if how == "logarithms":
        rows = {name: [None if cell is None else cell + 0.5 for cell in cells] for name, cells in rows.items()}
    return type(clf)(**clf.get_params(deep=False)).fit(rows, Y), [rows, ASKED[kind]]


@pytest.mark.parametrize("how", CASES)
def test_what_a_query_adds_up_is_what_each_column_says(how: str) -> None:
    clf, tables = learned(how)
    for rows in tables:
        ids = {**rows, "row": list(range(len(next(iter(rows.values())))))}
        engine = duckdb.connect()
        engine.register("t", pa.table(ids))
        found = engine.sql(clf.to_sql("duckdb", "t", output="explanation")).to_arrow_table().sort_by("row")
        why, labels = clf.explain(rows), clf.classes_.tolist()
        for place, name in enumerate(why.columns):
            told = np.column_stack([found.column(f"{name}: {label}").to_pylist() for label in labels]).astype(float)
            expected = why.contributions[:, place]
            if how in ("rates", "rates without smoothing"):  # log x! is the same for all classes, and left out
                both = np.isfinite(expected[:, 0])
                told, expected = (cells[both] - cells[both, :1] for cells in (told, expected))
            np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-9)
        shares = engine.sql(clf.to_sql("duckdb", "t")).to_arrow_table().sort_by("row")
        got = np.column_stack([shares.column(f"P({label})").to_pylist() for label in labels]).astype(float)
        np.testing.assert_allclose(got, clf.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("how", [how for how, (_, kind) in CASES.items() if kind != "words"])
def test_tensors_give_the_same_shares(how: str) -> None:
    clf, tables = learned(how)
    for rows in tables:
        label, shares = run(clf, rows)
        np.testing.assert_allclose(shares, clf.predict_proba(rows), rtol=0, atol=1e-9)
        assert label.tolist() == clf.predict(rows).tolist()


def test_a_row_with_a_gap_has_no_answer_where_too_many_factors_would_be_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three classes have six factors each; classes that share them have six in all."""
    for covariance, factors in (("full", 18), ("pooled", 6)):
        clf = FullBayesClassifier(covariance=covariance).fit(NUMBERS, Y)  # type: ignore[arg-type]
        for most, answered in ((factors, [True, True]), (factors - 1, [True, False])):
            monkeypatch.setattr(multivariate_export, "MOST_FACTORS", most)
            engine = duckdb.connect()
            engine.register("t", pa.table({"a": [0.1, None], "b": [0.2, 0.2], "c": [0.3, 0.3], "row": [0, 1]}))
            found = engine.sql(clf.to_sql("duckdb", "t")).to_arrow_table().sort_by("row")
            assert [share is not None for share in found.column("P(p)").to_pylist()] == answered
            assert found.column("P(p)").to_pylist()[0] == pytest.approx(
                clf.predict_proba({"a": [0.1], "b": [0.2], "c": [0.3]})[0, 0], abs=1e-9
            )


def told_by_a_query(clf: Any, rows: dict[str, Any]) -> Array:
    """What each column adds (rows × columns × classes)."""
    engine = duckdb.connect()
    engine.register("t", pa.table({**rows, "row": list(range(len(next(iter(rows.values())))))}))
    found = engine.sql(clf.to_sql("duckdb", "t", output="explanation")).to_arrow_table().sort_by("row")
    names = clf.explain(rows).columns
    told = [[found.column(f"{name}: {label}").to_pylist() for label in clf.classes_.tolist()] for name in names]
    return np.array(told, dtype=float).transpose(2, 0, 1)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_rows_in_the_middle_and_far_away(covariance: Any) -> None:
    """Where a square is zero, and where it would leave the floats and is bent."""
    clf = FullBayesClassifier(covariance=covariance).fit(NUMBERS, Y)
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, MultivariateGaussian)
    a, b, c = belief.margins.mean[1].tolist()
    rows = {"a": [a, a, 1e130, -1e140, None, a], "b": [b, None, b, 1e120, 1e150, b], "c": [c, c, c, None, None, -1e135]}
    expected = clf.explain(rows).contributions
    told = told_by_a_query(clf, rows)
    np.testing.assert_allclose(told[:2], expected[:2], rtol=1e-9)
    np.testing.assert_allclose(told[:, 1:], expected[:, 1:], rtol=1e-9)  # of the first, a query has what is nearer
    assert np.abs(expected[2:, 1:]).max() > 1e200


def test_a_number_at_a_cut_is_above_it() -> None:
    clf = AODEClassifier(bins=3).fit(MIXED, Y)
    cuts = np.asarray(clf.cuts_["a"]).tolist()
    rows = {"a": [*cuts, *np.nextafter(cuts, -9.0)], "town": ["u", "w"] * len(cuts), "kind": ["s", "t"] * len(cuts)}
    np.testing.assert_allclose(told_by_a_query(clf, rows), clf.explain(rows).contributions, rtol=1e-9)
    _, shares = run(clf, rows)
    np.testing.assert_allclose(shares, clf.predict_proba(rows), rtol=0, atol=1e-9)
    assert not np.allclose(shares[: len(cuts)], shares[len(cuts) :])


def test_a_constant_column_is_left_out_of_a_query() -> None:
    rows = {**NUMBERS, "d": [7.0] * N}
    for covariance in ("full", "pooled"):
        clf = FullBayesClassifier(covariance=covariance).fit(rows, Y)  # type: ignore[arg-type]
        engine = duckdb.connect()
        engine.register("t", pa.table({**rows, "row": list(range(N))}))
        found = engine.sql(clf.to_sql("duckdb", "t", output="explanation")).to_arrow_table().sort_by("row")
        why = clf.explain(rows)
        for place, name in enumerate(why.columns):
            told = np.column_stack([found.column(f"{name}: {label}").to_pylist() for label in "pqr"]).astype(float)
            np.testing.assert_allclose(told, why.contributions[:, place], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_texts_without_any_word_add_nothing(family: str) -> None:
    """Single letters are no words: there is nothing to look up, and a query all the same."""
    rows = {"text": ["a", "b", "c"] * 4, "x": [1.0, 2.0, 4.0] * 4}
    clf = BayesClassifier(schema={"text": "text"}, families={"text": family}).fit(rows, list("pqr") * 4)
    engine = duckdb.connect()
    engine.register("t", pa.table({**rows, "row": list(range(12))}))
    found = engine.sql(clf.to_sql("duckdb", "t")).to_arrow_table().sort_by("row")
    got = np.column_stack([found.column(f"P({label})").to_pylist() for label in "pqr"]).astype(float)
    np.testing.assert_allclose(got, clf.predict_proba(rows), rtol=0, atol=1e-9)


# Rules that a page follows.


def evidence(belief: Any, rows: dict[str, Any]) -> Array:
    joint = np.zeros((len(next(iter(rows.values()))), K))
    belief.bind(as_table(rows))(slice(0, len(joint)), joint)
    return joint


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_bells_describe_themselves_by_means_deviations_and_correlations(covariance: Any) -> None:
    (belief,) = FullBayesClassifier(covariance=covariance).fit(NUMBERS, Y).model_.beliefs
    assert isinstance(belief, MultivariateGaussian)
    told = belief.described()
    assert told is not None and told["is"] == "bell"
    mean, deviation, correlation = (np.asarray(told[name]) for name in ("mean", "deviation", "correlation"))
    rows = np.array([[0.1, 0.2, 0.3], [np.nan, 1.0, -1.0]])
    expected = np.zeros((2, K))
    for i, row in enumerate(rows):
        known = np.flatnonzero(~np.isnan(row))
        for c in range(K):
            matrix = np.outer(deviation[c], deviation[c]) * correlation[c % len(correlation)]
            bell = multivariate_normal(mean[c, known], matrix[np.ix_(known, known)])
            expected[i, c] = bell.logpdf(row[known])
    np.testing.assert_allclose(evidence(belief, dict(zip("abc", rows.T, strict=True))), expected, rtol=1e-9)
    (alone,) = FullBayesClassifier(covariance="diagonal").fit(NUMBERS, Y).model_.beliefs
    assert isinstance(alone, Described) and alone.described() is None


def test_pairs_describe_themselves_by_their_tables() -> None:
    (belief,) = AODEClassifier(min_cases=40).fit(MIXED, Y).model_.beliefs
    assert isinstance(belief, Aode)
    told = belief.described()
    assert told["is"] == "aode" and told["single"] is belief.single and told["given"] is belief.given
    assert told["parents"] is belief.is_parent and 0 < belief.is_parent.sum() < len(belief.is_parent)
    axes = told["axes"]
    assert isinstance(axes, list) and isinstance(belief.axes[0], Cuts)
    assert axes[0]["cuts"].tolist() == belief.axes[0].at.tolist() and axes[1]["levels"] == ("u", "v", "w")
    assert belief.work == 9


def test_too_many_words_are_not_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven words: a weight for each class of three, or a line of presence each, of which fewer are written."""
    for how, module, most in (("words", text_family, 21), ("words elsewhere", text_family, 21),
                              ("presence of words", bernoulli, 7 << 6)):  # fmt: skip
        clf, _ = learned(how)
        (belief,) = clf.model_.beliefs
        assert isinstance(belief, Described) and len(belief.reader.words) == 7  # type: ignore[attr-defined]
        monkeypatch.setattr(module, "MOST_WRITTEN", most)
        assert belief.described() is not None
        monkeypatch.setattr(module, "MOST_WRITTEN", most - 1)
        assert belief.described() is None and Tempered(belief, 0.5).described() is None


@pytest.mark.parametrize("weight", [None, 0.25])
@pytest.mark.parametrize("how", ["words", "rare words", "presence of words", "words elsewhere"])
def test_words_describe_themselves_by_their_lines(how: str, weight: float | None) -> None:
    clf, _ = learned(how)
    (belief,) = clf.model_.beliefs
    asked = belief if weight is None else Tempered(belief, weight)
    told = asked.described()
    assert told is not None and told.get("weight") == weight
    words, texts = told["words"], [["ant", "bee", "ant"], ["gnu"], [], ["strange"]]
    assert isinstance(words, list)
    expected = np.zeros((len(texts), K))
    for place, text in enumerate(texts):
        counts = np.array([text.count(word) for word in words], dtype=float)
        if told["is"] == "words":
            expected[place] = counts @ np.asarray(told["lines"]) + np.asarray(told["bias"])
        elif counts.any():
            there = (counts > 0.0)[:, None]
            lines = np.where(there, np.asarray(told["present"]), np.asarray(told["absent"]))
            expected[place] = lines.sum(axis=0)
    found = evidence(asked, {"text": np.array([" ".join(text) for text in texts], dtype=object)})
    np.testing.assert_allclose(found, expected * (1.0 if weight is None else weight), rtol=1e-9, atol=1e-12)
