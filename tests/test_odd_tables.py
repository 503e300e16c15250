"""Odd tables, all classifiers, all public methods: the answer is right, or one sentence says why there is none."""

from __future__ import annotations

import copy
import datetime
import decimal
import inspect
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import likely
from likely import LikelyError, Loss
from likely.models.registry import entries

FULL = os.environ.get("LIKELY_TORTURE") == "full"
N = 24
rng = np.random.default_rng(3)
Y = np.array(["no", "yes"])[np.arange(N) % 2]
BASE = rng.normal(size=N) + (np.arange(N) % 2)


def objects(*values: Any) -> np.ndarray:
    """These values over and over, as an array of objects."""
    out = np.empty(N, dtype=object)
    for place in range(N):
        out[place] = values[place % len(values)]
    return out


class Strange:
    """A value of a type that nobody knows."""


COLUMNS: dict[str, Any] = {
    "integers": np.arange(N),
    "bytes of one": np.arange(N, dtype=np.uint8) + 230,
    "largest integers": np.full(N, np.iinfo(np.int64).min) + np.arange(N),
    "unsigned": np.full(N, np.iinfo(np.uint64).max) - np.arange(N).astype(np.uint64),
    "half floats": BASE.astype(np.float16),
    "long floats": BASE.astype(np.longdouble),
    "smallest": np.where(np.arange(N) % 2, 5e-324, 0.0),
    "far apart": np.where(np.arange(N) % 2, 1e-300, 1e300),
    "at the edge": np.where(np.arange(N) % 3, 1.7e308, -1.7e308),
    "infinite": np.where(np.arange(N) % 3, BASE, np.inf),
    "both infinities": np.where(np.arange(N) % 2, -np.inf, np.inf),
    "gaps": np.where(np.arange(N) % 3, BASE, np.nan),
    "only gaps": np.full(N, np.nan),
    "one number among gaps": np.where(np.arange(N) == 5, 1.0, np.nan),
    "gaps tell the class": np.where(np.arange(N) % 2, BASE, np.nan),
    "constant": np.ones(N),
    "constant text": objects("same"),
    "far and close": 1e8 + BASE,
    "far and very close": 1e15 + np.arange(N) % 2,
    "negative zero": np.where(np.arange(N) % 2, 0.0, -0.0),
    "true and false": np.arange(N) % 3 == 0,
    "true, false and gaps": objects(True, False, None),
    "complex": BASE + 1j,
    "empty strings": objects("", "a"),
    "only empty strings": objects(""),
    "spaces": objects(" ", "  ", "\t", "\n"),
    "numbers as strings": objects("1", "2.5", "1e9"),
    "numbers and words": objects("1", "two", "3"),
    "the word nan": objects("nan", "NaN", "None", "null"),
    "zeros inside": objects("a\0b", "a"),
    "lone surrogates": objects("\ud800", "ok"),
    "right to left": objects("\u202eabc", "שלום", "abc"),
    "long strings": objects("x" * 100_000, "y"),
    "marks": objects("<script>alert(1)</script>", "'; drop table t; --", '"', "\\"),
    "all different": np.array([f"id {place}" for place in range(N)], dtype=object),
    "words of a text": objects("the quick brown fox", "jumped over", "the lazy dog again and again"),
    "emoji": objects("👩‍👩‍👧", "☂", "é", "e\u0301"),
    "raw bytes": objects(b"\xff", b"a"),
    "mixed types": objects(1, "a", 2.5, None, True),
    "numbers of two kinds": objects(1, 1.0, True),
    "decimals": objects(decimal.Decimal("1.1"), decimal.Decimal("NaN"), decimal.Decimal("1e400")),
    "huge integers": objects(10**400, 1, -(10**400)),
    "dates": np.datetime64("2020-01-01") + np.arange(N),
    "dates with gaps": np.where(np.arange(N) % 3 == 0, np.datetime64("NaT", "D"), np.datetime64("2020-01-01", "D")),
    "dates far away": np.where(np.arange(N) % 2, np.datetime64("9999-12-31", "D"), np.datetime64("0001-01-01", "D")),
    "days of Python": objects(datetime.date(2020, 1, 1), datetime.date(1, 1, 1)),
    "time zones": objects(datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)),
    "spans of time": np.arange(N).astype("m8[s]"),
    "lists in cells": objects([1, 2], [3]),
    "dicts in cells": objects({"a": 1}),
    "tuples in cells": objects((1, 2), (3,)),
    "sets in cells": objects({1}, frozenset({2})),
    "unknown objects": objects(Strange()),
    "functions": objects(len),
    "pandas categories": pd.Categorical(objects("a", "b", None)),
    "pandas integers with gaps": pd.array(objects(1, None, 3), dtype="Int64"),
    "pandas strings": pd.array(objects("a", None), dtype="string"),
    "pandas flags": pd.array(objects(True, None), dtype="boolean"),
    "periods": pd.period_range("2020-01", periods=N, freq="M"),
    "intervals": pd.interval_range(0, N),
    "zoned stamps": pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"),
    "sparse of pandas": pd.arrays.SparseArray(np.where(np.arange(N) % 5, 0.0, 1.0)),
}  # fmt: skip

