"""Real tables, as a user has them and as the slow implementation reads them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tests.models.tree import slow


def read(data_dir: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(data_dir / f"{name}.csv.gz", keep_default_na=False, na_values=["", "?"])
    found = next(column for column in table if str(column).lower() in ("class", "target"))
    return table.drop(columns=[found]), table[found]


def as_slow(X: pd.DataFrame, y: pd.Series) -> slow.Data:
    kinds = ["numeric" if pd.api.types.is_numeric_dtype(X[name]) else "nominal" for name in X]
    rows = [[None if pd.isna(cell) else cell for cell in row] for row in X.itertuples(index=False)]
    classes = sorted(set(y))
    return slow.Data(rows, kinds, [classes.index(label) for label in y], len(classes))
