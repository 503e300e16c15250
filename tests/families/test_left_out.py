"""What a family adds for a row that it has learned, as if it had not: settled from all other rows, number by number.

Posteriors would not tell what is the same for all classes; the log joint of each family by itself does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely import Laplace, MEstimate
from likely.arrays import Array
from likely.engines.memory import Rows
from likely.families import FAMILIES, Settings, family_named
from likely.families.categorical import GapFactor
from likely.families.protocol import LeavesMostOut, LeavesOneOut, LeftOut
from likely.stats import Cuts, Moments, Part, feature_counts
from likely.table import Table, as_table

N, K = 48, 3
rng = np.random.default_rng(21)
Y = (np.arange(N) % K).astype(np.int32)
LABELS = np.array(["a", "b", "c"], dtype=object)
WEIGHTS = {
    "ones": None,
    "halves": np.full(N, 0.5),
    "light": np.full(N, 0.05),
    "sixteenths": np.full(N, 1 / 16),
    "mixed": rng.choice([0.5, 1.0, 2.0, 3.25], N),
    "some none": np.where(np.arange(N) % 8 == 7, 0.0, 1.0),
}


def holed(cells: Array) -> Array:
    return np.where(rng.random(cells.shape) < 0.15, np.nan, cells)


NUMBERS = rng.normal(size=(N, 3)) + Y[:, None]
COUNTS = rng.poisson(1.0 + Y, (3, N)).T.astype(float)
COUNTS[5] = 0.0
TOWNS = rng.choice(np.array(["u", "v", "w", None], dtype=object), N, p=[0.5, 0.3, 0.1, 0.1])
TOWNS[7] = "only"
WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]
TEXTS = np.array([" ".join(rng.choice(WORDS, size)) for size in rng.integers(0, 9, N)], dtype=object)
TEXTS[9] = "only here"

TABLES: dict[str, dict[str, Any]] = {
    "gaussian": {"x": NUMBERS[:, 0], "y": holed(NUMBERS[:, 1]), "z": np.full(N, 0.1)},
    "lognormal": {"x": np.exp(NUMBERS[:, 0]), "y": holed(np.exp(NUMBERS[:, 1]))},
    "poisson": {"x": COUNTS[:, 0], "y": holed(COUNTS[:, 1])},
    "bins": {"x": holed(np.round(NUMBERS[:, 0], 1))},
    "tree-bins": {"x": holed(np.round(NUMBERS[:, 0], 0))},
    "categorical": {"x": TOWNS},
    "bernoulli": {"x": COUNTS[:, 0], "y": holed(COUNTS[:, 1])},
    "multinomial": {"x": COUNTS[:, 0], "y": COUNTS[:, 1], "z": COUNTS[:, 2]},
    "complement": {"x": COUNTS[:, 0], "y": COUNTS[:, 1], "z": COUNTS[:, 2]},
    "multivariate": {"x": NUMBERS[:, 0], "y": NUMBERS[:, 1] + NUMBERS[:, 0]},
    "aode": {"x": TOWNS, "y": NUMBERS[:, 0], "z": rng.choice(["s", "t"], N)},
    "text multinomial": {"x": TEXTS},
}
PREPROCESSING = {"y": Cuts(np.array([0.5, 1.5]))}


def settled(name: str, table: Table, y: Array, weight: Array | None, settings: Settings) -> Any:
    """A family that has learned a table, what it was settled from, and the weights of the classes."""
    family, columns = family_named(name), tuple(table.names)
    part = Part(family.statistic, columns)
    rows = Rows(table, LABELS, y, weight, 1, PREPROCESSING if name == "aode" else None)
    seen = rows.summarise([part])
    weights = seen.classes.weights
    return family.settle(columns, seen.parts[part], weights, settings), seen.parts[part], weights


def refitted(name: str, table: Table, weight: Array | None, settings: Settings) -> Array:
    """What all other rows say of each row."""
    joint = np.zeros((N, K))
    for row in range(N):
        rest = np.flatnonzero(np.arange(N) != row)
        belief, _, _ = settled(name, table.take(rest), Y[rest], None if weight is None else weight[rest], settings)
        belief.bind(table.take(np.array([row])))(slice(0, 1), joint[row : row + 1])
    return joint


def closed(name: str, table: Table, weight: Array | None, settings: Settings) -> tuple[Array, Array]:
    """The same in closed form, and for which rows that can be done."""
    family, told, columns = family_named(name), np.ones(N, dtype=bool), tuple(table.names)
    _, seen, weights = settled(name, table, Y, weight, settings)
    rows = LeftOut(table, Y, np.ones(N) if weight is None else weight, weights)
    joint = np.zeros((N, K))
    if isinstance(family, LeavesOneOut):
        score = family.leave_one_out(columns, seen, rows, settings)
        for start in range(0, N, 20):
            block = slice(start, min(start + 20, N))
            score(block, joint[block])
        return joint, told
    assert isinstance(family, LeavesMostOut)
    most = family.leave_most_out(columns, seen, rows, settings)
    assert most is not None
    for start in range(0, N, 20):
        block = slice(start, min(start + 20, N))
        told[start + most(block, joint[block])] = False
    return joint, told


OFTEN = float((TABLES["aode"]["z"] == "s").sum() - 1)
"""How often one of the values is there, if a row that has it is not."""

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "gaussian": [{}, {"unbiased": False}, {"variance_floor": 0.4}],
    "lognormal": [{}],
    "poisson": [{}, {"smoothing": 0.0}, {"smoothing": 2.5}],
    "bins": [
        {}, {"missing": "value", "bins": 4}, {"smoothing": MEstimate(3.0)}, {"missing": "value", "smoothing": 0.0},
        {"missing": "value", "bins": 2, "smoothing": MEstimate(4.0, {0: 0.5, 1: 0.125, 2: 0.375})},
    ],
    "tree-bins": [{}, {"missing": "value"}],
    "categorical": [
        {}, {"missing": "value", "unseen": "smooth"}, {"unseen": "smooth", "smoothing": MEstimate(3.0)},
        {"unseen": "smooth", "smoothing": 0.5}, {"missing": "value", "unseen": "smooth", "smoothing": 0.0},
    ],
    "bernoulli": [{}, {"smoothing": MEstimate(3.0, {True: 0.25, False: 0.75})}, {"smoothing": 0.0}],
    "multinomial": [{}, {"smoothing": 0.25}, {"smoothing": 0.0}],
    "complement": [{}, {"smoothing": 0.25}],
    "multivariate": [{}, {"covariance": "pooled"}, {"unbiased": False}, {"covariance": "pooled", "unbiased": False}],
    "aode": [{}, {"fewest": 6.0}, {"fewest": OFTEN}, {"smoothing": MEstimate(3.0)}, {"smoothing": 0.0}],
    "text multinomial": [{}, {"smoothing": 0.25}],
}  # fmt: skip


def settings_of(name: str, given: dict[str, Any]) -> Settings:
    smoothing = given.get("smoothing", 1.0)
    each = smoothing if isinstance(smoothing, MEstimate) else Laplace(smoothing)
    return Settings(**{**given, "smoothing": dict.fromkeys(TABLES[name], each)})


CASES = [(name, own, weights) for name, each in SETTINGS.items() for own in each for weights in WEIGHTS]


# Light classes have no closed form where columns depend on each other.
@pytest.mark.parametrize(
    ("name", "given", "weights"),
    [c for c in CASES if c[0] != "multivariate" or c[2] not in ("light", "sixteenths")],
    ids=str,
)
def test_a_row_left_out_is_judged_as_one_never_learned(name: str, given: dict[str, Any], weights: str) -> None:
    table, settings, weight = as_table(TABLES[name]), settings_of(name, given), WEIGHTS[weights]
    joint, told = closed(name, table, weight, settings)
    assert told.sum() > 0.8 * N and joint.any(), "what adds nothing is judged alike in any case"
    expected = refitted(name, table, weight, settings)
    np.testing.assert_allclose(joint[told], expected[told], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("name", "smoothing"),
    [
        *((name, Laplace(gamma)) for name in ("multinomial", "complement", "bernoulli") for gamma in (1.0, 0.25)),
        ("bernoulli", MEstimate(4.0, {True: 0.25, False: 0.75})),
    ],
    ids=str,
)
def test_a_row_of_a_sparse_matrix_is_left_out_as_one_of_a_dense_one(
    name: str, smoothing: Laplace | MEstimate, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows and counts, kept as a sparse table: most columns were met in one class only."""
    cells = np.where(np.arange(12) % 3 == Y[:, None], rng.poisson(0.7, (N, 12)), 0.0)
    cells[:, 0] = COUNTS[:, 0]
    names = tuple(f"x{place}" for place in range(12))
    settings = Settings(smoothing=dict.fromkeys(names, smoothing))
    dense, _ = closed(name, as_table(cells), WEIGHTS[weights], settings)
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
    thin, _ = closed(name, as_table(sparse.csr_array(cells)), WEIGHTS[weights], settings)
    _, seen, _ = settled(name, as_table(sparse.csr_array(cells)), Y, None, settings)
    assert sparse.issparse((seen.present if name == "bernoulli" else seen).table)
    np.testing.assert_allclose(thin, dense, rtol=1e-9, atol=1e-9)


