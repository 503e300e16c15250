"""Which missing value to measure next, against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from likely import BayesClassifier, FullBayesClassifier, Loss
from likely.errors import SettingsError
from likely.explain.factors import evidence
from likely.measures import entropies, entropy
from likely.table import as_table
from likely.teaching import datasets
from tests.explain.weather import FAMILIES, weather

LOSS = {"grant": {"dry": 0.0, "rain": 5.0}, "deny": {"dry": 1.0, "rain": 0.0}}


@pytest.fixture(scope="module")
def clf() -> BayesClassifier:
    X, y = weather(classes=("dry", "rain"))
    return BayesClassifier(families=FAMILIES).fit(X, y)


def filled(row: dict[str, list[object]], column: str, values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({**{name: cells * len(values) for name, cells in row.items()}, column: values})


def expected(clf, row, column, values, width) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    """Information and saving by filling in every value and asking the classifier itself."""
    now = clf.predict_proba(pd.DataFrame(row))[0]
    joint = clf.predict_joint_log_proba(filled(row, column, values))
    weight = np.exp(joint - logsumexp(clf.predict_joint_log_proba(pd.DataFrame(row))[0])).sum(axis=1) * width
    after = clf.predict_proba(filled(row, column, values))
    costs = np.array([list(line.values()) for line in LOSS.values()])
    saving = (costs @ now).min() - weight @ (after @ costs.T).min(axis=1)
    return entropy(now) - weight @ entropies(after), saving


ROW = {"pressure": [1003.0], "sky": ["grey"], "calls": [3.0], "income": [1.2], "late": [0.0]}


@pytest.mark.parametrize(
    ("column", "values", "width"),
    [
        ("sky", np.array(["blue", "grey", "white"], dtype=object), 1.0),
        ("late", np.array([0.0, 1.0]), 1.0),
        ("calls", np.arange(60.0), 1.0),
        ("pressure", np.linspace(940.0, 1070.0, 20_001), 130.0 / 20_000),
        ("income", np.linspace(1e-4, 60.0, 200_001), 60.0 / 200_000),
    ],
)
def test_every_family_agrees_with_brute_force(
    clf: BayesClassifier, column: str, values: np.ndarray, width: float
) -> None:
    row = {**ROW, column: [None]}
    told = clf.next_measurement(row, LOSS)
    assert told["column"].tolist() == [column]
    information, saving = expected(clf, row, column, values, width)
    tight = 1e-10 if width == 1.0 else 2e-4
    assert told["information"].item() == pytest.approx(information, abs=tight)
    assert told["saving"].item() == pytest.approx(saving, abs=tight)


def test_full_bayes_knows_what_the_other_columns_say() -> None:
    """Two columns that are nearly copies: once one is known, the other tells little."""
    rng = np.random.default_rng(5)
    y = np.repeat(["dry", "rain"], 300)
    base = rng.normal(0.0, 1.0, 600) + (y == "rain")
    X = pd.DataFrame(
        {"a": base, "copy": base + rng.normal(0.0, 0.2, 600), "other": rng.normal(0.0, 1.0, 600) + (y == "rain")}
    )
    full, naive = FullBayesClassifier().fit(X, y), BayesClassifier().fit(X, y)
    row = {"a": [0.4], "copy": [None], "other": [None]}
    assert full.next_measurement(row)["column"].tolist() == ["other", "copy"]
    worth = full.next_measurement(row, LOSS).set_index("column")
    for column in ("copy", "other"):
        values = np.linspace(-8.0, 9.0, 40_001)
        information, saving = expected(full, row, column, values, 17.0 / 40_000)
        assert worth.loc[column, "information"] == pytest.approx(information, abs=2e-4)
        assert worth.loc[column, "saving"] == pytest.approx(saving, abs=2e-4)
    assert (
        naive.next_measurement(row).set_index("column").loc["copy", "information"]
        > 5 * worth.loc["copy", "information"]
    )


def test_columns_that_are_not_there_are_gaps_and_the_best_comes_first() -> None:
    table = datasets.patients()
    clf = BayesClassifier(smoothing=0).fit(table, table.pop("drug"))
    told = clf.next_measurement({"sex": ["male", "female"]})
    assert told["row"].tolist() == [0, 0, 1, 1]
    assert told["column"].tolist() == ["blood_pressure", "age"] * 2
    assert told["information"].tolist()[0] == pytest.approx(0.5)
    assert clf.next_measurement({"sex": ["male"], "age": [3], "blood_pressure": ["low"]}).empty


def test_a_gap_that_is_evidence_ends_with_the_measurement() -> None:
    X, y = weather(classes=("dry", "rain"))
    clf = BayesClassifier(missing="value").fit(X, y)
    told = clf.next_measurement({"pressure": [1000.0]})
    assert set(told["column"]) == {"sky", "calls", "income", "late"}
    assert (told["information"] >= 0.0).all()


@pytest.mark.parametrize(
    "loss",
    [
        [[0.0, 5.0], [1.0, 0.0]],
        np.array([[0.0, 5.0], [1.0, 0.0]]),
        Loss(LOSS),
        pd.DataFrame(LOSS).T,
        Loss.binary(false_alarm=1, miss=5, positive="rain"),
    ],
)
def test_a_loss_may_come_in_many_shapes(clf: BayesClassifier, loss: object) -> None:
    row = {**ROW, "sky": [None], "late": [None]}
    told = clf.next_measurement(row, loss)
    assert told["saving"].tolist() == pytest.approx(clf.next_measurement(row, LOSS)["saving"].tolist())
    assert told["saving"].is_monotonic_decreasing


def test_a_cheap_refusal_leaves_less_to_save(clf: BayesClassifier) -> None:
    row = {**ROW, "pressure": [None], "sky": [None]}
    without = clf.next_measurement(row, Loss(LOSS))["saving"].max()
    free = clf.next_measurement(row, Loss(LOSS, refuse=0.0))["saving"].max()
    assert free == 0.0
    assert without > 0.0


def test_costs_may_differ_from_row_to_row(clf: BayesClassifier) -> None:
    rows = pd.DataFrame({name: cells * 2 for name, cells in {**ROW, "pressure": [None]}.items()})
    costs = np.array([[[0.0, 5.0], [1.0, 0.0]], [[0.0, 50.0], [10.0, 0.0]]])
    saving = clf.next_measurement(rows, Loss(costs, decisions=["grant", "deny"], truths=["dry", "rain"]))["saving"]
    assert saving[1] == pytest.approx(10.0 * saving[0])


@pytest.mark.parametrize("loss", [[[0.0, 1.0, 2.0]], [1.0, 2.0], [[np.nan, 1.0]], {"grant": {"dry": 0.0, "hail": 1.0}}])
def test_losses_that_do_not_fit_are_refused(clf: BayesClassifier, loss: object) -> None:
    with pytest.raises(SettingsError):
        clf.next_measurement(ROW, loss)


def test_weights_of_columns_count() -> None:
    """A column that is silenced tells nothing, another one as far as it is heard."""
    rng = np.random.default_rng(0)
    health = rng.normal(size=400)
    X = pd.DataFrame({f"t{k}": np.where(health + 0.5 * rng.normal(size=400) > 0.0, "+", "-") for k in range(3)})
    y = np.where(health + 0.5 * rng.normal(size=400) > 0.0, "rain", "dry")
    clf = BayesClassifier(weights="learned").fit(X, y)
    clf._restore(clf.summary_, clf.families_, {"of": [1.0, 0.5, 0.0], "offsets": [0.1, 0.0], "stale": False})
    row = X[:1].assign(t1=None, t2=None)
    told = clf.next_measurement(row, loss=LOSS).set_index("column")
    assert told.loc["t2", "information"] < 1e-12
    assert told.loc["t2", "saving"] == 0.0
    after = np.array([clf.predict_proba(row.assign(t1=value))[0] for value in ("+", "-")])
    belief = next(b for b in BayesClassifier().fit(X, y).model_.beliefs if b.columns == ("t1",))
    shares = np.exp(evidence([belief], as_table({"t1": ["+", "-"]}), 2))
    mass = shares @ clf.predict_proba(row)[0]
    costs = np.array([list(line.values()) for line in LOSS.values()])
    saving = (costs @ (mass @ after)).min() - mass @ (after @ costs.T).min(axis=1)
    assert told.loc["t1", "information"] == pytest.approx(entropy(mass @ after) - mass @ entropies(after), abs=1e-9)
    assert told.loc["t1", "saving"] == pytest.approx(saving, abs=1e-9)
