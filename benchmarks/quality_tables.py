"""The tables that classifiers are compared on: read by the kinds in `index.json`, cut into stratified folds."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

N_FOLDS = 5
NOT_FEATURES = ("identifier",)


@dataclass(frozen=True)
class Entry:
    """One table as `index.json` describes it."""

    name: str
    path: Path
    target: str
    rows: int
    kinds: dict[str, str]

    def read(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Features (numbers as floats, the rest as strings, None for a gap) and labels."""
        frame = pd.read_csv(self.path, dtype=str, keep_default_na=False, encoding="utf-8")
        labels = frame[self.target].to_numpy(dtype=object).astype(str)
        columns = {}
        for name, kind in self.kinds.items():
            if name == self.target or kind.startswith(NOT_FEATURES):
                continue
            cells = frame[name]
            if kind == "numeric":
                columns[name] = pd.to_numeric(cells.where(cells != "", None), errors="coerce").astype(float)
            else:
                columns[name] = cells.where(cells != "", None).astype(object)
        return pd.DataFrame(columns), labels


def entries(folder: Path, wanted: list[str] | None = None) -> list[Entry]:
    """The mixed, categorical and numeric tables of a folder (texts and images are measured elsewhere)."""
    found = []
    for item in json.loads((folder / "index.json").read_text()):
        name = item["file"].removesuffix(".csv.gz")
        if item["kind"].startswith(("text", "images")) or (wanted and name not in wanted):
            continue
        found.append(Entry(name, folder / item["file"], item["target"], item["rows"], item["column_kinds"]))
    return sorted(found, key=lambda entry: entry.rows)


def folds(y: NDArray[Any], repeat: int, cap: int | None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows; with a cap, of a stratified part of the table."""
    rows = np.arange(len(y))
    if cap is not None and len(y) > cap:
        rows = np.sort(np.random.default_rng(7).permutation(len(y))[:cap])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")  # a class of one row is met in practice
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(rows, y[rows]):
            yield rows[train], rows[test]
