"""Kernels: compiled when they are called, known to one another, and no reason to import the compiler before that."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import likely
from likely.arrays import UInt8
from likely.jit import JitKernel, kernel
from likely.numerics import dot
from likely.text.bytes import load8, lowest


@kernel(cache=False)
def _half(x: float) -> float:
    return x / 2.0


@kernel(cache=False, fastmath=True)
def _quarter(x: float) -> float:
    return _half(_half(x))


@kernel(cache=False)
def _third(x: float) -> float:
    return x / 3.0


@kernel(cache=False)
def _ninth(x: float) -> float:
    return _third(_third(x))


@kernel(cache=False, inline="always")
def _tripled(x: float) -> float:
    return 3.0 * x


@kernel(cache=False)
def _first_bit(x: np.uint64) -> int:
    return lowest(x)


@kernel(cache=False)
def _eight(data: UInt8, i: int) -> np.uint64:
    return load8(data, i)


@kernel(cache=False)
def _six_fold(x: float) -> float:
    return _tripled(x) + _tripled(x)


def test_kernels_call_one_another() -> None:
    assert (_quarter(6.0), _six_fold(2.0)) == (1.5, 12.0)
    assert _quarter.signatures and _quarter.targetoptions["fastmath"]


def test_what_only_kernels_call_has_no_entrance_for_python_until_python_calls() -> None:
    assert _ninth(9.0) == 1.0 and not _third.signatures
    assert _third(9.0) == 3.0 and _third.signatures
    assert _ninth(18.0) == 2.0


def test_machine_instructions_and_what_python_does_instead() -> None:
    words = [np.uint64(x) for x in (1, 8, 0, 2**63, 12)]
    assert [_first_bit(word) for word in words] == [lowest(word) for word in words] == [0, 3, 64, 63, 2]
    data = np.arange(1, 12, dtype=np.uint8)
    assert _eight(data, 2) == load8(data, 2) == 0x0A09080706050403


def test_a_kernel_keeps_its_name_its_words_and_the_plain_function() -> None:
    assert dot.__name__ == "dot" and str(dot.__doc__).startswith("Σ a b")
    assert dot.py_func(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
    assert pickle.loads(pickle.dumps(dot)) is dot  # noqa: S301 - our own bytes


def test_many_threads_compile_one_kernel() -> None:
    made: JitKernel[[float], float] = kernel(cache=False)(lambda x: x + 1.0)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(made, [1.0] * 32)) == {2.0}
        assert len({id(found) for found in pool.map(lambda _: made._compiled, range(8))}) == 1


@pytest.mark.parametrize("module", ["likely.stats", "likely.families", "likely.text.class_counts", "likely.numerics"])
def test_nobody_imports_the_compiler_to_look_at_kernels(module: str) -> None:
    code = f"import sys, {module}; print('numba' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# Where compiled loops are kept.

FIT = """
import numpy as np
from likely.naive_bayes import CategoricalNB
rng = np.random.default_rng(0)
X, y = rng.integers(0, 5, (200, 3)), rng.integers(0, 2, 200)
print(CategoricalNB().fit(X, y).predict_proba(X).sum().round(6))
"""


def begun(folder: Path, **environment: str | None) -> subprocess.Popen[str]:
    """A process that fits a classifier of the package in that folder."""
    plain = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "LIKELY_KERNELS": "compiled", **environment}
    given = {name: value for name, value in plain.items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-c", FIT], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
    )


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package in a folder of its own, without anything compiled."""
    shutil.copytree(Path(likely.__file__).parent, tmp_path / "likely", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_nothing_can_be_written_anywhere(package: Path) -> None:
    """A file stands wherever a folder would be made: even the superuser cannot write there."""
    for folder in [package / "likely", *(each for each in (package / "likely").rglob("*") if each.is_dir())]:
        (folder / "__pycache__").write_text("")
    assert said(begun(package, HOME="/dev/null/nobody")) == "200.0"


def test_there_is_no_home(package: Path) -> None:
    assert said(begun(package, HOME=None)) == "200.0"


def test_two_processes_compile_at_once(package: Path) -> None:
    cache = package / "kept"
    both = [begun(package, HOME=str(package), NUMBA_CACHE_DIR=str(cache)) for _ in range(2)]
    assert [said(each) for each in both] == ["200.0", "200.0"]
    kept = sorted(cache.rglob("*.nbc"))
    assert kept
    assert said(begun(package, HOME=str(package), NUMBA_CACHE_DIR=str(cache))) == "200.0"
    assert sorted(cache.rglob("*.nbc")) == kept  # a third one finds all that it needs
