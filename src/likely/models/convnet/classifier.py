"""A convolutional network for images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Self

import numpy as np
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.arrays import AnyArray, Array, Float32, Int32
from likely.errors import DataError, ModelFileError, SettingsError
from likely.explain import Explanation
from likely.models.classifier import Classifier, warn_if_unsaved
from likely.models.convnet.layers import LARGEST_LAYER, LARGEST_SCORE, Layers, Pool, are_maps, largest_score
from likely.models.convnet.network import EpochLoss, Network, TrainingOptions, train, validation_rows
from likely.models.settings import (
    SchemaLike,
    between,
    check_settings,
    is_progress,
    is_schema,
    one_of,
    parameter,
    refusal,
    whole,
    whole_from,
)
from likely.numerics import is_between
from likely.progress import Shown, StepBar
from likely.store import Reader, Writer
from likely.store.container import Document
from likely.table import Labelling, RowsLike, Table, Weights, as_table
from likely.table.images import Shape, by, flattened, padded, read_pixels, scaled, shape_of
from likely.table.schema import Schema

FEWEST_HELD_BACK = 20
"""Images below which none are held back: what they say would be chance."""

PIXEL_KINDS = {"numeric", "ignored", "weight"}
"""What a column of a table of images can be."""


def _is_shape(name: str, given: object) -> None:
    if given is None:
        return
    sides = tuple(given) if isinstance(given, tuple | list) else ()
    if len(sides) not in (2, 3) or not all(isinstance(side, Integral) and -1 <= int(side) <= 2**31 for side in sides):
        raise refusal(name, given, "(height, width) or (height, width, channels)")


def _are_maps(name: str, given: object) -> None:
    if not are_maps(tuple(given) if isinstance(given, list) else given):
        raise refusal(name, given, "a tuple of numbers of maps, as in (4, 12)")


def _is_share(name: str, given: object) -> None:
    if not is_between(given, 0.0, 0.0):
        between(name, given, 0.0, 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class ConvNetClassifier(Classifier):
    """Filters that are learned, slid over the image and pooled, twice by default.

    28 × 28 pixels become 4 maps of 24 × 24, pooled to 12 × 12, then 12 maps of 8 × 8, pooled to 4 × 4, and these a
    score for each class. Images are arrays (n, height, width) or (n, height, width, channels), lists of such images, or
    the columns of a table, row by row of the image; `shape` says (height, width) then, and may be left out for
    squares. Smaller images, and those that do not fit the layers, are padded with zeros. Needs Keras and JAX
    (the extra `deep`); runs on a GPU if JAX finds one.

    Parameters
    ----------
    maps : how many maps each layer has.
    filter : pixels along a side of a filter.
    pool : "mean" or "max" of each square of 2 × 2.
    epochs : passes over the images, at most.
    patience : training stops after this many passes without a gain on the images held back.
    held_back : proportion of the images that are held back to see when to stop; 0 for none.
    batch_size, learning_rate : images per step, and the size of a step (Adam).
    shape : (height, width) or (height, width, channels) of images that are columns of a table.
    pad_to : smallest number of pixels along a side; smaller images are padded with zeros.
    schema : a mapping of column names to "ignored" or "weight", for columns that are not pixels.
    random_state : seed of the first weights, of the order of the images and of which are held back.
    progress : True counts the passes on the error stream, None only on a terminal; or a function told of each.
    """

    maps: tuple[int, ...] | list[int] = parameter((4, 12), _are_maps)
    filter: int = parameter(5, partial(whole, least=1, most=LARGEST_LAYER))
    pool: Pool = parameter("mean", one_of("mean", "max"))
    epochs: int = parameter(50, whole_from(1))
    patience: int = parameter(8, whole_from(0))
    held_back: float = parameter(0.1, _is_share)
    batch_size: int = parameter(32, whole_from(1))
    learning_rate: float = parameter(0.003, partial(between, low=0.0, high=np.inf))
    shape: tuple[int, ...] | None = parameter(None, _is_shape)
    pad_to: int = parameter(28, partial(whole, least=1))
    schema: SchemaLike = parameter(None, is_schema)
    random_state: int = parameter(0, whole_from(0))
    progress: Shown = parameter(None, is_progress)

    def fit(self, X: RowsLike, y: Labelling, sample_weight: Weights = None) -> Self:
        """Learn images; `y` may also name a column of the table."""
        check_settings(self)
        options, layers = self._training_options(), self._layers()
        images, shape = flattened(X, self.shape)
        given = self._training_rows(images, y, sample_weight)
        schema, labels, weight = given.schema, given.labels, given.weight
        warn_if_unsaved(labels.classes)
        if weight is not None and not weight.any():
            raise DataError("All rows have weight zero, so there is nothing to learn.")
        self.shape_: Shape = shape_of(len(schema.numeric), shape)
        if self.shape is not None and shape_of(len(schema.numeric), self.shape) != self.shape_:
            raise SettingsError(f"shape is {self.shape!r}, but the images are {by(self.shape_)}: leave shape out.")
        pixels = read_pixels(given.table, schema.numeric)
        self._remember_columns(schema, named=given.table.named)
        self.n_rows_, self.range_ = given.table.n_rows, (float(pixels.min()), float(pixels.max()))
        height, width = layers.padded(self.shape_[:2], self.pad_to)
        network = Network(layers, (height, width, self.shape_[2]), len(labels.classes), seed=options.seed)
        self._learn(network, self._prepared(pixels, network), labels.codes, weight, options)
        self.classes_ = labels.classes
        return self

    def _learn(
        self, network: Network, images: Float32, y: Int32, weight: Array | None, options: TrainingOptions
    ) -> None:
        held = np.zeros(len(images), dtype=np.bool_)
        if len(images) * self.held_back >= FEWEST_HELD_BACK:
            held = validation_rows(y, self.held_back, options.seed)
        shown = StepBar(options.epochs, "pass", self.progress)
        self.history_: list[EpochLoss] = []

        def note(passed: EpochLoss) -> None:
            self.history_.append(passed)
            shown.step()

        weights = np.ones(len(images)) if weight is None else weight
        try:
            self.network_ = train(network, images, y, weights, held, options, note)
        finally:
            shown.end()

    def predict(self, X: RowsLike) -> AnyArray:
        """The most probable class of each image; the first one in a tie."""
        scores = self._class_scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def predict_proba(self, X: RowsLike) -> Array:
        """P(class | image), one column per class in the order of `classes_`."""
        return np.asarray(softmax(self._class_scores(X), axis=1))

    def predict_log_proba(self, X: RowsLike) -> Array:
        """log P(class | image)."""
        return np.asarray(log_softmax(self._class_scores(X), axis=1))

    def predict_joint_log_proba(self, X: RowsLike) -> Array:
        """The scores of the classes, up to a number that is the same for all images."""
        return np.asarray(self._class_scores(X) - logsumexp(self._last_layer()[1]))

    def explain(self, X: RowsLike) -> Explanation:
        """What each map of the last layer adds to the score of each class: these sums are exact.

        Which part of an image a map looks at is seen in `feature_maps`.
        """
        maps = self.feature_maps(X)
        weights, shifts = self._last_layer()
        lines = weights.reshape(*maps.shape[1:], -1).astype(np.float64)
        contributions = np.einsum("nijm,ijmc->nmc", maps, lines)
        names = tuple(f"map {place + 1}" for place in range(maps.shape[3]))
        seen = tuple(tuple(row) for row in maps.mean(axis=(1, 2)).tolist())
        return Explanation(self.classes_, names, seen, softmax(shifts), contributions)

    def feature_maps(self, X: RowsLike, layer: int = -1) -> Array:
        """Images × height × width × maps after a layer (1, 2, …; −1 is the last): what its filters saw, pooled."""
        images = self._images(X)
        return self.network_.maps(images, 2 * self._counted(layer))

    def filters(self, layer: int = 1) -> Array:
        """The learned filters of a layer: maps × maps before (channels, for the first) × height × width."""
        check_is_fitted(self)
        weights = self._weights()[2 * self._counted(layer) - 2]
        return np.asarray(weights.transpose(3, 2, 0, 1), dtype=np.float64)

    def _counted(self, layer: object) -> int:
        """A layer counted from 1; below zero, from the last one."""
        n_layers = len(self.network_.layers.maps)
        place = layer + (n_layers + 1 if layer < 0 else 0) if isinstance(layer, int) else 0
        if not 1 <= place <= n_layers:
            raise SettingsError(f"layer is {layer!r}, but there are {n_layers}, counted from 1.")
        return place

    def _class_scores(self, X: RowsLike) -> Array:
        images = self._images(X)
        return self.network_.scores(images)

    def _images(self, X: RowsLike) -> Float32:
        check_is_fitted(self)
        images, shape = flattened(X, self.shape_)
        if (*shape, 1)[:3] != self.shape_:
            raise DataError(f"The images are {by(shape)}, but those learned were {by(self.shape_)}.")
        table = self.schema_.align(as_table(images, allow_empty=False), type(self).__name__)
        return self._prepared(read_pixels(table, self.schema_.numeric), self.network_)

    def _prepared(self, pixels: Array, network: Network) -> Float32:
        """From 0 (the least pixel learned) to 1 (the largest), with zeros around."""
        images = scaled(pixels, self.schema_.numeric, *self.range_).reshape(-1, *self.shape_)
        return padded(images, *network.shape[:2])

    def _schema_of(self, table: Table, target: str | None) -> Schema:
        """All columns are pixels, but for those that are said to be none."""
        given = {} if self.schema is None else self.schema
        if not isinstance(given, Mapping) or not set(given.values()) <= PIXEL_KINDS:
            raise SettingsError(
                f"schema is {given!r}, but for images it maps names of columns to {' or '.join(sorted(PIXEL_KINDS))}."
            )
        pixels = {name: "numeric" for name in table.names if name != target}
        return Schema.infer(table, target, overrides={**pixels, **given})

    def _weights(self) -> tuple[Float32, ...]:
        assert self.network_.weights is not None
        return self.network_.weights

    def _last_layer(self) -> tuple[Float32, Array]:
        check_is_fitted(self)
        weights, shifts = self._weights()[-2:]
        return weights, shifts.astype(np.float64)

    def _layers(self) -> Layers:
        return Layers(tuple(self.maps) if isinstance(self.maps, list) else self.maps, self.filter, self.pool)

    def _training_options(self) -> TrainingOptions:
        return TrainingOptions(
            int(self.epochs), int(self.batch_size), float(self.learning_rate), self.patience, int(self.random_state)
        )

    def _write_learned(self, writer: Writer) -> dict[str, object]:
        return {
            "shape": list(self.shape_),
            "range": list(self.range_),
            "weights": [writer.put(array) for array in self._weights()],
        }

    def _read_learned(self, data: Document, reader: Reader) -> None:
        layers = self._layers()
        shape = shape_of(len(self.schema_.numeric), tuple(data["shape"]))
        low, high = (float(end) for end in data["range"])
        if not (np.isfinite([low, high]).all() and low <= high):
            raise ModelFileError("its range of pixels is none")
        height, width = layers.padded(shape[:2], self.pad_to)
        blank = Network(layers, (height, width, shape[2]), len(self.classes_))
        names = data["weights"]
        if len(names) != len(blank.shapes()):
            raise ModelFileError("its layers are not those of its settings")
        weights = tuple(reader.get(name, size, np.float32) for name, size in zip(names, blank.shapes(), strict=True))
        if not largest_score(weights) < LARGEST_SCORE:
            raise ModelFileError("it holds weights that are no numbers, or so large that scores overflow")
        self.shape_, self.range_, self.history_ = shape, (low, high), []
        self.network_ = Network(layers, blank.shape, blank.n_classes, weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = False
        tags.non_deterministic = False
        return tags
