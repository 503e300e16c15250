"""All statistics of a table together: found by column, joined by class, and refused where they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import DataError, NotMergeable, SchemaError, TooLarge
from likely.stats import ClassWeights, Moments, Part, Summary, ValueCounts

NUMBERS, TOWN = Part("moments", ("age", "size")), Part("values", ("town",))


def of(labels: list[str], *rows: tuple[int, float, float, str]) -> Summary:
    """Rows of class, age, size and town."""
    y = np.array([row[0] for row in rows], dtype=np.int32)
    towns = sorted({row[3] for row in rows})
    codes = np.array([towns.index(row[3]) for row in rows], dtype=np.int32)
    numbers = Moments.observe(np.array([row[1:3] for row in rows]), y, n_classes=len(labels))
    values = ValueCounts.observe(towns, codes, y, n_classes=len(labels))
    classes = ClassWeights.observe(np.array(labels, dtype=object), y)
    return Summary(classes, {NUMBERS: numbers, TOWN: values})


ONE = of(["a", "b"], (0, 1.0, 10.0, "Ulm"), (0, 3.0, 10.0, "Bonn"), (1, 5.0, 20.0, "Ulm"))
OTHER = of(["b", "c"], (0, 7.0, 20.0, "Kiel"), (1, 9.0, 30.0, "Ulm"))


def test_a_column_is_found_by_its_name() -> None:
    size = ONE["size"]
    assert isinstance(size, Moments) and size.mean.tolist() == [[10.0], [20.0]]
    town = ONE["town"]
    assert isinstance(town, ValueCounts) and town.values == ("Bonn", "Ulm")
    with pytest.raises(SchemaError, match=r"Nothing was counted for 'sise'\. Did you mean 'size'"):
        ONE["sise"]
    assert ONE.parts_of(Moments) == {NUMBERS: ONE.parts[NUMBERS]}
    assert ONE.n_rows == 3 and repr(ONE) == "Summary of 3 rows, 2 classes, 3 columns"


def test_classes_of_either_side_are_joined_by_their_labels() -> None:
    both = ONE + OTHER
    assert both.classes.labels.tolist() == ["a", "b", "c"] and both.classes.rows.tolist() == [2, 2, 1]
    assert both["age"].mean.tolist() == [[2.0], [6.0], [9.0]]  # type: ignore[attr-defined]
    assert both["town"].values == ("Bonn", "Kiel", "Ulm")  # type: ignore[attr-defined]
    assert both["town"].counts.tolist() == [[1, 0, 1], [0, 1, 1], [0, 0, 1]]  # type: ignore[attr-defined]
    left = both - OTHER
    assert left.classes.labels.tolist() == ["a", "b"]
    assert left["town"].counts.tolist() == ONE["town"].counts.tolist()  # type: ignore[attr-defined]
    np.testing.assert_allclose(left["age"].mean, ONE["age"].mean)  # type: ignore[attr-defined]


def test_a_class_that_leaves_takes_its_place_with_it() -> None:
    left = ONE + OTHER - of(["a"], (0, 1.0, 10.0, "Ulm"), (0, 3.0, 10.0, "Bonn"))
    assert left.classes.labels.tolist() == ["b", "c"]
    assert left["age"].mean.tolist() == [[6.0], [9.0]]  # type: ignore[attr-defined]


def test_other_columns_do_not_add_up() -> None:
    some = Summary(ONE.classes, {TOWN: ONE.parts[TOWN]})
    for mix in (lambda: ONE + some, lambda: some + ONE, lambda: ONE - some):
        with pytest.raises(NotMergeable, match="'age', 'size'"):
            mix()


def test_the_column_that_does_not_add_up_is_named() -> None:
    far = of(["a"], (0, 1.0, 0.9e305, "Ulm"))
    with pytest.raises(TooLarge, match="column 'size'"):
        far + far


def test_unsound_summaries() -> None:
    ONE.validate()
    bad = ValueCounts(("x",), -np.ones((2, 1)))
    few = Summary(ONE.classes, {TOWN: ValueCounts(("x",), np.ones((3, 1)))})
    wide = Summary(ONE.classes, {Part("moments", ("age",)): ONE.parts[NUMBERS]})
    unsound = Summary(ONE.classes, {TOWN: bad})
    for wrong in (few, wide, unsound):
        with pytest.raises(DataError):
            wrong.validate()
    unsound.validate(parts=False)
    for wrong in (few, wide):
        with pytest.raises(DataError, match="do not fit the classes and columns"):
            wrong.validate(parts=False)
    with pytest.raises(DataError):
        Summary(ClassWeights(ONE.classes.labels, -ONE.classes.weights, ONE.classes.rows), {}).validate()
