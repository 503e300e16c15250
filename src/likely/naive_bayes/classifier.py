"""Labels and classes, with scikit-learn's rules for the first call of `partial_fit` and the later ones."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from likely.arrays import Array
from likely.decide import Joint, Scores
from likely.errors import DataError, SettingsError
from likely.families.outcomes import BlockScorer
from likely.families.uncertainty import Certainty
from likely.models import decision
from likely.numerics import most_probable, normalise, refuse_heavy, together
from likely.parallel import row_blocks, run
from likely.stats import ClassWeights
from likely.table import Labels, encode_labels


def agreed_classes(known: NDArray[Any] | None, given: Any) -> NDArray[Any]:
    """The classes of all batches: given with the first one, and never changed afterwards."""
    if known is None:
        if given is None:
            raise DataError("classes must be passed on the first call to partial_fit.")
        return np.asarray(unique_labels(given))
    if given is not None and not np.array_equal(known, unique_labels(given)):
        raise DataError(f"`classes={given!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return known


def places_among(labels: Labels, classes: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each row's label among the classes of all batches."""
    place = {label: position for position, label in enumerate(classes.tolist())}
    found = np.array([place.get(label, -1) for label in labels.classes.tolist()], dtype=np.int32)
    if (found < 0).any():
        strangers = labels.classes[found < 0]
        raise DataError(f"The target label(s) {strangers} in y do not exist in the initial classes {classes}")
    return np.asarray(found[labels.codes])


# Learning and predicting, as all five classifiers do it.


