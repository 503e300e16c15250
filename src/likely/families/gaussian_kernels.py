"""Compiled loops for bell curves: densities of rows, and leave-one-out, a class without one of its own rows."""

from __future__ import annotations

import numpy as np

from likely.arrays import Array, Flags, Int32, Int64
from likely.jit import kernel
from likely.stats.protocol import NOISE, less_one

TILE = 64
"""Rows that stay in the nearest cache while all classes look at them."""


STEEP = 1e100
"""Beyond so many deviations a square may leave the floats; from there on it grows like a logarithm instead."""

ROUNDING = 1e-14
"""Deviations that are smaller than this share of the mean are none."""


TOO_CLOSE = 1e-4
"""If less of a spread than this share is left without a row, subtracting has lost too many digits of it."""


CHUNK = 64
"""Columns whose shrinkages are multiplied before a logarithm is taken: none is below 1e-4, so no product vanishes."""

PLAIN, CAREFUL, INFINITE = 0, 1, 2
"""What `add_gaussian` met: plain numbers only; gaps or extreme values, too; a cell that is infinite."""


@kernel
def steep_square(gap: float, precision: float) -> float:
    """Square of gap · precision, bent where it would overflow so that more is still more."""
    z = abs(gap * precision)
    if z <= STEEP:
        return z * z
    log_z = np.log(abs(gap)) + np.log(precision)
    return float(STEEP * STEEP * (1.0 + log_z - np.log(STEEP)))


@kernel
def _add_careful_row(row: Array, mean: Array, precision: Array, log_peak: Array, joint: Array) -> bool:
    """One row with gaps or extreme values, cell by cell; False if a cell is infinite."""
    for c in range(mean.shape[0]):
        for j in range(row.shape[0]):
            if np.isinf(row[j]):
                return False
            if not np.isnan(row[j]):
                half_gap = 0.5 * row[j] - 0.5 * mean[c, j]
                joint[c] += log_peak[c, j] - 0.5 * steep_square(half_gap, 2.0 * precision[c, j])
    return True


@kernel(fastmath={"reassoc", "contract"})
def _distances(rows: Array, mean: Array, precision: Array, out: Array) -> None:
    """Squared distance of each row from each class, in deviations; NaN where the row has a gap.

    Terms may be added in any order, so that the compiler takes several columns at once.
    """
    for c in range(mean.shape[0]):
        centre, scale = mean[c], precision[c]
        for i in range(rows.shape[0]):
            row = rows[i]
            total = 0.0
            for j in range(row.shape[0]):
                z = (row[j] - centre[j]) * scale[j]
                total += z * z
            out[i, c] = total


@kernel
def add_gaussian(rows: Array, mean: Array, precision: Array, log_peak: Array, joint: Array) -> int:
    """Add log densities of bell curves; a NaN adds nothing. Says whether all cells were plain numbers.

    `precision` is 1 / deviation and `log_peak` the log density at the mean. Rows whose distances are not
    finite hold gaps or extreme values and are done again, cell by cell.
    """
    n_rows, n_classes = rows.shape[0], mean.shape[0]
    met = PLAIN
    whole, distances = np.zeros(n_classes), np.empty((TILE, n_classes))
    for c in range(n_classes):
        for j in range(log_peak.shape[1]):
            whole[c] += log_peak[c, j]
    for start in range(0, n_rows, TILE):
        stop = min(start + TILE, n_rows)
        _distances(rows[start:stop], mean, precision, distances)
        for i in range(start, stop):
            if np.isfinite(distances[i - start].sum()):
                for c in range(n_classes):
                    joint[i, c] += whole[c] - 0.5 * distances[i - start, c]
            elif _add_careful_row(rows[i], mean, precision, log_peak, joint[i]):
                met = max(met, CAREFUL)
            else:
                met = INFINITE
    return met


# Leave-one-out.


@kernel(fastmath={"reassoc", "contract"}, error_model="numpy")
def _own_distance(
    row: Array, c: int, first: int, last: int, centre: Array, scale: Array, shrink: Array, stretch: Array, least: Array
) -> tuple[float, float, int]:
    """Squared distance of a row from its class `c` without it, over some columns, the product of the shrinkages, and
    how many of them are too small.

    With z the distance in deviations, the centred squares without the row are the old ones times 1 − shrink · z².
    """
    total, product, lacking = 0.0, 1.0, 0
    for j in range(first, last):
        z = (row[j] - centre[c, j]) * scale[c, j]
        rest = 1.0 - shrink[c, j] * z * z
        total += stretch[c, j] * z * z / rest
        product *= rest
        lacking += rest <= least[c, j]
    return total, product, lacking


