"""The network as Keras builds it, and its training: epoch after epoch, until held-back images are judged no better.

Keras is imported when a network is needed, and not before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from likely.arrays import Array, Flags, Float32, Int32
from likely.errors import MissingExtra, SettingsError, to_install
from likely.models.convnet.layers import Layers

if TYPE_CHECKING:
    import keras

Weights = tuple[Float32, ...]

BLOCK = 1024
"""Images that are looked at together."""


def keras_library() -> ModuleType:
    """Keras, on JAX unless another backend was chosen."""
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", "jax")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        return import_module("keras")
    except ImportError as error:
        raise MissingExtra(f"A convolutional network needs Keras and JAX: {to_install('deep')}.") from error


@dataclass(frozen=True, eq=False)
class Network:
    """Convolution and pooling for each of the layers, then one score per class from all that is left.

    `weights` are the filters (height × width × maps before × maps) and biases of each layer, and the weights
    (pixels of the last maps × classes) and biases of the scores.
    """

    layers: Layers
    shape: tuple[int, int, int]
    n_classes: int
    weights: Weights | None = None
    seed: int = 0

    @cached_property
    def _model(self) -> keras.Sequential:
        keras = keras_library()
        pooling = keras.layers.AveragePooling2D if self.layers.pool == "mean" else keras.layers.MaxPooling2D
        model = keras.Sequential([keras.Input(self.shape)])
        for place, maps in enumerate(self.layers.maps):
            start = keras.initializers.HeUniform(seed=self.seed + place)
            model.add(keras.layers.Conv2D(maps, self.layers.filter, activation="relu", kernel_initializer=start))
            model.add(pooling(self.layers.pool_size))
        model.add(keras.layers.Flatten())
        start = keras.initializers.GlorotUniform(seed=self.seed + len(self.layers.maps))
        model.add(keras.layers.Dense(self.n_classes, kernel_initializer=start))
        if self.weights is not None:
            model.set_weights(list(self.weights))
        return model

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of every array of weights."""
        found: list[tuple[int, ...]] = []
        before = self.shape[2]
        for maps in self.layers.maps:
            found += [(self.layers.filter, self.layers.filter, before, maps), (maps,)]
            before = maps
        height, width = self.layers.sizes(self.shape[:2])[-1]
        return [*found, (height * width * before, self.n_classes), (self.n_classes,)]

    def learned(self) -> Network:
        """The network with the weights that it has now."""
        return Network(self.layers, self.shape, self.n_classes, self._current_weights(), self.seed)

    def _current_weights(self) -> Weights:
        if self.weights is not None:
            return self.weights
        to_numpy = keras_library().ops.convert_to_numpy
        return tuple(np.array(to_numpy(one.value), dtype=np.float32) for one in self._model.weights)

    def prepare(self, learning_rate: float) -> None:
        """Make ready to learn."""
        keras = keras_library()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self._model.compile(optimizer=keras.optimizers.Adam(learning_rate), loss=loss)

    def learn(self, images: Float32, y: Int32, weight: Float32, batch: int) -> None:
        """One pass over the images, in the order in which they come."""
        self._model.fit(images, y, sample_weight=weight, batch_size=batch, epochs=1, shuffle=False, verbose=0)

    def scores(self, images: Float32) -> Array:
        """Images × classes: softmax makes probabilities of them.

        The last layer is a product of matrices; in double precision its terms add up to the last digits.
        """
        weights, biases = self._current_weights()[-2:]
        last = self.maps(images, 2 * len(self.layers.maps))
        return np.asarray(last.reshape(len(last), -1) @ weights.astype(np.float64) + biases)

    def maps(self, images: Float32, depth: int) -> Array:
        """What the first `depth` layers (of convolution and of pooling) make of images."""
        keras, parts = keras_library(), []
        for start in range(0, len(images), BLOCK):
            some = images[start : start + BLOCK]
            # Blocks of few different sizes: each size is compiled once.
            size = 1 << max(len(some) - 1, 31).bit_length()
            filled = np.concatenate([some, np.zeros((size - len(some), *some.shape[1:]), dtype=np.float32)])
            seen = reduce(lambda before, layer: layer(before), self._model.layers[:depth], filled)
            parts.append(np.asarray(keras.ops.convert_to_numpy(seen), dtype=np.float64)[: len(some)])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class EpochLoss:
    """Mean log loss (in nats) after one pass over the images: of those learned, and of those held back."""

    epoch: int
    log_loss: float
    held_back: float | None


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How long and how fast to learn; `patience` epochs without a gain on the images held back end it."""

    epochs: int
    batch: int
    learning_rate: float
    patience: int
    seed: int


def train(
    network: Network,
    images: Float32,
    y: Int32,
    weight: Array,
    held_back: Flags,
    options: TrainingOptions,
    report: Callable[[EpochLoss], None],
) -> Network:
    """The network as it was when it judged the images held back best; with none of them, as it is at the end."""
    rng = np.random.default_rng(options.seed)
    learn, check = np.flatnonzero(~held_back), np.flatnonzero(held_back)
    shares = (weight / weight[learn].mean()).astype(np.float32)
    network.prepare(options.learning_rate)
    best, best_loss, waited = network, np.inf, 0
    for epoch in range(1, options.epochs + 1):
        order = rng.permutation(learn)
        network.learn(images[order], y[order], shares[order], options.batch)
        learned = log_loss(network, images[learn], y[learn], weight[learn])
        if not np.isfinite(learned):
            raise SettingsError(
                f"Learning ran away in pass {epoch}, and the network gives no numbers any more: lower learning_rate, "
                f"which is {options.learning_rate:g}."
            )
        if not len(check):
            report(EpochLoss(epoch, learned, None))
            continue
        loss = log_loss(network, images[check], y[check], weight[check])
        report(EpochLoss(epoch, learned, loss))
        waited = 0 if loss < best_loss else waited + 1
        if loss < best_loss:
            best, best_loss = network.learned(), loss
        if waited > options.patience:
            break
    return best if np.isfinite(best_loss) else network.learned()


def log_loss(network: Network, images: Float32, y: Int32, weight: Array) -> float:
    """Mean −log P(true class)."""
    scores = network.scores(images)
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    return float(np.average(losses, weights=weight))


def validation_rows(y: Int32, share: float, seed: int) -> Flags:
    """About the given share of every class; a class of few rows keeps them all to learn from."""
    rng, out = np.random.default_rng(seed), np.zeros(len(y), dtype=np.bool_)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        out[rng.permutation(rows)[: int(share * len(rows))]] = True
    return out
