"""Words in tables of numbers: the column and the word are told, however wide and long the table is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely.naive_bayes
from likely.errors import DataError
from likely.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

EVERY = (GaussianNB, MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB)


def test_every_one_is_here() -> None:
    assert {clf.__name__ for clf in EVERY} == {name for name in dir(likely.naive_bayes) if name.endswith("NB")}


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("form", ["frame", "array", "rows"])
def test_a_word_is_told_with_its_column(make: Any, form: str) -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "town": ["7", "8", "Ulm", "Bonn"]})
    X: Any = {"frame": frame, "array": frame.to_numpy(), "rows": frame.to_numpy().tolist()}[form]
    with pytest.raises(DataError, match=f"holds 'Ulm', but {make.__name__} counts numbers: BayesClassifier"):
        make().fit(X, [0, 1, 0, 1])
    clf = make().fit(frame.assign(town=[7, 8, 9, 9]), [0, 1, 0, 1])
    with pytest.raises(DataError, match="Column 'town' holds 'Ulm'"):
        clf.predict(frame)


@pytest.mark.parametrize("make", EVERY)
def test_wide_and_long_tables_of_words_are_refused_in_a_sentence(make: Any) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(5000)], dtype=object)
    X = pd.DataFrame({f"c{j}": words[rng.integers(0, len(words), 10_000)] for j in range(60)})
    with pytest.raises(DataError, match="Column 'c0' holds 'w"):
        make().fit(X, rng.integers(0, 2, 10_000))


def test_other_mistakes_keep_the_words_of_scikit_learn() -> None:
    with pytest.raises(ValueError, match="NaN"):
        CategoricalNB().fit([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        GaussianNB().fit(np.zeros((0, 2)), [])
