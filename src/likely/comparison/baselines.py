"""Yardsticks for raw tables: the class shares alone, and two classifiers of scikit-learn that others would take."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags

from likely.arrays import Array, Int32
from likely.engines.plan import tokenizers_for
from likely.models.classifier import Classifier
from likely.models.svm.features import Preparation
from likely.models.svm.kernels import with_int32_indices
from likely.stats.protocol import Matrix
from likely.table import Codes, Labelling, RowsLike, Table, Weights, index_levels
from likely.table.schema import Schema

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

MOST_CATEGORIES = 250
"""Values of a column that gradient boosting takes as categories; the rarer ones beyond are one value."""

TOPICS = 50
"""Directions into which texts are pressed for gradient boosting, which has no use for thousands of words."""

PASSES = 1000
MANY_CELLS = 1 << 20


class MajorityBaseline(Classifier):
    """Gives every row the shares of the classes, and so decides for the largest: what any model must beat."""

    def __init__(self, *, schema: Mapping[str, str] | Schema | None = None) -> None:
        self.schema = schema

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn the shares of the classes, one more row of each. `y` may also name a column of the table."""
        rows = self._training_rows(X, y, sample_weight)
        self._remember_columns(rows.schema, named=rows.table.named)
        self.classes_ = rows.labels.classes
        counts = np.bincount(rows.labels.codes, rows.weight, len(self.classes_)) + 1.0
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: RowsLike) -> Array:
        """The same shares for every row, one column per class in the order of `classes_`."""
        return np.tile(self.shares_, (self._read(X).n_rows, 1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class GivesShares(Protocol):
    """A fitted model of scikit-learn."""

    def predict_proba(self, X: Matrix) -> Array: ...


class Baseline(Classifier):
    """A classifier of scikit-learn behind the door of this package: it reads raw tables."""

    random_state: int

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn these rows. `y` may also name a column of the table."""
        rows = self._training_rows(X, y, sample_weight)
        self._remember_columns(rows.schema, named=rows.table.named)
        classes = rows.labels.classes
        # Theirs want two classes at least; of one there is nothing to learn.
        self.model_: GivesShares | None = (
            self._fitted(rows.table, rows.labels.codes, rows.weight) if len(classes) > 1 else None
        )
        self.classes_ = classes
        return self

    def predict_proba(self, X: RowsLike) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""
        table = self._read(X)
        if self.model_ is None:
            return np.ones((table.n_rows, 1))
        return np.asarray(self._shares(self.model_, self._rows(table)), dtype=np.float64)

    @abstractmethod
    def _fitted(self, table: Table, y: Int32, weight: Array | None) -> GivesShares:
        """A model of scikit-learn that has learned the rows."""

    @abstractmethod
    def _rows(self, table: Table) -> Matrix:
        """The rows as that model reads them."""

    def _shares(self, model: GivesShares, rows: Matrix) -> Array:
        return model.predict_proba(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LogisticBaseline(Baseline):
    """scikit-learn's logistic regression on standardised numbers, one-hot categories, marked gaps and tf-idf."""

    def __init__(self, *, C: float = 1.0, schema: Mapping[str, str] | Schema | None = None) -> None:
        self.C = C
        self.schema = schema

    def _fitted(self, table: Table, y: Int32, weight: Array | None) -> GivesShares:
        from sklearn.linear_model import LogisticRegression

        tokenizers = tokenizers_for(table, dict.fromkeys(self.schema_.text, "text multinomial"), None)
        self.preparation_ = Preparation.of(table, self.schema_, True, tokenizers, weight)
        model: GivesShares = LogisticRegression(C=self.C, max_iter=PASSES).fit(
            self._rows(table), y, sample_weight=weight
        )
        return model

    def _rows(self, table: Table) -> Matrix:
        return with_int32_indices(self.preparation_.rows(table))


class BoostingBaseline(Baseline):
    """scikit-learn's histogram gradient boosting: gaps and categories as they are, texts pressed into 50 directions."""

    texts_: Preparation | None

    def __init__(self, *, schema: Mapping[str, str] | Schema | None = None, random_state: int = 0) -> None:
        self.schema = schema
        self.random_state = random_state

    def _fitted(self, table: Table, y: Int32, weight: Array | None) -> GivesShares:
        from sklearn.ensemble import HistGradientBoostingClassifier

        schema = self.schema_
        self.levels_ = {name: _commonest(table.codes(name)) for name in schema.nominal}
        self.texts_ = None
        if schema.text:
            self._press(table)
        numeric = len(schema.features) if table.sparse is not None else len(schema.numeric)
        rows = self._rows(table)
        place = np.arange(rows.shape[1])
        is_category = (place >= numeric) & (place < numeric + len(self.levels_))
        model = HistGradientBoostingClassifier(categorical_features=is_category, random_state=self.random_state)
        with _few_threads(rows):
            fitted: GivesShares = model.fit(rows, y, sample_weight=weight)
        return fitted

    def _press(self, table: Table) -> None:
        from sklearn.decomposition import TruncatedSVD

        tokenizers = tokenizers_for(table, dict.fromkeys(self.schema_.text, "text multinomial"), None)
        only = Schema(tuple(column for column in self.schema_ if column.kind == "text"))
        texts = Preparation.of(table, only, True, tokenizers)
        words, self.texts_ = texts.rows(table), texts
        n_topics = min(TOPICS, words.shape[1] - 1, words.shape[0] - 1)
        self.topics_ = TruncatedSVD(max(n_topics, 1), random_state=self.random_state).fit(sparse.csr_matrix(words))

    def _rows(self, table: Table) -> Array:
        if table.sparse is not None:
            return np.asarray(table.sparse.toarray(), dtype=np.float64)
        columns = [table.numbers(name) for name in self.schema_.numeric]
        for name, levels in self.levels_.items():
            found = table.codes(name)
            places = index_levels(found.levels, levels).astype(np.float64)
            places[places < 0.0] = len(levels)
            columns.append(np.append(places, np.nan)[found.codes])
        parts = [np.column_stack(columns)] if columns else []
        if self.texts_ is not None:
            parts.append(self.topics_.transform(sparse.csr_matrix(self.texts_.rows(table))))
        return np.hstack(parts)

    def _shares(self, model: GivesShares, rows: Matrix) -> Array:
        with _few_threads(rows):
            return model.predict_proba(rows)


def _few_threads(rows: Array) -> AbstractContextManager[object]:
    """Small tables are left to one thread: several would wait for each other, and folds go side by side already."""
    if rows.size >= MANY_CELLS:
        return nullcontext()
    limited: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="openmp")
    return limited


@cache
def _libraries() -> ThreadpoolController:
    """Looked up once: that takes longer than a small table."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _commonest(found: Codes) -> tuple[Hashable, ...]:
    counts = np.bincount(found.codes[found.codes >= 0], minlength=len(found.levels))
    order = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    return tuple(found.levels[place] for place in order)
