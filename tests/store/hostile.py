"""Hostile model files, made of sound ones: every value of the document replaced by every strange one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import save as save_arrays

from likely import (
    AODEClassifier,
    BayesClassifier,
    CalibratedClassifier,
    ConvNetClassifier,
    EvidenceClassifier,
    FullBayesClassifier,
    Loss,
    Schema,
    SVMClassifier,
    TreeClassifier,
)
from likely.arrays import AnyArray
from likely.families.smoothing import Laplace, MEstimate
from likely.models.svm import Gauss, Linear, Polynomial
from likely.store import container
from likely.text import Tokenizer

rng = np.random.default_rng(0)
N = 40
Y = np.array(["no", "yes"])[np.arange(N) % 2]
NUMBERS = {"a": rng.normal(size=N), "c": rng.poisson(2, N).astype(float)}
GAPS = np.where(np.arange(N) % 7 == 0, np.nan, rng.normal(size=N))
WORDS = [f"{word} day {place % 5}" for place, word in enumerate(rng.choice(["grey", "blue", "green"], N))]
TABLE = {**NUMBERS, "b": rng.choice(["x", "y"], N), "gap": GAPS}
TEXTS = {**TABLE, "note": WORDS}
DATED = {
    "moment": np.datetime64("2024-01-01T00:00", "m") + 7777 * np.arange(N),
    "written": [f"2024-03-{1 + place % 28:02d}" for place in range(N)],
    **NUMBERS,
}
IMAGES = rng.random((N, 6, 6))
N_MANY = 2_400
MANY = {name: rng.normal(size=N_MANY) for name in "abcd"}
SIDES = np.array(["no", "yes"])[(MANY["a"] * MANY["b"] + MANY["c"] * MANY["d"] > 0.0).astype(int)]


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


STRANGE: list[Any] = [
    None, True, "?", "NaN", "nan", "inf", [], {}, [[[]]], [None], {"a": None}, -1, 0, 0.5, -0.5, 10**18, 10**30,
    10**399, 1e308, -1e308, 5e-324, deep(60), deep(900), 400_000_000,
    {"$": "fraction", "of": "1e1000000000"}, {"$": "fraction", "of": "1/3"}, {"$": "fraction", "of": "1" * 4000},
    {"$": "decimal", "of": "sNaN"}, {"$": "decimal", "of": "1e399"}, {"$": "decimal", "of": "1e999999999"},
    {"$": "decimal", "of": "NaN"}, {"$": "decimal", "of": "-Infinity"}, {"$": "decimal", "of": "0.5"},
    {"$": "float", "of": "nan"}, {"$": "float", "of": "inf"}, {"$": "float", "of": "0x1p9999999"},
    {"$": "tuple", "of": 3}, {"$": "tuple", "of": [1, 2]}, {"$": "list", "of": ["?"]}, {"$": "list", "of": []},
    {"$": "dict", "of": [["a", 1]]}, {"$": "dict", "of": [[{"$": "list", "of": []}, 1]]}, {"$": "dict", "of": []},
    {"$": "frozenset", "of": ["a"]}, {"$": "nosuch", "of": []}, {"$": "laplace", "of": 10**399},
    {"$": "m-estimate", "of": [1, {"$": "dict", "of": [["x", {"$": "decimal", "of": "sNaN"}]]}]},
    {"$": "timedelta", "of": [10**18, 0, 0]}, {"$": "datetime", "of": "2020-01-01"}, {"$": "bytes", "of": "00"},
    {"$": "kernel", "of": ["Linear"]}, {"$": "recipe", "of": {}}, {"$": "recipe", "of": {"emoji": [1]}},
    {"$": "datetime64", "of": ["ns", 5]}, {"$": "datetime64", "of": ["D", 10**30]},
]  # fmt: skip
"""What stands where something else belongs."""


def _loss() -> Loss:
    return Loss({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": {"no": 2, "yes": 2}}, refuse=0.5)


class Stale:
    """Evidence that learned more rows since it was corrected, and keeps what it was before."""

    def fit(self, X: Any, y: Any) -> EvidenceClassifier:
        return EvidenceClassifier(n_jobs=1, schema={"note": "text"}).fit(X, y).partial_fit(X, y)


@dataclass(frozen=True)
class Sound:
    """A fitted classifier, and rows that it predicts."""

    make: Callable[[], Any]
    rows: Any
    y: Any = None

    def content(self) -> bytes:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "m.likely"
            self.make().fit(self.rows, Y if self.y is None else self.y).save(path)
            return path.read_bytes()


SOUND: dict[str, Sound] = {
    "naive": Sound(
        lambda: BayesClassifier(
            smoothing={"b": MEstimate(2.0, {"x": 0.5, "y": 0.5}), "c": Laplace(0.5), "note": 1},
            priors={"no": 0.25, "yes": 0.75},
            families={"a": "bins", "c": "poisson"},
            text={"note": Tokenizer(ngram_range=(1, 2), stop_words=frozenset({"the"}))},
            schema={"note": "text"},
            missing="value",
            weights="learned",
            bins=4,
            n_jobs=1,
        ),
        TEXTS,
    ),
    "naive, left open": Sound(
        lambda: BayesClassifier(
            smoothing="auto",
            families="auto",
            priors=[0.5, 0.5],
            schema=Schema.infer(TABLE, overrides={"b": "nominal"}),
            unseen="smooth",
            n_jobs=1,
        ),
        TABLE,
    ),
    "matrix": Sound(lambda: BayesClassifier(families="bernoulli"), np.column_stack([*NUMBERS.values()])),
    "numbers as labels": Sound(BayesClassifier, TABLE, np.arange(N) % 3),
    "dates as labels": Sound(
        BayesClassifier, TABLE, np.array(["2024-01-01", "2024-01-02"], dtype="M8[ns]")[np.arange(N) % 2]
    ),
    "full": Sound(lambda: FullBayesClassifier(covariance="shrunk", shrinkage=0.5, n_jobs=1), TABLE),
    "pairs": Sound(lambda: AODEClassifier(bins=3, cuts={"a": [-0.5, 0.5]}, n_jobs=1), TABLE),
    "evidence": Sound(lambda: EvidenceClassifier(schema={"note": "text"}, n_jobs=1), TEXTS),
    "evidence with trees": Sound(lambda: EvidenceClassifier(n_jobs=1), MANY, SIDES),
    "evidence, stale": Sound(Stale, TEXTS),
    "dates": Sound(lambda: BayesClassifier(n_jobs=1), DATED),
    "tree of dates": Sound(lambda: TreeClassifier(prune=None), DATED),
    "tree": Sound(
        lambda: TreeClassifier(
            prune=("pessimistic", 0.5), text_tokens=2, loss=_loss(), schema={"note": "text"}, missing="surrogates"
        ),
        TEXTS,
    ),
    "machine": Sound(lambda: SVMClassifier(C=2.0, kernel=2.0 * Gauss(1.0) + Linear() * Polynomial(2)), TABLE),
    "machine of texts": Sound(
        lambda: SVMClassifier(kernel="linear", class_weight={"no": 2.0}, text=Tokenizer(), schema={"note": "text"}),
        TEXTS,
    ),
    "temperature": Sound(lambda: CalibratedClassifier(BayesClassifier()), TABLE),
    "isotonic": Sound(lambda: CalibratedClassifier(TreeClassifier(), method="isotonic"), TABLE),
    "venn-abers": Sound(lambda: CalibratedClassifier(BayesClassifier(), method="venn-abers"), TABLE),
    "network": Sound(lambda: ConvNetClassifier(maps=(2,), filter=3, epochs=1, pad_to=6, progress=False), IMAGES),
}
"""Sound files of every classifier, with columns and settings of every kind."""


@cache
def content_of(name: str) -> bytes:
    """The bytes of a sound file."""
    return SOUND[name].content()


def sealed(document: dict[str, Any], body: bytes) -> bytes:
    """A document and arrays with a checksum that agrees: whoever makes up a file can compute it, too."""
    text = json.dumps(document).encode()
    head = container.HEAD.pack(container.MAGIC, container.FORMAT, 0, len(text), len(body))
    return head + container.hashlib.sha256(head + text + body).digest() + text + body


def walked(value: Any, trail: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a document."""
    if trail:
        yield trail
    if isinstance(value, dict):
        for key in value:
            yield from walked(value[key], (*trail, key))
    elif isinstance(value, list):
        for place in range(min(len(value), 3)):
            yield from walked(value[place], (*trail, place))


