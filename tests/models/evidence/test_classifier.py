"""The evidence classifier on raw tables: it learns, explains itself to the last digit, lasts, and refuses nonsense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import likely
from likely import REFUSED, DataError, EvidenceClassifier, Loss, ModelFileError, SettingsError
from likely.models.evidence.prepare import code_counts
from likely.progress import Progress
from likely.stats import Histogram, ValueCounts
from likely.store import container

WEIGHTS = (
    "which rows are held out depends on how many there are, so two rows are not quite one row of weight two; "
    "a row of weight zero, however, is as if it were not there"
)


@parametrize_with_checks(
    [EvidenceClassifier()],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTS for kind in ("dense", "sparse")
    },
)  # type: ignore[untyped-decorator]
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, categories, gaps; the class depends on a number and on two categories together."""
    rng = np.random.default_rng(seed)
    number, a, b = rng.normal(size=n), rng.choice(["x", "y"], n), rng.choice(["u", "v", "w"], n)
    score = 1.5 * number + 3.0 * ((a == "x") == (b == "u")) - 1.0
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")
    table = pd.DataFrame({"number": np.where(rng.random(n) < 0.1, np.nan, number), "a": a, "b": b})
    table.loc[rng.random(n) < 0.1, "b"] = None
    table["constant"] = 1.0
    return table, y


@pytest.fixture(scope="module")
def fitted() -> EvidenceClassifier:
    return EvidenceClassifier().fit(*mixed())


@pytest.fixture(scope="module")
def three() -> EvidenceClassifier:
    return EvidenceClassifier(max_triples=2).fit(*load_iris(return_X_y=True, as_frame=True))


def test_it_finds_the_pair_that_speaks_together(fitted: EvidenceClassifier) -> None:
    assert ("a", "b") in fitted.pairs_
    table, y = mixed(400, seed=1)
    assert fitted.score(table, y) > EvidenceClassifier(max_pairs=0).fit(*mixed()).score(table, y) + 0.05


def test_contributions_add_up(fitted: EvidenceClassifier, three: EvidenceClassifier) -> None:
    for clf, table in ((fitted, mixed(50, 3)[0]), (three, load_iris(as_frame=True).data[::5])):
        why = clf.explain(table)
        np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(table), rtol=0, atol=1e-9)
        np.testing.assert_allclose(why.posterior, clf.predict_proba(table), rtol=0, atol=1e-9)
        odds = clf.explain(table, contrast=clf.classes_.tolist()[0])
        assert len(odds.columns) == len(why.columns)
        assert len(why.to_frame()) == len(table) * (len(why.columns) + 3)


def test_probabilities_are_probabilities(fitted: EvidenceClassifier) -> None:
    table, _ = mixed(50, 4)
    shares = fitted.predict_proba(table)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(table)), shares, atol=1e-12)
    assert (fitted.predict(table) == fitted.classes_[shares.argmax(axis=1)]).all()


def test_gaps_and_values_never_seen(fitted: EvidenceClassifier) -> None:
    table = {
        "number": [None, 1e9, -1e9],
        "a": ["x", "new", None],
        "b": [None, "u", "new"],
        "constant": [1.0, 7.0, None],
    }
    shares = fitted.predict_proba(table)
    assert np.isfinite(shares).all()
    why = fitted.explain(table)
    place = why.columns.index("a")
    assert why.status(1, place) == "unseen"
    assert (why.contributions[1, place] == 0.0).all()
    assert (why.contributions[2, place] == 0.0).all()  # no gap was ever learned there
    pair = why.columns.index("a × b")
    assert (why.contributions[1, pair] == 0.0).all()
    assert why.status(0, pair) == "partly"


def test_the_same_rows_give_the_same_model_with_any_number_of_threads() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    shares = [EvidenceClassifier(n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 1, 3)]
    assert (shares[0] == shares[1]).all()
    assert (shares[0] == shares[2]).all()
    assert not (shares[0] == EvidenceClassifier(random_state=1).fit(X, y).predict_proba(X)).all()


def test_large_tables_do_not_depend_on_threads_either() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 40))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(size=len(X)) > 0).astype(int)
    shares = [EvidenceClassifier(n_jobs=n, max_pairs=8).fit(X, y).predict_proba(X[:500]) for n in (1, 2)]
    assert (shares[0] == shares[1]).all()


