"""Counting and scoring on a GPU: how near it comes to reading the rows once, and beside PyTorch and scikit-learn.

`python benchmarks/gpu.py` needs a GPU of NVIDIA and CuPy; peers are measured in the same run where they are installed.
Times are medians of the whole call, labels and the small result on the host included; "kernels" leaves out the result.
It prints a table, and writes JSON with `--json FILE`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn takes tensors only if SciPy does, too

from likely import BayesClassifier, EvidenceClassifier, FullBayesClassifier
from likely.engines.gpu import counts, tables
from likely.engines.gpu.rows import counter_of
from likely.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

Measured = tuple[str, float, float]
"""What was done, median seconds, and bytes that must be read or written at least."""


def median(work: Callable[[], Any], times: int = 7) -> float:
    """Seconds of a call, until the device has finished."""
    work()
    seen = []
    for _ in range(times):
        cp.cuda.Device().synchronize()
        begin = time.perf_counter()
        work()
        cp.cuda.Device().synchronize()
        seen.append(time.perf_counter() - begin)
    return statistics.median(seen)


def numbers(n_rows: int, n_columns: int, n_classes: int) -> tuple[cp.ndarray, cp.ndarray]:
    """Normal numbers whose means depend on the class."""
    y = cp.random.randint(0, n_classes, n_rows, dtype=np.int32).astype(np.uint8)
    X = cp.empty((n_rows, n_columns), dtype=np.float32)
    step = 1 << 22
    for first in range(0, n_rows, step):
        some = slice(first, first + step)
        X[some] = cp.random.standard_normal(X[some].shape, dtype=np.float32) + 0.2 * y[some, None]
    return X, y


def _copy(rows: cp.ndarray) -> float:
    to = cp.empty_like(rows)
    return median(lambda: cp.copyto(to, rows))


def _moments(X: cp.ndarray, y: cp.ndarray) -> float:
    return median(lambda: counts._centred_sums(counter_of(X, y, None), X))


def gaussian(n_rows: int) -> Iterator[Measured]:
    """Moments of numbers, by number of classes; scoring; and peers with five classes."""
    X, y = numbers(n_rows, 50, 5)
    size = float(X.nbytes)
    yield "copy of half the rows", _copy(X[: n_rows // 2]), size
    columns = tuple(f"x{j}" for j in range(50))
    yield "kernels: moments, 5 classes", _moments(X, y), size
    counter = counter_of(X, y, None)
    yield "kernels: moments, without reading labels", median(lambda: counts._centred_sums(counter, X)), size
    yield "moments, 5 classes", median(lambda: counts.moments(counter_of(X, y, None), columns)), size
    yield "GaussianNB fit, 5 classes", median(lambda: GaussianNB().fit(X, y)), size
    yield "BayesClassifier fit, 5 classes", median(lambda: BayesClassifier().fit(X, y)), size
    clf = GaussianNB().fit(X, y)
    out = n_rows * 5 * 4.0
    yield "GaussianNB predict_proba", median(lambda: clf.predict_proba(X)), size + out
    yield "GaussianNB predict", median(lambda: clf.predict(X)), size + n_rows * 4.0
    bayes = BayesClassifier().fit(X, y)
    yield "BayesClassifier predict_proba (doubles)", median(lambda: bayes.predict_proba(X)), size + 2 * out
    yield from peers(X, y, size)
    for n_classes in (2, 10, 20, 100):
        own = (cp.arange(n_rows, dtype=np.int64) * 2654435761 % 4294967296 % n_classes).astype(np.uint8)
        yield f"kernels: moments, {n_classes} classes", _moments(X, own), size
    few = n_rows // 6
    yield (
        "FullBayesClassifier fit, a sixth of the rows",
        median(lambda: FullBayesClassifier().fit(X[:few], y[:few]), 3),
        size / 6,
    )


def peers(X: cp.ndarray, y: cp.ndarray, size: float) -> Iterator[Measured]:
    """PyTorch by one-hot products, and scikit-learn's GaussianNB on PyTorch's tensors."""
    try:
        import torch
    except ImportError:
        return
    tensor, labels = torch.from_dlpack(X), torch.from_dlpack(y.astype(np.int64))

    def one_hot() -> Any:
        hot = torch.nn.functional.one_hot(labels, 5).to(torch.float32)
        return hot.T @ tensor, hot.T @ (tensor * tensor), hot.sum(0)

    yield "PyTorch, one-hot products in single precision", median(one_hot, 3), size
    try:
        import sklearn
        from sklearn.naive_bayes import GaussianNB as Peer

        few = len(X) // 6
        with sklearn.config_context(array_api_dispatch=True):
            some, own = tensor[:few], labels[:few]
            yield (
                "scikit-learn's GaussianNB on PyTorch, a sixth of the rows",
                median(lambda: Peer().fit(some, own), 3),
                size / 6,
            )
            peer = Peer().fit(some, own)
            yield "the same, predict_proba", median(lambda: peer.predict_proba(some), 3), size / 6
    except Exception as error:  # noqa: BLE001 — a peer that does not work is told, whatever its reason
        print(f"scikit-learn on PyTorch did not run: {type(error).__name__}: {error}")


def categories(n_rows: int) -> Iterator[Measured]:
    """Counts of values."""
    X = cp.random.randint(0, 10, (n_rows, 30), dtype=np.int32).astype(np.uint8)
    y = cp.random.randint(0, 5, n_rows, dtype=np.int32).astype(np.uint8)
    size = float(X.nbytes)
    yield "kernels: value counts", median(lambda: tables._count_between(counter_of(X, y, None), X, 0, 10)), size
    yield "CategoricalNB fit", median(lambda: CategoricalNB().fit(X, y)), size
    clf = CategoricalNB().fit(X, y)
    yield "CategoricalNB predict_proba", median(lambda: clf.predict_proba(X)), size + n_rows * 40.0


def words(n_rows: int) -> Iterator[Measured]:
    """Counts of words in a sparse matrix, 80 a row."""
    import cupyx.scipy.sparse

    per_row, n_words = 80, 50_000
    indices = cp.sort(cp.random.randint(0, n_words, (n_rows, per_row), dtype=np.int32), axis=1).ravel()
    data = cp.ones(n_rows * per_row, dtype=np.float32)
    begins = cp.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
    X = cupyx.scipy.sparse.csr_matrix((data, indices, begins), shape=(n_rows, n_words))
    X.has_canonical_format = True
    y = cp.random.randint(0, 5, n_rows, dtype=np.int32).astype(np.uint8)
    size = float(data.nbytes + indices.nbytes)
    yield "MultinomialNB fit, sparse", median(lambda: MultinomialNB().fit(X, y)), size
    clf = MultinomialNB().fit(X, y)
    yield "MultinomialNB predict_proba, sparse", median(lambda: clf.predict_proba(X)), size


def evidence(n_rows: int) -> Iterator[Measured]:
    """Scores of the additive model, and as many fewer rows on the host."""
    rng = np.random.default_rng(0)
    few = rng.normal(size=(20_000, 20)).astype(np.float32)
    y = (few[:, 0] * few[:, 1] + few[:, 2] > rng.normal(size=20_000)).astype(np.uint8)
    clf = EvidenceClassifier(random_state=0).fit(few, y)
    X = cp.random.standard_normal((n_rows, 20), dtype=np.float32)
    size = float(X.nbytes)
    yield f"EvidenceClassifier predict_proba, {n_rows:,} × 20", median(lambda: clf.predict_proba(X), 3), size
    host = cp.asnumpy(X[: n_rows // 10])
    yield "the same on the host, a tenth of the rows", median(lambda: clf.predict_proba(host), 3), size / 10


def host_rows(n_rows: int) -> Iterator[Measured]:
    """What sending rows of the host would cost at least, beside counting them where they are."""
    X, y = np.random.default_rng(0).normal(size=(n_rows, 50)), np.arange(n_rows) % 5
    size, block = float(X.nbytes), 1 << 17
    cores = len(os.sched_getaffinity(0))
    yield f"rows of the host: GaussianNB fit by {cores} threads", median(lambda: GaussianNB().fit(X, y), 3), size
    there = cp.empty((block, 50))
    pinned = [np.frombuffer(cp.cuda.alloc_pinned_memory(there.nbytes), count=there.size).reshape(-1, 50) for _ in "12"]
    stream, sent = cp.cuda.Stream(non_blocking=True), [cp.cuda.Event() for _ in "12"]

    def send(copied: bool) -> None:
        for place, first in enumerate(range(0, n_rows, block)):
            rows, held = X[first : first + block], pinned[place % 2]
            sent[place % 2].synchronize()
            if copied:
                held[: len(rows)] = rows
            there[: len(rows)].set(held[: len(rows)], stream=stream)
            sent[place % 2].record(stream)
        stream.synchronize()

    yield "rows of the host: copied to pinned blocks and sent, not counted", median(lambda: send(True), 3), size
    yield "rows of the host: sent from pinned memory, not counted", median(lambda: send(False), 3), size


def page(device: str, n_rows: int, found: list[dict[str, Any]]) -> str:
    """What was measured, as a page."""
    lines = [
        "# On a GPU",
        "",
        f"`python benchmarks/gpu.py` on one {device}, {time.strftime('%Y-%m-%d')}: {n_rows:,} rows × 50 numbers in",
        f"single precision with 5 classes, {n_rows:,} × 30 bytes with 10 values, {n_rows // 30:,} sparse rows with 80",
        "words each.",
        "Medians of calls; bytes are those that must be read or written at least.",
        "",
        "| work | ms | TB/s |",
        "|---|---:|---:|",
    ]
    for one in found:
        lines.append(f"| {one['what']} | {1e3 * one['seconds']:.2f} | {one['bytes'] / one['seconds'] / 1e12:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure everything, print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000_000)
    parser.add_argument("--only", nargs="*", default=["gaussian", "categories", "words", "evidence", "host"])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    asked = parser.parse_args()
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{device}, {asked.rows:,} rows, CuPy {cp.__version__}, NumPy {np.__version__}")
    found = []
    for name in asked.only:
        work: dict[str, Callable[[int], Iterator[Measured]]] = {
            "gaussian": gaussian, "categories": categories, "words": lambda n: words(n // 30),
            "evidence": lambda n: evidence(n // 6), "host": lambda n: host_rows(n // 15),
        }  # fmt: skip
        for what, seconds, size in work[name](asked.rows):
            print(f"{what:60} {1e3 * seconds:9.2f} ms {size / seconds / 1e12:7.2f} TB/s", flush=True)
            found.append({"what": what, "seconds": seconds, "bytes": size})
        cp.get_default_memory_pool().free_all_blocks()
    if asked.markdown:
        asked.markdown.write_text(page(device, asked.rows, found), encoding="utf-8")
    if asked.json:
        asked.json.write_text(json.dumps({"device": device, "rows": asked.rows, "measured": found}, indent=1))


if __name__ == "__main__":
    main()
