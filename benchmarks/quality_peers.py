"""The classifiers that ours is compared with, each with the preparation that its users would give it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

Array = NDArray[np.float64]


class Classifier(Protocol):
    """What is timed."""

    classes_: NDArray[Any]

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Any: ...

    def predict_proba(self, X: pd.DataFrame) -> Array: ...


def columns_of(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Names of numeric columns and of the others."""
    numeric = [name for name in X.columns if X[name].dtype.kind == "f"]
    return numeric, [name for name in X.columns if name not in set(numeric)]


def coded(X: pd.DataFrame) -> ColumnTransformer:
    """Numbers as they are, categories as codes with NaN for a gap or a value never seen."""
    numeric, nominal = columns_of(X)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return ColumnTransformer([("categories", codes, nominal), ("numbers", "passthrough", numeric)])


def boosting(X: pd.DataFrame, *, early: bool) -> Classifier:
    """HistGradientBoosting: 100 rounds, or fewer by its own early stopping."""
    nominal = columns_of(X)[1]
    booster = HistGradientBoostingClassifier(
        early_stopping=early, random_state=0, categorical_features=list(range(len(nominal)))
    )
    made: Classifier = make_pipeline(coded(X), booster)
    return made


def logistic(X: pd.DataFrame) -> Classifier:
    """Logistic regression on scaled numbers and one-hot categories."""
    numeric, nominal = columns_of(X)
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore")
    prepared = ColumnTransformer([("numbers", numbers, numeric), ("categories", categories, nominal)])
    made: Classifier = make_pipeline(prepared, LogisticRegression(max_iter=1000))
    return made


class TextbookBayes:
    """Gaussian naive Bayes for numbers and categorical naive Bayes for the rest; their log joints are added."""

    def __init__(self, bins: int | None) -> None:
        self.bins = bins

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> TextbookBayes:
        numeric, nominal = columns_of(X)
        self.numeric, self.nominal = numeric, nominal
        self.codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
        self.medians = X[numeric].median().fillna(0.0)
        parts = [self.codes.fit_transform(X[nominal]) + 1] if nominal else []
        self.gaussian = None
        if self.bins is None and numeric:
            self.gaussian = GaussianNB().fit(X[numeric].fillna(self.medians), y)
        elif numeric:
            self.cuts = KBinsDiscretizer(self.bins, encode="ordinal", quantile_method="averaged_inverted_cdf")
            parts.append(self.cuts.fit_transform(X[numeric].fillna(self.medians)))
        sizes = [len(levels) + 1 for levels in self.codes.categories_] if nominal else []
        sizes += list(self.cuts.n_bins_) if self.bins is not None and numeric else []
        self.categorical = None
        if parts:
            alpha = 1.0 if self.bins is None else 0.5
            self.categorical = CategoricalNB(alpha=alpha, min_categories=sizes).fit(np.hstack(parts).astype(int), y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> Array:
        parts = [self.codes.transform(X[self.nominal]) + 1] if self.nominal else []
        if self.bins is not None and self.numeric:
            parts.append(self.cuts.transform(X[self.numeric].fillna(self.medians)))
        joint = np.zeros((len(X), len(self.classes_)))
        if self.gaussian is not None:
            joint += self.gaussian.predict_joint_log_proba(X[self.numeric].fillna(self.medians))
        if self.categorical is not None:
            joint += self.categorical.predict_joint_log_proba(np.hstack(parts).astype(int))
            if self.gaussian is not None:
                joint -= self.categorical.class_log_prior_
        joint -= joint.max(axis=1, keepdims=True)
        shares = np.exp(joint)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def lightgbm(X: pd.DataFrame) -> Classifier:
    """LightGBM with 100 trees, categories as codes."""
    from lightgbm import LGBMClassifier

    nominal = columns_of(X)[1]

    class Coded:
        def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Coded:
            self.prepared = coded(X)
            self.model = LGBMClassifier(verbose=-1, random_state=0, n_jobs=1)
            self.model.fit(
                self._cells(self.prepared.fit_transform(X)), y, categorical_feature=list(range(len(nominal)))
            )
            self.classes_ = self.model.classes_
            return self

        def _cells(self, cells: Array) -> Array:
            return np.where(np.isnan(cells) & (np.arange(cells.shape[1]) < len(nominal)), -1.0, cells)

        def predict_proba(self, X: pd.DataFrame) -> Array:
            return np.asarray(self.model.predict_proba(self._cells(self.prepared.transform(X))))

    return Coded()


def xgboost(X: pd.DataFrame) -> Classifier:
    """XGBoost with 100 trees, categories as codes."""
    from xgboost import XGBClassifier

    kinds = ["c"] * len(columns_of(X)[1]) + ["q"] * len(columns_of(X)[0])

    class Coded:
        def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Coded:
            self.prepared = coded(X)
            self.classes_, codes = np.unique(y, return_inverse=True)
            self.model = XGBClassifier(enable_categorical=True, feature_types=kinds, n_jobs=1, random_state=0)
            self.model.fit(self.prepared.fit_transform(X), codes)
            return self

        def predict_proba(self, X: pd.DataFrame) -> Array:
            return np.asarray(self.model.predict_proba(self.prepared.transform(X)))

    return Coded()


def catboost(X: pd.DataFrame) -> Classifier:
    """CatBoost with 500 rounds, categories as strings."""
    from catboost import CatBoostClassifier

    nominal = columns_of(X)[1]

    class Strings:
        def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Strings:
            self.model = CatBoostClassifier(
                iterations=500,
                cat_features=nominal,
                thread_count=1,
                random_seed=0,
                verbose=0,
                allow_writing_files=False,
            )
            self.classes_, codes = np.unique(y, return_inverse=True)
            self.model.fit(self._cells(X), codes)
            return self

        def _cells(self, X: pd.DataFrame) -> pd.DataFrame:
            return X.assign(**{name: X[name].fillna("").astype(str) for name in nominal})

        def predict_proba(self, X: pd.DataFrame) -> Array:
            return np.asarray(self.model.predict_proba(self._cells(X)))

    return Strings()


def explainable_boosting(X: pd.DataFrame) -> Classifier:
    """InterpretML's explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


def khiops(X: pd.DataFrame) -> Classifier:
    """Khiops' selective naive Bayes."""
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier(n_trees=0)


PEERS: dict[str, tuple[Callable[[pd.DataFrame], Classifier], str | None]] = {
    "boosting": (lambda X: boosting(X, early=False), None),
    "boosting, early stop": (lambda X: boosting(X, early=True), None),
    "logistic": (logistic, None),
    "textbook Bayes": (lambda X: TextbookBayes(None), None),
    "ten bins": (lambda X: TextbookBayes(10), None),
    "LightGBM": (lightgbm, "lightgbm"),
    "XGBoost": (xgboost, "xgboost"),
    "CatBoost": (catboost, "catboost"),
    "EBM": (explainable_boosting, "interpret"),
    "Khiops": (khiops, "khiops"),
}
"""How each peer is made, and the library that it needs beside scikit-learn."""


def installed() -> list[str]:
    """The peers that can run here."""
    return [name for name, (_, library) in PEERS.items() if library is None or find_spec(library) is not None]
