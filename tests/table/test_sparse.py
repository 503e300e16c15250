"""Sparse matrices: every format is read alike, and a malformed one is refused before it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import likely
from likely import BayesClassifier, CalibratedClassifier, DataError, SVMClassifier
from likely.families import Multinomial
from likely.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from likely.table.sparse import as_csr
from likely.text import TextCounter

FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
rng = np.random.default_rng(3)
Y = np.repeat([0, 1], 12)
COUNTS = rng.poisson(0.5 + np.outer(Y, [1, 0, 2, 0, 1, 0]))


def spoiled(change: Callable[[Any], None], kind: str = "csr") -> Any:
    """A matrix that was sound when SciPy looked at it."""
    X = sparse.csr_array(COUNTS.astype(float)).asformat(kind)
    change(X)
    return X


def with_place(place: int) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        X.indices[-1] = place

    return change


def falling(X: Any) -> None:
    X.indptr[3] = X.indptr[-1]


def beyond(X: Any) -> None:
    X.indptr[-1] += 10**6


def too_short(X: Any) -> None:
    X.indptr = X.indptr[:-2]


def cells_short(X: Any) -> None:
    X.data = X.data[:-5]


def coordinates(place: int) -> Callable[[Any], None]:
    def change(X: Any) -> None:
        X.col[0] = place

    return change


def other_column(X: Any) -> None:
    X.rows[0] = [99] * len(X.rows[0])


def uneven(X: Any) -> None:
    X.rows[0] = [*X.rows[0], 1]


BROKEN = {
    "a column too many": lambda: spoiled(with_place(6)),
    "far away": lambda: spoiled(with_place(10**9)),
    "below zero": lambda: spoiled(with_place(-1)),
    "falling": lambda: spoiled(falling),
    "beyond the cells": lambda: spoiled(beyond),
    "too few starts": lambda: spoiled(too_short),
    "too few cells": lambda: spoiled(cells_short),
    "csc": lambda: spoiled(with_place(24), "csc"),
    "bsr": lambda: spoiled(with_place(77), "bsr"),
    "coo": lambda: spoiled(coordinates(6), "coo"),
    "coo below zero": lambda: spoiled(coordinates(-1), "coo"),
    "lil": lambda: spoiled(other_column, "lil"),
    "lil, uneven": lambda: spoiled(uneven, "lil"),
}
ESTIMATORS = (
    BayesClassifier(),
    BayesClassifier(families="bernoulli"),
    SVMClassifier(kernel="linear"),
    MultinomialNB(),
    BernoulliNB(),
    ComplementNB(),
    CalibratedClassifier(BayesClassifier(), folds=2),
)


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_malformed_matrices_are_refused_by_every_classifier(estimator: Any, kind: str) -> None:
    with pytest.raises(DataError, match=r"The sparse matrix is malformed: .*; build it anew"):
        type(estimator)(**estimator.get_params(deep=False)).fit(BROKEN[kind](), Y)
    fitted = type(estimator)(**estimator.get_params(deep=False)).fit(sparse.csr_array(COUNTS), Y)
    with pytest.raises(DataError, match="malformed"):
        fitted.predict(BROKEN[kind]())


def test_malformed_matrices_are_refused_elsewhere() -> None:
    with pytest.raises(DataError, match="column 6, but there are 6 columns"):
        likely.evaluate(LogisticRegression(), BROKEN["a column too many"](), Y, cv=2, progress=False)
    counter = TextCounter().fit(["one two three four five six"])
    with pytest.raises(DataError, match="malformed"):
        counter.inverse_transform(BROKEN["far away"]())
    wide = sparse.csr_array((1, 2**31), dtype=float)
    with pytest.raises(DataError, match="2,147,483,648 columns"):
        as_csr(wide)


def test_room_behind_the_last_cell_is_no_cell() -> None:
    X = sparse.csr_array(COUNTS.astype(float))
    X.data, X.indices = np.append(X.data, -1.0), np.append(X.indices, 99).astype(np.int32)
    assert as_csr(X).nnz == len(as_csr(X).data)
    np.testing.assert_array_equal(BayesClassifier().fit(X, Y).predict(X), MultinomialNB().fit(COUNTS, Y).predict(X))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_all_formats_are_explained_calibrated_and_judged_alike(kind: str, make: Any) -> None:
    X, plain = make(COUNTS).asformat(kind), sparse.csr_array(COUNTS)
    clf = BayesClassifier().fit(plain, Y)
    np.testing.assert_array_equal(clf.explain(X).contributions, clf.explain(plain).contributions)
    inner = CalibratedClassifier(BayesClassifier(), folds=3)
    np.testing.assert_array_equal(inner.fit(X, Y).predict_proba(X), inner.fit(plain, Y).predict_proba(plain))
    for judged in (MultinomialNB(), SVMClassifier(kernel="linear"), LogisticRegression()):
        of = likely.evaluate(judged, X, Y, cv=3, progress=False)
        assert of.accuracy == likely.evaluate(judged, plain, Y, cv=3, progress=False).accuracy


@pytest.mark.parametrize("family", [None, "multinomial", "complement", "bernoulli"])
def test_no_column_of_a_wide_matrix_is_written_down_alone(family: str | None) -> None:
    X = sparse.random_array((30, 100_000), density=1e-4, rng=rng, format="csr")
    clf = BayesClassifier(families=family).fit(X, np.arange(30) % 2)
    assert clf.schema_.to_dict()["changed"] == {}
    again = BayesClassifier(families=family, schema=clf.schema_).fit(X, np.arange(30) % 2)
    assert again.schema_.to_dict()["changed"] == {}


def test_columns_of_a_wide_explanation_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse.random_array((30, 5_000), density=1e-2, rng=rng, format="csr")
    clf = BayesClassifier(families="multinomial").fit(X, np.arange(30) % 2)
    belief = clf.model_.beliefs[0]
    assert isinstance(belief, Multinomial)
    np.testing.assert_array_equal(belief.only("x7").weights.lines, belief.at(7).weights.lines)

    def searched(*_: Any) -> Any:
        raise AssertionError("a search through all columns for each of them")

    monkeypatch.setattr(Multinomial, "only", searched)
    np.testing.assert_allclose(clf.explain(X).joint, clf.predict_joint_log_proba(X))
