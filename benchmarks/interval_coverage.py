"""How often intervals hold the truth: `python benchmarks/interval_coverage.py [--rows 50,200] [--tables 8] [--seed 0]`.

Tables are drawn from worlds in which P(class | row) is known. Every table is learned, intervals of 90 % are asked for
200 new rows, and the share of probabilities that lie inside is told: its mean over tables, its worst table, mean width.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely import BayesClassifier, EvidenceClassifier

Array = NDArray[np.float64]

NEW = 200
CLASSES = (2, 3, 5)
FEWER = {1000: 4, 5000: 2}
"""Tables of so many rows and more, for each number of classes: they vary less, and take longer."""


class World(NamedTuple):
    """A table, its labels, and how probable each class was in each row."""

    table: pd.DataFrame
    y: NDArray[np.int64]
    truth: Array


def naive(rng: np.random.Generator, n_classes: int, n: int) -> World:
    """Columns are independent given the class: three bell curves, two categories."""
    prior = rng.dirichlet(np.full(n_classes, 5.0))
    y = rng.choice(n_classes, n, p=prior)
    means, widths = 0.8 * rng.normal(size=(n_classes, 3)), np.exp(0.3 * rng.normal(size=(n_classes, 3)))
    shares = rng.dirichlet(np.full(4, 2.0), size=(2, n_classes))
    x = means[y] + widths[y] * rng.normal(size=(n, 3))
    c = np.stack([_drawn(rng, by_class[y]) for by_class in shares], axis=1)
    gaps = (x[:, None, :] - means) / widths
    score = np.log(prior) - (0.5 * gaps**2 + np.log(widths)).sum(axis=2)
    score = score + sum(np.log(by_class).T[c[:, k]] for k, by_class in enumerate(shares))
    return World(_table(x, c), y, _shares(np.asarray(score)))


def additive(rng: np.random.Generator, n_classes: int, n: int) -> World:
    """Columns are independent, and what they say adds up: a line, a wave, categories, and a column of noise."""
    return _summed(rng, n_classes, rng.normal(size=(n, 3)), rng.integers(0, 4, n))


def dependent(rng: np.random.Generator, n_classes: int, n: int) -> World:
    """The same, but columns say much the same."""
    x = 0.9 * rng.normal(size=(n, 1)) + np.sqrt(0.19) * rng.normal(size=(n, 3))
    return _summed(rng, n_classes, x, np.clip(np.round(x[:, 0] + 1.5 + 0.5 * rng.normal(size=n)), 0, 3).astype(int))


def together(rng: np.random.Generator, n_classes: int, n: int) -> World:
    """Two categories, and two numbers, that speak only together."""
    x, c = rng.normal(size=(n, 2)), rng.integers(0, (3, 2, 3), size=(n, 3))
    score = 1.2 * rng.normal(size=(3, 2, n_classes))[c[:, 0], c[:, 1]]
    score = (
        score + 0.8 * (x[:, :1] * x[:, 1:]) * rng.normal(size=n_classes) + 0.5 * x[:, :1] * rng.normal(size=n_classes)
    )
    return _labelled(rng, _table(x, c), score)


def noise(rng: np.random.Generator, n_classes: int, n: int) -> World:
    """No column says anything."""
    x, c = rng.normal(size=(n, 3)), rng.integers(0, 4, size=(n, 1))
    return _labelled(rng, _table(x, c), np.tile(0.5 * rng.normal(size=n_classes), (n, 1)))


WORLDS: tuple[Callable[[np.random.Generator, int, int], World], ...] = (naive, additive, dependent, together, noise)
MODELS: dict[str, Callable[[], Any]] = {"evidence": EvidenceClassifier, "naive Bayes": BayesClassifier}


def main() -> None:
    """Print one line for each number of rows, world and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="50,200,1000,5000")
    parser.add_argument("--tables", type=int, default=8, help="of each world, for each number of classes")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    sys.stdout.write("| rows | world | model | inside | worst table | width |\n|---:|---|---|---:|---:|---:|\n")
    for n in (int(text) for text in asked.rows.split(",")):
        tables = min([asked.tables, *(few for rows, few in FEWER.items() if n >= rows)])
        for k, world in enumerate(WORLDS):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in MODELS}
            for n_classes in CLASSES:
                for number in range(tables):
                    drawn = world(np.random.default_rng([asked.seed, k, n_classes, number]), n_classes, n + NEW)
                    for name, make in MODELS.items():
                        found[name].append(covered(make(), drawn, n))
            for name, told in found.items():
                inside, width = np.array(told).T
                figures = f"{inside.mean():.2f} | {inside.min():.2f} | {width.mean():.2f}"
                sys.stdout.write(f"| {n:,} | {world.__name__} | {name} | {figures} |\n")
                sys.stdout.flush()


def covered(clf: Any, world: World, n: int) -> tuple[float, float]:
    """The share of true probabilities of new rows inside of their intervals, and how wide these are."""
    clf.fit(world.table[:n], world.y[:n])
    low, high = clf.predict_interval(world.table[n:])
    truth = world.truth[n:][:, clf.classes_]
    return float(((low <= truth) & (truth <= high)).mean()), float((high - low).mean())


def _summed(rng: np.random.Generator, n_classes: int, x: Array, c: NDArray[np.int64]) -> World:
    d = rng.integers(0, 2, len(x))
    line, wave, step = rng.normal(size=(3, n_classes))
    score = x[:, :1] * line + 0.7 * np.sin(2.0 * x[:, 1:2]) * wave + 0.6 * (2.0 * d[:, None] - 1.0) * step
    score = score + 0.8 * rng.normal(size=(4, n_classes))[c]
    return _labelled(rng, _table(x, np.stack([c, d], axis=1)), score)


def _labelled(rng: np.random.Generator, table: pd.DataFrame, score: Array) -> World:
    truth = _shares(score)
    return World(table, _drawn(rng, truth), truth)


def _drawn(rng: np.random.Generator, shares: Array) -> NDArray[np.int64]:
    """One of several for each row, as likely as the row says."""
    return (rng.random(len(shares))[:, None] > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)


def _table(numbers: Array, categories: NDArray[np.int64]) -> pd.DataFrame:
    names = np.array(list("uvwx"))
    columns = {f"x{k}": cells for k, cells in enumerate(numbers.T)}
    return pd.DataFrame({**columns, **{f"c{k}": names[cells] for k, cells in enumerate(categories.T)}})


def _shares(score: Array) -> Array:
    p = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


if __name__ == "__main__":
    main()
