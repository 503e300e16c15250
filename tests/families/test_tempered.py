"""A family to a power: all that it says, times its weight; nothing where the weight is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likely import AODEClassifier, BayesClassifier
from likely.arrays import Array
from likely.families.protocol import FittedFamily, HasParameters, HasTokens, Positional
from likely.families.tempered import Tempered, bare, weight_of
from likely.table import as_table

TABLE = {"x": [0.0, 1.0, 2.0, 5.0, 1.0, 0.0], "y": [3.0, 2.0, 0.0, 1.0, 1.0, 4.0]}
LABELS = ["p", "q", "q", "q", "p", "p"]


def learned(family: str) -> FittedFamily:
    (belief,) = BayesClassifier(families=family).fit(TABLE, LABELS).model_.beliefs
    return belief


def evidence(belief: FittedFamily) -> Array:
    joint = np.zeros((6, 2))
    belief.bind(as_table(TABLE))(slice(0, 6), joint)
    return joint


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("family", ["gaussian", "multinomial"])
def test_each_column_has_the_weight(family: str, weight: float) -> None:
    """Whether the family finds its columns by place (counts) or only by name (bell curves)."""
    belief = learned(family)
    assert isinstance(belief, Positional) == (family == "multinomial")
    tempered = Tempered(belief, weight)
    assert tempered.name == family and tempered.columns == ("x", "y")
    np.testing.assert_allclose(evidence(tempered), weight * evidence(belief), atol=1e-15)
    for place, name in enumerate("xy"):
        expected = weight * evidence(belief.only(name))
        for found in (tempered.only(name), tempered.at(place)):
            assert found.columns == (name,) and weight_of(found) == weight
            np.testing.assert_allclose(evidence(found), expected, atol=1e-15)
    assert bare(tempered) is belief and bare(belief) is belief and weight_of(belief) == 1.0


def test_its_weight_is_listed_before_the_numbers_of_the_family() -> None:
    belief = learned("gaussian")
    assert isinstance(belief, HasParameters)
    weights, others = [], []
    for each in Tempered(belief, 0.25).parameters() or ():
        (weights if each.name == "weight of the column" else others).append(each)
    assert [(each.column, each.numbers.tolist()) for each in weights] == [("x", [0.25, 0.25]), ("y", [0.25, 0.25])]
    assert [each[:3] for each in others] == [each[:3] for each in belief.parameters() or ()]


def test_a_row_costs_what_it_costs_the_family() -> None:
    (pairs,) = AODEClassifier().fit(TABLE, LABELS).model_.beliefs
    assert Tempered(pairs, 0.5).work == 4 and Tempered(learned("gaussian"), 0.5).work == 2


def test_a_weight_of_zero_writes_nothing_and_words_have_the_weight() -> None:
    belief: Any = learned("gaussian")
    assert Tempered(belief, 0.0).sql_terms(None, 0) == () and Tempered(belief, 1.0).sql_terms(None, 0) != ()  # type: ignore[arg-type]
    texts = {"t": ["ant bee ant", "cow bee", "ant"]}
    (words,) = BayesClassifier(schema={"t": "text"}).fit(texts, ["p", "q", "q"]).model_.beliefs
    assert isinstance(words, HasTokens)
    found, plain = Tempered(words, 0.25).tokens(as_table(texts)), words.tokens(as_table(texts))
    assert found is not None and plain is not None and Tempered(belief, 0.25).tokens(as_table(TABLE)) is None
    for text, same in zip(found, plain, strict=True):
        assert [token[:2] for token in text] == [token[:2] for token in same]
        for token, other in zip(text, same, strict=True):
            np.testing.assert_allclose(token.evidence, 0.25 * other.evidence)
