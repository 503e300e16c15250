"""What the tests of a tree tell about the class, by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likely.measures import entropy, held_out_information, information_gain
from likely.models.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd


def column_information(tree: Tree, columns: Sequence[str]) -> pd.DataFrame:
    """One line per column, best first: bits of each of its tests times the share of rows that meet it.

    *held_out* judges every row without itself (see `measures.held_out_information`), *information* as it was counted.
    """
    import pandas as pd

    found = information_by_column(tree, columns)
    held_out, counted = np.array(list(found.values())).reshape(-1, 2).T
    total = entropy(tree.counts[0] / tree.sizes[0])
    share = held_out / total if total > 0.0 else np.zeros_like(held_out)
    frame = pd.DataFrame({"column": list(found), "held_out": held_out, "share": share, "information": counted})
    return frame.sort_values(["held_out", "information"], ascending=False, kind="stable", ignore_index=True)


def information_by_column(tree: Tree, columns: Sequence[str]) -> dict[str, tuple[float, float]]:
    """The two figures of every column."""
    found = {name: np.zeros(2) for name in columns}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        table = tree.counts[tree.children(node)].T
        told = held_out_information(table), information_gain(table)
        found[tree.features[tree.column[node]].column] += np.array(told) * tree.sizes[node] / tree.sizes[0]
    return {name: (float(told[0]), float(told[1])) for name, told in found.items()}