@kernel(error_model="numpy")
def _prepare(
    c: int, w: float, n: Array, log_peak: Array, floor: Array, one: float,
    shrink: Array, stretch: Array, least: Array, peak: Array,
) -> bool:  # fmt: skip
    """What depends on class and weight only, for class `c` without a row of weight `w`; False if too little is left."""
    enough = True
    for j in range(n.shape[1]):
        left = n[c, j] - w
        enough &= left > 1.0 + NOISE
        grown, fewer = n[c, j] / left, (n[c, j] - one) / (left - one)
        shrink[c, j], stretch[c, j] = w * grown / (n[c, j] - one), grown * grown / fewer
        least[c, j] = max(TOO_CLOSE, floor[c, j] / fewer)
        peak[c, j] = log_peak[c, j] - 0.5 * np.log(fewer)
    return enough


@kernel(error_model="numpy")
def _own_evidence(
    row: Array, c: int, mean: Array, precision: Array, shrink: Array, stretch: Array, least: Array, peak: Array
) -> tuple[float, int]:
    """Log density of a row with gaps or many columns, and how many shrinkages are too small."""
    evidence, lacking, product, columns = 0.0, 0, 1.0, 0
    for j in range(row.shape[0]):
        if np.isnan(row[j]):
            continue
        total, rest, low = _own_distance(row, c, j, j + 1, mean, precision, shrink, stretch, least)
        evidence += peak[c, j] - 0.5 * total
        lacking += low
        product *= rest
        columns += 1
        if columns % CHUNK == 0:
            evidence -= 0.5 * np.log(product)
            product = 1.0
    return evidence - 0.5 * np.log(product), lacking


@kernel(error_model="numpy")
def own_gaussian(
    rows: Array, y: Int32, weight: Array, n: Array, mean: Array, precision: Array, log_peak: Array, floor: Array,
    unbiased: bool, out: Array, careful: Flags,
) -> None:  # fmt: skip
    """Log density of each row in its own class without that row, where the plain formulas will do.

    `careful` marks rows for which they will not: hardly any spread or weight is left, or the variance comes near its
    `floor` (in old variances). What depends on class and weight only is kept for the next row of that kind.
    """
    one, shape = 1.0 if unbiased else 0.0, n.shape
    shrink, stretch, least, peak = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    whole, known, enough = np.zeros(shape[0]), np.full(shape[0], np.nan), np.zeros(shape[0], dtype=np.bool_)
    few = min(shape[1], CHUNK)
    for i in range(rows.shape[0]):
        c, w = y[i], weight[i]
        if known[c] != w:
            known[c], enough[c] = w, _prepare(c, w, n, log_peak, floor, one, shrink, stretch, least, peak)
            whole[c] = peak[c].sum()
        total, product, lacking = _own_distance(rows[i], c, 0, few, mean, precision, shrink, stretch, least)
        if shape[1] > CHUNK or np.isnan(total):
            out[i], lacking = _own_evidence(rows[i], c, mean, precision, shrink, stretch, least, peak)
        else:
            out[i] = whole[c] - 0.5 * (total + np.log(product))
        careful[i] = lacking > 0 or not enough[c]


@kernel
def moments_without(
    rows: Array, y: Int32, weight: Array, n: Array, mean: Array, squares: Array, out: Array, exact: Flags
) -> None:
    """Weight, mean and centred squares of each row's class without that row; `exact` marks those lost by rounding."""
    for i in range(rows.shape[0]):
        c, w = y[i], weight[i]
        for j in range(rows.shape[1]):
            old_n, old_mean, old_squares, x = n[c, j], mean[c, j], squares[c, j], rows[i, j]
            if np.isnan(x) or w == 0.0:
                out[0, i, j], out[1, i, j], out[2, i, j] = old_n, old_mean, old_squares
                continue
            left = less_one(old_n, w)
            out[0, i, j] = left
            if left == 0.0:
                continue
            step = x - old_mean
            out[1, i, j] = old_mean - step * (w / left)
            out[2, i, j] = old_squares - w * step * step * (old_n / left)
            # A column that is constant but for rounding has lost nothing: there was nothing.
            spread = old_squares > old_n * (ROUNDING * old_mean) ** 2
            exact[i, j] = spread and out[2, i, j] <= TOO_CLOSE * old_squares
            if not spread:
                out[1, i, j], out[2, i, j] = old_mean, old_squares


