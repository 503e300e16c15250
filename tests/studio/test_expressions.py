"""Trees of expressions: look-ups are tables, and the expressions of all classes become one tree."""

from __future__ import annotations

import numpy as np

from likely import BayesClassifier
from likely.store.expressions import Expressions
from likely.studio.rules import column_tree, merged


def test_a_look_up_by_category_is_a_table() -> None:
    made = Expressions()
    found = merged([made.number_at([0.0, 9.0, 1.0, 2.0], made.code("sky", ("grey", "blue"), (2, 3), 1, 0))])
    assert found[:3] == ["case", ["missing", "sky"], ["number", 0.0]]
    look, op, cell, keys, numbers, otherwise = found[3]
    assert (look, op, cell, keys) == ("look", "=", ["cell", "sky"], ["grey", "blue"])
    assert numbers[1].tolist() == [[1.0, 2.0]] and otherwise == ["number", 9.0]


def test_a_look_up_by_interval_is_one_of_steps() -> None:
    made = Expressions()
    found = merged(
        [made.number_at([0.0, 1.0, 2.0, 3.0], made.interval("x", np.array([5.0, 7.0]), 1, 0, at_most=False))]
    )
    assert found[:3] == ["case", ["missing", "x"], ["number", 0.0]]
    step, op, cell, edges, numbers, otherwise = found[3]
    assert (step, op, cell, edges) == ("step", "<", ["real", "x"], [5.0, 7.0])
    assert numbers[1].tolist() == [[1.0, 2.0]] and otherwise == ["number", 3.0]


def test_classes_share_a_tree_and_have_their_own_numbers() -> None:
    clf = BayesClassifier(smoothing=0).fit({"sky": ["grey", "grey", "blue"]}, ["wet", "wet", "dry"])
    tree = column_tree(clf.model_.beliefs[0], 2)
    assert tree is not None
    numbers = tree[3][4]
    assert numbers[0] == "numbers" and numbers[1].shape == (2, 2)  # a line for each class


def test_another_shape_is_a_branch_for_each_class() -> None:
    made = Expressions()
    found = merged([made.number(0.0), made.sum([made.real("x"), made.number(1.0)])])
    assert found == ["class", ["number", 0.0], ["+", ["real", "x"], ["number", 1.0]]]
