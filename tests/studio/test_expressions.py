"""Trees of expressions: cases of one cell become a table, and the trees of all classes become one."""

from __future__ import annotations

import pytest

from likely import BayesClassifier
from likely.errors import SettingsError
from likely.studio.expressions import Trees, column_tree, merged


def test_cases_of_one_cell_are_a_table() -> None:
    trees = Trees()
    cell = trees.cast("sky", ("grey", "blue"))
    whens = [(trees.null("sky"), trees.number(0.0))]
    whens += [(trees.equal(cell, trees.value(v)), trees.number(k)) for k, v in enumerate(("grey", "blue"), 1)]
    found = merged([trees.case(whens, trees.number(9.0))])
    assert found[:3] == ["case", ["missing", "sky"], ["number", 0.0]]
    look, op, cell, keys, numbers, otherwise = found[3]
    assert (look, op, cell, keys) == ("look", "=", ["cell", "sky"], ["grey", "blue"])
    assert numbers[1].tolist() == [[1.0, 2.0]] and otherwise == ["number", 9.0]


def test_classes_share_a_tree_and_have_their_own_numbers() -> None:
    clf = BayesClassifier(smoothing=0).fit({"sky": ["grey", "grey", "blue"]}, ["wet", "wet", "dry"])
    tree = column_tree(clf.model_.beliefs[0], 2)
    assert tree is not None
    numbers = tree[3][4]
    assert numbers[0] == "numbers" and numbers[1].shape == (2, 2)  # a line for each class


def test_another_shape_is_a_branch_for_each_class() -> None:
    trees = Trees()
    found = merged([trees.number(0.0), trees.sum([trees.real("x"), trees.number(1.0)])])
    assert found == ["class", ["number", 0.0], ["+", ["real", "x"], ["number", 1.0]]]


def test_a_function_that_the_page_lacks_is_refused() -> None:
    with pytest.raises(SettingsError, match="no function 'erf'"):
        Trees().call("erf", Trees().real("x"))