class NaiveBayes(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """What is seen adds up over batches; what is believed is settled from it after each of them.

    `_seen` (class weights and a statistic of the columns) is all that is remembered of the rows.
    """

    classes_: NDArray[Any]
    class_log_prior_: Array
    _seen: tuple[Array, Any]

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """The rows of X, checked; `reset` if they are the first ones."""

    @abstractmethod
    def _observe(self, rows: Any, y: NDArray[np.int32], weight: Array | None, n_classes: int) -> Any:
        """The statistic of some rows of the classes `y`."""

    @abstractmethod
    def _settle(self, weights: Array, columns: Any) -> None:
        """Set what is believed, from the weight of each class and the statistic of the columns."""

    @abstractmethod
    def _scorer(self, rows: Any) -> BlockScorer:
        """What adds the evidence of a block of rows to their log joint."""

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels, and forget all that was learned before."""
        self._validate_params()
        rows = self._read(X, reset=True)
        labels = encode_labels(y)
        self._seen = self._count(rows, labels.codes, sample_weight, labels.classes)
        return self._conclude(labels.classes)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; the first call must name all classes that will ever come."""
        self._validate_params()
        known = getattr(self, "classes_", None)
        rows = self._read(X, reset=known is None)
        agreed = agreed_classes(known, classes)
        weights, columns = self._count(rows, places_among(encode_labels(y), agreed), sample_weight, agreed)
        if known is not None:
            together(np.asarray(self._seen[0].sum()), np.asarray(weights.sum()))
            weights, columns = self._seen[0] + weights, self._seen[1] + columns
        self._seen = weights, columns
        return self._conclude(agreed)

    def _count(self, rows: Any, y: NDArray[np.int32], sample_weight: Any, classes: NDArray[Any]) -> tuple[Array, Any]:
        check_consistent_length(rows, y)
        weight = None
        if sample_weight is not None:
            weight = _read_weights(sample_weight, rows)
        weights = ClassWeights.observe(classes, y, weight).weights
        if not weights.sum() > 0.0:
            raise DataError("Sample weights must contain at least one non-zero number.")
        return weights, self._observe(rows, y, weight, len(classes))

    def _conclude(self, classes: NDArray[Any]) -> Self:
        """Settle what is believed; where parameters forbid it, no older beliefs stay behind."""
        self.__dict__.pop("_beliefs", None)
        self.classes_ = classes
        self._settle(*self._seen)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_beliefs")

    # Predicting.

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        rows, prior = self._read_more(X), self._prior()
        out = np.empty(rows.shape[0], dtype=np.intp)

        def keep(block: slice, joint: Array) -> None:
            most_probable(joint, prior, out[block])

        self._each_block(rows, keep)
        return np.asarray(self.classes_[out])

    def predict_proba(self, X: Any) -> Array:
        """P(class | row), one column per class in the order of `classes_`."""
        return self._posterior(X, in_logs=False)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | row)."""
        return self._posterior(X, in_logs=True)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(class, row)."""
        rows = self._read_more(X)
        out = self._empty(rows)

        def keep(block: slice, joint: Array) -> None:
            out[block] = joint

        self._each_block(rows, keep)
        return out

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row), given what was counted; see `BayesClassifier.predict_interval`."""
        from likely.explain.credible import interval

        rows = self._read_more(X)
        counted = self._seen[0] if self._prior_is_counted() else None
        return interval(self.predict_joint_log_proba(X), self._spreads(rows), counted, self._prior(), level)

    def _spreads(self, rows: Any) -> list[Certainty]:
        """How sure the evidence of the rows is, for intervals."""
        raise SettingsError(f"{type(self).__name__} has no probabilities of rows whose certainty could be known.")

    @abstractmethod
    def _prior_is_counted(self) -> bool:
        """Whether P(class) rests on rows."""

    def _prior(self) -> Array:
        """P(class)."""
        shares = np.exp(self.class_log_prior_)
        return np.asarray(shares / shares.sum())

    def _log_start(self) -> Array:
        """What the log joint of every row begins with."""
        return np.asarray(self.class_log_prior_, dtype=np.float64)

    def _posterior(self, X: Any, *, in_logs: bool) -> Array:
        rows, prior = self._read_more(X), self._prior()
        out = self._empty(rows)

        def keep(block: slice, joint: Array) -> None:
            normalise(joint, prior, in_logs, joint)
            out[block] = joint

        self._each_block(rows, keep)
        return out

    # Deciding.

    decide = decision.decide
    risk = decision.risk
    decisions = decision.decisions
    novelty = decision.novelty
    estimate_priors = decision.estimate_priors

    def _scores(self, X: Any) -> Scores:
        rows, prior = self._read_more(X), self._prior()

        def each_block(use: Callable[[slice, Joint], None]) -> None:
            self._each_block(rows, lambda block, joint: use(block, Joint(joint, prior)))

        return Scores(rows.shape[0], each_block)

    def _evidence(self, X: Any, ordinary: Mapping[str, float]) -> Array:
        return self._scores(X).log_evidence()

    def _ordinary_evidence(self, X: Any) -> dict[str, float]:
        return {}  # there are no gaps

    def _prior_shares(self) -> Array:
        return self._prior()

    def _read_more(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _empty(self, rows: Any) -> Array:
        return np.empty((rows.shape[0], len(self.classes_)), dtype=self._precision(rows))

    def _precision(self, rows: Any) -> Any:
        """The type of the probabilities of these rows."""
        return np.float64

    def _each_block(self, rows: Any, use: Callable[[slice, Array], None]) -> None:
        """Hand the log joint of every block of rows to `use`; rows × classes is never there as a whole."""
        score, start = self._scorer(rows), self._log_start()

        def work(block: slice) -> None:
            joint = np.tile(start, (block.stop - block.start, 1))
            score(block, joint)
            use(block, joint)

        n_rows, n_columns = rows.shape
        held = rows.nnz // max(n_rows, 1) if sparse.issparse(rows) else n_columns
        run(work, row_blocks(n_rows, held + len(start)), None)


def _read_weights(given: Any, rows: Any) -> Array:
    """One weight per row, refused in scikit-learn's words where it is none."""
    try:
        weight: Array = _check_sample_weight(given, rows, dtype=np.float64, ensure_non_negative=True)
    except ValueError as error:
        raise DataError(str(error)) from None
    refuse_heavy(weight)
    return weight