LABELS: dict[str, Any] = {
    "one class": objects("no"),
    "all different": np.arange(N),
    "numbers": BASE,
    "flags": np.arange(N) % 2 == 0,
    "gaps": objects("no", "yes", None),
    "nan": np.where(np.arange(N) % 3, 1.0, np.nan),
    "infinite": np.where(np.arange(N) % 2, 1.0, np.inf),
    "a single row of one class": np.where(np.arange(N) == 0, "rare", "usual"),
    "mixed types": objects(1, "one"),
    "one and true": objects(1, True),
    "tuples": objects((1, 2), (3, 4)),
    "lists": objects([1], [2]),
    "dates": np.datetime64("2020-01-01") + np.arange(N) % 2,
    "empty strings": objects("", " "),
    "marks": objects("<b>", "a\0b"),
    "bytes": objects(b"a", b"b"),
    "columns": np.column_stack([np.arange(N) % 2, np.arange(N) % 3]),
    "too short": Y[:-1],
    "nothing": Y[:0],
    "a number": 3,
    "none": None,
    "categories": pd.Categorical(Y, categories=["yes", "no", "never"]),
    "series with another index": pd.Series(Y, index=np.arange(N)[::-1]),
}


def framed(**columns: Any) -> pd.DataFrame:
    """A frame of these columns; objects stay objects (pandas would make strings of what looks like strings)."""
    kept = {name: pd.Series(c, dtype=object) if c.dtype == object else c for name, c in columns.items()}
    return pd.DataFrame(kept)


