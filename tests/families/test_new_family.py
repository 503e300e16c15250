"""A family from outside, one class and one registration, can do all that ours can."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.special import xlog1py

import likely
from likely import BayesClassifier
from likely.arrays import Array
from likely.explain import outcomes_of
from likely.families import FAMILIES, register
from likely.families.outcomes import BlockScorer, Outcomes
from likely.families.protocol import SQL, Certainty, Domain, Parameter, Reads, Settings, SQLNode
from likely.families.smoothing import log_bias, trigamma
from likely.models.export import export_file, numbers_of
from likely.stats import Histogram, Moments
from likely.table import Table, as_table
from likely.table.table import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Geometric:
    """Failures before a success: successes and failures in each class, those of smoothing among them."""

    name: ClassVar[str] = "geometric"
    statistic: ClassVar[str] = "moments"
    reads: ClassVar[Reads] = "numeric"
    domain: ClassVar[Domain] = Domain.COUNTS
    has_density: ClassVar[bool] = True

    columns: tuple[str, ...]
    successes: Array
    failures: Array

    @property
    def success(self) -> Array:
        return self.successes / (self.successes + self.failures)

    @classmethod
    def settle(cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings) -> Geometric:
        extra = np.array([settings.smoothing_of(name).pseudo_rows for name in columns])
        extra = np.where(seen.n > 0, extra, np.maximum(extra, 1.0))
        return cls(columns, seen.n + extra, seen.n * seen.mean + extra * seen.pooled().mean)

    def bind(self, table: Table) -> BlockScorer:
        numbers = Numbers.of(table, self.columns)

        def score(block: slice, joint: Array) -> None:
            failures = numbers.rows(block)
            for column, success in enumerate(self.success.T):
                count = failures[:, [column]]
                joint += np.where(count >= 0, np.log(success) + xlog1py(count, -success), 0.0)

        return score

    def only(self, column: str) -> Geometric:
        place = [self.columns.index(column)]
        return Geometric((column,), self.successes[:, place], self.failures[:, place])

    def parameters(self) -> Iterator[Parameter]:
        for column, success in zip(self.columns, self.success.T, strict=True):
            yield Parameter(column, "probability of success", None, success)

    def sql_terms(self, sql: SQL, place: int) -> Iterator[SQLNode]:
        for name, success in zip(self.columns, self.success[place].tolist(), strict=True):
            log_failure = math.log1p(-success) if success < 1.0 else -math.inf
            nothing = sql.either(sql.missing(name), sql.below(sql.real(name), sql.number(0.0)))
            at_once = sql.equal(sql.real(name), sql.number(0.0))
            count = sql.times(sql.real(name), sql.number(log_failure))
            later = sql.sum([sql.number(math.log(success)), count])
            yield sql.case([(nothing, sql.number(0.0)), (at_once, sql.number(math.log(success)))], later)

    def outcomes(self, column: str, points: int) -> Outcomes:
        alone = self.only(column)
        most = float(np.ceil(36.0 / alone.success.min()))
        return Outcomes.of_counts(alone.bind, column, len(alone.success), 0.0, most, points)

    @classmethod
    def uncertainty(
        cls, columns: tuple[str, ...], seen: Moments, weights: Array, settings: Settings, table: Table
    ) -> Certainty:
        belief, numbers = cls.settle(columns, seen, weights, settings), Numbers.of(table, columns)
        a, b = belief.successes, belief.failures

        def spread(block: slice, shift: Array, variance: Array) -> None:
            for column, counts in enumerate(numbers.rows(block).T):
                x, own, other = counts[:, None], a[:, column], b[:, column]
                more = log_bias(own) + x * log_bias(other) - (1 + x) * log_bias(own + other)
                width = trigamma(own) + x**2 * trigamma(other) - (1 + x) ** 2 * trigamma(own + other)
                shift += np.where(x >= 0, more, 0.0)
                variance += np.where(x >= 0, np.maximum(width, 0.0), 0.0)

        return spread

    @classmethod
    def histogram_likelihood(cls, column: str, seen: Histogram, settings: Settings) -> float:
        values, counts, extra = seen.middles(), seen.counts, settings.smoothing_of(column).pseudo_rows
        n, total = counts.sum(axis=1, keepdims=True), (counts @ values)[:, None]
        rows, failures = n - 1.0 + extra, total - values + extra * total.sum() / n.sum()
        success = rows / (rows + failures)
        return float((counts * (np.log(success) + xlog1py(values, -success))).sum())


rng = np.random.default_rng(8)
CHANCES = {"easy": 0.6, "hard": 0.25, "vain": 0.1}
Y = np.array(list(CHANCES))[np.arange(90) % 3]
ROWS = pd.DataFrame(
    {
        "calls": rng.geometric([CHANCES[label] for label in Y]) - 1.0,
        "visits": rng.geometric([math.sqrt(CHANCES[label]) for label in Y]) - 1.0,
        "town": rng.choice(["u", "v"], 90),
    }
)
ROWS.loc[::11, "calls"] = np.nan
NEW = ROWS.assign(calls=np.resize([0.0, 3.0, np.nan, -1.0, 40.0], 90))
FAMILY = {"calls": "geometric", "visits": "geometric"}


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    register(Geometric)
    yield
    del FAMILIES["geometric"]


def fitted(**settings: Any) -> BayesClassifier:
    return BayesClassifier(families=FAMILY, **settings).fit(ROWS, Y)


@pytest.mark.parametrize(
    "settings", [{}, {"smoothing": 0}, {"missing": "value"}, {"weights": "learned", "priors": "uniform"}], ids=str
)
def test_the_query_gives_the_same_posteriors(settings: dict[str, Any]) -> None:
    clf = fitted(**settings)
    connection = duckdb.connect()
    connection.register("rows", NEW)
    found = connection.execute(clf.to_sql(table="rows")).df()
    shares = found[[f"P({label})" for label in clf.classes_]].to_numpy()
    np.testing.assert_allclose(shares, clf.predict_proba(NEW), rtol=0, atol=1e-12)
    assert found["prediction"].tolist() == clf.predict(NEW).tolist()


def test_its_parameters_are_exported() -> None:
    clf = fitted(smoothing=0)
    known = ROWS["calls"][(Y == "hard") & ROWS["calls"].notna()]
    share = len(known) / (len(known) + known.sum())
    listed = {number[:5]: number.number for number in numbers_of(clf.model_)}
    assert listed["calls", "geometric", "probability of success", None, "hard"] == pytest.approx(share)
    as_json, as_csv = io.BytesIO(), io.BytesIO()
    export_file(clf, as_json, kind="json")
    entry = json.loads(as_json.getvalue())["columns"]["calls"]
    assert entry["family"] == "geometric"
    assert entry["parameters"]["probability of success"]["hard"] == pytest.approx(share)
    export_file(clf, as_csv, kind="csv")
    table = pd.read_csv(io.BytesIO(as_csv.getvalue()))
    line = table[(table["column"] == "calls") & (table["class"] == "hard")]
    assert line["number"].item() == pytest.approx(share)


def test_weights_are_exported_with_what_they_weigh() -> None:
    listed = {number[:3] for number in numbers_of(fitted(weights="learned").model_)}
    assert {("calls", "geometric", "weight of the column"), ("calls", "geometric", "probability of success")} <= listed


def test_a_nomogram_reads_as_the_classifier_predicts() -> None:
    clf = fitted()
    sheet = clf.nomogram("vain")
    rows = [{name: None if cell != cell else cell for name, cell in row.items()} for row in NEW.to_dict("records")]
    read = [sheet.probability(sheet.total(row)) for row in rows]
    np.testing.assert_allclose(read, clf.predict_proba(NEW)[:, 2], atol=1e-12)
    scale = next(scale for scale in sheet.scales if scale.column == "calls")
    assert len(scale.values) > 10 and all(float(value) % 1.0 == 0.0 for value in scale.values)


def test_outcomes_are_its_shares() -> None:
    clf = fitted()
    belief = next(belief for belief in clf.model_.beliefs if belief.name == "geometric")
    told = outcomes_of(belief, "calls", 3)
    assert told is not None
    success = belief.success[:, 0]  # type: ignore[attr-defined]
    np.testing.assert_allclose(told.shares[:4], success * (1.0 - success) ** np.arange(4.0)[:, None], rtol=1e-9)
    ranked = clf.rank()
    assert set(ranked["column"]) == {"calls", "visits", "town"} and ranked["information"].iloc[0] > 0.1
    assert clf.next_measurement({"visits": [1.0], "town": ["u"]}).iloc[0]["column"] == "calls"


def test_numbers_outside_its_domain_are_said_to_be() -> None:
    why = fitted().explain(NEW[:5])
    place = why.columns.index("calls")
    assert [why.status(row, place) for row in range(5)] == ["known", "known", "gap", "outside", "known"]


def test_uncertainty_is_that_of_draws_from_the_posterior() -> None:
    seen = Moments.observe(np.array([[0.0], [2.0], [1.0], [7.0], [9.0]]), np.array([0, 0, 0, 1, 1], dtype=np.int32),
                           np.ones(5), 2)  # fmt: skip
    cells, weights = np.array([0.0, 3.0, np.nan]), np.array([3.0, 2.0])
    settings = Settings()
    belief = Geometric.settle(("x",), seen, weights, settings)
    shift, variance = np.zeros((2, 3, 2))
    Geometric.uncertainty(("x",), seen, weights, settings, as_table({"x": cells}))(slice(0, 3), shift, variance)
    settled = np.zeros((3, 2))
    belief.bind(as_table({"x": cells}))(slice(0, 3), settled)
    drawn = np.random.default_rng(0).beta(belief.successes[:, 0], belief.failures[:, 0], size=(400_000, 2))
    for row, cell in enumerate(cells[:2]):
        told = np.log(drawn) + cell * np.log1p(-drawn)
        np.testing.assert_allclose(shift[row], told.mean(axis=0) - settled[row], atol=0.01)
        np.testing.assert_allclose(variance[row], told.var(axis=0), rtol=0.03)
    assert not shift[2].any() and not variance[2].any()


def test_intervals_hold_what_is_believed_and_narrow_with_rows() -> None:
    few, many = fitted(), BayesClassifier(families=FAMILY).fit(pd.concat([ROWS] * 20), np.tile(Y, 20))
    low, high = few.predict_interval(NEW)
    believed = few.predict_proba(NEW)
    assert ((low <= believed) & (believed <= high)).all() and (low < high).all()
    low_many, high_many = many.predict_interval(NEW)
    assert (high_many - low_many).mean() < 0.5 * (high - low).mean()


def test_rows_are_left_out_as_if_never_learned() -> None:
    report = likely.evaluate(BayesClassifier(families=FAMILY), ROWS, Y, cv="loo")
    for row in (0, 1, 11):
        rest = np.arange(90) != row
        clf = BayesClassifier(families=FAMILY).fit(ROWS[rest], Y[rest])
        np.testing.assert_allclose(
            report.predictions.posterior[row], clf.predict_proba(ROWS[row : row + 1])[0], atol=1e-9
        )


def test_it_competes_for_columns_that_are_open() -> None:
    many = np.random.default_rng(1).geometric(0.2, 400) - 1.0
    clf = BayesClassifier(families="auto").fit({"x": many}, np.arange(400) % 2)
    assert clf.families_["x"] == "geometric"
    assert "geometric" in clf.schema_["x"].why
