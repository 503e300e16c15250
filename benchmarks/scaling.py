"""How work grows faster with threads, up to all cores of a machine: `python -m benchmarks.scaling --scale 0.1`.

Wall seconds (medians, the numbers of threads by turns), the factor over one thread, and the processor seconds of the
calling thread, which no further thread shortens. Reading the matrix once with as many threads is the limit of a fit.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from likely import BayesClassifier, EvidenceClassifier, TreeClassifier
from likely.naive_bayes import GaussianNB
from likely.parallel import n_threads, row_blocks, run
from likely.text.class_counts import count_by_class

Work = Callable[[int], object]


def numeric(scale: float) -> dict[str, Work]:
    """A fit and a prediction over a matrix of doubles, and what it takes to read the matrix once."""
    rng = np.random.default_rng(0)
    n_rows = int(4_000_000 * scale)
    X, y = rng.standard_normal((n_rows, 50)), rng.integers(0, 5, n_rows)
    blocks = row_blocks(n_rows, 50)
    fitted = BayesClassifier().fit(X[:10_000], y[:10_000])

    def predict(threads: int) -> object:
        fitted.n_jobs = threads
        return fitted.predict(X[: n_rows // 4])

    return {
        f"read {n_rows:,} × 50 once": lambda threads: run(lambda block: X[block].sum(), blocks, threads),
        "GaussianNB fit": lambda threads: GaussianNB().fit(X, y),
        "BayesClassifier fit": lambda threads: BayesClassifier(n_jobs=threads).fit(X, y),
        f"predict {n_rows // 4:,} × 50": predict,
    }


def text(scale: float) -> dict[str, Work]:
    """Raw texts to counts by class, from a list of strings and from Arrow."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    words = np.array(["".join(map(chr, rng.integers(97, 123, rng.integers(2, 11)))) for _ in range(200_000)])
    shares = 1.0 / np.arange(1, len(words) + 1) ** 1.05
    texts = [" ".join(words[rng.choice(len(words), 150, p=shares / shares.sum())]) for _ in range(int(100_000 * scale))]
    y, column = rng.integers(0, 5, len(texts)).astype(np.int32), pa.array(texts, pa.large_string())
    megabytes = sum(map(len, texts)) / 1e6
    return {
        f"{megabytes:.0f} MB of texts in a list": lambda threads: count_by_class(texts, y, 5, n_jobs=threads),
        f"{megabytes:.0f} MB of texts in Arrow": lambda threads: count_by_class(column, y, 5, n_jobs=threads),
    }


def models(scale: float) -> dict[str, Work]:
    """Classifiers that go over their rows many times."""
    rng = np.random.default_rng(0)
    n_rows = int(400_000 * scale)
    X = rng.standard_normal((n_rows, 20))
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(n_rows) > 0.0).astype(int)
    return {
        f"EvidenceClassifier {n_rows:,} × 20": lambda threads: EvidenceClassifier(n_jobs=threads).fit(X, y),
        f"TreeClassifier {n_rows:,} × 20": lambda threads: TreeClassifier(n_jobs=threads).fit(X, y),
    }


GROUPS = {"numeric": numeric, "text": text, "models": models}


def measured(work: Work, threads: int) -> tuple[float, float]:
    """Wall seconds, and processor seconds of the thread that asks."""
    os.environ["LIKELY_THREADS"] = str(threads)
    wall, own = time.perf_counter(), time.thread_time()
    work(threads)
    return time.perf_counter() - wall, time.thread_time() - own


def main() -> None:
    """Print one line for each piece of work and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", choices=GROUPS, nargs="*", default=list(GROUPS))
    options = parser.parse_args()
    cores = n_threads(-1)
    counts = sorted({1, cores, *(2**k for k in range(cores.bit_length()) if 2**k <= cores)})
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f}, scale {options.scale:g}")
    print(f"{'':34} {'threads':>7} {'seconds':>9} {'factor':>7} {'serial':>8}")
    for group in options.only:
        for name, work in GROUPS[group](options.scale).items():
            work(1)  # compiles, and fills caches
            turns = [{threads: measured(work, threads) for threads in counts} for _ in range(options.turns)]
            alone = median(turn[1][0] for turn in turns)
            for threads in counts:
                wall, own = (median(turn[threads][k] for turn in turns) for k in range(2))
                print(f"{name:34} {threads:7} {wall:9.4f} {alone / wall:7.2f} {own:8.4f}", flush=True)


if __name__ == "__main__":
    main()
