"""One suite over memory, DuckDB, PostgreSQL and Spark: the same counts, moments and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from likely import AODEClassifier, BayesClassifier, FullBayesClassifier
from tests.engines import tables
from tests.engines.conftest import ENGINES, Load

pytestmark = pytest.mark.parametrize("engine", ENGINES)

CLASSIFIERS = {
    "naive": BayesClassifier(),
    "gaps as values": BayesClassifier(missing="value", unseen="smooth"),
    "bins": BayesClassifier(families={"size": "bins", "count": "poisson"}),
    "chosen": BayesClassifier(families="auto", smoothing="auto"),
    "full": FullBayesClassifier(),
    "aode": AODEClassifier(),
}
DATED = {
    "chosen": BayesClassifier(families="auto"),
    "full": FullBayesClassifier(),
    "aode": AODEClassifier(schema={"written": "ignored", "short": "date", "short: month": "ignored"}),
}


def same(a: Any, b: Any, where: str = "") -> None:
    """Counts exactly, all other numbers to 1e-9."""
    if isinstance(a, np.ndarray):
        assert a.shape == b.shape, where
        if a.dtype.kind != "f" or where.endswith(("counts", ".n", "table", "weights", "texts")):
            np.testing.assert_array_equal(a, b, err_msg=where)
        else:
            size = max(float(np.abs(a).max(initial=0.0)), 1e-300)
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * size, err_msg=where)
    elif hasattr(a, "__dataclass_fields__"):
        assert type(a) is type(b), where
        for field in a.__dataclass_fields__:
            same(getattr(a, field), getattr(b, field), f"{where}.{field}")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            same(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, tuple):
        assert len(a) == len(b), where
        for k, (x, z) in enumerate(zip(a, b, strict=True)):
            same(x, z, f"{where}[{k}]")
    else:
        assert a == b, where


def both(classifier: Any, table: pa.Table, target: str, load: Load) -> tuple[Any, Any]:
    """The classifier that learned rows in memory, and the one that let the engine count them."""
    here, there = (type(classifier)(**classifier.get_params(deep=False)) for _ in range(2))
    here.fit(table, target)
    there.fit(load(table), target)
    same(here.summary_.classes.labels.tolist(), there.summary_.classes.labels.tolist())
    assert here.classes_.dtype == there.classes_.dtype
    same(here.summary_.classes.weights, there.summary_.classes.weights, "weights")
    same(dict(here.summary_.parts), dict(there.summary_.parts))
    rows = table.drop_columns([target])
    want, got = here.predict_log_proba(rows), there.predict_log_proba(rows)
    reach = 1e-9 * np.maximum(1.0, np.abs(here.predict_joint_log_proba(rows)).max(axis=1, keepdims=True))
    assert (np.abs(want - got) <= reach).all()
    return here, there


@pytest.mark.parametrize("name", tables.TABLES)
def test_naive_bayes_is_the_same_from_every_engine(name: str, load: Load) -> None:
    table = tables.TABLES[name]()
    here, there = both(BayesClassifier(), table, table.column_names[-1], load)
    assert here.schema_ == there.schema_


@pytest.mark.parametrize("how", CLASSIFIERS)
def test_every_way_to_count_is_the_same(how: str, load: Load) -> None:
    both(CLASSIFIERS[how], tables.plain(), "label", load)


@pytest.mark.parametrize("how", DATED)
def test_parts_of_dates_are_counted_as_in_memory(how: str, load: Load) -> None:
    here, there = both(DATED[how], tables.dated(), "label", load)
    assert here.schema_ == there.schema_ and "moment: days since 1970" in there.families_


LABELS = {
    "strange": ["it's", 'say "x"', "back\\slash", "\\'", "two\nlines", "größe 数", "%s", "null", "", " "],
    "whole": [-(2**53) - 1, 2**53 + 1, 0, 7],
    "truths": [False, True],
    "many": [f"class {k}" for k in range(100)],
}


@pytest.mark.parametrize("kind", LABELS)
def test_classes_are_told_apart_whatever_they_are_called(kind: str, load: Load) -> None:
    """Also where they are many, or a query tells them by their numbers."""
    named, n = LABELS[kind], 1200
    y = np.random.default_rng(8).integers(0, len(named), n)
    table = tables.plain(n).drop_columns(["label"]).append_column("label", pa.array([named[k] for k in y]))
    for classifier in (BayesClassifier(), AODEClassifier(schema={"size": "ignored"})):
        both(classifier, table, "label", load)


def test_rows_count_for_their_weight(load: Load) -> None:
    table = tables.weighted()
    for classifier in (BayesClassifier(schema={"mass": "weight"}), FullBayesClassifier(schema={"mass": "weight"})):
        both(classifier, table, "label", load)


def test_full_bayes_keeps_spread_far_from_zero(load: Load) -> None:
    table = tables.far().drop_columns(["large", "tiny"])
    here, there = both(FullBayesClassifier(), table, "label", load)
    same(here.covariances_, there.covariances_, "covariances")


def test_words_are_the_same(load: Load) -> None:
    both(BayesClassifier(schema={"body": "text"}), tables.texts(), "label", load)


def test_more_rows_are_learned_and_forgotten(load: Load) -> None:
    first, second = tables.plain(400), tables.plain(300, seed=9)
    here, there = BayesClassifier().fit(first, "label"), BayesClassifier().fit(load(first), "label")
    here.partial_fit(second, "label")
    there.partial_fit(load(second), "label")
    same(dict(here.summary_.parts), dict(there.summary_.parts))
    there.forget(load(second), "label")
    same(dict(BayesClassifier().fit(first, "label").summary_.parts), dict(there.summary_.parts))