def test_what_has_no_closed_form_says_so() -> None:
    """Shrinkage, floors and gaps move matrices; uneven pseudo-counts and weighed words have no one vocabulary."""
    numbers, texts = as_table(TABLES["multivariate"]), as_table(TABLES["text multinomial"])
    for table, name, given in (
        (numbers, "multivariate", {"covariance": "shrunk"}),
        (numbers, "multivariate", {"covariance": "diagonal"}),
        (numbers, "multivariate", {"variance_floor": 0.5}),
        (numbers, "multivariate", {"covariance": "pooled", "variance_floor": 0.5}),
        (as_table({"x": NUMBERS[:, 0], "y": NUMBERS[:, 0]}), "multivariate", {}),
        (as_table({"x": NUMBERS[:, 0], "y": TABLES["gaussian"]["y"]}), "multivariate", {}),
        (texts, "text multinomial", {"smoothing": {"x": Laplace(0.0)}}),
        (texts, "text multinomial", {"smoothing": {"x": MEstimate(3.0)}}),
        (texts, "text multinomial", {"weighting": "tf-idf"}),
    ):
        family, settings = family_named(name), Settings(**given)
        assert isinstance(family, LeavesMostOut)
        _, seen, weights = settled(name, table, Y, None, settings)
        rows = LeftOut(table, Y, np.ones(N), weights)
        assert family.leave_most_out(tuple(table.names), seen, rows, settings) is None, (name, given)