def forged(content: bytes, step: int = 1) -> Iterator[tuple[tuple[Any, ...], Any, bytes]]:
    """Hostile files made of a sound one: where, what stands there now, and the bytes; every `step`-th of them."""
    document, arrays = container.unpack(content)
    body = save_arrays(arrays)
    places = [(trail, new) for trail in walked(document) for new in STRANGE]
    for trail, new in places[::step]:
        changed: Any = copy.deepcopy(document)
        inside = changed
        for key in trail[:-1]:
            inside = inside[key]
        inside[trail[-1]] = new
        yield trail, new, sealed(changed, body)


def strange_arrays(array: AnyArray) -> Iterator[AnyArray]:
    """Arrays that stand where another belongs: of other shapes and types, and with cells that no model has."""
    yield from (array[:0], array[:-1], array[::-1], array.ravel(), array[None], np.concatenate([array, array]))
    yield from (array.astype(kind) for kind in (np.uint8, np.int32, np.int64, np.float32) if kind != array.dtype)
    if array.dtype.kind == "f":
        largest = float(np.finfo(array.dtype).max)
        cells = [np.nan, np.inf, -np.inf, largest, -largest, -1.0, 0.0, 5e-324, 1e17]
    else:
        bounds = np.iinfo(array.dtype)
        cells = [each for each in (-1, 0, 1, 2, 7, 200, bounds.max, bounds.min) if each >= bounds.min]
    for cell in cells:
        yield np.full_like(array, cell)
        for place in {0, array.size // 2, array.size - 1} if array.size else ():
            changed = array.copy()
            changed.flat[place] = cell
            yield changed


def forged_arrays(content: bytes, step: int = 1) -> Iterator[tuple[str, AnyArray, bytes]]:
    """Hostile files made of a sound one: which array is another one, that one, and the bytes."""
    document, arrays = container.unpack(content)
    with np.errstate(invalid="ignore"):
        places = [(name, new) for name, array in arrays.items() for new in strange_arrays(array)]
    for name, new in places[::step]:
        yield name, new, sealed(document, save_arrays({**arrays, name: np.ascontiguousarray(new)}))
