"""Any classifier with probabilities that come true as often as they say."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array
from likely.decide.calibration import METHODS, Isotonic, Temperature, VennAbers
from likely.errors import DataError, ModelFileError, SettingsError
from likely.evaluation.cross_validation import readable
from likely.evaluation.evaluate import Experiment, hold_out
from likely.families.export import Tensor
from likely.models.bayes.classifier import BayesClassifier
from likely.models.classifier import Classifier
from likely.models.in_sql import scored_there
from likely.models.onnx import graph_posterior, posterior_of
from likely.models.persistence import can_be_saved, import_kind, packed, restored
from likely.models.prediction import Decides
from likely.models.settings import anything, check_settings, one_of, parameter, refusal, whole_from
from likely.sql.posterior import Posterior, posterior_of_joint
from likely.sql.query import Query
from likely.store import Reader, Writer, parsed
from likely.store.container import Document
from likely.store.onnx import OnnxGraph
from likely.table import Labelling, RowsLike, Weights, as_table

if TYPE_CHECKING:
    import pandas as pd

USUAL_FOLDS = 5


def _are_folds(name: str, given: object) -> None:
    if not (isinstance(given, str) and given == "loo") and (not isinstance(given, Integral) or int(given) < 2):
        raise refusal(name, given, "a whole number from 2 up, or 'loo'")


@dataclass(eq=False, repr=False)
class CalibratedClassifier(Classifier):
    """A classifier of this package (or of scikit-learn), calibrated on rows that it had not seen.

    The rows are predicted in cross-validation, the calibrator is fitted to these predictions, and the classifier learns
    all rows. Classifiers that count are not refitted for that: their folds are added up.

    Parameters
    ----------
    classifier : any classifier with `predict_proba`; it is copied, not changed. None stands for `BayesClassifier()`.
    method : "temperature" (posteriors to one power: the order of the classes stays), "isotonic" (a rising curve for
        each class) or "venn-abers" (two rising curves, between which the truth lies; see `predict_bounds`).
    folds : a number of folds, or "loo" to leave out one row at a time, which costs one pass for naive Bayes.
    random_state : the same number gives the same folds.

    >>> X, y = {"sky": ["grey", "grey", "blue", "blue"] * 9}, ["wet", "wet", "dry", "wet"] * 9
    >>> clf = CalibratedClassifier(folds="loo").fit(X, y)
    >>> clf.predict_proba({"sky": ["grey"]}).round(2).tolist()
    [[0.02, 0.98]]
    """

    classifier: object = parameter(None, anything)
    _: KW_ONLY
    method: Literal["temperature", "isotonic", "venn-abers"] = parameter("temperature", one_of(*METHODS))
    folds: int | Literal["loo"] = parameter(USUAL_FOLDS, _are_folds)
    random_state: int = parameter(0, whole_from(0))

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Hold rows out in turn, fit the calibrator, then learn all of them. `y` may also name a column."""
        check_settings(self)
        inner = BayesClassifier() if self.classifier is None else clone(self.classifier)
        experiment = Experiment.read(
            inner, X, y, sample_weight, None, inner.get_params(deep=False).get("n_jobs"), False, True
        )
        cv = self.folds if self.folds == "loo" else min(self.folds, len(experiment.y))
        if cv == 1:
            raise DataError("One row (n_samples = 1) cannot be held out and learned from: two are the least.")
        told, _ = hold_out(experiment, cv, None, 1, self.random_state)
        if told.posterior is None:
            raise DataError("There are too many rows × classes to keep what was uncalibrated: calibrate on a sample.")
        self.calibrator_ = METHODS[self.method].settle(told.posterior, told.truth.astype(np.int32), told.weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._remember(inner.fit(readable(inner, X), y, **weights), as_table(X).n_rows)

    def _remember(self, fitted: Any, n_rows: int) -> Self:
        for name in ("schema_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if isinstance(fitted, Classifier):
            self._remember_columns(fitted.schema_, named="feature_names_in_" in vars(fitted))
        else:
            names, n_features = (getattr(fitted, f"{name}_in_", None) for name in ("feature_names", "n_features"))
            found = {"feature_names_in_": names, "n_features_in_": n_features}
            self.__dict__.update({name: value for name, value in found.items() if value is not None})
        self.classifier_, self.classes_, self.n_rows_ = fitted, fitted.classes_, n_rows
        return self

    @scored_there("P(")
    def predict_proba(self, X: RowsLike) -> Array:
        """Calibrated P(class | row), one column per class in the order of `classes_`."""
        uncalibrated = self._uncalibrated(X)
        return self.calibrator_.apply(uncalibrated)

    @scored_there("prediction")
    def predict(self, X: RowsLike) -> AnyArray:
        """The most probable class of each row by calibrated shares; the first of equals."""
        return super().predict(X)

    def predict_bounds(self, X: RowsLike) -> tuple[Array, Array]:
        """Lower and upper bound of P(class | row), for Venn–Abers: one of them is calibrated."""
        uncalibrated = self._uncalibrated(X)
        if not isinstance(self.calibrator_, VennAbers):
            raise SettingsError(f"Bounds come with method='venn-abers', but this classifier has {self.method!r}.")
        return self.calibrator_.bounds(uncalibrated)

    def explain(self, X: RowsLike) -> Any:
        """The explanation of the classifier inside, *before* calibration."""
        check_is_fitted(self)
        return self.classifier_.explain(X)

    def _column_information(self) -> pd.DataFrame | None:
        inner = self.classifier_
        return inner._column_information() if isinstance(inner, Classifier) else None

    def _sql_posterior(self, query: Query, *, explain: bool) -> Posterior:
        check_is_fitted(self)
        inner, calibrator = self.classifier_, self.calibrator_
        if not isinstance(inner, Classifier) or not isinstance(calibrator, Temperature):
            raise SettingsError(
                f"What {self.method!r} makes of {type(inner).__name__} cannot be written as SQL: take "
                "method='temperature' around a classifier of likely, or predict with likely."
            )
        uncalibrated = inner._sql_posterior(query, explain=False)
        logs = []
        for share in uncalibrated.shares:
            there = query.below(query.number(0.0), share.copy())
            raised = query.times(query.number(calibrator.power), query.ln(share.copy()))
            none = query.equal(share.copy(), query.number(0.0))
            logs.append(query.case([(there, raised), (none, query.number(-np.inf))]))
        prior = np.full(len(self.classes_), 1.0 / len(self.classes_))
        return posterior_of_joint(query, self.classes_, prior, logs, {})

    def _graph_posterior(self, graph: OnnxGraph) -> Tensor:
        inner, calibrator = self.classifier_, self.calibrator_
        if not isinstance(calibrator, Temperature):
            raise SettingsError(
                f"What {self.method!r} makes of probabilities cannot be written as ONNX: take method='temperature', or "
                "predict with likely."
            )
        uncalibrated, _ = graph_posterior(graph, inner)
        raised = graph.apply("Mul", graph.apply("Log", uncalibrated), graph.constant(np.array([[calibrator.power]])))
        none = graph.apply("Equal", uncalibrated, graph.constant(np.zeros((1, 1))))
        logs = graph.where(none, graph.constant(np.array([[-np.inf]])), raised)
        return posterior_of(graph, logs, np.full(len(self.classes_), 1.0 / len(self.classes_)))[0]

    def _uncalibrated(self, X: RowsLike) -> Array:
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict_proba(readable(self.classifier_, X)), dtype=np.float64)

    def _prior_shares(self) -> Array:
        check_is_fitted(self)
        inner = self.classifier_
        return inner._prior_shares() if isinstance(inner, Decides) else super()._prior_shares()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(BayesClassifier() if self.classifier is None else self.classifier)
        tags.input_tags = inner.input_tags
        return tags

    # Saving: the file of the classifier lies inside the file of the calibrated one.

    def _settings_kept(self) -> dict[str, object]:
        if can_be_saved(self.classifier_).wraps:
            raise SettingsError(f"A {type(self.classifier_).__name__} cannot be saved in a model file of another one.")
        return {**super()._settings_kept(), "classifier": None}

    def _write_learned(self, writer: Writer) -> object:
        inside = writer.put(np.frombuffer(packed(self.classifier_), dtype=np.uint8))
        if isinstance(self.calibrator_, Temperature):
            return {"classifier": inside, "power": writer.put(np.array([self.calibrator_.power]))}
        curves = [[writer.put(array) for array in curve] for curve in self.calibrator_.curves]
        return {"classifier": inside, "curves": curves}

    def _read_learned(self, data: Document, reader: Reader) -> None:
        found = parsed(reader.get(data["classifier"], (None,), np.uint8).tobytes(), import_kind)
        if found.saved.kind == type(self).__name__:
            raise ModelFileError("it calibrates what is calibrated")
        inner = restored(found)
        if inner.classes_.tolist() != self.classes_.tolist():
            raise ModelFileError("its classifier does not belong to its calibrator")
        self.classifier = clone(inner)
        self.calibrator_ = _read_calibrator(self.method, data, reader, len(self.classes_))
        self._remember(inner, inner._rows_learned())


def _read_calibrator(method: str, data: Document, reader: Reader, n_classes: int) -> Temperature | Isotonic | VennAbers:
    if method == "temperature":
        (power,) = reader.counts(data["power"], (1,))
        return Temperature(float(power))
    if method not in METHODS or len(data["curves"]) != (n_classes if n_classes > 2 else n_classes - 1):
        raise ModelFileError("its calibrator does not fit its classes")
    curves = []
    for names in data["curves"]:
        scores = reader.get(names[0], (None,))
        if not len(scores) or not np.isfinite(scores).all() or (scores[1:] <= scores[:-1]).any():
            raise ModelFileError("the scores of its calibrator are not in order")
        size = len(scores) if method == "isotonic" else 2 * len(scores) + 1
        shares = [reader.counts(name, (size,)) for name in names[1:]]
        if len(shares) != (1 if method == "isotonic" else 2) or any((share > 1.0).any() for share in shares):
            raise ModelFileError("its calibrator holds something that is no share")
        curves.append((scores, *shares))
    return Isotonic(tuple(curves)) if method == "isotonic" else VennAbers(tuple(curves))  # type: ignore[arg-type]
