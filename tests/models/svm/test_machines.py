"""Machines beside LIBSVM's own, by hand, and by the conditions that only the best machine meets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC

from likely.errors import DataError, SettingsError
from likely.models.svm import Gauss, Linear, Polynomial, solver
from likely.models.svm.classifier import row_costs
from likely.models.svm.machine import class_pairs, nearest_rival, one_vs_one_votes, slack_and_case
from likely.models.svm.solver import NotSeparable, Problem, SolverPlan, solve

FOUR = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
SIDES = np.array([1, 1, 0, 0], dtype=np.int32)


def table(n_classes: int, n: int = 300) -> Problem:
    X, y = make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=3)
    return Problem(X, y.astype(np.int32), n_classes)


def dual_value(alpha: np.ndarray) -> float:
    """Σα − ½(α2² − 4α2α3 + 4α3² + 4α4²), written out by hand for the four points."""
    return float(
        alpha.sum() - 0.5 * (alpha[1] ** 2 - 4.0 * alpha[1] * alpha[2] + 4.0 * alpha[2] ** 2 + 4.0 * alpha[3] ** 2)
    )


def test_four_points_by_hand() -> None:
    """α = (0, 4, 3, 1), w = (−2, −2), b = 3: the line x + y = 3/2, the margin 1/√2."""
    machine, _ = solve(Problem(FOUR, SIDES, 2), SolverPlan(np.inf, Linear()))
    alpha = np.zeros(4)
    alpha[machine.rows] = np.abs(machine.dual[0])
    np.testing.assert_allclose(alpha, [0.0, 4.0, 3.0, 1.0], atol=1e-12)
    assert machine.w is not None
    np.testing.assert_allclose(machine.w, [[-2.0, -2.0]], atol=1e-12)
    np.testing.assert_allclose(machine.b, [3.0], atol=1e-12)
    np.testing.assert_allclose(machine.margin, [np.sqrt(0.5)], atol=1e-12)
    np.testing.assert_allclose(machine.decision_values(FOUR)[:, 0], [3.0, 1.0, -1.0, -1.0], atol=1e-12)


def test_a_quarter_of_it_is_the_same_line_but_not_the_maximum() -> None:
    best = np.array([0.0, 4.0, 3.0, 1.0])
    assert dual_value(best) == 4.0
    assert dual_value(best / 4.0) < dual_value(best)
    rng = np.random.default_rng(0)
    for _ in range(200):  # no other allowed choice is better
        other = np.maximum(best + rng.normal(size=4), 0.0)
        other[1] = max(other[2] + other[3] - other[0], 0.0)
        if other[0] + other[1] == pytest.approx(other[2] + other[3]):
            assert dual_value(other) <= 4.0 + 1e-12


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Linear(), {"kernel": "linear"}),
        (Gauss(2.0), {"kernel": "rbf", "gamma": 1.0 / 8.0}),
        (Polynomial(2, 1.0, 0.1), {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.1}),
    ],
)
@pytest.mark.parametrize("gram_rows", [0, 8000])
def test_as_libsvm(
    kernel: Any, options: dict[str, Any], n_classes: int, gram_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solver, "GRAM_ROWS", gram_rows)
    problem = table(n_classes)
    machine, how = solve(problem, SolverPlan(1.0, kernel, tolerance=1e-6))
    their = SVC(C=1.0, tol=1e-6, decision_function_shape="ovo", **options).fit(problem.X, problem.y)
    sign = 1.0 if n_classes == 2 else -1.0
    assert how == "exact"
    assert set(machine.rows.tolist()) == set(their.support_.tolist())
    values = their.decision_function(problem.X).reshape(len(problem), -1)
    np.testing.assert_allclose(machine.decision_values(problem.X), sign * values, atol=2e-4)
    if n_classes == 2:
        assert machine.margin[0] == pytest.approx(_margin(machine, kernel), rel=1e-9)


def _margin(machine: Any, kernel: Any) -> float:
    coefficients = machine.dual[0]
    return 2.0 / float(np.sqrt(coefficients @ kernel(machine.vectors) @ coefficients))


def test_the_best_machine_meets_its_conditions() -> None:
    """α = 0 beyond the margin, 0 < α < C on it, α = C within; Σ y α = 0."""
    problem, C = table(2), 0.7
    machine, _ = solve(problem, SolverPlan(C, Gauss(2.0), tolerance=1e-8))
    y = np.where(problem.y == 1, 1.0, -1.0)
    alpha = np.zeros(len(y))
    alpha[machine.rows] = np.abs(machine.dual[0])
    values = y * machine.decision_values(problem.X)[:, 0]
    assert float(y @ alpha) == pytest.approx(0.0, abs=1e-9)
    assert (values[alpha < 1e-9] > 1.0 - 1e-5).all()
    assert (values[alpha > C - 1e-9] < 1.0 + 1e-5).all()
    free = (alpha > 1e-6) & (alpha < C - 1e-6)
    np.testing.assert_allclose(values[free], 1.0, atol=1e-5)


def test_results_do_not_depend_on_threads_or_blocks() -> None:
    problem = table(3, 700)
    machine, _ = solve(problem, SolverPlan(1.0, Gauss(2.0)))
    whole = machine.decision_values(problem.X, 1)
    np.testing.assert_array_equal(machine.decision_values(problem.X, 4), whole)
    np.testing.assert_allclose(machine.decision_values(problem.X[13:15]), whole[13:15], rtol=1e-12, atol=1e-12)


def test_sparse_rows_are_the_same_rows() -> None:
    problem = table(3)
    thin = replace(problem, X=sparse.csr_array(np.where(np.abs(problem.X) > 1.0, problem.X, 0.0)))
    dense = replace(thin, X=thin.X.toarray())
    for kernel in (Gauss(2.0), Linear(), Gauss(2.0) + Linear()):
        mine, _ = solve(thin, SolverPlan(1.0, kernel, tolerance=1e-8))
        other, _ = solve(dense, SolverPlan(1.0, kernel, tolerance=1e-8))
        np.testing.assert_allclose(mine.decision_values(thin.X), other.decision_values(dense.X), atol=1e-5)


def test_votes_follow_the_pairs() -> None:
    earlier, later = class_pairs(3)
    assert earlier.tolist() == [0, 0, 1]
    assert later.tolist() == [1, 2, 2]
    assert one_vs_one_votes(np.array([[-1.0, -1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, -1.0]]), 3).argmax(
        axis=1
    ).tolist() == [
        0,
        2,
        1,
    ]
    assert one_vs_one_votes(np.array([[0.0, 0.0, 0.0]]), 3).argmax(axis=1).tolist() == [0]


def test_three_cases() -> None:
    """A beyond the margin, B within it on the right side, C on the wrong side; the nearest rival counts."""
    slack, case = slack_and_case(np.array([2.0, 1.0, 0.9995, 0.4, 0.0, -0.5]), 1e-3)
    assert case.tolist() == ["A", "A", "A", "B", "C", "C"]
    np.testing.assert_allclose(slack, [0.0, 0.0, 0.0, 0.6, 1.0, 1.5])
    pairs = np.array([[-2.0, -0.5, 9.0], [3.0, 9.0, -1.0]])
    rival, least = nearest_rival(pairs, np.array([0, 1], dtype=np.int32), 3)
    assert rival.tolist() == [2, 2]
    np.testing.assert_allclose(least, [0.5, 1.0])


class TestHardMargin:
    def test_is_the_limit_of_soft_ones(self) -> None:
        X, y = load_iris(return_X_y=True)
        problem = Problem(X[:100], y[:100].astype(np.int32), 2)
        hard, _ = solve(problem, SolverPlan(np.inf, Gauss(1.0)))
        soft, _ = solve(problem, SolverPlan(1e6, Gauss(1.0), tolerance=1e-8))
        np.testing.assert_allclose(hard.decision_values(X[:100]), soft.decision_values(X[:100]), atol=1e-5)
        assert (np.where(y[:100] == 1, 1.0, -1.0) * hard.decision_values(X[:100])[:, 0]).min() == pytest.approx(
            1.0, abs=1e-6
        )

    def test_refuses_overlap(self) -> None:
        X, y = load_iris(return_X_y=True)
        with pytest.raises(NotSeparable, match=r"row \d+ .* C=1.0"):
            solve(Problem(X, y.astype(np.int32), 3), SolverPlan(np.inf, Linear()))

    def test_refuses_equal_rows_of_two_classes(self) -> None:
        problem = Problem(np.array([[0.0], [1.0], [1.0]]), np.array([0, 0, 1], dtype=np.int32), 2)
        with pytest.raises(NotSeparable, match="rows 1 and 2 are equal"):
            solve(problem, SolverPlan(np.inf, Gauss(1.0)))


class TestManyRows:
    def test_a_plane_is_found_without_support_vectors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(solver, "LINEAR_ROWS", 100)
        problem = table(3, 600)
        machine, how = solve(problem, SolverPlan(1.0, Linear()))
        assert how == "plane"
        assert len(machine.rows) == 0
        exactly, _ = solve(problem, SolverPlan(1.0, Linear(), method="exact"))
        same = one_vs_one_votes(machine.decision_values(problem.X), 3).argmax(axis=1) == one_vs_one_votes(
            exactly.decision_values(problem.X), 3
        ).argmax(axis=1)
        assert same.mean() > 0.95

    def test_sparse_rows_are_many_sooner_unless_they_are_wide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(solver, "SPARSE_LINEAR_ROWS", 100)
        problem, plan = table(2, 600), SolverPlan(1.0, Linear())
        few = sparse.csr_array(problem.X)
        wide = sparse.csr_array((few.data, few.indices, few.indptr), shape=(600, 600))
        assert solve(problem, plan)[1] == "exact"
        assert solve(replace(problem, X=few), plan)[1] == "plane"
        assert solve(replace(problem, X=wide), plan)[1] == "exact"

    def test_huge_planes_go_through_the_rows_a_few_at_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from likely.models.svm import solver

        monkeypatch.setattr(solver, "LINEAR_ROWS", 100)
        monkeypatch.setattr(solver, "MOST_CELLS", 100)
        problem = table(2, 600)
        machine, _ = solve(problem, SolverPlan(1.0, Linear()))
        exactly, _ = solve(problem, SolverPlan(1.0, Linear(), method="exact"))
        assert ((machine.decision_values(problem.X) > 0.0) == (exactly.decision_values(problem.X) > 0.0)).mean() > 0.95

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_landmarks_come_near_the_exact_machine(self, n_classes: int) -> None:
        problem = table(n_classes, 600)
        near, how = solve(problem, SolverPlan(1.0, Gauss(3.0), max_rows=500, landmarks=200))
        exactly, _ = solve(problem, SolverPlan(1.0, Gauss(3.0)))
        assert how == "landmarks"
        assert len(near.rows) == 200
        chosen = [one_vs_one_votes(m.decision_values(problem.X), n_classes).argmax(axis=1) for m in (near, exactly)]
        assert (chosen[0] == chosen[1]).mean() > 0.93

    def test_landmarks_depend_on_the_seed_alone(self) -> None:
        """Pairs with fewer rows than landmarks are solved in the dual, whose order of rows is drawn."""
        plan = SolverPlan(1.0, Gauss(3.0), method="landmarks", landmarks=300, seed=1)
        alone, *crews = (solve(table(6, 600), replace(plan, n_jobs=n_jobs))[0] for n_jobs in (1, 4, 4))
        for machine in crews:
            np.testing.assert_array_equal(machine.dual, alone.dual)
            np.testing.assert_array_equal(machine.b, alone.b)

    def test_exact_is_refused_above_the_limit(self) -> None:
        with pytest.raises(SettingsError, match=r"300 rows are more than the 200 .* max_rows"):
            solve(table(2), SolverPlan(1.0, Gauss(1.0), method="exact", max_rows=200))

    def test_a_sum_of_kernels_has_its_own_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(solver, "MOST_GRAM_ROWS", 200)
        assert solve(table(2), SolverPlan(1.0, Gauss(1.0) + Linear()))[1] == "landmarks"
        assert solve(table(2), SolverPlan(1.0, Gauss(1.0)))[1] == "exact"

    def test_wide_rows_have_fewer_that_are_solved_exactly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """300 rows × 8 cells take 720,000 products, and sparse ones as long as 8 times as many."""
        monkeypatch.setattr(solver, "MOST_GRAM_ROWS", 200)
        problem, plan = table(2), SolverPlan(1.0, Gauss(1.0))
        few = replace(problem, X=sparse.csr_array(problem.X)).take(np.arange(200))
        for products, dense, sparsely in (
            (8 * 720_000, "exact", "exact"),
            (720_000, "exact", "landmarks"),
            (719_999, "landmarks", "landmarks"),
        ):
            monkeypatch.setattr(solver, "MOST_PRODUCTS", products)
            assert solve(problem, plan)[1] == dense
            assert solve(replace(problem, X=sparse.csr_array(problem.X)), plan)[1] == sparsely
            assert solve(few, plan)[1] == "exact"
        assert solve(problem, replace(plan, method="exact"))[1] == "exact"

    def test_sparse_rows_have_the_machine_of_dense_ones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem, plan = table(3), SolverPlan(1.0, Gauss(1.0))
        dense = solve(problem, plan)[0]
        for rows in (300, 299):  # by the Gram matrix, and product by product
            monkeypatch.setattr(solver, "MOST_GRAM_ROWS", rows)
            found = solve(replace(problem, X=sparse.csr_array(problem.X)), plan)[0]
            np.testing.assert_allclose(found.decision_values(problem.X), dense.decision_values(problem.X), atol=1e-2)

    def test_too_many_for_landmarks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from likely.models.svm import solver

        monkeypatch.setattr(solver, "MOST_CELLS", 300)
        with pytest.raises(SettingsError, match="kernel='linear'"):
            solve(table(2), SolverPlan(1.0, Gauss(1.0), max_rows=10))


def test_very_many_classes_are_refused() -> None:
    y = np.arange(201, dtype=np.int32)
    with pytest.raises(DataError, match="20,100 pairs"):
        solve(Problem(y[:, None].astype(float), y, 201), SolverPlan(1.0, Linear()))


class TestCosts:
    def test_balanced_classes_weigh_the_same(self) -> None:
        y = np.array([0, 0, 0, 1], dtype=np.int32)
        cost = row_costs("balanced", np.array(["a", "b"]), y, None)
        assert cost is not None
        assert np.bincount(y, weights=cost).tolist() == [2.0, 2.0]

    def test_a_mapping_multiplies_the_weights(self) -> None:
        y = np.array([0, 1], dtype=np.int32)
        cost = row_costs({"b": 3.0}, np.array(["a", "b"]), y, np.array([2.0, 2.0]))
        assert cost is not None
        assert cost.tolist() == [2.0, 6.0]

    @pytest.mark.parametrize("given", ["heavy", {"z": 1.0}, {"a": -1.0}, 3])
    def test_others_are_refused(self, given: Any) -> None:
        with pytest.raises(SettingsError, match="class_weight"):
            row_costs(given, np.array(["a", "b"]), np.array([0, 1], dtype=np.int32), None)