@kernel
def _moments_of_others(cells: Array, weight: Array, others: Int64, skip: int) -> tuple[float, float, float]:
    """Weight, mean and centred squares of some rows of a column, one of them skipped."""
    n, origin, total, squares = 0.0, 0.0, 0.0, 0.0
    for k in others:
        if k != skip and not np.isnan(cells[k]):
            if n == 0.0:  # in steps from a cell, so that a constant column stays constant to the last bit
                origin = cells[k]
            n += weight[k]
            total += weight[k] * (cells[k] - origin)
    mean = origin + total / n
    for k in others:
        if k != skip and not np.isnan(cells[k]):
            squares += weight[k] * (cells[k] - mean) ** 2
    return n, mean, squares


@kernel
def count_others(
    cells: Array, weight: Array, y: Int32, order: Int64, class_starts: Int64, numbers: Int64, wanted: Flags, out: Array
) -> None:
    """Moments of a column for the wanted rows' classes without them, counted anew where subtracting will not do."""
    for i in range(numbers.shape[0]):
        if wanted[i]:
            c = y[numbers[i]]
            others = order[class_starts[c] : class_starts[c + 1]]
            out[0, i], out[1, i], out[2, i] = _moments_of_others(cells, weight, others, numbers[i])


@kernel
def _overall(known: Array, centre: Array, spread: Array) -> tuple[float, float, float]:
    """Mean and deviation of a column whatever the class, and the deviation that a class with one row borrows."""
    total, origin, within, groups = 0.0, -np.inf, 0.0, 0.0
    for c in range(known.shape[0]):
        total += known[c]
        within += spread[c]
        groups += known[c] > 0.0
        if known[c] > 0.0:
            origin = max(origin, centre[c])
    if total <= 0.0:
        return 0.0, 0.0, 0.0
    grand = origin  # and steps from it, so that a constant column stays constant to the last bit
    for c in range(known.shape[0]):
        if known[c] > 0.0:
            grand += known[c] / total * (centre[c] - origin)
    whole = within
    for c in range(known.shape[0]):
        whole += known[c] * (centre[c] - grand) ** 2
    whole = np.sqrt(whole / total)
    typical = whole
    if total > groups and within > 0.0:
        typical = np.sqrt(within / (total - groups))
    return grand, whole, typical


@kernel
def add_gaussian_without(
    rows: Array, y: Int32, n: Array, mean: Array, squares: Array, own: Array, unbiased: bool, floor: float, joint: Array
) -> None:
    """Add log densities where floors, lone rows or constant columns make every class depend on the row taken out.

    `own` holds weight, mean and squares of the row's class without it. What is settled here, cell by cell, is
    what `Gaussian.settle` settles for whole tables.
    """
    n_classes = n.shape[0]
    log_root_tau = 0.5 * np.log(2.0 * np.pi)
    for j in range(rows.shape[1]):
        known, centre, spread = n[:, j].copy(), mean[:, j].copy(), squares[:, j].copy()
        for i in range(rows.shape[0]):
            x, c_own = rows[i, j], y[i]
            if np.isnan(x):
                continue
            kept = known[c_own], centre[c_own], spread[c_own]
            known[c_own], centre[c_own], spread[c_own] = own[0, i, j], own[1, i, j], own[2, i, j]
            grand, whole, typical = _overall(known, centre, spread)
            for c in range(n_classes if whole > 0.0 else 0):  # a column that is constant now says nothing
                divisor = known[c] - 1.0 if unbiased else known[c]
                deviation = np.sqrt(spread[c] / divisor) if divisor > 0.0 else 0.0
                deviation = max(deviation, floor * whole)
                if not (known[c] > 1.0 and deviation > 0.0):
                    deviation = typical
                middle = centre[c]
                if known[c] <= 0.0:
                    middle, deviation = grand, whole
                square = steep_square(0.5 * x - 0.5 * middle, 2.0 / deviation)
                joint[i, c] += -np.log(deviation) - log_root_tau - 0.5 * square
            known[c_own], centre[c_own], spread[c_own] = kept
