"""Who writes scikit-learn's names is told ours, in one sentence."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import likely
from likely import (
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
)
from likely.errors import SettingsError, UnknownParameter
from likely.models.classifier import Classifier
from likely.models.settings import SKLEARN_NAMES

CLASSIFIERS = [
    AODEClassifier, BayesClassifier, CalibratedClassifier, EvidenceClassifier, FullBayesClassifier, SVMClassifier,
    TreeClassifier,
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "here"),
    [
        (TreeClassifier, "criterion", "measure"),
        (TreeClassifier, "min_samples_split", "min_cases"),
        (TreeClassifier, "ccp_alpha", "prune"),
        (BayesClassifier, "alpha", "smoothing"),
        (BayesClassifier, "var_smoothing", "variance_floor"),
        (FullBayesClassifier, "reg_param", "shrinkage"),
        (SVMClassifier, "gamma", "kernel"),
        (SVMClassifier, "tol", "tolerance"),
    ],
)
def test_our_name_is_told(kind: type[Classifier], name: str, here: str) -> None:
    told = f"{kind.__name__} has no parameter '{name}'; scikit-learn's '{name}' is called '{here}' here."
    for error in (
        UnknownParameter,
        TypeError,
        SettingsError,
    ):  # Python's own is a TypeError, scikit-learn's a ValueError
        with pytest.raises(error) as raised:
            kind(**{name: 1})
        assert str(raised.value) == told
    with pytest.raises(UnknownParameter, match=r"is called .* here"):
        kind().set_params(**{name: 1})


def test_a_slip_of_the_pen_and_a_name_from_nowhere() -> None:
    with pytest.raises(UnknownParameter, match=r"has no parameter 'smothing'; .* Did you mean 'smoothing'\?"):
        BayesClassifier(smothing=1)  # type: ignore[call-arg]
    with pytest.raises(UnknownParameter, match="it has smoothing, priors"):
        BayesClassifier(zzz=1)  # type: ignore[call-arg]
    table = {"x": [1.0, 2.0], "y": ["a", "b"]}
    with pytest.raises(SettingsError, match="is called 'smoothing' here"):
        likely.train(table, "y", model="naive", alpha=1)
    with pytest.raises(SettingsError, match="Did you mean 'information_gain'"):
        TreeClassifier(measure="entropy").fit(table, "y")


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_constructor_is_as_before(kind: type[Classifier]) -> None:
    own = list(inspect.signature(kind).parameters)
    assert own == list(inspect.signature(kind.__init__).parameters)[1:] and set(own) == set(
        kind().get_params(deep=False)
    )
    made = kind()
    for other in (clone(made), copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301
        assert repr(other) == repr(made)


def test_every_hint_leads_to_a_parameter() -> None:
    known = {name for kind in CLASSIFIERS for name in inspect.signature(kind).parameters}
    assert {name for names in SKLEARN_NAMES.values() for name in names} <= known


def test_parameters_of_a_classifier_within() -> None:
    clf = CalibratedClassifier(BayesClassifier()).set_params(classifier__smoothing=3.0)
    assert clf.get_params()["classifier__smoothing"] == 3.0


def test_planes_are_where_scikit_learn_has_them() -> None:
    x = np.random.default_rng(0).normal(size=(60, 2))
    two = SVMClassifier(kernel="linear").fit(x, x[:, 0] > 0)
    assert two.coef_.tolist() == [two.w_.tolist()] and two.intercept_.tolist() == [two.b_]
    three = SVMClassifier(kernel="linear").fit(x, np.digitize(x[:, 0], [-0.5, 0.5]))
    assert three.coef_.shape == (3, 2) and three.intercept_.shape == (3,)
    assert not hasattr(SVMClassifier(kernel="gauss").fit(x, x[:, 0] > 0), "coef_")


@pytest.mark.parametrize("kind", [BayesClassifier, EvidenceClassifier, TreeClassifier, AODEClassifier])
def test_attributes_of_scikit_learn_are_hinted_at_where_they_are_not(kind: type[Classifier]) -> None:
    clf = kind().fit({"sky": ["grey", "blue"] * 5}, ["wet", "dry"] * 5)
    for name in ("coef_", "intercept_"):
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match=rf"{kind.__name__}' object has no attribute '{name}': .*explain\(X\)"):
            getattr(clf, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'colour'$"):
        _ = clf.colour
    restored = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert restored.predict({"sky": ["grey"]}).tolist() == ["wet"]
    svm = SVMClassifier(kernel="gauss").fit({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 0, 1, 1])
    with pytest.raises(AttributeError, match="counted nothing by column"):  # a property's own words are kept
        _ = svm.feature_importances_