TABLES: dict[str, tuple[Any, Any]] = {
    **{f"column: {name}": (framed(base=BASE, odd=column), Y) for name, column in COLUMNS.items()},
    **{f"only column: {name}": (framed(odd=column), Y) for name, column in COLUMNS.items()},
    **{f"labels: {name}": (framed(base=BASE), y) for name, y in LABELS.items()},
    "no rows": (framed(base=BASE)[:0], Y[:0]),
    "one row": (framed(base=BASE)[:1], Y[:1]),
    "two rows": (framed(base=BASE)[:2], Y[:2]),
    "no columns": (pd.DataFrame(index=range(N)), Y),
    "columns of one name": (pd.DataFrame(np.column_stack([BASE, BASE]), columns=["a", "a"]), Y),
    "numbers as names": (pd.DataFrame(np.column_stack([BASE, BASE]), columns=[0, "0"]), Y),
    "names of all kinds": (pd.DataFrame(np.column_stack([BASE] * 4), columns=[None, (1, 2), 3.5, ""]), Y),
    "two levels of names": (
        pd.DataFrame(np.column_stack([BASE] * 2), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        Y,
    ),
    "wide": (np.tile(BASE, (200, 1)).T, Y),
    "a matrix": (np.column_stack([BASE, BASE**2]), Y),
    "a matrix by columns": (np.asfortranarray(np.column_stack([BASE, BASE**2])), Y),
    "a matrix that may not be written": (np.broadcast_to(BASE[:, None], (N, 3)), Y),
    "a matrix backwards": (np.column_stack([BASE, BASE**2])[::-1, ::-1], Y),
    "other byte order": (np.column_stack([BASE]).astype(">f8"), Y),
    "masked": (np.ma.masked_greater(np.column_stack([BASE, BASE]), 1.0), Y),
    "one dimension": (BASE, Y),
    "three dimensions": (np.zeros((N, 2, 2)), Y),
    "no dimensions": (np.float64(3), Y),
    "a string": ("rows", Y),
    "nothing": (None, Y),
    "a number": (5, Y),
    "a set": ({1, 2}, Y),
    "a generator": ((row for row in [[1.0], [2.0]]), ["no", "yes"]),
    "ragged rows": ([[1.0, 2.0]] * (N - 1) + [[1.0]], Y),
    "rows of dicts": ([{"a": float(value)} for value in BASE], Y),
    "a dict of columns": ({"a": BASE.tolist(), "b": ["x", "y"] * (N // 2)}, Y),
    "columns of two lengths": ({"a": BASE, "b": BASE[:-1]}, Y),
    "Arrow": (pa.table({"a": BASE, "b": pa.array(["x", None] * (N // 2)).dictionary_encode()}), Y),
    "Arrow in pieces": (pa.concat_tables([pa.table({"a": BASE[:5]}), pa.table({"a": BASE[5:]})]), Y),
    "Arrow lists": (pa.table({"a": pa.array([[1, 2]] * N)}), Y),
    "Arrow decimals": (pa.table({"a": pa.array([decimal.Decimal("1.25"), None] * (N // 2))}), Y),
    "Arrow nulls": (pa.table({"a": BASE, "b": pa.nulls(N)}), Y),
    "structured array": (np.array([(1.0, "a")] * N, dtype=[("x", "f8"), ("y", "U1")]), Y),
    **{
        f"sparse {form}": (sparse.random_array((N, 6), density=0.4, rng=rng).asformat(form), Y)
        for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
    },
    "sparse without rows": (sparse.csr_array((0, 5)), Y[:0]),
    "sparse with an index out of range": (
        (lambda m: (setattr(m, "indices", np.full(len(m.indices), 99, m.indices.dtype)), m)[1])(
            sparse.random_array((N, 6), density=0.4, rng=rng, format="csr")
        ),
        Y,
    ),
    "sparse with gaps": (sparse.csr_array(np.where(np.arange(N * 3).reshape(N, 3) % 4, 0.0, np.nan)), Y),
}

MODELS: dict[str, Callable[[], Any]] = {
    **{entry.name: entry.make for entry in entries() if entry.reads_tables},
    "calibrated": lambda: likely.CalibratedClassifier(likely.BayesClassifier()),
}


def posterior(clf: Any, X: Any) -> None:
    shares = clf.predict_proba(X)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)


def added_up(clf: Any, X: Any) -> None:
    explanation = clf.explain(X)
    assert str(explanation)
    assert explanation._repr_html_()


def saved(clf: Any, X: Any, folder: Path) -> None:
    clf.save(folder / "m.likely")
    np.testing.assert_array_equal(likely.load(folder / "m.likely").predict_proba(X), clf.predict_proba(X))


def plotted(clf: Any, X: Any, y: Any) -> None:
    picture = clf.plot(X, y) if isinstance(clf, likely.SVMClassifier) else clf.plot(X)
    assert picture._repr_html_()


def columns_of(clf: Any) -> list[str]:
    return [str(name) for name in clf.schema_.names]


CALLS: dict[str, Callable[[Any, Any, Any, Path], object]] = {
    "apply": lambda clf, X, y, folder: clf.apply(X),
    "calibrate": lambda clf, X, y, folder: clf.calibrate(),
    "cases": lambda clf, X, y, folder: clf.cases(X, y),
    "decide": lambda clf, X, y, folder: clf.decide(X, Loss.zero_one(clf.classes_, refuse=0.4)),
    "decision_function": lambda clf, X, y, folder: clf.decision_function(X),
    "decision_pairs": lambda clf, X, y, folder: clf.decision_pairs(X),
    "decisions": lambda clf, X, y, folder: clf.decisions(X, Loss.zero_one(clf.classes_)),
    "dependence": lambda clf, X, y, folder: str(clf.dependence()),
    "emptied": lambda clf, X, y, folder: clf.emptied(),
    "estimate_priors": lambda clf, X, y, folder: clf.estimate_priors(X),
    "explain": lambda clf, X, y, folder: added_up(clf, X),
    "forget": lambda clf, X, y, folder: clf.partial_fit(X, y).forget(X, y).predict_proba(X),
    "merge": lambda clf, X, y, folder: clf.merge(clf).predict_proba(X),
    "next_measurement": lambda clf, X, y, folder: clf.next_measurement(X),
    "nomogram": lambda clf, X, y, folder: clf.nomogram()._repr_html_(),
    "novelty": lambda clf, X, y, folder: clf.novelty(X),
    "partial_fit": lambda clf, X, y, folder: posterior(clf.partial_fit(X, y), X),
    "plot": lambda clf, X, y, folder: plotted(clf, X, y),
    "plot_pair": lambda clf, X, y, folder: clf.plot_pair(*columns_of(clf)[:2]) if len(columns_of(clf)) > 1 else None,
    "plot_table": lambda clf, X, y, folder: clf.plot_table(columns_of(clf)[0]),
    "predict": lambda clf, X, y, folder: clf.predict(X),
    "predict_bounds": lambda clf, X, y, folder: clf.predict_bounds(X),
    "predict_interval": lambda clf, X, y, folder: clf.predict_interval(X),
    "predict_joint_log_proba": lambda clf, X, y, folder: clf.predict_joint_log_proba(X),
    "predict_log_proba": lambda clf, X, y, folder: clf.predict_log_proba(X),
    "predict_proba": lambda clf, X, y, folder: posterior(clf, X),
    "pruned": lambda clf, X, y, folder: clf.pruned("pessimistic").predict(X),
    "rank": lambda clf, X, y, folder: clf.rank(),
    "rank_words": lambda clf, X, y, folder: clf.rank_words(),
    "refresh": lambda clf, X, y, folder: posterior(clf.refresh(X, y), X),
    "resettle": lambda clf, X, y, folder: posterior(clf.resettle(smoothing=2.0), X),
    "risk": lambda clf, X, y, folder: clf.risk(X, Loss.zero_one(clf.classes_)),
    "rules": lambda clf, X, y, folder: [str(rule) for rule in clf.rules()],
    "save": lambda clf, X, y, folder: saved(clf, X, folder),
    "score": lambda clf, X, y, folder: clf.score(X, y),
    "table_of": lambda clf, X, y, folder: clf.table_of(columns_of(clf)[0]),
    "telling_values": lambda clf, X, y, folder: clf.telling_values(),
    "to_dot": lambda clf, X, y, folder: clf.to_dot(),
    "to_json": lambda clf, X, y, folder: clf.to_json(),
    "to_onnx": lambda clf, X, y, folder: clf.to_onnx(),
    "to_pmml": lambda clf, X, y, folder: clf.to_pmml(),
    "to_sql": lambda clf, X, y, folder: clf.to_sql(),
    "to_text": lambda clf, X, y, folder: clf.to_text(),
    "unseen_values": lambda clf, X, y, folder: clf.unseen_values(X),
    "with_priors": lambda clf, X, y, folder: posterior(clf.with_priors([1 / len(clf.classes_)] * len(clf.classes_)), X),
    "shown": lambda clf, X, y, folder: (repr(clf), clf._repr_html_()),
}
"""How each public method is called; `test_every_method_is_called` fails where one is missing."""

ELSEWHERE = {"fit", "get_params", "set_params", "get_metadata_routing"}


def public(clf: Any) -> set[str]:
    names = {name for name, _ in inspect.getmembers(type(clf), callable) if not name.startswith("_")}
    return {name for name in names if not (name.startswith("set_") and name.endswith("_request"))} - ELSEWHERE


@pytest.mark.parametrize("model", MODELS)
def test_every_method_is_called(model: str) -> None:
    assert public(MODELS[model]()) <= set(CALLS)


def outcome(call: Callable[[], object]) -> str | None:
    """Nothing where it went well or was refused in a sentence of ours; else what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)  # our own words
            call()
    except LikelyError as error:
        text = str(error)
        return None if text.strip() and text.strip()[-1] in ".?!:)”\"'" else f"no sentence: {text!r}"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the call that gave it
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


PAIRS = [(model, table) for table in TABLES for model in MODELS]


@pytest.mark.parametrize(("model", "table"), PAIRS if FULL else PAIRS[::5], ids=lambda name: str(name))
def test_right_or_refused_in_a_sentence(model: str, table: str, tmp_path: Path) -> None:
    X, y = TABLES[table]
    clf = MODELS[model]()
    wrong: dict[str, str] = {}
    if failure := outcome(lambda: clf.fit(X, y)):
        wrong["fit"] = failure
    if hasattr(clf, "classes_") and not wrong:
        names = public(clf) | {"shown"}
        for name in sorted(names):
            if failure := outcome(lambda name=name: CALLS[name](copy.deepcopy(clf), X, y, tmp_path)):  # type: ignore[misc]
                wrong[name] = failure
    assert not wrong
