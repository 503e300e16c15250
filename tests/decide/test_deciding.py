"""Decisions of least expected cost: worked example O, refusals, ties, and costs of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from likely import REFUSED, BayesClassifier, Loss, SettingsError
from likely.decide import decide_posterior, risk_of_posterior
from likely.models.classifier import Classifier
from likely.parallel import row_blocks
from likely.teaching import datasets

CREDIT = {"grant": {"good": 0, "bad": 5}, "deny": {"good": 1, "bad": 0}}


def two_classes(n: int = 400, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, 3)) + y[:, None], np.where(y, "good", "bad")


class Plain(Classifier):
    """A classifier of which nothing but its posteriors is known."""

    def __init__(self, posterior: Any, classes: Any) -> None:
        self.posterior, self.classes_ = np.asarray(posterior), np.asarray(classes)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.posterior


# Worked example O


def test_the_risk_of_a_decision_is_its_expected_loss() -> None:
    X, y = two_classes()
    clf = BayesClassifier().fit(X, y)
    loss = Loss(CREDIT)
    share = dict(zip(clf.classes_, clf.predict_proba(X).T, strict=True))
    by_hand = np.column_stack([5 * share["bad"], share["good"]])
    np.testing.assert_allclose(clf.risk(X, loss), by_hand, rtol=1e-12)
    best = np.array(["grant", "deny"])[by_hand.argmin(axis=1)]
    assert clf.decide(X, loss).tolist() == best.tolist()
    assert set(best) == {"grant", "deny"}
    assert clf.decide(X, CREDIT).tolist() == best.tolist()


@pytest.mark.parametrize("n_classes", [1, 2, 3, 17])
def test_zero_one_loss_is_predict(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(500, 2)).astype(float), rng.integers(0, n_classes, 500)
    clf = BayesClassifier(families="categorical").fit(X, y)
    for loss in (Loss.zero_one(clf.classes_), Loss.zero_one(clf.classes_, refuse=2), 3 * np.eye(n_classes) * -1 + 3):
        given = loss if isinstance(loss, Loss) else Loss(loss, decisions=clf.classes_, truths=clf.classes_)
        decided = clf.decide(X, given)
        assert decided.tolist() == clf.predict(X).tolist()
        assert decided.dtype == (object if given.refuse else clf.predict(X).dtype)


def test_zero_one_loss_is_predict_even_where_posteriors_round_to_a_tie() -> None:
    """Two classes that differ by less than a posterior can show."""
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    clf = BayesClassifier(priors=[0.5 - 1e-16, 0.5 + 1e-16]).fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(clf.decide(X, Loss.zero_one([0, 1])), clf.predict(X))
    np.testing.assert_array_equal(clf.decide(X, Loss.binary()), clf.predict(X))


def test_a_risk_is_not_lost_to_rounding() -> None:
    """1 − P would be 0 here, and a dear enough mistake still matters."""
    posterior = [[1e-20, 1.0]]
    assert risk_of_posterior(posterior, [0, 1], Loss.zero_one([0, 1])).tolist() == [[1.0, 1e-20]]
    assert decide_posterior(posterior, [0, 1], Loss.binary(false_alarm=1e21, miss=1)).tolist() == [0]


def test_ties_go_to_the_first_decision() -> None:
    even = [[0.5, 0.5]]
    assert decide_posterior(even, ["x", "y"], Loss.zero_one(["y", "x"])).tolist() == ["y"]
    assert decide_posterior(even, ["x", "y"], {"b": {"x": 1, "y": 1}, "a": {"x": 2, "y": 0}}).tolist() == ["b"]
    assert decide_posterior(even, ["x", "y"], Loss.zero_one(["x", "y"], refuse=0.5)).tolist() == ["x"]


# Decisions that are no classes, and a price for refusing


def test_more_and_fewer_decisions_than_classes() -> None:
    posterior = [[0.8, 0.1, 0.1], [0.1, 0.45, 0.45]]
    loss = {"a": {"x": 0, "y": 9, "z": 9}, "b": {"x": 1, "y": 1, "z": 1}}
    assert decide_posterior(posterior, ["x", "y", "z"], loss).tolist() == ["b", "b"]
    four = np.array([[0, 2, 2], [2, 0, 2], [2, 2, 0], [1, 0.5, 0.5]])
    decided = decide_posterior(posterior, ["x", "y", "z"], Loss(four, decisions=[1, 2, 3, 4], truths="xyz"))
    assert decided.tolist() == [1, 4]


def test_refusals() -> None:
    posterior = [[0.95, 0.05], [0.8, 0.2], [0.5, 0.5]]
    clf = Plain(posterior, ["good", "bad"])
    loss = Loss(CREDIT, refuse=0.3)
    assert clf.decide(None, loss).tolist() == ["grant", REFUSED, REFUSED]
    np.testing.assert_allclose(clf.risk(None, loss), [[0.25, 0.95, 0.3], [1.0, 0.8, 0.3], [2.5, 0.5, 0.3]])
    frame = clf.decisions(None, loss)
    assert frame["decision"].tolist() == ["grant", REFUSED, REFUSED]
    assert frame["reason"].tolist() == ["", "ambiguous", "ambiguous"]
    np.testing.assert_allclose(frame["risk"], [0.25, 0.3, 0.3])
    assert clf.decisions(None, CREDIT)["reason"].tolist() == ["", "", ""]
    np.testing.assert_allclose(clf.decisions(None, CREDIT)["risk"], [0.25, 0.8, 0.5])


def test_a_dearer_refusal_is_rarer() -> None:
    X, y = two_classes()
    clf = BayesClassifier().fit(X, y)
    rates = [(clf.decide(X, Loss(CREDIT, refuse=price)) == REFUSED).mean() for price in (0, 0.1, 0.3, 0.6, 0.9)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 1.0
    assert rates[-1] == 0.0


def test_the_frame_keeps_the_index() -> None:
    X, y = two_classes(20)
    table = pd.DataFrame(X, columns=list("abc"), index=[f"row {k}" for k in range(20)])
    frame = BayesClassifier().fit(table, y).decisions(table, Loss(CREDIT))
    assert frame.index.tolist() == table.index.tolist()
    assert list(frame) == ["decision", "risk", "reason"]


# Costs of each row


def test_rows_with_costs_of_their_own() -> None:
    """A refused loan costs the interest, a bad one the amount."""
    X, y = two_classes()
    clf = BayesClassifier().fit(X, y)
    amount = np.random.default_rng(1).uniform(1, 100, len(X))
    costs = np.zeros((len(X), 2, 2))
    costs[:, 0, 1], costs[:, 1, 0] = amount, 0.2 * amount.mean()
    loss = Loss(costs, decisions=["grant", "deny"], truths=["good", "bad"], refuse=7)
    bad, good = clf.predict_proba(X).T
    np.testing.assert_allclose(
        clf.risk(X, loss), np.column_stack([bad * amount, good * 0.2 * amount.mean(), np.full(len(X), 7)]), rtol=1e-12
    )
    expected = clf.risk(X, loss).argmin(axis=1)
    assert clf.decide(X, loss).tolist() == [loss.options[k] for k in expected]
    assert set(expected) == {0, 1, 2}
    with pytest.raises(SettingsError, match="costs for 400 rows, but the table has 3"):
        clf.decide(X[:3], loss)


def test_equal_costs_by_row_and_for_all_rows_agree_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    posterior, costs = rng.dirichlet(np.ones(6), 100), rng.normal(size=(4, 6))
    names = {"decisions": range(4), "truths": [5, 4, 3, 2, 1, 0]}
    once, by_row = Loss(costs, **names), Loss(np.tile(costs, (100, 1, 1)), **names)
    one = risk_of_posterior(posterior, range(6), once)
    np.testing.assert_array_equal(one, risk_of_posterior(posterior, range(6), by_row))
    np.testing.assert_array_equal(one[7:8], risk_of_posterior(posterior[7:8], range(6), once))
    np.testing.assert_allclose(one, posterior @ costs[:, ::-1].T, rtol=1e-12, atol=1e-12)


# Labels


def test_labels_come_back_as_they_went_in() -> None:
    X, _ = two_classes(60)
    for labels in ([3, 1, 2], [True, False, True], [("a", 1), ("b", 2), ("c", 3)], ["x", "y", "z"], [1.0, 2.0, 3.0]):
        y = [labels[k % 3] for k in range(60)]
        clf = BayesClassifier().fit(X, y)
        decided = clf.decide(X, Loss.zero_one(clf.classes_.tolist()))
        assert decided.tolist() == clf.predict(X).tolist()
        assert decided.dtype == clf.predict(X).dtype
        refusing = clf.decide(X, Loss.zero_one(clf.classes_.tolist(), refuse=5))
        assert refusing.tolist() == clf.predict(X).tolist()


def test_numbers_written_as_text_are_found() -> None:
    """As files and JSON write them."""
    posterior, classes = [[0.9, 0.1], [0.4, 0.6]], np.array([0, 1])
    loss = {"0": {"0": 0, "1": 1}, "1": {"0": 1, "1": 0}}
    decided = decide_posterior(posterior, classes, loss)
    assert decided.tolist() == [0, 1]
    assert decided.dtype == classes.dtype


def test_a_class_without_costs_is_named() -> None:
    posterior = [[0.5, 0.5]]
    with pytest.raises(SettingsError, match=r"no cost for the class 'good'; its truths are 'god', 'bad'.*mean 'god'"):
        decide_posterior(posterior, ["good", "bad"], {"grant": {"god": 0, "bad": 5}})


def test_a_truth_that_was_never_learned_is_no_matter() -> None:
    """A fold may lack a rare class; the loss of the whole stays valid."""
    X, y = two_classes(50)
    clf = BayesClassifier().fit(X, y)
    more = Loss.zero_one(["bad", "good", "ugly"])
    assert clf.decide(X, more).tolist() == clf.predict(X).tolist()
    assert clf.risk(X, more)[:, 2].tolist() == pytest.approx(np.ones(50))


# Extremes


def test_one_class() -> None:
    clf = BayesClassifier().fit([[1.0], [2.0]], ["good", "good"])
    assert clf.decide([[5.0]], CREDIT).tolist() == ["grant"]
    assert clf.risk([[5.0]], Loss(CREDIT, refuse=0.1)).tolist() == [[0.0, 1.0, 0.1]]
    assert clf.risk([[5.0]], Loss.zero_one(["good"])).tolist() == [[0.0]]


def test_posteriors_that_are_zero_and_rows_that_are_impossible() -> None:
    X = {"sky": ["grey", "grey", "blue"]}
    clf = BayesClassifier(smoothing=0).fit(X, ["wet", "wet", "dry"])
    loss = Loss({"umbrella": {"wet": 0, "dry": 1}, "hat": {"wet": 1e300, "dry": 0}})
    assert clf.decide(X, loss).tolist() == ["umbrella", "umbrella", "hat"]
    far = BayesClassifier().fit([[0.0], [1.0], [1000.0], [1001.0]], [0, 0, 1, 1])
    assert far.risk([[0.5], [1000.5], [1e9]], Loss.binary(1, 5)).min() == 0.0
    none = BayesClassifier(smoothing=0).fit({"a": list("xy"), "b": list("xy")}, [0, 1])
    np.testing.assert_allclose(none.risk({"a": ["x"], "b": ["y"]}, Loss.binary(1, 5)), [[2.5, 0.5]])


def test_a_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(3000) % 1000)
    X = np.column_stack([y % 10, y // 10 % 10, y // 100]) + rng.normal(scale=0.1, size=(3000, 3))
    clf = BayesClassifier().fit(X, y)
    assert (clf.decide(X, Loss.zero_one(clf.classes_)) == clf.predict(X)).all()
    distance = Loss(
        np.abs(np.subtract.outer(np.arange(0, 1000, 7), np.arange(1000))),
        decisions=range(0, 1000, 7),
        truths=range(1000),
    )
    risk = clf.risk(X[:50], distance)
    np.testing.assert_allclose(risk, clf.predict_proba(X[:50]) @ distance.costs.T, rtol=1e-9, atol=1e-9)
    assert clf.decide(X[:50], distance).tolist() == (risk.argmin(axis=1) * 7).tolist()


def test_blocks_and_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    from likely import parallel
    from likely.decide import loss_matrix

    X, y = two_classes(5000)
    clf = BayesClassifier().fit(X, y)
    by_row = Loss(np.random.default_rng(2).normal(size=(5000, 3, 2)), decisions="abc", truths=["bad", "good"])
    results = []
    for jobs, size in ((1, 1 << 16), (2, 64), (4, 2048)):
        monkeypatch.setattr(parallel, "MOST_ROWS", size)
        monkeypatch.setattr(loss_matrix, "BLOCK_CELLS", size)
        assert len(row_blocks(5000, 1)) == {1 << 16: 1, 64: 5, 2048: 3}[size]
        clf.n_jobs = jobs
        frame = clf.decisions(X, by_row)
        assert frame["risk"].tolist() == clf.risk(X, by_row).min(axis=1).tolist()
        results.append((clf.risk(X, by_row), clf.risk(X, CREDIT), clf.risk(X, Loss.binary()), frame["risk"]))
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_it_is_the_plain_formula(n_decisions: int, n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(n_classes, 0.3), 20)
    costs = rng.integers(-3, 4, size=(n_decisions, n_classes)).astype(float)
    order = rng.permutation(n_classes)
    loss = Loss(costs, decisions=[f"d{k}" for k in range(n_decisions)], truths=order)
    by_hand = posterior[:, order] @ costs.T
    np.testing.assert_allclose(risk_of_posterior(posterior, range(n_classes), loss), by_hand, atol=1e-12)
    chosen = [int(name[1:]) for name in decide_posterior(posterior, range(n_classes), loss)]
    np.testing.assert_allclose(by_hand[np.arange(20), chosen], by_hand.min(axis=1), atol=1e-12)


def test_posteriors_of_another_library() -> None:
    X, y = two_classes()
    other = LogisticRegression().fit(X, y)
    decided = decide_posterior(other.predict_proba(X), other.classes_, CREDIT)
    assert Loss(CREDIT).paid(decided, y).mean() < Loss(CREDIT).paid(np.full(len(y), "grant"), y).mean()
    with pytest.raises(ValueError, match="2 classes"):
        decide_posterior(np.zeros((3, 3)), ["a", "b"], CREDIT)


def test_patients_get_the_cheaper_drug() -> None:
    table = datasets.patients()
    drug = table.pop("drug")
    clf = BayesClassifier(smoothing=0).fit(table, drug)
    patient = {"sex": ["male"], "age": [61], "blood_pressure": ["normal"]}
    assert clf.decide(patient, Loss.zero_one(["A", "B"])).tolist() == ["B"]
    assert clf.decide(patient, {"A": {"A": 0, "B": 1}, "B": {"A": 5, "B": 0}}).tolist() == ["A"]


def test_no_rows_are_no_decisions() -> None:
    nothing, loss = np.empty((0, 2)), Loss.zero_one(["x", "y"])
    assert decide_posterior(nothing, ["x", "y"], loss).shape == (0,)
    assert risk_of_posterior(nothing, ["x", "y"], loss).shape == (0, 2)
