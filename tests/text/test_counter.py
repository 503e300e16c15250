"""TextCounter keeps scikit-learn's contract."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import DataError, SettingsError
from likely.text import HashingCounter, TextCounter

TEXTS = ["to be or not to be", "that is the question", "to die to sleep", "to be"]
Y = [0, 1, 0, 1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # most checks know no texts
@pytest.mark.parametrize("estimator", [TextCounter(), HashingCounter()])
def test_sklearn_checks(estimator: Any) -> None:
    results = check_estimator(estimator)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


def test_in_a_pipeline() -> None:
    model = make_pipeline(TextCounter(), MultinomialNB()).fit(TEXTS, Y)
    assert model.predict(["the question"]).tolist() == [1]
    search = GridSearchCV(model, {"textcounter__ngram_range": [(1, 1), (1, 2)]}, cv=2).fit(TEXTS, Y)
    assert search.predict(["to sleep"]).tolist() == [0]


def test_in_a_column_transformer() -> None:
    frame = pd.DataFrame({"text": TEXTS, "n": [1, 2, 3, 4]})
    table = make_column_transformer((TextCounter(), "text"), ("passthrough", ["n"])).fit_transform(frame)
    assert table.shape == (4, 11)


def test_clone_and_pickle() -> None:
    counter = TextCounter(ngram_range=(1, 2), stop_words=["to"], n_jobs=1).fit(TEXTS)
    assert clone(counter).get_params() == counter.get_params()
    assert not hasattr(clone(counter), "words_")
    copy = pickle.loads(pickle.dumps(counter))  # noqa: S301
    assert (copy.transform(TEXTS) != counter.transform(TEXTS)).nnz == 0
    assert copy.vocabulary_ == counter.vocabulary_


def test_fitting_again_forgets() -> None:
    counter = TextCounter().fit(TEXTS)
    assert "be" in counter.vocabulary_
    assert counter.fit(["other words"]).vocabulary_ == {"other": 0, "words": 1}


def test_inverse_transform() -> None:
    counter = TextCounter()
    matrix = counter.fit_transform(TEXTS)
    for rows in (matrix, matrix.toarray()):
        assert [row.tolist() for row in counter.inverse_transform(rows)][3] == ["be", "to"]


def test_not_fitted() -> None:
    for ask in (lambda c: c.transform(TEXTS), lambda c: c.get_feature_names_out(), lambda c: c.vocabulary_):
        with pytest.raises(NotFittedError):
            ask(TextCounter())
    assert not hasattr(TextCounter(), "vocabulary_")
    assert TextCounter(vocabulary=["be"]).transform(TEXTS).toarray().tolist() == [[2], [0], [0], [1]]


def test_sparse_interface() -> None:
    try:
        context = config_context(sparse_interface="sparray")
    except TypeError:
        pytest.skip("this scikit-learn has no sparse_interface")
    with context:
        assert type(TextCounter().fit_transform(TEXTS)).__name__ == "csr_array"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"analyzer": "words"}, "analyzer is 'words'"),
        ({"ngram_range": (2, 1)}, "ngram_range"),
        ({"ngram_range": 2}, "ngram_range"),
        ({"min_chars": 0}, "min_chars"),
        ({"cjk": "x"}, "cjk"),
        ({"normalize": "NFKC"}, "normalize"),
        ({"strip_accents": "x"}, "strip_accents"),
        ({"min_df": 0}, "min_df is 0"),
        ({"max_df": 1.5}, "max_df is 1.5"),
        ({"min_df": 4, "max_df": 2}, "max_df corresponds to < documents than min_df"),
        ({"max_features": 0}, "max_features"),
        ({"vocabulary": ["a", "a"]}, "'a' twice"),
        ({"vocabulary": {"a": 0, "b": 2}}, "columns are not 0 to 1"),
        ({"vocabulary": []}, "empty vocabulary"),
        ({"stop_words": [1]}, "no string"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((SettingsError, DataError), match=message):
        TextCounter(**settings).fit_transform(TEXTS)


def test_pruned_to_nothing() -> None:
    with pytest.raises(DataError, match="no terms remain"):
        TextCounter(min_df=4).fit(TEXTS)


def test_import_is_lazy() -> None:
    code = "import sys, likely.text; print([m for m in ('numba', 'pyarrow', 'sklearn', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_column_order_is_alphabetical() -> None:
    names = TextCounter().fit(["zebra Äpfel apfel 10 _x"]).get_feature_names_out()
    assert names.tolist() == sorted(names)
    assert names.dtype == np.dtype(object)
