"""A raw pandas table beside the usual scikit-learn pipeline, and what a new process costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.measure import Case
from likely import BayesClassifier


class Pipeline:
    """What people write today: encode the categories, fit two models, add their log joints, take one prior out."""

    def __init__(self, numeric: list[str], nominal: list[str]) -> None:
        self.numeric, self.nominal = numeric, nominal

    def fit(self, X: pd.DataFrame, y: pd.Series) -> Pipeline:
        """Encode and fit."""
        self.encoder = OrdinalEncoder(dtype=np.int64)
        self.categorical = CategoricalNB().fit(self.encoder.fit_transform(X[self.nominal]), y)
        self.gaussian = GaussianNB().fit(X[self.numeric], y)
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Combine the two posteriors."""
        joint = self.categorical.predict_joint_log_proba(self.encoder.transform(X[self.nominal]))
        joint += self.gaussian.predict_joint_log_proba(X[self.numeric]) - self.categorical.class_log_prior_
        joint -= joint.max(axis=1, keepdims=True)
        posterior = np.exp(joint)
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))


def mixed_table(n: int) -> tuple[pd.DataFrame, pd.Series]:
    """Eight numeric and six string columns, strings as pandas reads them from a file; a yes/no target."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    columns: dict[str, object] = {f"number {k}": rng.normal(size=n) + 0.2 * k * y for k in range(8)}
    for k, n_levels in enumerate((2, 3, 5, 10, 40, 200)):
        levels = np.array([f"level {level}" for level in range(n_levels)])
        columns[f"word {k}"] = pd.Series(levels[(rng.integers(0, n_levels, n) + y) % n_levels])
    return pd.DataFrame(columns), pd.Series(np.array(["no", "yes"])[y])


def mixed(scale: float) -> Iterator[Case]:
    """BayesClassifier on a raw table of 1,000,000 rows."""
    n = int(1_000_000 * scale)
    X, y = mixed_table(n)
    numeric, nominal = [c for c in X if c.startswith("number")], [c for c in X if c.startswith("word")]
    name = "OrdinalEncoder + CategoricalNB + GaussianNB"
    size = f"{n:,} rows, 8 numbers, 6 strings (pandas)"
    yield Case(
        f"BayesClassifier fit, {size}",
        lambda: BayesClassifier().fit(X, y),
        lambda: Pipeline(numeric, nominal).fit(X, y),
        peer_name=name,
        limit=10,
    )
    mine, their = BayesClassifier().fit(X, y), Pipeline(numeric, nominal).fit(X, y)
    yield Case(
        f"BayesClassifier predict_proba, {size}",
        lambda: mine.predict_proba(X),
        lambda: their.predict_proba(X),
        peer_name=name,
        limit=10,
    )


def processes(scale: float) -> Iterator[Case]:
    """A new process: importing the package, and a first small fit with kernels from the cache."""

    def python(code: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    first_fit = "from {} import GaussianNB; GaussianNB().fit([[1.0], [2.0]], [0, 1]).predict([[1.0]])"
    yield Case(
        "import likely, new process",
        lambda: python("import likely"),
        lambda: python("import sklearn"),
        peer_name="import sklearn",
    )
    yield Case(
        "GaussianNB first fit and predict, new process",
        lambda: python(first_fit.format("likely.naive_bayes")),
        lambda: python(first_fit.format("sklearn.naive_bayes")),
    )
