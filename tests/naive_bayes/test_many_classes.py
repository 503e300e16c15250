"""Memory follows rows × columns and classes × values, never rows × classes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
MIB = 2**20

# Peak memory is a high-water mark of the process, so each case has a process to itself.
COUNTS = """
import json, resource
import numpy as np
from scipy import sparse
from likely.naive_bayes import {name}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

n, d, k, n_classes = {n}, {d}, 80, {n_classes}
rng = np.random.default_rng(0)
columns = rng.integers(0, d, n * k, dtype=np.int32)
X = sparse.csr_array((np.ones(n * k), columns, np.arange(0, n * k + 1, k, dtype=np.int32)), shape=(n, d))
y = rng.integers(0, n_classes, n)
few = sparse.csr_array(X[:200]), y[:200]
{name}().fit(*few).predict(few[0])
before = peak()
clf = {name}().fit(X, y)
fitted = peak() - before
answers = clf.predict(X[:2000])
print(json.dumps([fitted, peak() - before, float((answers == y[:2000]).mean())]))
"""


def measure(name: str, n: int, d: int, n_classes: int) -> list[float]:
    code = COUNTS.format(name=name, n=n, d=d, n_classes=n_classes)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE)}
    )
    return list(json.loads(done.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read in Linux's units")
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_sparse_counts_of_many_classes(name: str) -> None:
    """20,000 rows × 4,000 classes × 20,000 columns: rows × classes and classes × columns would take 640 MB each."""
    fitted, predicted, hits = measure(name, 20_000, 20_000, 4000)
    assert fitted < 200 * MIB
    assert predicted < 300 * MIB
    # With five rows a class, the pseudo counts of 20,000 absent columns drown what BernoulliNB has seen.
    assert hits > 0.9 or name == "BernoulliNB"


CODES = """
import json, resource
import numpy as np
from likely.naive_bayes import CategoricalNB

rng = np.random.default_rng(0)
X, y = rng.integers(0, 8, (60_000, 10)), rng.integers(0, 3000, 60_000)
CategoricalNB().fit(X[:100], y[:100]).predict(X[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
CategoricalNB().fit(X, y).predict(X)
print(json.dumps((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read in Linux's units")
def test_categories_of_many_classes() -> None:
    """60,000 rows × 3,000 classes would take 1,440 MB."""
    done = subprocess.run(
        [sys.executable, "-c", CODES], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE)}
    )
    assert json.loads(done.stdout) < 200 * MIB
