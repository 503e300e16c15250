"""Leave-one-out for the words of texts: a word that only the text itself holds was never seen without it."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likely.families.left_out import Ints, Longs, less_one
from likely.families.left_out_scatter import MostScored
from likely.families.protocol import LeftOut
from likely.stats import TokenCounts
from likely.stats.sums import csr_arrays, rows_of

Array = NDArray[np.float64]

NOTHING_LEFT = np.empty(0, dtype=np.int64)


def leave_texts_out(seen: TokenCounts, held: sparse.csr_array, rows: LeftOut, gamma: float) -> MostScored:
    """log P(word | class) without each text, γ being added to every count.

    The text takes its tokens from its own class; and words that no other text holds leave the vocabulary, which
    all classes share.
    """
    counts = np.ascontiguousarray(seen.counts.dense().T)
    logs, holders, totals = np.log(counts + gamma), seen.documents.column_sums(), seen.counts.class_sums()

    def score(block: slice, joint: Array) -> NDArray[np.int64]:
        own = rows.y[block], rows.weight[block]
        add_words_without(*csr_arrays(rows_of(held, block)), *own, counts, logs, holders, totals, gamma, joint)
        return NOTHING_LEFT

    return score


@numba.njit(nogil=True, cache=True)
def add_words_without(
    starts: Longs,
    words: Ints,
    cells: Array,
    y: Ints,
    weight: Array,
    counts: Array,
    logs: Array,
    holders: Array,
    totals: Array,
    gamma: float,
    joint: Array,
) -> None:
    """Add Σ cell · log((count + γ) / (all counts + γ · words)) for each text, as if it had not been counted."""
    for i in range(joint.shape[0]):
        c, w = y[i], weight[i]
        known, spoken, vocabulary = 0.0, 0.0, float(counts.shape[0])
        for k in range(starts[i], starts[i + 1]):
            word, cell = words[k], cells[k]
            spoken += cell
            if less_one(holders[word], w) == 0.0:
                vocabulary -= 1.0
                continue
            known += cell
            for m in range(joint.shape[1]):
                joint[i, m] += cell * logs[word, m]
            joint[i, c] += cell * (np.log(less_one(counts[word, c], w * cell) + gamma) - logs[word, c])
        if known > 0.0:
            for m in range(joint.shape[1]):
                total = less_one(totals[m], w * spoken) if m == c else totals[m]
                joint[i, m] -= known * np.log(total + gamma * vocabulary)
