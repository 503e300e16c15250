"""Columns ranked by what any classifier does with them, and importances where scikit-learn looks for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFromModel

from likely import BayesClassifier, CalibratedClassifier, EvidenceClassifier, SVMClassifier, TreeClassifier
from likely.errors import SettingsError
from likely.measures import held_out_information, information_gain


@pytest.fixture
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    sky = rng.choice(["grey", "blue"], 240)
    wet = rng.random(240) < np.where(sky == "grey", 0.9, 0.1)
    return pd.DataFrame(
        {
            "noise": rng.normal(size=240),
            "sky": sky,
            "wind": rng.normal(size=240) + wet,
            "y": np.where(wet, "wet", "dry"),
        }
    )


@pytest.mark.parametrize(
    "classifier",
    [BayesClassifier(), EvidenceClassifier(), TreeClassifier(), CalibratedClassifier(BayesClassifier())],
    ids=lambda clf: type(clf).__name__,
)
def test_importances_are_shares_in_the_order_of_the_table(classifier: BayesClassifier, rows: pd.DataFrame) -> None:
    clf = classifier.fit(rows, "y")
    found = clf.feature_importances_
    assert found.shape == (clf.n_features_in_,) and found.sum() == pytest.approx(1.0)
    assert list(clf.feature_names_in_[np.argsort(-found)]) == ["sky", "wind", "noise"]
    ranked = clf.rank().set_index("column")["held_out"]
    np.testing.assert_allclose(found, (ranked / ranked.sum())[list(clf.feature_names_in_)])


def test_scikit_learn_selects_columns_by_them(rows: pd.DataFrame) -> None:
    selected = SelectFromModel(BayesClassifier(), max_features=2, threshold=-np.inf).fit(
        rows.drop(columns="y"), rows["y"]
    )
    assert list(selected.get_feature_names_out()) == ["sky", "wind"]


def test_a_tree_ranks_by_its_tests(rows: pd.DataFrame) -> None:
    """One test, so the bits of its table; and none where it tests nothing."""
    clf = TreeClassifier(max_depth=1).fit(rows[["sky", "noise", "y"]], "y")
    ranked = clf.rank().set_index("column")
    table = pd.crosstab(rows["y"], rows["sky"]).to_numpy()
    assert ranked.loc["sky", "information"] == pytest.approx(information_gain(table))
    assert ranked.loc["sky", "held_out"] == pytest.approx(held_out_information(table))
    assert ranked.loc["noise", "held_out"] == 0.0


def test_what_counted_nothing_is_ranked_by_shuffling(rows: pd.DataFrame) -> None:
    clf = SVMClassifier().fit(rows, "y")
    with pytest.raises(SettingsError, match=r"rank\(X, y\)"):
        clf.rank()
    with pytest.raises(AttributeError, match="counted nothing by column"):
        clf.feature_importances_  # noqa: B018
    by_labels, expected = clf.rank(rows, "y"), clf.rank(rows.drop(columns="y"))
    assert list(by_labels.columns) == ["column", "permutation"]
    assert by_labels["column"].tolist()[0] == expected["column"].tolist()[0] == "sky"
    assert by_labels["permutation"].iloc[0] > 0.2


def test_shuffling_costs_what_log_loss_says() -> None:
    """A column that decides all, in equal parts: half of the shuffled rows are sure and wrong."""
    rows = {"sky": ["grey", "blue"] * 500}
    y = ["wet", "dry"] * 500
    clf = BayesClassifier(smoothing=1.0).fit(rows, y)
    right, wrong = np.log2(501 / 502), np.log2(1 / 502)
    found = clf.rank(rows, y, by="permutation")["permutation"].item()
    assert found == pytest.approx(0.5 * (right - wrong), rel=0.1)
    assert clf.rank(rows, y, by="permutation")["permutation"].item() == found  # nothing is left to luck


def test_labels_that_were_never_learned_are_refused() -> None:
    clf = BayesClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(SettingsError, match="None of the labels"):
        clf.rank({"x": [1.0]}, ["c"])
