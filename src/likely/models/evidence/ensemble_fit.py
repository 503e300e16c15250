"""Growing the rest: gradient boosting of trees that ask the same questions of every row.

A tree is grown question by question: the one that gains most over all leaves so far, by Newton's approximation of the
log loss, Σ G²/(H + λ) with G and H the gradient and curvature of a leaf. A question cuts the codes of a number in two,
with the gap on either side, or takes some categories out: in the order of their gradients, or one alone. With many
classes the gradients are seen through a few random mixtures when questions are chosen; leaves have all of them. A tree
begins with the halves of four columns where these speak together and none of them alone.

Questions take the time, leaves do not: once held-out rows have said how many trees are best, all rows settle the leaves
of those trees anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from likely.arrays import Array, Flags, Index, Int32, Int64, UInt8
from likely.jit import kernel
from likely.models.evidence.boosted_rows import LEAF_PRECISION, BoostedRows, HeldOutRows, start_scores
from likely.models.evidence.contrasts import Contrasts
from likely.models.evidence.encoding import N_CODES, BinnedNumber, Encoding
from likely.models.evidence.ensemble import MAX_QUESTIONS, TreeEnsemble
from likely.models.evidence.row_source import RowsInMemory, log_prior
from likely.numerics import Place
from likely.parallel import WorkerPool

MAX_ROUNDS = 600
MAX_ROUND_SCORES = 6000
"""Trees at most, and trees × scores: with many classes every tree takes longer and is larger."""

PATIENCE = 20
MIN_RELATIVE_GAIN = 1e-3
MIN_GAIN = 1e-4
"""No further tree is grown once the last twenty rounds together have gained less log loss on held-out rows, or less
than this share of it."""

MAX_MIXTURES = 4
MAX_QUESTION_ROWS = 20_000
"""Questions are chosen by about so many rows, others for every tree; leaves are settled by all."""

MIN_COLUMNS = 12
"""A tree may ask about 2 · √columns, drawn by chance, and about so many at least."""


def grow(
    encoding: Encoding,
    rows: RowsInMemory,
    n_rounds: int,
    held_out: RowsInMemory | None = None,
    has_time: Callable[[], bool] | None = None,
) -> tuple[TreeEnsemble, list[float]]:
    """Trees of these rows, and the log loss of the rows held out before the first tree and after each.

    Without held-out rows it is exactly so many rounds; with them, fewer when they gain nothing more.
    """
    rng = np.random.default_rng(0)
    columns = encoding.columns
    sizes = np.array([column.size for column in columns], dtype=np.int64)
    numeric = np.array([isinstance(column, BinnedNumber) for column in columns])
    gaps = np.array([column.gap for column in columns])
    by_column = np.ascontiguousarray(rows.codes.T)
    trees, losses = TreeEnsemble.empty(rows.n_scores, n_rounds), []
    boosted = BoostedRows(rows, by_column)
    prior = log_prior(rows.class_weights())
    judged = None if held_out is None else HeldOutRows(held_out, start_scores(held_out, prior))
    if judged is not None:
        losses.append(judged.mean_loss())
    contrasts, together = Contrasts(encoding, by_column), True
    n_tried = min(max(MIN_COLUMNS, round(2.0 * np.sqrt(len(columns)))), len(columns))
    for t in range(n_rounds):
        mixing = _mixing(rows.n_scores, rng)
        tried = np.sort(rng.permutation(len(columns))[:n_tried]).astype(np.int64)
        step = -(-len(rows) // MAX_QUESTION_ROWS)
        drawn = slice(int(rng.integers(step)) if step > 1 else 0, None, max(step, 1))
        some = np.ascontiguousarray(by_column[:, drawn])
        seen, curvature = _mixtures(boosted.gradient[drawn], boosted.hessian[drawn], mixing)
        four = contrasts.strongest(boosted.gradient) if together else contrasts.columns[:0]
        together = len(four) > 0
        trees.columns[t, : len(four)], trees.sides[t, : len(four)] = four, contrasts.sides[four]
        kinds = sizes, numeric, gaps
        grow_tree(some, kinds, tried, (seen, curvature), len(four), trees.columns[t], trees.sides[t], rows.pool)
        boosted.settle(trees.columns[t], trees.sides[t], trees.leaves[t], trees.covers[t])
        boosted.add(trees.leaves[t])
        if judged is None:
            continue
        one = trees.first(t + 1)
        judged.add(one.columns[t:], one.sides[t:], one.leaves[t:])
        losses.append(judged.mean_loss())
        if not _still_gains(losses) or not (has_time is None or has_time()):
            return one, losses
    return trees, losses


def max_rounds(n_scores: int) -> int:
    """How many trees are grown at most."""
    return min(MAX_ROUNDS, MAX_ROUND_SCORES // n_scores)


def settle(questions: Sequence[TreeEnsemble], rows: RowsInMemory) -> TreeEnsemble:
    """Trees that ask what others ask, of several ensembles in turn; their leaves are those of these rows."""
    boosted, n_rounds = BoostedRows(rows, np.ascontiguousarray(rows.codes.T)), min(map(len, questions))
    trees = TreeEnsemble.empty(rows.n_scores, n_rounds)
    for t in range(n_rounds):
        asked = questions[t % len(questions)]
        trees.columns[t], trees.sides[t] = asked.columns[t], asked.sides[t]
        boosted.settle(trees.columns[t], trees.sides[t], trees.leaves[t], trees.covers[t])
        boosted.add(trees.leaves[t])
    return trees


def _still_gains(losses: list[float]) -> bool:
    if len(losses) <= PATIENCE:
        return True
    best = min(losses)
    return min(losses[:-PATIENCE]) - best > max(MIN_RELATIVE_GAIN * best, MIN_GAIN)


def ensemble_scores(trees: TreeEnsemble, rows: RowsInMemory, intercept: Array) -> Array:
    """Scores of rows: intercept, offset and leaves."""
    out = start_scores(rows, intercept)
    trees.add_scores(rows.codes, slice(0, len(rows)), out)
    return out


def _mixing(n_scores: int, rng: np.random.Generator) -> Array | None:
    """Random mixtures of many scores."""
    return rng.normal(size=(n_scores, MAX_MIXTURES)) / np.sqrt(MAX_MIXTURES) if n_scores > MAX_MIXTURES else None


def _mixtures(gradient: Array, hessian: Array, mixing: Array | None) -> tuple[Array, Array]:
    """Gradients by which questions are chosen, rows × few, and one curvature for each row."""
    curvature = hessian[:, 0] if gradient.shape[1] == 1 else 0.5 * hessian.sum(axis=1)
    mixed = gradient if mixing is None else gradient @ mixing
    return np.ascontiguousarray(mixed), np.ascontiguousarray(curvature)


MOST_GROUPS = 4
"""Groups of columns that threads search side by side; a smaller group is done before its thread has woken up."""


def grow_tree(
    codes: UInt8, kinds: tuple[Int64, Flags, Flags], tried: Int64, derivatives: tuple[Array, Array], n_given: int,
    columns: Int32, sides: UInt8, pool: WorkerPool,
) -> None:  # fmt: skip
    """Ask those given, then one question after the other, as long as one gains. `codes` is columns × rows."""
    leaf = np.zeros(codes.shape[1], dtype=np.uint8)
    groups = np.array_split(tried, max(min(pool.size, MOST_GROUPS, len(tried)), 1))
    found_sides = np.empty((len(groups), sides.shape[1]), dtype=np.uint8)
    for k in range(MAX_QUESTIONS):
        if k >= n_given:

            def search(g: int, n_leaves: int = 1 << k) -> tuple[int, float]:
                return best_question(codes, *kinds, groups[g], *derivatives, leaf, n_leaves, found_sides[g])

            found = pool.do(search, range(len(groups)))
            best = max(range(len(groups)), key=[gain for _, gain in found].__getitem__)  # the first of equals
            if found[best][0] < 0:
                return
            columns[k], sides[k] = found[best][0], found_sides[best]
        ask(codes[columns[k]], sides[k], leaf)


@kernel
def ask(codes: UInt8, side: UInt8, leaf: UInt8) -> None:
    """The leaves of the rows after one more question."""
    for i in range(len(leaf)):
        leaf[i] = 2 * leaf[i] + side[codes[i]]


@kernel
def best_question(
    codes: UInt8, sizes: Int64, numeric: Flags, gaps: Flags, tried: Int64, gradient: Array, curvature: Array,
    leaf: UInt8, n_leaves: int, side: UInt8,
) -> tuple[int, float]:  # fmt: skip
    """The column whose best question gains most, what that is, and its sides; −1 if nothing is gained."""
    width = gradient.shape[1] + 1
    sums, totals = np.empty(n_leaves * N_CODES * width), np.empty((n_leaves, width))
    order = np.empty(N_CODES, dtype=np.int64)
    best, found = 1e-9, -1
    for column in tried:
        size = sizes[column]
        table = sums[: n_leaves * size * width].reshape((n_leaves, size, width))
        sum_by_code(codes[column], leaf, gradient, curvature, size, table.reshape(-1))
        _sum_codes(table, totals)
        for turn in range(2 if numeric[column] and gaps[column] else 1):
            n = _in_order(table, totals, numeric[column], gaps[column], turn, order)
            place, gain = _best_cut(table, totals, order[:n])
            if gain > best:
                best, found = gain, column
                side[:] = 0
                for later in order[place + 1 : n]:
                    side[later] = 1
        if not numeric[column]:
            code, gain = _best_alone(table, totals)
            if gain > best:
                best, found = gain, column
                side[:] = 0
                side[code] = 1
    return found, best


@kernel
def _sum_codes(table: Array, totals: Array) -> None:
    """Sums over the codes of each leaf."""
    totals[:] = 0.0
    for q in range(table.shape[0]):
        for b in range(table.shape[1]):
            for k in range(table.shape[2]):
                totals[q, k] += table[q, b, k]


@kernel
def _in_order(table: Array, totals: Array, numeric: bool, gap: bool, turn: int, order: Int64) -> int:
    """Codes from 1 on in an order to be cut, and their number: a gap is last, or at the second turn first.

    Categories are ordered by their gradients in the leaf where they differ most.
    """
    n_leaves, size, width = table.shape
    n = int(size - 1)
    if numeric:
        shift = 1 if turn == 1 else 0
        for k in range(n):
            order[k] = k + 1 - shift
        if turn == 1:
            order[0] = n
        return n
    telling, most = 0, -1.0
    for q in range(n_leaves):
        energy = -_gain(totals[q], width - 1)
        for b in range(1, size):
            energy += _gain(table[q, b], width - 1)
        if energy > most:
            telling, most = q, energy
    by_gradient = _by_gradient(table[telling], width - 1)
    for k in range(n):
        order[k] = by_gradient[k]
    return n


@kernel
def _best_cut(table: Array, totals: Array, order: Int64) -> tuple[int, float]:
    """The last code of the first side of the best cut, by its place in the order, and what the cut gains."""
    n_leaves, _, width = table.shape
    n = width - 1
    left, own = np.zeros((n_leaves, width)), np.empty(n_leaves)
    for q in range(n_leaves):
        own[q] = _gain(totals[q], n)
    gain, best, found = 0.0, 0.0, 0
    for place in range(len(order) - 1):
        b = order[place]
        for q in range(n_leaves):
            if table[q, b, n] > 0.0:
                for k in range(width):
                    left[q, k] += table[q, b, k]
                now = _gain_of_cut(left[q], totals[q], n)
                gain += now - own[q]
                own[q] = now
        if gain > best:
            best, found = gain, place
    return found, best


@kernel
def _best_alone(table: Array, totals: Array) -> tuple[int, float]:
    """The code that is best set apart from all others, and what that gains."""
    n_leaves, size, width = table.shape
    best, found = 0.0, 0
    for b in range(1, size):
        gain = 0.0
        for q in range(n_leaves):
            gain += _gain_of_cut(table[q, b], totals[q], width - 1) - _gain(totals[q], width - 1)
        if gain > best:
            best, found = gain, b
    return found, best


@kernel
def sum_by_code(codes: UInt8, leaf: UInt8, gradient: Array, curvature: Array, size: int, out: Array) -> None:
    """Sums of gradients, and last of curvatures, by leaf and code."""
    n_mixtures = gradient.shape[1]
    width = Place(n_mixtures + 1)
    out[:] = 0.0
    if n_mixtures == 1:
        for i in range(len(codes)):
            cell = (Place(leaf[i]) * Place(size) + Place(codes[i])) * width
            out[cell] += gradient[i, 0]
            out[cell + Place(1)] += curvature[i]
        return
    for i in range(len(codes)):
        cell = (Place(leaf[i]) * Place(size) + Place(codes[i])) * width
        for k in range(n_mixtures):
            out[cell + Place(k)] += gradient[i, k]
        out[cell + Place(n_mixtures)] += curvature[i]


@kernel
def _gain(sums: Array, n: int) -> float:
    """Σ G² / (H + λ)."""
    total = 0.0
    for k in range(n):
        total += sums[k] * sums[k]
    return float(total / (sums[n] + LEAF_PRECISION))


@kernel
def _gain_of_cut(left: Array, whole: Array, n: int) -> float:
    """The same of both sides, with one division."""
    a, b = 0.0, 0.0
    for k in range(n):
        other = whole[k] - left[k]
        a += left[k] * left[k]
        b += other * other
    h, rest = left[n] + LEAF_PRECISION, max(whole[n] - left[n], 0.0) + LEAF_PRECISION
    return float((a * rest + b * h) / (h * rest))


@kernel
def _by_gradient(table: Array, n: int) -> Index:
    """Codes from 1 on, by their Newton step along the mixture that says most."""
    size = len(table)
    leading, most = 0, -1.0
    for k in range(n):
        energy = 0.0
        for b in range(1, size):
            energy += table[b, k] * table[b, k] / (table[b, n] + LEAF_PRECISION)
        if energy > most:
            leading, most = k, energy
    steps = np.empty(size - 1)
    for b in range(1, size):
        steps[b - 1] = table[b, leading] / (table[b, n] + LEAF_PRECISION)
    return np.argsort(steps, kind="mergesort") + 1
