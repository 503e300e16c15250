"""Evaluation of tables in files equals that of the same rows in memory; learning on and forgetting are exact."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likely.io.columnar as columnar
from likely import BayesClassifier, FullBayesClassifier, Loss, Report, TreeClassifier, evaluate, train
from likely.errors import DataError, NotMergeable, SettingsError
from likely.models.difference import differences
from likely.streaming.evaluate import evaluate_file
from likely.streaming.passes import MOST_FOLDS
from likely.streaming.transform import convert_file
from likely.streaming.update import forget_file, learn_file


def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    x = rng.normal(np.searchsorted(["a", "b", "c"], y), 1.0).round(4)
    town = np.where(rng.random(n) < 0.6, y, rng.choice(["u", "v"], n))
    x[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"x": x, "town": town, "group": rng.integers(0, 20, n), "y": y})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table().to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("clf", [BayesClassifier(), FullBayesClassifier(), BayesClassifier(priors="uniform")])
@pytest.mark.parametrize("cv", [5, "loo", 0.25])
def test_same_figures_as_in_memory(path: Path, clf: BayesClassifier, cv: int) -> None:
    ours, theirs = evaluate_file(clf, path, "y", cv=cv), evaluate(clf, table(), "y", cv=cv)
    assert ours.how == theirs.how
    np.testing.assert_array_equal(ours.predictions.fold, theirs.predictions.fold)
    assert ours.predictions.posterior is not None
    assert theirs.predictions.posterior is not None
    np.testing.assert_allclose(ours.predictions.posterior, theirs.predictions.posterior, rtol=1e-9, atol=1e-12)
    assert ours.accuracy == theirs.accuracy


@pytest.mark.parametrize("how", [{"cv": 3}, {"cv": 0.25}, {"cv": 3, "groups": "group"}, {"cv": 3, "weight": "group"}])
def test_classifiers_that_do_not_count_are_judged_on_files_too(path: Path, how: dict[str, Any]) -> None:
    """A tree was an AttributeError here, and an estimator of scikit-learn's, too."""
    rows, given, clf = table(), dict(how), TreeClassifier(max_depth=3)
    weight, group = (given.pop(name, None) for name in ("weight", "groups"))
    learned = rows.drop(columns=[name for name in ("y", weight) if name])
    theirs = evaluate(
        clf, learned, rows["y"], groups=None if group is None else rows[group],
        sample_weight=None if weight is None else rows[weight], progress=False, **given,
    )  # fmt: skip
    assert evaluate(clf, str(path), "y", progress=False, **how).log_loss == pytest.approx(theirs.log_loss, rel=1e-12)
    assert clf.schema is None
    numbers = path.with_name("numbers.csv")
    rows[["group", "y"]].to_csv(numbers, index=False)
    if "groups" not in how:
        assert evaluate(LogisticRegression(), str(numbers), "y", cv=3, progress=False).accuracy > 0.3


