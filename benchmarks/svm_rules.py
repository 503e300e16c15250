"""Which class a machine should name: `python benchmarks/svm_rules.py FOLDER NAME…` over data sets of a folder.

Three stratified folds of at most 1,500 rows. Of each set and kernel: the share of held-out rows that are right by the
votes of all pairs, by the same votes with the borders of the calibration, and by the largest probability.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402

from likely import SVMClassifier  # noqa: E402
from likely.models.svm.machine import one_vs_one_votes  # noqa: E402

MOST_ROWS, FEWEST_OF_A_CLASS = 1500, 4


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Features and labels; of a set of texts, the text alone."""
    index = {each["file"]: each for each in json.loads((folder / "index.json").read_text())}
    table = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    target = index[f"{name}.csv.gz"]["target"]
    y = table[target].astype(str)
    table = table[["text"]] if "text" in table else table.drop(columns=target)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
    rows = rows[y.iloc[rows].map(y.iloc[rows].value_counts()) >= FEWEST_OF_A_CLASS]
    return table.iloc[rows].reset_index(drop=True), y.iloc[rows].to_numpy()


def shares(X: pd.DataFrame, y: np.ndarray[Any, Any], kernel: str) -> dict[str, float]:
    """Right answers of each rule."""
    schema, right = ({"text": "text"} if "text" in X else None), np.zeros(3)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        clf = SVMClassifier(kernel=kernel, schema=schema).fit(X.iloc[train].reset_index(drop=True), y[train])
        new, n = X.iloc[test].reset_index(drop=True), len(clf.classes_)
        pairs, known = clf.decision_pairs(new), clf.calibration_.get()
        said = (
            one_vs_one_votes(pairs, n),
            one_vs_one_votes(pairs * known.slopes + known.shifts, n),
            known.posterior(pairs),
        )
        right += [np.count_nonzero(clf.classes_[each.argmax(axis=1)] == y[test]) for each in said]
    return dict(zip(("votes", "votes, calibrated borders", "most probable"), (right / len(y)).tolist(), strict=True))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        X, y = read(Path(sys.argv[1]), name)
        for kernel in ("gauss", "linear"):
            found = ", ".join(f"{rule} {share:.3f}" for rule, share in shares(X, y, kernel).items())
            print(f"{name}, {kernel}, {len(y):,} rows: {found}", flush=True)
