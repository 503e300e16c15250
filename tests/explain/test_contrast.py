"""Contrasts: log-odds that add up to those of the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp

from likely import BayesClassifier
from likely.errors import SettingsError
from likely.explain import Contrast
from likely.explain.contrast import log_odds_by_column
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather


@pytest.fixture(scope="module")
def clf() -> BayesClassifier:
    X, y = weather()
    return BayesClassifier(families=FAMILIES).fit(X, y)


def test_two_classes_by_likelihood_ratios(clf: BayesClassifier) -> None:
    X, _ = weather()
    why, contrast = clf.explain(X), clf.explain(X, contrast=("rain", "dry"))
    log_proba = clf.predict_log_proba(X)
    np.testing.assert_allclose(contrast.total, log_proba[:, 1] - log_proba[:, 0], atol=1e-9)
    np.testing.assert_allclose(
        contrast.contributions, why.contributions[:, :, 1] - why.contributions[:, :, 0], atol=1e-12
    )
    np.testing.assert_allclose(contrast.joint, why.joint)
    assert (contrast.target, contrast.rivals, contrast.title) == ("rain", ("dry",), "rain against dry")


@pytest.mark.parametrize("target", ["dry", "rain", "snow"])
def test_one_class_against_the_rest(clf: BayesClassifier, target: str) -> None:
    X, _ = weather()
    contrast = clf.explain(X, contrast=target)
    place = clf.classes_.tolist().index(target)
    proba = clf.predict_proba(X)[:, place]
    joint = clf.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        contrast.total, joint[:, place] - logsumexp(np.delete(joint, place, axis=1), axis=1), atol=1e-9
    )
    np.testing.assert_allclose(contrast.probability, proba, atol=1e-12)
    assert contrast.against == "the rest"
    np.testing.assert_array_equal(clf.explain(X).contrast(target).contributions, contrast.contributions)


def test_one_class_against_some_others(clf: BayesClassifier) -> None:
    X, _ = weather()
    joint = clf.predict_joint_log_proba(X)
    contrast = clf.explain(X, contrast=("rain", ["dry", "snow"]))
    np.testing.assert_allclose(contrast.total, clf.explain(X, contrast="rain").total)
    assert contrast.against == "the rest"
    four, y = weather(classes=("a", "b", "c", "d"))
    contrast = BayesClassifier(families=FAMILIES).fit(four, y).explain(four, contrast=("a", ("b", "c")))
    assert contrast.against == "b or c"
    assert "P(a | a or b or c) = " in str(contrast)
    assert "P(a | a or b or c) = " in contrast._repr_html_()
    assert joint.shape[1] == 3


@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 10_000))
def test_shares_of_the_columns_sum_exactly_and_know_no_units_and_no_order(
    n_classes: int, n_columns: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    evidence = rng.normal(0.0, 10.0 ** rng.integers(-1, 3), (4, n_columns, n_classes))
    rivals = np.arange(1, n_classes)
    prior, shared = log_odds_by_column(log_prior, evidence, 0, rivals)
    joint = log_prior + evidence.sum(axis=1)
    total = joint[:, 0] - logsumexp(joint[:, 1:], axis=1)
    np.testing.assert_allclose(prior + shared.sum(axis=1), total, rtol=1e-10, atol=1e-9)
    in_other_units = evidence + rng.normal(0.0, 5.0, (1, n_columns, 1))
    np.testing.assert_allclose(
        log_odds_by_column(log_prior, in_other_units, 0, rivals)[1], shared, rtol=1e-8, atol=1e-8
    )
    order = rng.permutation(n_columns)
    np.testing.assert_allclose(
        log_odds_by_column(log_prior, evidence[:, order], 0, rivals)[1], shared[:, order], rtol=1e-9, atol=1e-9
    )


@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 10_000))
def test_what_is_impossible_never_makes_a_nan(n_classes: int, n_columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    evidence = rng.normal(size=(6, n_columns, n_classes))
    evidence[rng.random(evidence.shape) < 0.3] = -np.inf
    prior, shared = log_odds_by_column(log_prior, evidence, 0, np.arange(1, n_classes))
    joint = log_prior + evidence.sum(axis=1)
    for row in range(6):
        total, theirs = prior + shared[row].sum(), logsumexp(joint[row, 1:])
        if joint[row, 0] == theirs == -np.inf:
            assert total == prior  # nothing tells the sides apart, for none of them is possible
        elif np.isinf(joint[row, 0]) or np.isinf(theirs):
            assert total == (-np.inf if np.isinf(joint[row, 0]) else np.inf)
        else:
            assert total == pytest.approx(joint[row, 0] - theirs, abs=1e-9)


def test_a_class_without_prior() -> None:
    evidence = np.zeros((1, 2, 3))
    log_prior = np.array([-np.inf, np.log(0.5), np.log(0.5)])
    prior, shared = log_odds_by_column(log_prior, evidence, 0, np.array([1, 2]))
    assert (prior, shared.tolist()) == (-np.inf, [[0.0, 0.0]])
    prior, shared = log_odds_by_column(log_prior, evidence, 1, np.array([0]))
    assert (prior, shared.tolist()) == (np.inf, [[0.0, 0.0]])
    prior, shared = log_odds_by_column(log_prior, evidence, 1, np.array([0, 2]))
    assert (prior, shared.tolist()) == (pytest.approx(0.0), [[0.0, 0.0]])


def test_a_contrast_can_be_read_and_framed() -> None:
    table = datasets.patients()
    drug = table.pop("drug")
    contrast = (
        BayesClassifier(smoothing=0)
        .fit(table, drug)
        .explain({"sex": ["male"], "age": [61], "blood_pressure": ["normal"]}, contrast=("B", "A"))
    )
    assert isinstance(contrast, Contrast)
    assert str(contrast).splitlines() == [
        "B against A              log-odds      odds",
        "prior                     +0.0000     1 : 1",
        "age = 61                  +1.2743  3.58 : 1",
        "sex = male                +0.0000     1 : 1",
        "blood_pressure = normal   +0.0000     1 : 1",
        "together                  +1.2743  3.58 : 1",
        "P(B) = 0.7815",
    ]
    frame = contrast.to_frame()
    assert frame["factor"].tolist() == ["prior", "sex", "age", "blood_pressure", "log-odds"]
    assert frame["B against A"].iloc[:-1].sum() == pytest.approx(frame["B against A"].iloc[-1])
    assert "B against A" in contrast._repr_html_()


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("Rain", "Did you mean 'rain'"),
        (("rain", "hail"), "'hail'"),
        (("rain", "rain"), "must differ"),
        (("rain",), "one class, or two"),
        (("rain", ()), "two at least"),
    ],
)
def test_contrasts_that_make_no_sense(clf: BayesClassifier, wanted: object, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        clf.explain(weather()[0], contrast=wanted)


def test_one_class_has_no_contrast() -> None:
    clf = BayesClassifier().fit({"a": [1.0, 2.0]}, ["x", "x"])
    with pytest.raises(SettingsError, match="one class only"):
        clf.explain({"a": [1.0]}, contrast="x")


def test_labels_may_be_tuples_and_numbers() -> None:
    labels = np.empty(4, dtype=object)
    labels[:] = [("a", 1), ("a", 1), ("b", 2), ("b", 2)]
    clf = BayesClassifier().fit({"x": [1.0, 2.0, 3.0, 4.0]}, labels)
    row = {"x": [1.5]}
    alone = clf.explain(row, contrast=("a", 1))
    assert alone.target == ("a", 1)
    assert clf.explain(row, contrast=(("a", 1), ("b", 2))).total == pytest.approx(alone.total)
    numbered = BayesClassifier().fit({"x": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1])
    assert numbered.explain(row, contrast=(1, 0)).target == 1


def test_labels_of_numpy_are_found() -> None:
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    clf = BayesClassifier().fit(X, [3, 3, 4, 4])
    contrast = clf.explain(X, contrast=clf.classes_[1])
    assert (contrast.target, contrast.rivals) == (4, (3,))
    assert clf.rank(X)["contribution"].tolist() == pytest.approx([np.abs(contrast.contributions).mean()])


@pytest.mark.filterwarnings("error")
def test_a_matrix_is_no_class_and_is_not_compared_with_any() -> None:
    """SciPy trusts the places of a sparse matrix, even of a broken one: comparing it would read foreign memory."""
    clf = BayesClassifier().fit({"x": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 0, 1])
    for wanted in (sparse.csr_array(np.eye(2)), np.eye(2), (sparse.csr_array(np.eye(2)), 1)):
        with pytest.raises(SettingsError, match="contrast"):
            clf.nomogram(wanted)


def test_words_are_told_for_the_classes_that_are_contrasted() -> None:
    texts = ["cheap pills for you", "noon at the cafe", "goals in the final", "cheap goals", "noon is fine", "final"]
    clf = BayesClassifier(schema={"text": "text"}).fit(texts, ["spam", "ham", "sport"] * 2)
    why = clf.explain(["cheap noon final"])
    spam, ham = (why.classes.tolist().index(name) for name in ("spam", "ham"))
    told = why.tokens(0, ("spam", "ham"))
    assert len(told) == 3
    assert np.allclose(told["ratio"], told["spam"] - told["ham"])
    assert why.row_sides(0, ("spam", "ham")) == (spam, ham)
    best, next_best = why.row_sides(0)
    assert why.posterior[0, best] >= why.posterior[0, next_best] >= np.sort(why.posterior[0])[1]
    alone = why.row_sides(0, "ham")
    others = np.delete(why.posterior[0], ham)
    assert alone[0] == ham
    assert why.posterior[0, alone[1]] == others.max()
