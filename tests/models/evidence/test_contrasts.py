"""Four columns that speak only together are found where they exist, and nowhere else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from likely import EvidenceClassifier
from likely.models.evidence.contrasts import Contrasts
from likely.table import as_table


def table(n_rows: int, seed: int, *, numeric: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(n_rows, 10)) if numeric else rng.choice(["no", "yes"], (n_rows, 10))
    return pd.DataFrame({f"c{k}": cells[:, k] for k in range(10)})


def odd(rows: pd.DataFrame, columns: list[str]) -> NDArray[np.int64]:
    """1 where an odd number of these cells is above 0, or yes."""
    cells = rows[columns].to_numpy()
    return np.asarray((cells > 0 if cells.dtype == np.float64 else cells == "yes").sum(axis=1) % 2)


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_parity_of_four_columns_is_learned(seed: int, numeric: bool) -> None:
    rows, later = table(3000, seed, numeric=numeric), table(1000, seed + 100, numeric=numeric)
    clf = EvidenceClassifier(random_state=0).fit(rows, odd(rows, ["c1", "c4", "c6", "c9"]))
    assert (clf.predict(later) == odd(later, ["c1", "c4", "c6", "c9"])).mean() > 0.9
    why = clf.explain(later[:20])
    np.testing.assert_allclose(why.joint, clf.predict_joint_log_proba(later[:20]), atol=1e-9)


def test_the_contrast_is_the_sum_of_products_of_standard_scores() -> None:
    rows = table(400, 3, numeric=False)
    y = odd(rows, ["c0", "c2", "c3", "c7"])
    clf = EvidenceClassifier(random_state=0, depth="columns").fit(rows, y)
    codes = np.ascontiguousarray(clf.model_.codes(as_table(rows)).T)
    contrasts = Contrasts(clf.model_.evidence.encoding, codes)
    gradient = np.asarray(y - y.mean(), dtype=np.float64)[:, None]
    assert sorted(contrasts.strongest(gradient)) == [0, 2, 3, 7]
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(400, 1))
        assert not len(contrasts.strongest(noise)), "chance is not taken for parity"


def test_four_are_not_taken_together_where_fewer_of_them_say_more() -> None:
    rows = table(2000, 4, numeric=False)
    clf = EvidenceClassifier(random_state=0, depth="columns").fit(rows, odd(rows, ["c0"]))
    contrasts = Contrasts(clf.model_.evidence.encoding, np.ascontiguousarray(clf.model_.codes(as_table(rows)).T))
    alone, together = (odd(rows, columns)[:, None] - 0.5 for columns in (["c0"], ["c0", "c2", "c3", "c7"]))
    assert sorted(contrasts.strongest(together + 0.5 * alone)) == [0, 2, 3, 7]
    assert not len(contrasts.strongest(together + 2.0 * alone))
