"""Entropy, question schemes and the measure that rests on them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import DataError
from likely.measures import entropies, entropy, information_gain, information_gains
from likely.teaching.entropy import SCHEMES, equal_size, huffman, linear_traversal, shannon_fano

FIVE = [0.10, 0.15, 0.16, 0.19, 0.40]
PERFECT = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]

shares = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any).map(lambda w: [k / sum(w) for k in w])


@pytest.mark.parametrize(
    ("scheme", "questions", "efficiency", "lengths"),
    [
        (linear_traversal, "3.24", "0.664", [1, 2, 3, 4, 4]),
        (equal_size, "2.59", "0.830", [2, 2, 2, 3, 3]),
        (shannon_fano, "2.25", "0.955", [3, 3, 2, 2, 2]),
        (huffman, "2.20", "0.977", [3, 3, 3, 3, 1]),
    ],
)
def test_the_lecture_s_five_alternatives(scheme, questions, efficiency, lengths) -> None:  # type: ignore[no-untyped-def]
    asked = scheme(FIVE)
    assert f"{asked.entropy:.2f}" == "2.15"
    assert f"{asked.expected:.2f}" == questions
    assert f"{asked.efficiency:.3f}" == efficiency
    assert [asked.lengths[k] for k in range(5)] == lengths
    # The same by hand, in exact fractions.
    exact = sum(Fraction(str(p)) * n for p, n in zip(FIVE, lengths, strict=True))
    assert asked.expected == pytest.approx(float(exact), abs=1e-12)


def test_a_perfect_scheme_asks_as_many_questions_as_there_are_bits() -> None:
    assert entropy(PERFECT) == 1.875
    assert huffman(PERFECT).expected == 1.875
    assert huffman(PERFECT).efficiency == 1.0
    assert [huffman(PERFECT).lengths[k] for k in range(5)] == [1, 2, 3, 4, 4]


@given(shares)
def test_no_scheme_beats_huffman_and_none_beats_entropy(p: list[float]) -> None:
    best = huffman(p)
    assert best.entropy - 1e-9 <= best.expected < best.entropy + 1.0 + 1e-9
    for scheme in SCHEMES:
        assert best.expected <= scheme(p).expected + 1e-9
    assert max(equal_size(p).lengths.values()) <= ceil(log2(len(p))) if len(p) > 1 else True


@given(shares)
def test_codes_tell_all_alternatives_apart(p: list[float]) -> None:
    for scheme in SCHEMES:
        codes = list(scheme(p).codes.values())
        assert len(codes) == len(p)
        assert sum(Fraction(1, 2 ** len(code)) for code in codes) == 1  # Kraft: nothing is left over
        assert not any(a != b and b.startswith(a) for a in codes for b in codes)


def test_alternatives_may_have_names_and_the_tree_can_be_read() -> None:
    asked = huffman({"rain": 0.5, "sun": 0.25, "snow": 0.25})
    assert asked.codes == {"rain": "0", "sun": "10", "snow": "11"}
    assert str(asked).splitlines() == [
        "Huffman: 1.500 questions expected, efficiency 1.000",
        "· 1",
        "├─ rain  0.5",
        "└─ · 0.5",
        "   ├─ sun  0.25",
        "   └─ snow  0.25",
    ]


def test_one_alternative_needs_no_question() -> None:
    for scheme in SCHEMES:
        assert scheme([1.0]).expected == 0.0
        assert scheme([1.0]).efficiency == 1.0


def test_a_long_line_of_alternatives_is_no_trouble() -> None:
    asked = linear_traversal([1 / 1024] * 1024)
    assert asked.expected == pytest.approx((sum(range(1, 1024)) + 1023) / 1024)
    assert len(str(asked).splitlines()) == 2 * 1024


@pytest.mark.parametrize(
    ("wrong", "told"),
    [([], "nothing to ask"), ([0.5, 0.6], "sum to 1.1"), ([1.5, -0.5], "of 1 is -0.5"), ([float("nan")], "of 0")],
)
def test_what_is_no_distribution_is_refused(wrong: list[float], told: str) -> None:
    with pytest.raises(DataError, match=told):
        huffman(wrong)


def test_entropies_of_many() -> None:
    np.testing.assert_allclose(entropies([[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]), [1.0, 0.0, 0.811278], atol=1e-6)
    assert str(entropy([1.0, 0.0])) == "0.0"


# The measure


def test_information_gain_of_the_patients() -> None:
    assert information_gain([[3, 3], [3, 3]]) == 0.0  # sex
    assert information_gain([[0, 3, 3], [3, 3, 0]]) == 0.5  # blood pressure
    assert information_gain([[4, 2], [2, 4]]) == pytest.approx(0.0817, abs=5e-5)  # age, cut at 40
    assert information_gain([[3, 0], [0, 3]]) == 1.0


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_information_gain_is_symmetric_bounded_and_knows_no_scale(
    n_classes: int, n_values: int, data: st.DataObject
) -> None:
    row = st.lists(st.integers(0, 30), min_size=n_values, max_size=n_values)
    table = np.array(data.draw(st.lists(row, min_size=n_classes, max_size=n_classes)), dtype=float)
    gain = information_gain(table)
    whole = max(table.sum(), 1.0)
    assert 0.0 <= gain <= min(entropy(table.sum(axis=1) / whole), entropy(table.sum(axis=0) / whole)) + 1e-9
    assert information_gain(table.T) == pytest.approx(gain, abs=1e-9)
    assert information_gain(7.0 * table) == pytest.approx(gain, abs=1e-9)
    assert information_gain(np.column_stack([table, np.zeros(n_classes)])) == pytest.approx(gain, abs=1e-12)
    assert information_gains(np.stack([table, table])) == pytest.approx([gain, gain])


@pytest.mark.parametrize("wrong", [[1, 2, 3], [[1, -1]], [[float("nan")]], [[float("inf")]]])
def test_what_is_no_table_of_counts_is_refused(wrong: object) -> None:
    with pytest.raises(DataError):
        information_gain(wrong)  # type: ignore[arg-type]
