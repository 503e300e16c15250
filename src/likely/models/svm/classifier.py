"""The support vector machine for raw tables."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array, ColumnLike, Index, Int32
from likely.engines.plan import tokenizers_for
from likely.errors import DataError
from likely.models.classifier import Classifier, TrainingRows, warn_if_unsaved
from likely.models.settings import (
    LARGEST,
    ClassWeight,
    SchemaLike,
    TokenizerLike,
    are_class_weights,
    are_priors,
    are_tokenizers,
    between,
    check_settings,
    class_factors,
    is_n_jobs,
    is_progress,
    is_schema,
    is_truth,
    one_of,
    parameter,
    refusal,
    whole_from,
)
from likely.models.svm.calibration import LazyCalibration, calibrate
from likely.models.svm.codec import LearnedMachine, prior_shares, read_learned, write_learned
from likely.models.svm.explain import NotThere, PlaneExplanation, cases, machine_page, plane_columns
from likely.models.svm.features import Preparation
from likely.models.svm.kernels import Kernel, Matrix, as_kernel, total_variance
from likely.models.svm.machine import class_pairs, one_vs_one_votes, warn_if_not_psd
from likely.models.svm.search import SearchTrial, n_trials, search
from likely.models.svm.solver import METHODS, Problem, SolverPlan, solve
from likely.numerics import is_between, refuse_heavy
from likely.progress import Shown, StepBar
from likely.scorer import Priors, class_prior
from likely.stats import ClassWeights
from likely.store import Reader, Writer
from likely.store.container import Document
from likely.table import Labelling, Labels, RowsLike, Table, Weights, labels_of

if TYPE_CHECKING:
    import pandas as pd

    from likely.render.picture import Picture

PAIR_CELLS = 1 << 24
"""Values of rows and pairs of classes that are held at once (128 MiB)."""


def _is_cost(name: str, given: object) -> None:
    if isinstance(given, str) and given in ("hard", "search"):
        return
    if not is_between(given, 0.0, LARGEST) or given == 0:
        raise refusal(name, given, "a number above 0, 'hard' or 'search'")


@dataclass(kw_only=True, eq=False, repr=False)
class SVMClassifier(Classifier):
    """A support vector machine for tables as they are: the widest margin between the classes, two at a time.

    Numbers are standardised, each value of a category becomes a feature, missing values are filled and marked, texts
    become tf-idf vectors, all inside the model. Probabilities come from held-out rows, and `predict` returns the most
    probable class. It is right more often than the side of the border on which a row lies: where rows are far from
    each other, as texts are, the border favours the larger class, and held-out rows correct that. Both are computed
    when first asked for, because that takes `folds` more fits. With C="hard" the border stays where it is.

    Parameters
    ----------
    C : the price of slack: a number above 0; "hard" for no slack at all (refused if classes overlap); or "search" to
        try five prices and, if the kernel leaves its width open, five widths, on growing samples of the rows.
    kernel : "gauss", "linear", "polynomial", "sigmoid", or kernels of `likely.models.svm`, which add and multiply.
    scale : whether numbers are standardised.
    schema : a `Schema`, or a mapping of column names to "numeric", "nominal", "text", "ignored" or "weight".
    text : how texts are split into words: a `likely.text.Tokenizer`, or a mapping of column names to them.
    class_weight : None, "balanced", or a mapping of classes to weights that multiply C; probabilities are as
        if there were that many more rows of these classes.
    priors : None (as counted), "uniform", a mapping of classes to proportions, or a list in the order of the classes.
        Other priors change the probabilities, and with them what `predict` returns.
    method : "auto", "exact" (refused above `max_rows`), or "landmarks" (an approximation by `landmarks` rows).
    max_rows : with "auto", more rows than this are learned by landmarks; a linear machine of more than 10,000 rows is
        solved for its plane alone (of more than 3,000, if they are sparse and more than their columns).
    landmarks : how many rows then stand for all of them.
    folds : parts of the rows that are held out in turn for the probabilities.
    tolerance : how precisely the problem is solved.
    random_state : seed of folds, samples and landmarks.
    progress : True counts the trials of a search on the error stream, None only on a terminal; or a function that
        is told of each.
    n_jobs : number of threads for predicting; None for all cores. Results do not depend on it.

    >>> rows = {"x": [0.0, 1.0, 2.0, 0.0], "y": [0.0, 0.0, 0.0, 2.0]}
    >>> clf = SVMClassifier(C="hard", kernel="linear", scale=False).fit(rows, [1, 1, -1, -1])
    >>> clf.w_.round(6).tolist(), round(clf.b_, 6), round(clf.margin_, 4)
    ([-2.0, -2.0], 3.0, 0.7071)
    """

    reads_sparse: ClassVar[bool] = True

    C: float | Literal["hard", "search"] = parameter(1.0, _is_cost)
    kernel: Kernel | str = parameter("gauss", lambda name, given: as_kernel(given))
    scale: bool = parameter(True, is_truth)
    schema: SchemaLike = parameter(None, is_schema)
    text: TokenizerLike = parameter(None, are_tokenizers)
    class_weight: ClassWeight = parameter(None, are_class_weights)
    priors: Priors = parameter(None, are_priors)
    method: str = parameter("auto", one_of(*METHODS))
    max_rows: int = parameter(30_000, whole_from(1))
    landmarks: int = parameter(500, whole_from(1))
    folds: int = parameter(5, whole_from(2))
    tolerance: float = parameter(1e-3, partial(between, low=0.0, high=1.0))
    random_state: int = parameter(0, whole_from(0))
    progress: Shown = parameter(None, is_progress)
    n_jobs: int | None = parameter(None, is_n_jobs)

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn these rows. `y` may also name a column of the table."""
        check_settings(self)
        given = self._training_rows(X, y, sample_weight)
        warn_if_unsaved(given.labels.classes)
        used, numbers = _rows_with_weight(given)
        table, classes, codes, weight = used.table, used.labels.classes, used.labels.codes, used.weight
        tokenizers = tokenizers_for(table, dict.fromkeys(used.schema.text, "text multinomial"), self.text)
        seen = ClassWeights.observe(classes, codes, weight)
        class_prior(self.priors, seen)  # refuses what are no priors before the work begins
        preparation = Preparation.of(table, used.schema, bool(self.scale), tokenizers, weight, self.n_jobs)
        cost = row_costs(self.class_weight, classes, codes, weight)
        problem = Problem(preparation.rows(table, self.n_jobs), codes, len(classes), cost)
        plan, self.search_trials_ = self._plan(problem, weight)
        warn_if_not_psd(plan.kernel, problem.X)
        self.machine_, self.method_ = solve(problem, plan)
        self._remember_columns(used.schema, named=given.table.named)
        self.n_rows_, self.classes_, self.counts_ = given.table.n_rows, classes, seen.weights
        self.preparation_, self.kernel_, self.C_ = preparation, plan.kernel, plan.C
        self.support_ = numbers[self.machine_.rows]
        self.calibration_ = LazyCalibration(task=partial(calibrate, problem, plan, int(self.folds)))
        return self

    def decision_function(self, X: RowsLike) -> Array:
        """Two classes: f(x), above 0 for the later one. More: the votes of each class, ties broken by the values.

        What the machine itself says; `predict` follows the probabilities.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self._pairs(self._read(X))[:, 0]
        return self._each(X, lambda pairs: one_vs_one_votes(pairs, n_classes))

    def decision_pairs(self, X: RowsLike) -> Array:
        """f(x) for every pair of classes, (0, 1), (0, 2), …, (1, 2), …: above 0 for the later one of the two."""
        return self._pairs(self._read(X))

    def _pairs(self, table: Table) -> Array:
        return self.machine_.decision_values(self.preparation_.rows(table, self.n_jobs), self.n_jobs)

    def predict_proba(self, X: RowsLike) -> Array:
        """P(class | row), one column per class in the order of `classes_`; the first call computes the calibration."""
        check_is_fitted(self)
        posterior = self._each(X, self.calibration_.get().posterior)
        if self.priors is None:
            return posterior
        counted = self._counted_shares()
        posterior *= np.divide(self._prior_shares(), counted, out=np.ones_like(counted), where=counted > 0.0)
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def calibrate(self) -> Self:
        """Compute the calibration now, and release the training rows."""
        check_is_fitted(self)
        self.calibration_.get()
        return self

    def with_priors(self, priors: Priors) -> Self:
        """Another classifier with the same machine, but other priors."""
        check_is_fitted(self)
        other = copy(self)
        other.priors = priors
        other._prior_shares()
        return other

    # What it says about itself.

    @property
    def support_vectors_(self) -> Matrix:
        """The prepared rows that make up the machine, class by class."""
        check_is_fitted(self)
        return self.machine_.vectors

    @property
    def dual_coef_(self) -> Array:
        """y·α of every support vector, one row for each of the other classes (one row for two classes)."""
        check_is_fitted(self)
        return self.machine_.dual

    @property
    def alpha_(self) -> Array:
        """α of every row learned: one number for two classes, one for each of the other classes for more."""
        check_is_fitted(self)
        if self.method_ != "exact":
            raise NotThere(
                f"The machine was solved by {self.method_}, which has no α: fit with method='exact' for them."
            )
        whole = np.zeros((self.n_rows_, len(self.machine_.dual)))
        whole[self.support_] = np.abs(self.machine_.dual.T)
        return whole[:, 0] if len(self.classes_) == 2 else whole

    @property
    def w_(self) -> Array:
        """The normal of the plane in the space of the prepared rows, one for each pair of classes if there are several.

        `preparation_.features` says what each of its numbers belongs to.
        """
        planes = self._planes()
        return np.asarray(planes[0] if len(self.classes_) == 2 else planes)

    @property
    def b_(self) -> float | Array:
        """What is added to w·x: a number, or one for each pair of classes."""
        check_is_fitted(self)
        return float(self.machine_.b[0]) if len(self.classes_) == 2 else self.machine_.b

    @property
    def coef_(self) -> Array:
        """`w_` as scikit-learn has it: one line for each pair of classes, also where there are two classes."""
        return self._planes()

    @property
    def intercept_(self) -> Array:
        """`b_` as scikit-learn has it: one number for each pair of classes."""
        check_is_fitted(self)
        return self.machine_.b

    @property
    def margin_(self) -> float | Array:
        """The width 2/‖w‖ of the margin between the classes: a number, or one for each pair of classes."""
        check_is_fitted(self)
        return float(self.machine_.margin[0]) if len(self.classes_) == 2 else self.machine_.margin

    def cases(self, X: RowsLike, y: ColumnLike) -> pd.DataFrame:
        """Where each labelled row lies: class, nearest rival, y·f against it, slack ξ = max(0, 1 − y·f), and the case.

        A: beyond the margin, ξ = 0. B: within the margin, but on the right side, ξ < 1. C: on the wrong side, ξ ≥ 1.
        """
        table = self._read(X)
        return cases(self._pairs(table), labels_of(y, table), self.classes_, self.tolerance)

    def explain(self, X: RowsLike) -> PlaneExplanation:
        """One contribution per column and b, which add up to the value f(x) of each pair; for linear kernels.

        With standardised numbers a contribution is that of the difference from the mean of the rows learned.
        """
        table = self._read(X)
        planes = self._planes()
        rows = self.preparation_.rows(table, self.n_jobs)
        pairs = list(zip(*(self.classes_[each].tolist() for each in class_pairs(len(self.classes_))), strict=True))
        return PlaneExplanation.of(pairs, planes, self.machine_.b, rows, self.preparation_, table)

    def plot(self, X: RowsLike, y: ColumnLike, columns: tuple[str, str] | None = None) -> Picture:
        """Two columns as a plane: rows, support vectors in circles, the boundary and the edges of the margin."""
        from likely.models.svm.plot import margins

        check_is_fitted(self)
        return margins(self, X, y, plane_columns(columns, self.schema_))

    def _planes(self) -> Array:
        check_is_fitted(self)
        planes = self.machine_.w
        if planes is None:
            raise NotThere(
                f"The kernel {self.kernel_!r} mixes the columns in a space of its own, so there are no weights of "
                "single columns: fit with kernel='linear' for them."
            )
        return planes

    def _page(self) -> str:
        return machine_page(self)

    @property
    def search_(self) -> pd.DataFrame:
        """All settings that a search has tried: rows, C, kernel, and the error rate on held-out rows."""
        import pandas as pd

        check_is_fitted(self)
        lines = [(trial.rows, trial.C, repr(trial.kernel), trial.error) for trial in self.search_trials_]
        return pd.DataFrame(lines, columns=["rows", "C", "kernel", "error"])

    def _plan(self, problem: Problem, weight: Array | None) -> tuple[SolverPlan, list[SearchTrial]]:
        """C and kernel as searched, with all that was tried, or as the rows suggest where the kernel is open."""
        C = self.C if not isinstance(self.C, str) else np.inf if self.C == "hard" else 1.0
        kernel, limits = as_kernel(self.kernel), (self.max_rows, self.landmarks, self.random_state, self.n_jobs)
        plan = SolverPlan(float(C), kernel, float(self.tolerance), self.method, *limits)
        if isinstance(self.C, str) and self.C == "search" and problem.n_classes > 1:
            bar = StepBar(n_trials(len(problem), kernel), "trial", self.progress)
            return search(problem, plan, bar.step)
        if kernel.is_open:
            plan = replace(plan, kernel=kernel.settled(total_variance(problem.X, weight)))
        return plan, []

    def _each(self, X: RowsLike, use: Callable[[Array], Array]) -> Array:
        """Apply `use` to the values of all pairs, in blocks of rows that bound the memory."""
        table = self._read(X)
        rows = self.preparation_.rows(table, self.n_jobs)
        size = max(PAIR_CELLS // max(len(self.machine_.b), 1), 1)
        parts = [
            use(self.machine_.decision_values(rows[start : start + size], self.n_jobs))
            for start in range(0, table.n_rows, size)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _prior_shares(self) -> Array:
        return prior_shares(self.priors, self.classes_, self.counts_)

    def _counted_shares(self) -> Array:
        """Shares of the classes as they were learned, with the weights of classes."""
        counted = self.counts_ * class_factors(self.class_weight, self.classes_, self.counts_)
        if not (counted > 0.0).any():
            raise DataError("All classes have weight zero, so there is nothing to compare.")
        return np.asarray(counted / counted.sum())

    def _write_learned(self, writer: Writer) -> dict[str, object]:
        learned = LearnedMachine(
            self.preparation_, self.machine_, self.calibration_.get(), self.counts_, self.support_, self.n_rows_,
            self.C_, self.method_,
        )  # fmt: skip
        return write_learned(learned, writer)

    def _read_learned(self, data: Document, reader: Reader) -> None:
        learned = read_learned(data, reader, self.schema_, len(self.classes_))
        self.preparation_, self.machine_ = learned.preparation, learned.machine
        self.calibration_, self.kernel_ = LazyCalibration(learned.calibration), learned.machine.kernel
        self.counts_, self.support_ = learned.counts, learned.support
        self.n_rows_, self.C_, self.method_ = learned.rows, learned.C, learned.method
        self.search_trials_ = []
        self._prior_shares()
        self._counted_shares()


def row_costs(given: ClassWeight, classes: AnyArray, y: Int32, weight: Array | None) -> Array | None:
    """What a slack costs in each row: its weight times that of its class; None for ones."""
    if given is None:
        return weight
    totals = np.bincount(y, weights=weight, minlength=len(classes)).astype(np.float64)
    shares = class_factors(given, classes, totals)
    with np.errstate(over="ignore", invalid="ignore"):
        costs = np.asarray(shares[y] * (1.0 if weight is None else weight))
    refuse_heavy(costs)
    return costs


def _rows_with_weight(given: TrainingRows) -> tuple[TrainingRows, Index]:
    """The rows of a weight above zero, and their numbers among all rows."""
    n_rows, weight = given.table.n_rows, given.weight
    rows = np.arange(n_rows) if weight is None else np.flatnonzero(weight > 0.0)
    if not len(rows):
        raise DataError("All rows have weight zero, so there is nothing to learn.")
    if weight is None or len(rows) == n_rows:
        return given, rows
    left, codes = np.unique(given.labels.codes[rows], return_inverse=True)
    labels = Labels(given.labels.classes[left], codes.astype(np.int32))
    return replace(given, table=given.table.take(rows), labels=labels, weight=weight[rows]), rows
