"""All that is compiled on first use, compiled now, once on a machine, by doing a little of every kind of work."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from likely import api
from likely.compilation import WATCHER, watch
from likely.errors import LikelyError
from likely.interpreter import COMPILED, INTERPRETER
from likely.io.file_table import open_table
from likely.models.evidence.row_source import FEW_CODES
from likely.models.registry import entries
from likely.progress import Shown, StepBar
from likely.table import as_table
from likely.teaching.mails import mails


def warm_up(progress: Shown = None) -> int:
    """Compile all loops that the classifiers, tables and texts need; how many had to be compiled.

    They are kept beside the package (or where `NUMBA_CACHE_DIR` points), so that later processes find them there.
    """
    watch()
    before, quiet = WATCHER.compiled, WATCHER.quiet
    WATCHER.quiet = True
    steps = _steps()
    bar = StepBar(len(steps), "warming up", progress)
    try:
        with tempfile.TemporaryDirectory() as folder, INTERPRETER.set_to(COMPILED):
            table = Path(folder, "mails.csv")
            _write(table)
            for name, work in steps.items():
                work(table)
                bar.step(f"warming up: {name},")
    finally:
        WATCHER.quiet = quiet
        bar.end()
    return WATCHER.compiled - before


def _write(path: Path) -> None:
    import pyarrow as pa

    from likely.io.write import table_writer

    with table_writer(path) as write:
        write(pa.table(mails()))


def _steps() -> dict[str, Callable[[Path], object]]:
    models = [entry.name for entry in entries() if entry.reads_tables]
    kinds = {name: partial(_model, name) for name in models}
    return {"files": _files, **kinds, "many rows": _many_rows, "arrays": _arrays, "texts": _texts}


def _files(path: Path) -> None:
    """Reading, judging and predicting a table in a file."""
    from likely.streaming.transform import predict_file

    clf = api.train(path, "kind", model="naive", progress=False)
    api.evaluate("naive", path, "kind", cv=2, progress=False)
    predict_file(clf, path, io.BytesIO(), progress=False)


def _model(name: str, path: Path) -> None:
    """One classifier: from a file, and from rows of numbers and categories."""
    table = as_table(open_table(path).read())
    for given in (path, table):
        clf = api.train(given, "kind", model=name, progress=False)
        clf.predict(table)
        with suppress(LikelyError):  # not every model has contributions
            clf.explain(table.slice(0, 2))
    api.evaluate(clf, table, "kind", cv=2, progress=False)


def _many_rows(_: Path) -> None:
    """Codes of so many cells that they take one byte each: loops of their own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(FEW_CODES, 2))
    api.new_classifier("evidence", {}).fit(X, (X[:, 0] + rng.normal(size=FEW_CODES) > 0.0).astype(np.int64))


def _arrays(_: Path) -> None:
    """The classifiers of scikit-learn's names, on arrays and sparse matrices."""
    from scipy import sparse

    from likely import naive_bayes

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 6)).astype(np.float64), rng.integers(0, 3, 200)
    for name in naive_bayes.__all__:
        kind = vars(naive_bayes)[name]
        for rows in (X, *([] if name in ("GaussianNB", "CategoricalNB") else [sparse.csr_array(X)])):
            kind().fit(rows, y).predict_proba(rows)
        kind().partial_fit(X, y, classes=[0, 1, 2])


def _texts(_: Path) -> None:
    """Words, pairs of words and characters; and words of several threads, which so few texts do not need."""
    from likely.text.joint_words import join_words
    from likely.text.tokenizer import Tokenizer
    from likely.text.vocabulary import Words, process_seed

    subjects, kinds = [str(cell) for cell in mails()["subject"]], mails()["kind"]
    for tokenizer in (Tokenizer(), Tokenizer(ngram_range=(1, 2)), Tokenizer(analyzer="char", ngram_range=(1, 3))):
        clf = api.new_classifier("naive", {"text": tokenizer}).fit(subjects, kinds)
        clf.predict_proba(subjects)
    join_words([Words.of(["one"]), Words.of(["two"])], process_seed())