@pytest.mark.parametrize("smoothing", [MEstimate(3.0, {True: 0.25, False: 0.75}), Laplace(0.0)], ids=str)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_gaps_left_out(weights: str, smoothing: MEstimate | Laplace) -> None:
    """A column whose only gap a row has says nothing of that row."""
    cells = holed(NUMBERS)
    cells[:, 2] = NUMBERS[:, 2]
    cells[11, 2] = np.nan
    table, weight = as_table(cells), np.ones(N) if WEIGHTS[weights] is None else np.asarray(WEIGHTS[weights])
    names = tuple(table.names)
    settings = Settings(smoothing=dict.fromkeys(names, smoothing))
    seen, classes = Moments.observe(cells, Y, weight), np.bincount(Y, weight)
    score, joint, expected = None, np.zeros((N, K)), np.zeros((N, K))
    score = GapFactor.leave_one_out(names, seen, LeftOut(table, Y, weight, classes), settings)
    score(slice(0, N), joint)
    for row in range(N):
        rest = np.arange(N) != row
        known = Moments.observe(cells[rest], Y[rest], weight[rest]).n
        left = np.bincount(Y[rest], weight[rest])
        some = np.flatnonzero((left[:, None] - known).sum(axis=0) > 1e-9)
        if len(some):
            own = tuple(names[place] for place in some)
            belief = GapFactor.settle(own, known[:, some], left, settings)
            belief.bind(as_table({name: cells[[row], place] for name, place in zip(own, some, strict=True)}))(
                slice(0, 1), expected[row : row + 1]
            )
    np.testing.assert_allclose(joint, expected, rtol=1e-9, atol=1e-12)


def test_every_family_with_a_closed_form_is_here() -> None:
    closed_forms = {name for name, family in FAMILIES.items() if issubclass(family, LeavesOneOut | LeavesMostOut)}
    assert closed_forms == set(TABLES)


def test_rows_to_be_left_out() -> None:
    rows = LeftOut(as_table({"x": [1.0] * 4}), np.array([1, 0, 1, 1], dtype=np.int32), np.full(4, 2.0), np.ones(3))
    assert rows.one_weight == 2.0
    order, starts = rows.by_class
    assert order.tolist() == [1, 0, 2, 3] and starts.tolist() == [0, 1, 4, 4]
    assert LeftOut(rows.table, rows.y, np.array([2.0, 2.0, 2.0, 1.0]), rows.classes).one_weight is None
    assert LeftOut(rows.table, rows.y[:0], np.zeros(0), rows.classes).one_weight == 1.0
