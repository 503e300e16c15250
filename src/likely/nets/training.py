"""Learning a network: pass after pass over the images, until those held back are judged no better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from likely.errors import SettingsError
from likely.nets.images import Pixels
from likely.nets.network import Network

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Passed:
    """What one pass came to: mean log loss (in nats) of the images learned, and of those held back."""

    epoch: int
    log_loss: float
    held_back: float | None


@dataclass(frozen=True, slots=True)
class Effort:
    """How long and how fast to learn; `patience` passes without a gain on the images held back end it."""

    epochs: int
    batch: int
    learning_rate: float
    patience: int
    seed: int


def train(
    network: Network,
    images: Pixels,
    y: NDArray[np.int32],
    weight: Array,
    held_back: NDArray[np.bool_],
    effort: Effort,
    report: Callable[[Passed], None],
) -> Network:
    """The network as it was when it judged the images held back best; with none of them, as it is at the end."""
    rng = np.random.default_rng(effort.seed)
    learn, check = np.flatnonzero(~held_back), np.flatnonzero(held_back)
    shares = (weight / weight[learn].mean()).astype(np.float32)
    network.prepare(effort.learning_rate)
    best, best_loss, waited = network, np.inf, 0
    for epoch in range(1, effort.epochs + 1):
        order = rng.permutation(learn)
        network.learn(images[order], y[order], shares[order], effort.batch)
        learned = log_loss(network, images[learn], y[learn], weight[learn])
        if not np.isfinite(learned):
            raise SettingsError(
                f"Learning ran away in pass {epoch}, and the network gives no numbers any more: lower learning_rate, "
                f"which is {effort.learning_rate:g}."
            )
        if not len(check):
            report(Passed(epoch, learned, None))
            continue
        loss = log_loss(network, images[check], y[check], weight[check])
        report(Passed(epoch, learned, loss))
        waited = 0 if loss < best_loss else waited + 1
        if loss < best_loss:
            best, best_loss = network.learned(), loss
        if waited > effort.patience:
            break
    return best if np.isfinite(best_loss) else network.learned()


def log_loss(network: Network, images: Pixels, y: NDArray[np.int32], weight: Array) -> float:
    """Mean −log P(true class)."""
    scores = network.scores(images)
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    return float(np.average(losses, weights=weight))


def held_back_rows(y: NDArray[np.int32], share: float, seed: int) -> NDArray[np.bool_]:
    """About the given share of every class; a class of few rows keeps them all to learn from."""
    rng, out = np.random.default_rng(seed), np.zeros(len(y), dtype=np.bool_)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        out[rng.permutation(rows)[: int(share * len(rows))]] = True
    return out
