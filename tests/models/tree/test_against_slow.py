"""Trees against an independent, slow implementation: every measure × gap policy × kind of test × pruning."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.measures import MEASURES
from likely.models.tree import GrowthPlan, Tree, TreeRows, fit_tree
from likely.models.tree.prune import Pruning, cost_complexity, pessimistic_errors, weakest_links
from likely.models.tree.subtrees import raise_subtrees
from likely.models.tree.tree import Missing
from tests.models.tree import slow, slow_pruning
from tests.models.tree.made import FEWER, columns, everyone, nested, nested_slow, stocked, tables

MODES: dict[str, dict[str, Any]] = {"every": {}, "groups": {"subsets": True}, "one": {"binary": True}}


def both(data: slow.Data, plan: slow.Plan) -> tuple[Tree, slow.Node]:
    missing: Missing = "weights" if plan.missing == "weights" else "surrogates"
    more = {"collapse": False, "restrained": plan.restrained, **MODES[plan.mode]}
    own = GrowthPlan(plan.measure, plan.min_cases, plan.max_depth, missing, **more)
    return fit_tree(own, stocked(data)), slow.grow(data, everyone(data), plan)


def read(tree: Tree, data: slow.Data, rows: list[list[Any]]) -> TreeRows:
    """Rows as the tree reads them; a value that it never saw is a gap."""
    return TreeRows.from_columns(tree, columns(slow.Data(rows, data.kinds, [], 0), tree.features))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("measure", MEASURES)
@FEWER
@given(st.data())
def test_grown_alike(measure: str, missing: str, draw: st.DataObject) -> None:
    data = draw.draw(tables())
    mode = draw.draw(st.sampled_from(list(MODES)))
    plan = slow.Plan(measure, missing, mode, draw.draw(st.integers(1, 3)), draw.draw(st.none() | st.integers(0, 3)))
    tree, oracle = both(data, plan)
    assert nested(tree) == nested_slow(oracle)
    new = draw.draw(tables(most=4).filter(lambda other: other.kinds == data.kinds) | st.just(data))
    found = read(tree, data, new.rows).posterior(tree.probabilities(1.0))
    for row, shares in zip(new.rows, found, strict=True):
        assert shares == pytest.approx(slow.predict(data, oracle, row, plan), abs=1e-12)
    chosen = read(tree, data, new.rows).choose(tree.probabilities(1.0))
    np.testing.assert_array_equal(chosen, found.argmax(axis=1))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@given(st.data())
def test_restrained_alike(missing: str, draw: st.DataObject) -> None:
    """Cuts by gain, and only columns with at least average gain."""
    data, mode = draw.draw(tables(most=24)), draw.draw(st.sampled_from(list(MODES)))
    tree, oracle = both(data, slow.Plan("gain_ratio", missing, mode, draw.draw(st.integers(1, 3)), restrained=True))
    assert nested(tree) == nested_slow(oracle)


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("measure", MEASURES)
@FEWER
@given(st.data())
def test_pruned_alike(measure: str, missing: str, draw: st.DataObject) -> None:
    data = draw.draw(tables(most=24))
    plan = slow.Plan(measure, missing, draw.draw(st.sampled_from(list(MODES))), 1)
    tree, oracle = both(data, plan)
    r, level = draw.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.0])), draw.draw(st.sampled_from([0.1, 0.5, 0.8, 0.95]))
    assert nested(Pruning("pessimistic", r).apply(tree)) == nested_slow(
        slow_pruning.pruned(oracle, slow_pruning.pessimistic(r))
    )
    assert nested(Pruning("confidence", level).apply(tree)) == nested_slow(
        slow_pruning.pruned(oracle, slow_pruning.confidence(level))
    )
    lengths = slow_pruning.stochastic_complexity, slow_pruning.length_of_test(data)
    assert nested(Pruning("mdl").apply(tree)) == nested_slow(slow_pruning.pruned(oracle, *lengths))
    links = weakest_links(tree)
    for alpha in [*links.alphas, *(links.alphas[1:] + links.alphas[:-1]) / 2, 1.0]:
        smaller = cost_complexity(tree, float(alpha) * (1 + 1e-9), links)
        assert nested(smaller) == nested_slow(slow_pruning.cheapest(oracle, float(alpha) * (1 + 1e-9), len(data.rows)))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@pytest.mark.parametrize("measure", MEASURES)
@FEWER
@given(st.data())
def test_other_cases_alike(measure: str, missing: str, draw: st.DataObject) -> None:
    """Counting other cases in a grown tree, and pruning by their errors."""
    data = draw.draw(tables(most=20))
    plan = slow.Plan(measure, missing, draw.draw(st.sampled_from(list(MODES))), 1)
    tree, oracle = both(data, plan)
    half = everyone(data)[::2]
    labels = np.array([data.labels[row] for row, _ in half], dtype=np.int32)
    counts = read(tree, data, [data.rows[row] for row, _ in half]).counts(labels)
    other = slow_pruning.counted(data, oracle, half, plan)

    def walked(node: slow.Node) -> list[slow.Node]:
        found, level = [], [node]
        while level:
            found += level
            level = [child for one in level for child in one.children]
        return found

    assert counts == pytest.approx(np.array([[float(w) for w in node.counts] for node in walked(other)]), abs=1e-9)
    wrong = dict(zip(map(id, walked(oracle)), walked(other), strict=True))

    def errors(node: slow.Node) -> float:
        seen = wrong[id(node)]
        return float(seen.n - seen.counts[node.counts.index(max(node.counts))])

    assert nested(Pruning("reduced_error").apply(tree, counts)) == nested_slow(slow_pruning.pruned(oracle, errors))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
@FEWER
@given(st.data())
def test_raised_alike(missing: str, draw: st.DataObject) -> None:
    data = draw.draw(tables(most=24))
    plan = slow.Plan(draw.draw(st.sampled_from(list(MEASURES))), missing, draw.draw(st.sampled_from(list(MODES))), 1)
    tree, oracle = both(data, plan)
    r = draw.draw(st.sampled_from([0.1, 0.3, 0.5, 1.0]))
    labels = np.array(data.labels, dtype=np.int32)
    found = raise_subtrees(tree, read(tree, data, data.rows), labels, None, partial(pessimistic_errors, r=r))
    expected = slow_pruning.raised(data, oracle, everyone(data), plan, slow_pruning.pessimistic(r))[0]
    assert shape(nested(found)) == shape(nested_slow(expected))
    assert len(found) <= len(tree)


def shape(node: Any) -> Any:
    """The tests of a tree, without the weights of cases."""
    return None if isinstance(node[0], float) else (node[1], node[2], tuple(shape(child) for child in node[4]))


@pytest.mark.parametrize("missing", ["weights", "surrogates"])
def test_branches_are_really_raised(missing: str) -> None:
    """Noise makes tests that help nobody above branches that do; some of them must go, here as in the oracle."""
    n_raised = 0
    for seed in range(20):
        data = noisy(seed)
        plan = slow.Plan("information_gain", missing, min_cases=1)
        tree, oracle = both(data, plan)
        labels = np.array(data.labels, dtype=np.int32)
        for r in (0.1, 0.3):
            estimate = partial(pessimistic_errors, r=r)
            found = raise_subtrees(tree, read(tree, data, data.rows), labels, None, estimate)
            expected = slow_pruning.raised(data, oracle, everyone(data), plan, slow_pruning.pessimistic(r))[0]
            assert shape(nested(found)) == shape(nested_slow(expected))
            n_raised += shape(nested(found)) != shape(nested(Pruning("pessimistic", r).apply(tree)))
    assert n_raised >= 6


def noisy(seed: int) -> slow.Data:
    """Three columns that tell something about two classes, a fifth of the labels wrong, some cells missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (60, 3))
    labels = ((codes[:, 0] > 1) ^ (rng.random(60) < 0.2)).astype(int)
    gaps = rng.random(codes.shape) < 0.05
    cells: list[list[Any]] = [
        [None if gap else float(code) if place < 2 else "abcd"[code] for place, (code, gap) in enumerate(pairs)]
        for pairs in (zip(row, holes, strict=True) for row, holes in zip(codes, gaps, strict=True))
    ]
    return slow.Data(cells, ["numeric", "numeric", "nominal"], labels.tolist(), 2)
