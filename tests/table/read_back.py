"""What a column's codes stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.table import Table, level_map


def values(table: Table, name: str) -> list[Any]:
    coded = table.codes(name)
    assert coded.codes.dtype == np.int32
    assert len(level_map(coded.levels)) == len(coded.levels)
    return [None if code < 0 else coded.levels[code] for code in coded.codes]