def test_a_table_in_many_pieces(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is judged by a model of the other folds, whichever piece they lie in."""
    convert_file(path, tmp_path / "rows.parquet")
    monkeypatch.setattr(columnar, "ROWS", 64)
    monkeypatch.setattr(columnar, "GATHER", 64)
    report = evaluate_file(BayesClassifier(), tmp_path / "rows.parquet", "y", cv=4)
    assert report.how == "4-fold cross-validation, stratified in each block, seed 0"
    fold, rows = report.predictions.fold, table()
    assert np.ptp(np.bincount(fold)) <= 8
    for k in range(4):
        model = BayesClassifier().fit(rows[fold != k], "y")
        expected = model.predict_proba(rows[fold == k])
        assert report.predictions.posterior is not None
        np.testing.assert_allclose(report.predictions.posterior[fold == k], expected, rtol=1e-9, atol=1e-12)


def lines(report: Report) -> list[tuple[object, ...]]:
    """Truth, fold and posterior of each row that was judged."""
    predictions = report.predictions
    assert predictions.posterior is not None
    return list(zip(predictions.truth, predictions.fold, map(tuple, predictions.posterior.tolist()), strict=True))


@pytest.mark.parametrize("most", [60, 150])
def test_of_very_many_rows_some_are_judged(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """All rows are learned; those that are judged are judged as they would be if all were."""
    convert_file(path, tmp_path / "rows.parquet")
    monkeypatch.setattr(columnar, "ROWS", 64)
    monkeypatch.setattr(columnar, "GATHER", 64)
    everything = evaluate_file(BayesClassifier(), tmp_path / "rows.parquet", "y", cv=4)
    some = evaluate_file(BayesClassifier(), tmp_path / "rows.parquet", "y", cv=4, most=most)
    n, all_rows = some.n_rows, everything.n_rows
    assert most / 4 <= n <= most < all_rows
    assert some.how.endswith(f"seed 0; {n} of {all_rows} rows, drawn by chance, are judged")
    rest = iter(lines(everything))
    assert all(line in rest for line in lines(some))  # the same lines in the same order, others in between
    clf = BayesClassifier().fit(table(), "y")
    tested = evaluate_file(clf, tmp_path / "rows.parquet", "y", cv=None, most=most)
    assert tested.n_rows == n


def test_losses_and_weights(path: Path, tmp_path: Path) -> None:
    loss = Loss.zero_one(["a", "b", "c"], refuse=0.3)
    ours, theirs = (
        f(BayesClassifier(), x, "y", cv=5, loss=loss) for f, x in ((evaluate_file, path), (evaluate, table()))
    )
    assert ours.expected_cost == pytest.approx(theirs.expected_cost)
    assert ours.coverage == theirs.coverage < 1.0
    weighted = evaluate_file(BayesClassifier(), path, "y", cv=5, weight="group")
    same = evaluate(BayesClassifier(schema={"group": "weight"}), table(), "y", cv=5)
    assert weighted.accuracy == pytest.approx(same.accuracy)


def test_groups_and_repeats(path: Path) -> None:
    groups = table()["group"]
    ours = evaluate_file(BayesClassifier(schema={"group": "ignored"}), path, "y", cv=4, groups="group", repeats=2)
    theirs = evaluate(BayesClassifier(), table().drop(columns="group"), "y", cv=4, groups=groups, repeats=2)
    assert ours.accuracy == pytest.approx(theirs.accuracy)


def test_a_model_on_a_test_set(path: Path, tmp_path: Path) -> None:
    clf = train(path, "y", model="naive")
    table(100).to_csv(tmp_path / "test.csv", index=False)
    ours, theirs = evaluate_file(clf, tmp_path / "test.csv", cv=None), evaluate(clf, table(100), "y", cv=None)
    np.testing.assert_array_equal(ours.confusion.to_numpy(), theirs.confusion.to_numpy())
    (tmp_path / "odd.csv").write_text("x,town,group,y\n1,u,1,7\n")
    with pytest.raises(DataError, match="No label in column 'y' is a class"):
        evaluate_file(clf, tmp_path / "odd.csv", cv=None)


def test_more_folds_than_rows(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    with pytest.raises(SettingsError, match="only 3 rows"):
        evaluate_file(BayesClassifier(), tmp_path / "few.csv", "y", cv=10)


def test_a_billion_folds_are_refused_before_any_is_dealt(tmp_path: Path) -> None:
    """And as many folds as there are rows are one row each, however many these are."""
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    tracemalloc.start()
    with pytest.raises(SettingsError, match="1000000000 folds, but there are only 3 rows"):
        evaluate_file(BayesClassifier(), tmp_path / "few.csv", "y", cv=10**9)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 64 << 20
    rows = MOST_FOLDS + 1
    frame = pd.DataFrame({"x": np.arange(rows) % 7, "y": np.arange(rows) % 2})
    frame.to_csv(tmp_path / "more.csv", index=False)
    found = evaluate_file(BayesClassifier(), tmp_path / "more.csv", "y", cv=rows)
    assert found.log_loss == pytest.approx(evaluate(BayesClassifier(), frame[["x"]], frame["y"], cv="loo").log_loss)


def test_live_model_on_and_forgetting_are_exact(path: Path, tmp_path: Path) -> None:
    rows = table()
    rows[:250].to_csv(tmp_path / "a.csv", index=False)
    rows[250:].to_csv(tmp_path / "b.csv", index=False)
    whole, part = train(path, "y", model="naive"), train(tmp_path / "a.csv", "y", model="naive")
    learn_file(part, tmp_path / "b.csv")
    assert differences(whole, part) == []
    forget_file(part, tmp_path / "b.csv")
    assert differences(train(tmp_path / "a.csv", "y", model="naive"), part) == []
    (tmp_path / "strange.csv").write_text("x,town,group,y\n1,nowhere,1,a\n")
    with pytest.raises(NotMergeable):
        forget_file(part, tmp_path / "strange.csv")


def test_recipes_hold_for_files(tmp_path: Path) -> None:
    from likely.text.tokenizer import Tokenizer

    texts = ["one two three four", "two three four five", "one one two nine"] * 4
    pd.DataFrame({"body": texts, "y": ["p", "q", "p"] * 4}).to_csv(tmp_path / "t.csv", index=False)
    clf = train(tmp_path / "t.csv", "y", model="naive", schema={"body": "text"}, text=Tokenizer(ngram_range=(1, 2)))
    assert "two three" in clf.summary_["body"].words.to_list()  # type: ignore[attr-defined]
