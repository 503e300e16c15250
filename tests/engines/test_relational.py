"""Every statistic has its line, few queries are asked, and their number grows with nothing but columns."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from likely import AODEClassifier, BayesClassifier, FullBayesClassifier
from likely.engines.cell_counts import CountedColumns, count_cells
from likely.engines.connect import as_relation
from likely.engines.relation import Relation
from likely.engines.relational import COUNTED, SUMMED, TABLES, RelationalRows
from likely.stats import STATISTICS
from likely.text import Tokenizer
from tests.engines import tables


def asked(table: pa.Table, classifier: Any) -> list[Any]:
    """The queries by which a classifier learns a table, and what came home."""
    con = duckdb.connect()
    con.register("rows", table)
    relation: Relation = as_relation(con.sql("from rows"))
    seen: list[Any] = []

    def ask(query: Any) -> pa.Table:
        seen.append(relation.ask(query))
        return seen[-1]

    classifier.fit(replace(relation, ask=ask), "label")
    return seen


def test_every_statistic_has_its_line() -> None:
    assert set(TABLES) == set(COUNTED)
    assert set(TABLES) | set(SUMMED) == set(STATISTICS)


def test_naive_bayes_asks_four_questions() -> None:
    """Classes, a sample, sums and values; whatever the number of rows, classes and categories."""
    assert [len(asked(tables.plain(n), BayesClassifier())) for n in (50, 4000)] == [4, 4]
    assert len(asked(tables.many_categories(), BayesClassifier())) == 3


def test_rows_stay() -> None:
    """No result but the sample has as many rows as the table."""
    home = asked(tables.plain(30_000), BayesClassifier())
    sizes = sorted(found.num_rows for found in home)
    assert sizes[-1] < 11_000 and sizes[-2] < 100


def test_pairs_are_few_questions() -> None:
    assert len(asked(tables.plain(500), AODEClassifier())) == 4


def test_a_class_far_from_the_centre_is_one_question_more() -> None:
    table = tables.far().select(["far", "apart", "label"])
    assert len(asked(table, BayesClassifier())) == 4


@pytest.mark.parametrize("option", [{"ngram_range": (1, 2)}, {"analyzer": "char"}, {"emoji": True}])
def test_an_option_that_engines_do_not_know_is_named(option: dict[str, Any]) -> None:
    clf = BayesClassifier(schema={"body": "text"}, text=Tokenizer(**option))
    with pytest.raises(ValueError, match=f"which has no {next(iter(option))}="):
        asked(tables.texts(), clf)


@pytest.mark.parametrize("letter", ["Σ", "İ"])
def test_a_letter_that_is_lowered_otherwise_is_named(letter: str) -> None:
    table = tables.texts(50).append_column("more", pa.array([f"ΟΔΟ{letter} x"] * 50))
    clf = BayesClassifier(schema={"body": "ignored", "more": "text"})
    with pytest.raises(ValueError, match=f"column 'more' holds '{letter}'.*set lowercase=False"):
        asked(table, clf)


def test_numbers_at_the_ends_of_the_floats_are_counted() -> None:
    table = pa.table({
        "x": [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, float("nan"), None] * 4,
        "label": ["a", "b", "c"] * 12,
    })  # fmt: skip
    clf = BayesClassifier(families={"x": "bins"})
    here = BayesClassifier(families={"x": "bins"}).fit(table, "label")
    asked(table, clf)
    (mine,), (theirs,) = here.summary_.parts.values(), clf.summary_.parts.values()
    np.testing.assert_array_equal(mine.cells, theirs.cells)
    np.testing.assert_array_equal(mine.counts, theirs.counts)


def test_sql_that_was_written_before_changes_no_query() -> None:
    """sqlglot prepares a dialect once; Ibis, imported later, must still be able to add to it."""
    code = (
        "import sqlglot; sqlglot.parse_one('select 1').sql('postgres')\n"
        "import ibis; from likely.engines.relation import refresh_dialects; refresh_dialects()\n"
        "text = ibis.table({'a': 'string'}, name='t').a.re_split('x')\n"
        "print(ibis.to_sql(text, dialect='postgres'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "REGEXP_SPLIT_TO_ARRAY" in done.stdout


@pytest.mark.parametrize("engine", ["duckdb", "postgres", "spark"])
def test_a_class_that_was_not_there_when_classes_were_counted_is_told(engine: str, load: Any) -> None:
    seen = load(tables.plain(200).filter(pc.field("label") != "red"))
    rows = RelationalRows.of(as_relation(seen), "label")
    later = replace(rows.grouping, relation=as_relation(load(tables.plain(200))))
    with pytest.raises(ValueError, match="has changed while it was counted; begin again"):
        count_cells(later, [CountedColumns("town", (later.relation.values("town"),))])


CHANGES = {
    "a row more": "insert into t select * from t limit 1",
    "a class more": "insert into t by name select 'violet' as label",
    "a row less": "delete from t where rowid = 3",
    "a value more": "insert into t by name select 'Rome' as town, 'red' as label",
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("classifier", [BayesClassifier(), FullBayesClassifier(), AODEClassifier()])
def test_a_table_that_changes_meanwhile_is_told(what: str, classifier: Any) -> None:
    """Parts of two tables make no model; a change before the first count or after the last one is none."""

    def learned(before: int) -> int:
        con = duckdb.connect()
        con.register("rows", tables.plain(300))
        con.execute("create table t as from rows")
        relation, n_asked = as_relation(con.table("t")), 0

        def ask(query: Any) -> pa.Table:
            nonlocal n_asked
            if n_asked == before:
                con.execute(CHANGES[what])
            n_asked += 1
            return relation.ask(query)

        type(classifier)().fit(replace(relation, ask=ask), "label")
        return n_asked

    n = learned(before=-1)
    assert n >= 4
    for before in range(2, n):
        with pytest.raises(ValueError, match="has changed while it was counted; begin again"):
            learned(before)
    if what == "a class more":
        with pytest.raises(ValueError, match="has changed while it was counted; begin again"):
            learned(before=1)
    assert learned(before=0) in (n, n + 1)


@pytest.mark.parametrize("engine", ["spark"])
def test_spark_shuffles_summaries_only(engine: str, load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every query of training has one exchange between partitions, of what has been added up beside the rows."""
    plans: list[str] = []
    session = load(tables.plain(10)).get_backend()._session
    asked = Relation.run

    def told(self: Relation, query: Any, **options: Any) -> Any:
        frame = session.sql(str(self.table.get_backend().compile(query)))
        plans.append(frame._jdf.queryExecution().executedPlan().toString())
        return asked(self, query, **options)

    monkeypatch.setattr(Relation, "run", told)
    BayesClassifier().fit(load(tables.plain(400)), "label")
    counted = [plan for plan in plans if "HashAggregate" in plan]
    assert len(counted) == 3  # classes, sums, values; the fourth query fetches the sample
    for plan in counted:
        before, _, below = plan.partition("Exchange hashpartitioning")
        assert plan.count("Exchange") == 1, plan
        assert "functions=[partial_" in below.replace("keys=[], ", ""), plan  # the rows are added up before they move
        assert "merge_" in before or "functions=[" in before
