"""How work grows faster with threads, up to all cores of a machine: `python -m benchmarks.scaling --json out.json`.

Wall seconds (medians, the numbers of threads by turns), the factor over one thread, and how many cores were at work in
the mean. Reading the matrix once with as many threads is the limit of a fit; histogram boosting with 100 rounds and as
many threads stands beside the classifiers. `--where` also says where the asking thread is, and how many others work
meanwhile, with all threads: what holds a piece of work up is a line with few at work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from threading import Event, Thread, get_ident
from types import FrameType

import numpy as np
from threadpoolctl import threadpool_limits

from likely import BayesClassifier, EvidenceClassifier, TreeClassifier
from likely.naive_bayes import GaussianNB
from likely.parallel import n_threads, row_blocks, run
from likely.text.class_counts import count_by_class

Work = Callable[[int], object]
Piece = tuple[str, Work]

SAMPLED_EVERY = 0.002
"""Seconds between two looks at what the threads do."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    rows: int
    columns: int
    megabytes: int
    model_rows: int

    def tiny(self) -> Sizes:
        """Enough to have everything compiled."""
        return Sizes(min(self.rows, 200_000), self.columns, 1, min(self.model_rows, 6_000))


def numeric(sizes: Sizes) -> Iterator[Piece]:
    """A fit and a prediction over a matrix of doubles, and what it takes to read the matrix once."""
    rng = np.random.default_rng(0)
    n_rows = sizes.rows
    X, y = np.empty((n_rows, sizes.columns)), rng.integers(0, 5, n_rows)
    for block in row_blocks(n_rows, sizes.columns):
        rng.standard_normal(out=X[block])
    blocks, size = row_blocks(n_rows, sizes.columns), f"{n_rows:,} × {sizes.columns}"
    fitted = BayesClassifier().fit(X[:10_000], y[:10_000])

    def predict(threads: int) -> object:
        fitted.n_jobs = threads
        return fitted.predict(X[: n_rows // 4])

    yield f"read {size} once", lambda threads: run(lambda block: X[block].sum(), blocks, threads)
    yield f"GaussianNB fit {size}", lambda threads: GaussianNB().fit(X, y)
    yield f"BayesClassifier fit {size}", lambda threads: BayesClassifier(n_jobs=threads).fit(X, y)
    yield f"predict {n_rows // 4:,} × {sizes.columns}", predict


def text(sizes: Sizes) -> Iterator[Piece]:
    """Raw texts to counts by class, from Arrow and from a list of strings."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    lengths, letters = rng.integers(2, 11, 200_000), rng.integers(97, 123, (200_000, 10)).astype(np.uint8)
    words = [line[:length].tobytes().decode() for line, length in zip(letters, lengths, strict=True)]
    shares = np.cumsum(1.0 / np.arange(1, len(words) + 1) ** 1.05)
    drawn = np.searchsorted(shares, rng.random(sizes.megabytes * 150_000) * shares[-1])
    texts = [" ".join(words[k] for k in line) for line in drawn.reshape(-1, 150).tolist()]
    y, column = rng.integers(0, 5, len(texts)).astype(np.int32), pa.array(texts, pa.large_string())
    size = f"{sum(map(len, texts)) / 1e6:.0f} MB of texts"
    yield f"{size} in Arrow", lambda threads: count_by_class(column, y, 5, n_jobs=threads)
    yield f"{size} in a list", lambda threads: count_by_class(texts, y, 5, n_jobs=threads)


def models(sizes: Sizes) -> Iterator[Piece]:
    """Classifiers that go over their rows many times, and histogram boosting beside them."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = rng.standard_normal((sizes.model_rows, 20))
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(sizes.model_rows) > 0.0).astype(int)
    size = f"{sizes.model_rows:,} × 20"

    def boost(threads: int) -> object:
        with threadpool_limits(threads):
            return HistGradientBoostingClassifier(max_iter=100, early_stopping=False).fit(X, y)

    yield f"EvidenceClassifier {size}", lambda threads: EvidenceClassifier(n_jobs=threads).fit(X, y)
    yield f"HistGradientBoosting(100) {size}", boost
    yield f"TreeClassifier {size}", lambda threads: TreeClassifier(n_jobs=threads).fit(X, y)
    random = rng.integers(0, 2, sizes.model_rows)
    yield f"TreeClassifier {size}, random classes", lambda threads: TreeClassifier(n_jobs=threads).fit(X, random)


GROUPS = {"numeric": numeric, "text": text, "models": models}
SHARES = {"numeric": 0.15, "text": 0.15, "models": 0.7}
"""Of the time that there is."""


@dataclass
class Measured:
    """Wall and processor seconds of one piece of work, by number of threads."""

    name: str
    wall: dict[int, list[float]] = field(default_factory=dict)
    cpu: dict[int, list[float]] = field(default_factory=dict)

    def measure(self, work: Work, threads: int) -> float:
        """Do it once with so many threads."""
        os.environ["LIKELY_THREADS"] = str(threads)
        wall, cpu = time.perf_counter(), time.process_time()
        work(threads)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.wall.setdefault(threads, []).append(wall)
        self.cpu.setdefault(threads, []).append(cpu)
        return wall

    def lines(self) -> Iterator[str]:
        """A line of the table for each number of threads."""
        alone = median(self.wall[1]) if 1 in self.wall else float("nan")
        for threads in sorted(self.wall):
            wall, cpu = median(self.wall[threads]), median(self.cpu[threads])
            factor, busy, turns = alone / wall, cpu / wall, len(self.wall[threads])
            yield f"{self.name:44} {threads:7} {wall:9.4f} {factor:7.2f} {busy:6.1f} {turns:6}"

    def as_data(self) -> dict[str, object]:
        """For the file."""
        return {"name": self.name, "wall": self.wall, "cpu": self.cpu}


def measure_group(pieces: list[Piece], counts: list[int], turns: int, seconds: float) -> list[Measured]:
    """All pieces in turns, as many as fit into the time: all threads and one first, then the others."""
    found, ends = [Measured(name) for name, _ in pieces], time.monotonic() + seconds
    order = [counts[-1], *[n for n in counts[:-1] if n == 1], *[n for n in counts[-2::-1] if n != 1]]
    for _ in range(turns):
        for threads in order:
            for own, (_, work) in zip(found, pieces, strict=True):
                last = [walls[-1] for walls in own.wall.values()]
                if not last or time.monotonic() + max(last) < ends:
                    own.measure(work, threads)
    return found


# Where the asking thread is while the work is done.


class Sampler:
    """Looks at all threads again and again: the innermost place of ours in the asking one, and how many others work."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.busy: Counter[str] = Counter()
        self._asking, self._done = get_ident(), Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(SAMPLED_EVERY):
            frames = sys._current_frames()
            asking = frames.pop(self._asking)
            frames.pop(get_ident(), None)
            place = _place(asking)
            self.seen[place] += 1
            self.busy[place] += sum(_works(frame) for frame in frames.values())

    def lines(self, most: int = 14) -> Iterator[str]:
        """The places with most looks."""
        total = max(self.seen.total(), 1)
        for place, n in self.seen.most_common(most):
            yield f"    {n / total:6.1%}  {self.busy[place] / n:5.1f} others at work  {place}"


def _place(frame: FrameType) -> str:
    """The two innermost places of the package, and whether the thread waits there."""
    state = " (waits)" if frame.f_code.co_filename.endswith("threading.py") else ""
    found: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(found) < 2:
        module = str(at.f_globals.get("__name__", ""))
        if module.startswith("likely.") and module not in ("likely.parallel", "likely.jit"):
            found.append(f"{module.removeprefix('likely.')}:{at.f_code.co_qualname}:{at.f_lineno}")
        at = at.f_back
    return " < ".join(found) + state


def _works(frame: FrameType) -> bool:
    """Whether a thread of a pool has a task, and does not wait for another."""
    waits = frame.f_code.co_filename.endswith(("threading.py", "futures/thread.py", "futures/_base.py"))
    return not waits


def where(name: str, work: Work, threads: int) -> None:
    """Print where a piece of work spends its time."""
    os.environ["LIKELY_THREADS"] = str(threads)
    with Sampler() as sampler:
        work(threads)
    print(f"\n{name}, {threads} threads")
    for line in sampler.lines():
        print(line, flush=True)


def main() -> None:
    """Measure, print a table, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of the matrix of doubles")
    parser.add_argument("--columns", type=int, default=50, help="its columns")
    parser.add_argument("--megabytes", type=int, default=100, help="of texts, about")
    parser.add_argument("--model-rows", type=int, default=400_000, help="rows for classifiers with many passes")
    parser.add_argument("--threads", type=int, nargs="*", help="numbers of threads (1, 2, 4 … all cores)")
    parser.add_argument("--turns", type=int, default=5, help="at most")
    parser.add_argument("--seconds", type=float, default=360.0, help="for all measurements; the last one ends in time")
    parser.add_argument("--only", choices=GROUPS, nargs="*", default=list(GROUPS))
    parser.add_argument("--where", action="store_true", help="also say where the asking thread is")
    parser.add_argument("--json", help="write all measurements to this file")
    options = parser.parse_args()
    cores, started = n_threads(-1), time.monotonic()
    counts = sorted(set(options.threads or [1, cores, *(2**k for k in range(cores.bit_length()) if 2**k <= cores)]))
    sizes = Sizes(options.rows, options.columns, options.megabytes, options.model_rows)
    print(f"{cores} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{'':44} {'threads':>7} {'seconds':>9} {'factor':>7} {'cores':>6} {'turns':>6}", flush=True)
    found, left, asked = [], options.seconds, sum(SHARES[name] for name in options.only)
    for group in options.only:
        for _, work in GROUPS[group](sizes.tiny()):
            work(counts[-1])  # compiles
        pieces, share = list(GROUPS[group](sizes)), SHARES[group] / asked
        group_ends = options.seconds - left + share * options.seconds
        own = measure_group(pieces, counts, options.turns, group_ends - (time.monotonic() - started))
        for measured in own:
            for line in measured.lines():
                print(line, flush=True)
        found += own
        if options.where:
            for name, work in pieces:
                where(name, work, counts[-1])
        left -= share * options.seconds
    if options.json:
        with open(options.json, "w") as file:
            about = {"cores": cores, "python": platform.python_version(), "numpy": np.__version__}
            json.dump({"machine": about, "measured": [each.as_data() for each in found]}, file, indent=1)


if __name__ == "__main__":
    main()
