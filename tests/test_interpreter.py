"""Little data: Python runs kernels itself, to the same bits, until compiling them is worth it."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import BayesClassifier, TreeClassifier, naive_bayes
from likely.arrays import Array, ColumnLike, TableLike
from likely.interpreter import (
    COMPILED,
    INTERPRETED,
    INTERPRETER,
    MOST_CELLS,
    SECONDS_OF_ONE,
    THREAD,
    Interpreter,
    _is_on_disk,
)
from likely.jit import JitKernel, kernel
from likely.numerics import dot
from likely.store.container import unpack
from likely.teaching.mails import mails
from likely.text.tokenizer import Tokenizer


@kernel(cache=False)
def _step(x: float) -> float:
    return x / 3.0


@kernel(cache=False)
def _log2(x: float) -> float:
    return math.log2(x)


def fresh(cells: list[int]) -> JitKernel[[Array], float]:
    """A kernel of its own, which notes by whom it is run: Python's list is filled, compiled code has a copy of it."""

    def loop(x: Array) -> float:
        cells.append(1)
        total = 0.0
        for value in x:
            total += _step(value)
        return total

    return JitKernel(loop, {"cache": False}, True)


def loop(x: Array) -> None:
    """Any plain function."""


# When.


def test_little_data_is_left_to_python_and_much_is_not() -> None:
    interpreter = Interpreter()
    assert interpreter.is_quicker(loop, (np.zeros(MOST_CELLS // 2), 3.0, np.zeros(MOST_CELLS // 2)))
    assert not interpreter.is_quicker(loop, (np.zeros(MOST_CELLS // 2), np.zeros(MOST_CELLS // 2 + 1)))


def test_python_gives_way_once_it_has_taken_as_long_as_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter, now = Interpreter(), 0.0
    monkeypatch.setattr("likely.interpreter.thread_time", lambda: now)

    def work(x: Array) -> None:
        nonlocal now
        now += 0.15

    asked = []
    for _ in range(3):
        asked.append(interpreter.is_quicker(work, (np.zeros(1),)))
        interpreter.run(work, (np.zeros(1),), {})
    assert asked == [True, True, False]


def test_with_a_compiler_at_hand_each_kernel_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter, now = Interpreter(), 0.0
    interpreter.seconds, interpreter.numba_is_loaded = 100.0, True
    monkeypatch.setattr("likely.interpreter.thread_time", lambda: now)
    monkeypatch.setattr("likely.interpreter._is_on_disk", lambda loop: loop is kept)

    def kept(x: Array) -> None: ...

    def slow(x: Array) -> None:
        nonlocal now
        now += SECONDS_OF_ONE

    assert not interpreter.is_quicker(kept, (np.zeros(1),))
    assert interpreter.is_quicker(slow, (np.zeros(1),))
    interpreter.run(slow, (np.zeros(1),), {})
    assert not interpreter.is_quicker(slow, (np.zeros(1),)) and interpreter.is_quicker(loop, (np.zeros(1),))


def test_a_kernel_that_lies_on_disk_is_found_there() -> None:
    dot(np.ones(2), np.ones(2))
    assert _is_on_disk(dot.py_func) and not _is_on_disk(loop)


def test_what_an_interpreted_kernel_calls_is_interpreted() -> None:
    ran: list[int] = []
    made, before = fresh(ran), len(_step.signatures)
    with INTERPRETER.set_to(INTERPRETED):
        assert made(np.array([3.0, 6.0])) == 3.0
    assert ran == [1] and len(_step.signatures) == before
    assert not THREAD.interprets


def test_an_error_ends_the_interpretation() -> None:
    before = INTERPRETER.policy
    with INTERPRETER.set_to(INTERPRETED), pytest.raises(ZeroDivisionError):
        JitKernel(lambda x: x / 0, {"cache": False}, True)(1)
    assert not THREAD.interprets and INTERPRETER.policy == before


PROGRAM = """
import sys
import numpy as np
{imports}
rng = np.random.default_rng(0)
X, codes, y = rng.normal(size=(300, 4)), rng.integers(0, 4, (300, 4)), rng.integers(0, 2, 300)
{fit}
print("numba" in sys.modules)
"""


@pytest.mark.parametrize(
    ("imports", "fit"),
    [
        ("from likely.naive_bayes import GaussianNB", "GaussianNB().fit(X, y)"),
        ("from likely.naive_bayes import CategoricalNB", "CategoricalNB().fit(codes, y).predict_proba(codes)"),
        ("from likely.naive_bayes import MultinomialNB", "MultinomialNB().fit(codes, y).predict_log_proba(codes)"),
        ("from likely import BayesClassifier", "BayesClassifier().fit(np.array([['a b'], ['c']] * 150, object), y)"),
    ],
)
def test_a_small_first_fit_needs_no_compiler(imports: str, fit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIKELY_KERNELS")
    program = PROGRAM.format(imports=imports, fit=fit)
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# The same bits.


def learned(clf: BayesClassifier | TreeClassifier, X: TableLike, y: ColumnLike, path: Path) -> dict[str, bytes]:
    """All arrays of a classifier that has been fitted, by name."""
    clf.fit(X, y).save(path)
    return {name: array.tobytes() for name, array in unpack(path.read_bytes())[1].items()}


TABLES: dict[str, Callable[[], BayesClassifier | TreeClassifier]] = {
    "naive": BayesClassifier,
    "tree": lambda: TreeClassifier(text_tokens=50),
    "tree by chi2": lambda: TreeClassifier(measure="chi2", missing="weights", text_tokens=20),
    "tree with surrogates": lambda: TreeClassifier(missing="surrogates", max_depth=4, text_tokens=20),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_model_has_the_same_bits_either_way(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows: dict[str, object] = dict(mails())
    kinds = [str(kind) for kind in mails()["kind"]]
    del rows["kind"]
    rows["number"] = np.where(rng.random(len(kinds)) < 0.2, np.nan, rng.normal(size=len(kinds)))
    found = []
    for policy in (COMPILED, INTERPRETED):
        with INTERPRETER.set_to(policy):
            found.append(learned(TABLES[name](), rows, kinds, tmp_path / policy))
    assert found[0] == found[1] and len(found[0]) > 3


WORDS = st.text(st.sampled_from("aZé9_ß .,-\t\n東京🇩🇪👩‍💻İſ\u0301w/:ht"), max_size=24) | st.sampled_from(
    ["see http://x.org/a?b ok", "WWW.x.de", "日本語", "👩🏽‍🚀🚀", "a" * 40, "naïve NAÏVE", "\ud7ff\uffff"]
)


TOKENIZERS = {
    "words": Tokenizer(),
    "phrases": Tokenizer(ngram_range=(1, 3)),
    "characters": Tokenizer(analyzer="char", ngram_range=(1, 2)),
    "addresses": Tokenizer(urls=True),
}


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
@given(texts=st.lists(WORDS, min_size=2, max_size=6))
def test_texts_are_cut_alike_either_way(tokenizer: Tokenizer, texts: list[str]) -> None:
    y = [0, 1] * 3
    found = []
    for policy in (COMPILED, INTERPRETED):
        with INTERPRETER.set_to(policy):
            clf = BayesClassifier(text=tokenizer).fit({"text": texts}, y[: len(texts)])
            found.append((str(clf.schema_), clf.predict_log_proba({"text": texts}).tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", naive_bayes.__all__)
@given(seed=st.integers(0, 10_000), gaps=st.booleans())
def test_drop_ins_have_the_same_bits_either_way(name: str, seed: int, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (40, 3)).astype(np.float64), rng.integers(0, 3, 40)
    if name == "GaussianNB":
        X = X * 10.0 ** rng.integers(-150, 150) + rng.normal(size=X.shape) * gaps
    found = []
    for policy in (COMPILED, INTERPRETED):
        with INTERPRETER.set_to(policy):
            clf = vars(naive_bayes)[name]().fit(X, y)
            found.append({key: value.tobytes() for key, value in vars(clf).items() if isinstance(value, np.ndarray)})
    assert found[0] == found[1]


@given(st.floats(1e-9, 1e9))
def test_logarithms_are_those_of_one_library(x: float) -> None:
    """A kernel that is interpretable takes them from `math`: NumPy's own may differ in the last bit."""
    assert _log2(x) == math.log2(x)
