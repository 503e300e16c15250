"""The value that stands for a refusal."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd

from likely import REFUSED


def test_there_is_one() -> None:
    assert pickle.loads(pickle.dumps(REFUSED)) is REFUSED  # noqa: S301
    assert copy.deepcopy([REFUSED])[0] is REFUSED
    assert copy.copy(REFUSED) is REFUSED


def test_it_is_no_label_and_no_gap() -> None:
    assert REFUSED not in ("REFUSED", "refused", None, False, 0, "")
    assert str(REFUSED) == "REFUSED"
    assert not pd.isna(REFUSED)
    assert len({REFUSED, REFUSED, "REFUSED"}) == 2


def test_tools_that_sort_and_compare_work() -> None:
    decided = np.array(["grant", REFUSED, "deny", REFUSED], dtype=object)
    assert (decided == REFUSED).tolist() == [False, True, False, True]
    assert np.unique(decided).tolist() == ["deny", "grant", REFUSED]
    assert sorted([REFUSED, 3, REFUSED, 1]) == [1, 3, REFUSED, REFUSED]
    assert min(REFUSED, 7) == 7
    assert max(7, REFUSED) is REFUSED
    assert REFUSED <= REFUSED >= "x"
    counts = pd.Series(decided).groupby(decided).size()
    assert counts[REFUSED] == 2