def test_one_class() -> None:
    clf = EvidenceClassifier().fit({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]}, ["only"] * 3)
    assert clf.predict({"a": [5.0], "b": ["z"]}).tolist() == ["only"]
    assert clf.predict_proba({"a": [5.0], "b": ["z"]}).tolist() == [[1.0]]


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_very_few_rows(n: int) -> None:
    table = pd.DataFrame({"a": np.arange(n) % 4 * 1.0, "b": ["x", "y"] * (n // 2) + ["x"] * (n % 2)})
    clf = EvidenceClassifier().fit(table, np.arange(n) % 2)
    assert np.isfinite(clf.predict_proba(table)).all()


def test_fifty_rows_of_twenty_four_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(50) % 24
    table = pd.DataFrame(
        {f"c{k}": np.where(rng.random(50) < 0.8, (y >> k) & 1, rng.integers(0, 2, 50)) for k in range(8)}
    )
    clf = EvidenceClassifier(schema=dict.fromkeys(table, "nominal")).fit(table, y)
    shares = clf.predict_proba(table)
    assert shares.shape == (50, 24)
    assert -np.log(shares[np.arange(50), y]).mean() < np.log(24)
    assert clf.score(table, y) > 0.4


def test_only_constant_or_empty_columns() -> None:
    table = {"a": [1.0] * 40, "b": ["x"] * 40, "c": [None] * 40}
    clf = EvidenceClassifier(schema={"c": "numeric"}).fit(table, ["p"] * 30 + ["q"] * 10)
    np.testing.assert_allclose(clf.predict_proba({"a": [1.0], "b": ["x"], "c": [2.0]}), [[0.75, 0.25]], atol=0.05)


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300])
def test_numbers_of_any_size_say_the_same(size: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (200, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=200) > 0.0
    expected = EvidenceClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(EvidenceClassifier().fit(X * size, y).predict_proba(X * size), expected, atol=1e-6)


def test_weights() -> None:
    table, y = mixed()
    weight = np.where(y == "yes", 3.0, 1.0)
    usual, heavy = EvidenceClassifier().fit(table, y), EvidenceClassifier().fit(table, y, sample_weight=weight)
    assert heavy.predict_proba(table)[:, 1].mean() > usual.predict_proba(table)[:, 1].mean() + 0.1
    none = np.concatenate([np.ones(len(y)), np.zeros(20)])
    more = pd.concat([table, table[:20]], ignore_index=True)
    with_none = EvidenceClassifier().fit(more, np.concatenate([y, y[:20]]), sample_weight=none)
    np.testing.assert_allclose(with_none.predict_proba(table), usual.predict_proba(table), atol=1e-12)
    doubled = EvidenceClassifier(max_pairs=0).fit(table, y, sample_weight=np.full(len(y), 2.0))
    assert doubled.summary_.classes.weights.sum() == 2 * len(y)


def test_priors(fitted: EvidenceClassifier) -> None:
    table, _ = mixed(30, 5)
    other = fitted.with_priors({"yes": 0.9, "no": 0.1})
    ratio = np.log(0.9 / 0.1) - np.log(fitted.model_.prior[1] / fitted.model_.prior[0])
    old, new = fitted.predict_joint_log_proba(table), other.predict_joint_log_proba(table)
    np.testing.assert_allclose((new[:, 1] - new[:, 0]) - (old[:, 1] - old[:, 0]), ratio, atol=1e-9)


def test_decisions(fitted: EvidenceClassifier) -> None:
    table, _ = mixed(60, 6)
    loss = Loss({"act": {"yes": 0, "no": 10}, "wait": {"yes": 1, "no": 0}})
    risk = fitted.risk(table, loss)
    shares = fitted.predict_proba(table)
    np.testing.assert_allclose(risk[:, 0], 10 * shares[:, 0], atol=1e-12)
    assert (np.array(["act", "wait"])[risk.argmin(axis=1)] == fitted.decide(table, loss)).all()
    assert (fitted.decide(table, loss, novelty=fitted.novelty(table, 0.1)) == REFUSED).sum() == 6


def test_texts_speak_and_explain_themselves(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["ham", "spam"], 300)
    words = {"ham": ["meeting", "lunch", "report"], "spam": ["win", "money", "now"]}
    text = [" ".join(rng.choice([*words[label], "the", "a", "of"], 4)) for label in y]
    table = pd.DataFrame({"body": text, "length": rng.normal(size=300) + (y == "spam")})
    for columns in (["body", "length"], ["body"]):
        clf = EvidenceClassifier(schema={"body": "text"}).fit(table[columns][:200], y[:200])
        assert clf.score(table[columns][200:], y[200:]) > 0.85
        why = clf.explain(table[columns][200:210])
        np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(table[columns][200:210]), atol=1e-9)
        assert "word" in why.tokens(0)
        place = why.columns.index("body")
        for row, tokens in enumerate(why.words["body"]):  # words count as much as their text does
            said = sum(token.evidence[1] - token.evidence[0] for token in tokens)
            assert said == pytest.approx(why.contributions[row, place, 1] - why.contributions[row, place, 0], abs=1e-9)
        clf.save(tmp_path / "m.likely")
        back = likely.load(tmp_path / "m.likely")
        np.testing.assert_allclose(back.predict_proba(table[columns]), clf.predict_proba(table[columns]), atol=1e-12)


def test_it_lasts(fitted: EvidenceClassifier, three: EvidenceClassifier, tmp_path: Path) -> None:
    for clf, table in ((fitted, mixed(50, 7)[0]), (three, load_iris(as_frame=True).data)):
        clf.save(tmp_path / "m.likely")
        back = likely.load(tmp_path / "m.likely")
        assert isinstance(back, EvidenceClassifier)
        assert (back.predict_proba(table) == clf.predict_proba(table)).all()
        assert back.pairs_ == clf.pairs_
        assert back.summary_.n_rows == clf.summary_.n_rows
        assert back.get_params() == clf.get_params()


def changes() -> list[Any]:
    def cut(entry: dict[str, Any]) -> None:
        entry["columns"][0]["cuts"] = entry["columns"][0]["means"]

    def twice(entry: dict[str, Any]) -> None:
        entry["columns"][1]["name"] = entry["columns"][0]["name"]

    def strange(entry: dict[str, Any]) -> None:
        entry["columns"][1]["levels"] = entry["columns"][1]["levels"][:-1]

    def base(entry: dict[str, Any]) -> None:
        entry["base"] = entry["tables"]

    def rank(entry: dict[str, Any]) -> None:
        entry["rank"] = 10**9

    def groups(entry: dict[str, Any]) -> None:
        entry["columns"][0]["coarse"] = entry["columns"][1]["coarse"]

    def lost(entry: dict[str, Any]) -> None:
        del entry["pairs"]

    def fewer(entry: dict[str, Any]) -> None:
        entry["columns"] = entry["columns"][1:]

    return [cut, twice, strange, base, rank, groups, lost, fewer]


@pytest.mark.parametrize("change", changes(), ids=lambda change: change.__name__)
def test_made_up_files_are_refused(change: Any, fitted: EvidenceClassifier, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    fitted.save(path)
    document, arrays = container.unpack(path.read_bytes())
    change(document["learned"]["evidence"])
    path.write_bytes(container.pack(document, arrays))
    with pytest.raises(ModelFileError):
        likely.load(path)


def test_terms_and_tables_that_do_not_exist_are_refused(fitted: EvidenceClassifier, tmp_path: Path) -> None:
    path = tmp_path / "m.likely"
    fitted.save(path)
    document, arrays = container.unpack(path.read_bytes())
    entry = document["learned"]["evidence"]
    for name, wrong in (
        ("pairs", arrays[entry["pairs"]] + 100),
        ("pairs", arrays[entry["pairs"]][:, ::-1].copy()),
        ("tables", arrays[entry["tables"]] * np.nan),
        ("tables", arrays[entry["tables"]][:-1]),
    ):
        path.write_bytes(container.pack(document, {**arrays, entry[name]: wrong}))
        with pytest.raises(ModelFileError):
            likely.load(path)


def test_what_was_counted_adds_up(fitted: EvidenceClassifier) -> None:
    _, y = mixed()
    for column in fitted.model_.evidence.encoding.columns:  # gaps have a code of their own
        counts = code_counts(column, fitted.summary_)
        np.testing.assert_array_equal(counts[1:].sum(axis=1), column.mass)
        np.testing.assert_array_equal(counts.sum(axis=0), [(y == label).sum() for label in fitted.classes_])
    assert isinstance(fitted.summary_["number"], Histogram)
    assert isinstance(fitted.summary_["a"], ValueCounts)
    both = fitted.summary_ + fitted.summary_
    assert both.n_rows == 2 * len(y)


def test_tables_can_be_read(fitted: EvidenceClassifier) -> None:
    number, pair = fitted.table_of("number"), fitted.table_of("b", "a")
    assert number["number"].iloc[-1] == "gap"
    assert number["weight"].sum() == 240
    assert set(pair["b"]) == {"u", "v", "w", "gap"}
    assert {"no", "yes"} <= set(pair)
    with pytest.raises(SettingsError, match="pairs_"):
        fitted.table_of("number", "nothing")


def test_bins_far_from_zero_have_names_of_their_own() -> None:
    x = 1e15 + np.arange(100.0)
    names = EvidenceClassifier().fit({"x": x}, x > x.mean()).table_of("x")["x"]
    assert names.is_unique


def test_a_notebook_shows_it(fitted: EvidenceClassifier) -> None:
    page = fitted._repr_html_()
    assert "a × b" in page
    assert "240 rows" in page
    assert "EvidenceClassifier" in EvidenceClassifier()._repr_html_()


def test_progress_and_time_limit() -> None:
    steps: list[Progress] = []
    table, y = mixed()
    quick = EvidenceClassifier(progress=steps.append, time_limit=1e-9).fit(table, y)
    assert steps[0].what == "weighing columns"
    assert steps[-1].what == "fitting all rows"
    assert steps[-1].share == 1.0
    assert quick.pairs_ == []
    assert quick.score(table, y) > 0.6


@pytest.mark.parametrize(
    "settings", [{"max_pairs": -1}, {"max_triples": 1.5}, {"time_limit": 0}, {"random_state": "x"}, {"n_jobs": -5}]
)
def test_nonsense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        EvidenceClassifier(**settings).fit(*mixed(40))


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="'a'"):
        EvidenceClassifier().fit({"a": [1.0, np.inf, 2.0, 3.0]}, [0, 1, 0, 1])


def test_clone_keeps_every_parameter(fitted: EvidenceClassifier) -> None:
    assert clone(fitted).get_params() == fitted.get_params()
