"""As many rows, values and classes as 14, 15 or 16 bits number, and a few more."""

from __future__ import annotations

import numpy as np
import pytest

from likely import BayesClassifier

LIMITS = [1 << 14, 1 << 15, 1 << 16]


@pytest.mark.parametrize("limit", LIMITS)
def test_as_many_values_as_rows(limit: int) -> None:
    values = np.arange(limit + 2)
    clf = BayesClassifier(schema={"a": "nominal"}).fit({"a": values}, values % 2)
    some = np.array([0, 1, limit - 1, limit, limit + 1])
    assert np.allclose(clf.predict_proba({"a": some})[:, 1], np.where(some % 2, 2 / 3, 1 / 3))


@pytest.mark.parametrize("limit", LIMITS)
def test_as_many_classes_as_rows(limit: int) -> None:
    classes = np.arange(limit + 2)
    clf = BayesClassifier(schema={"a": "nominal"}).fit({"a": classes // (limit + 1)}, classes)
    found = clf.predict_proba({"a": [1, 0]})
    assert found.shape == (2, limit + 2)
    assert found.argmax(axis=1).tolist() == [limit + 1, 0]
