"""Tables that are made: kinds of truth that real tables have, each known to the last bit.

Limits in tails, parity, a chess end game solved by retrograde analysis, smooth boundaries in many numbers, rules over
mixed columns, games of chance. Sources of known generators are named where they stand; all of them are ours in code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Made = tuple[pd.DataFrame, NDArray[Any]]


@dataclass(frozen=True)
class Generated:
    """One table that is made anew, always the same."""

    name: str
    rows: int
    make: Callable[[np.random.Generator, int], Made]

    def read(self) -> Made:
        """Features (numbers as floats, the rest as strings, None for a gap) and labels."""
        table, y = self.make(np.random.default_rng(2026), self.rows)
        return table, np.asarray(y).astype(str)


def _numbers(x: Array, prefix: str = "x") -> dict[str, Any]:
    return {f"{prefix}{k}": x[:, k] for k in range(x.shape[1])}


def _strings(codes: NDArray[Any], prefix: str = "c") -> dict[str, Any]:
    return {f"{prefix}{k}": np.char.add("v", codes[:, k].astype(str)).astype(object) for k in range(codes.shape[1])}


def _flipped(rng: np.random.Generator, y: NDArray[Any], share: float) -> NDArray[Any]:
    """Labels of which some are drawn anew from all labels."""
    return np.where(rng.random(len(y)) < share, rng.permutation(y), y)


def tails(rng: np.random.Generator, n: int) -> Made:
    """Hormones: a limit in a tail decides, unless a treatment is under way; one class has 5 %, one 2 %."""
    z = rng.normal(size=(n, 7)) + 0.5 * rng.normal(size=(n, 1))
    x = np.exp(0.6 * z)
    treated, sex = rng.random((n, 5)) < 0.12, rng.random(n) < 0.35
    low, high = x[:, 0] < np.quantile(x[:, 0], 0.09), x[:, 1] > np.quantile(x[:, 1], 0.95)
    y = np.where(low & ~treated[:, 0] & (x[:, 2] < np.quantile(x[:, 2], 0.7)), 1, 0)
    y = np.where(high & ~treated[:, 1] & (y == 0) & (x[:, 3] > np.median(x[:, 3])), 2, y)
    x = np.where(rng.random(x.shape) < [0.02, 0.1, 0.2, 0.1, 0.1, 0.02, 0.3], np.nan, np.round(x, 3))
    table = {**_numbers(x), **_strings(treated.astype(int)), "sex": np.where(sex, "M", "F").astype(object)}
    return pd.DataFrame(table), _flipped(rng, y, 0.01)


def parity(rng: np.random.Generator, n: int) -> Made:
    """The parity of four of twelve bits, with 5 % of noise."""
    bits = rng.integers(0, 2, (n, 12))
    return pd.DataFrame(_strings(bits)), _flipped(rng, bits[:, :4].sum(axis=1) % 2, 0.1)


def chess(rng: np.random.Generator, n: int) -> Made:
    """King and rook against king, black to move: in how many moves white mates, or a draw (18 classes)."""
    positions, depth = krk_positions()
    some = rng.permutation(len(positions))[:n]
    files, ranks = positions[some] % 8, positions[some] // 8
    letters = np.array(list("abcdefgh"), dtype=object)
    columns: dict[str, Any] = {}
    for k, piece in enumerate(("white_king", "white_rook", "black_king")):
        columns[f"{piece}_file"] = letters[files[:, k]]
        columns[f"{piece}_rank"] = (ranks[:, k] + 1).astype(float)
    return pd.DataFrame(columns), depth[some]


def krk_positions() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Squares of white king, white rook and black king with black to move, up to symmetry; moves to mate, 99 a draw."""
    square = np.arange(64)
    f, r = square % 8, square // 8
    near = np.maximum(np.abs(f[:, None] - f), np.abs(r[:, None] - r)) <= 1
    steps = [np.flatnonzero(near[s] & (square != s)) for s in range(64)]
    attacked = np.zeros((64, 64, 64), dtype=bool)  # white king, rook: what the rook attacks
    for rook in range(64):
        for df, dr in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            free, a, b = np.ones(64, dtype=bool), f[rook] + df, r[rook] + dr
            while 0 <= a < 8 and 0 <= b < 8:
                free &= square != 8 * b + a
                attacked[:, rook, 8 * b + a] |= free | (square == 8 * b + a)
                a, b = a + df, b + dr
    wk, wr, bk = np.meshgrid(square, square, square, indexing="ij")
    legal = (wk != wr) & (wr != bk) & ~near[:, None, :].repeat(64, axis=1)  # black to move
    check = attacked[wk, wr, bk]
    ready = legal & ~check  # white to move
    rook_moves = attacked & (square[:, None, None] != square)  # a black king in its way would be in check
    won = np.full((64, 64, 64), 99)  # white to move: moves to mate
    lost = np.full((64, 64, 64), 99)  # black to move
    for depth in range(17):
        safe = np.zeros((64, 64, 64), dtype=bool)  # black has a move that is not lost yet
        moves = np.zeros((64, 64, 64), dtype=bool)
        for s in range(64):
            for t in steps[s]:
                takes = square[None, :] == t
                allowed = ~near[:, None, t] & (takes | ~attacked[:, :, t])
                moves[:, :, s] |= allowed
                safe[:, :, s] |= allowed & (takes | (won[:, :, t] > depth))
        found = legal & (lost == 99) & ~safe & (moves | check)
        lost[found] = depth
        for s in range(64):  # a king's step, then a rook's move, into a lost position
            for t in steps[s]:
                better = ready[s] & legal[t] & (lost[t] <= depth) & (square[:, None] != t)
                won[s] = np.where(better, np.minimum(won[s], depth + 1), won[s])
        reached = rook_moves.astype(np.float32) @ (legal & (lost <= depth)).astype(np.float32)
        won = np.where(ready & (reached > 0), np.minimum(won, depth + 1), won)
    kept = legal & (f[wk] <= 3) & (r[wk] <= f[wk])
    kept &= (f[wk] != r[wk]) | (r[wr] < f[wr]) | ((r[wr] == f[wr]) & (r[bk] <= f[bk]))
    places = np.argwhere(kept)
    return places, lost[kept]


def satellite(rng: np.random.Generator, n: int) -> Made:
    """Four bands of nine neighbouring pixels; six kinds of soil whose spectra overlap."""
    spectra = 60.0 + 25.0 * rng.normal(size=(6, 4))
    spectra[3] = 0.6 * spectra[2] + 0.4 * spectra[4] + rng.normal(size=4)
    spectra[5] = 0.5 * spectra[4] + 0.5 * spectra[2] + 2.0 * rng.normal(size=4)
    mixing = np.eye(4) + 0.4 * rng.normal(size=(6, 4, 4))
    y = rng.choice(6, n, p=[0.24, 0.11, 0.21, 0.1, 0.11, 0.23])
    field = np.einsum("nij,nj->ni", mixing[y], rng.normal(size=(n, 4))) * 5.0
    texture = rng.normal(size=(n, 9, 4)) * np.array([2.0, 4.0, 2.0, 3.0, 5.0, 2.5])[y][:, None, None]
    other = rng.random((n, 9, 1)) < 0.12  # a pixel of a neighbouring field
    base = np.where(other, spectra[rng.integers(0, 6, n)][:, None, :], spectra[y][:, None, :])
    x = np.round(base + field[:, None, :] + texture).reshape(n, 36)
    return pd.DataFrame(_numbers(x)), y


def shower(rng: np.random.Generator, n: int) -> Made:
    """Images of air showers: ellipses whose size, shape and angle are correlated and have heavy tails; two classes."""
    gamma = rng.random(n) < 0.65
    energy = rng.gamma(2.0, 0.5, n)
    length = np.exp(3.4 + 0.35 * energy + 0.25 * rng.normal(size=n) + np.where(gamma, 0.0, 0.2 * rng.standard_t(4, n)))
    width = length * np.exp(-0.9 + 0.2 * rng.normal(size=n) + np.where(gamma, 0.0, 0.15 + 0.25 * rng.standard_t(4, n)))
    size = 2.4 + 0.35 * energy + 0.12 * rng.normal(size=n)
    compact = np.clip(0.9 - 0.25 * size / 3.5 + 0.08 * rng.normal(size=n), 0.02, 0.95)
    distance = 190.0 + 60.0 * rng.normal(size=n) + 10.0 * energy
    spread = np.where(gamma, 9.0 + 90.0 * (width / length) ** 2, 75.0)
    alpha = np.abs(spread * rng.normal(size=n))
    alpha = np.where(alpha > 90.0, 90.0 * rng.random(n), alpha)
    skew = length * 0.5 * rng.standard_t(3, n) + np.where(gamma, 10.0, -4.0)
    columns = [length, width, size, compact, compact * (0.55 + 0.05 * rng.normal(size=n)), skew,
               skew * 0.5 + 20.0 * rng.standard_t(3, n), 8.0 * rng.standard_t(3, n), alpha, distance]  # fmt: skip
    return pd.DataFrame(_numbers(np.round(np.stack(columns, axis=1), 4))), np.where(gamma, "g", "h")


def two_normal(rng: np.random.Generator, n: int) -> Made:
    """Two bell curves in twenty numbers (Breiman's twonorm)."""
    y = rng.integers(0, 2, n)
    return pd.DataFrame(_numbers(rng.normal(size=(n, 20)) + np.where(y, 1.0, -1.0)[:, None] * 2.0 / np.sqrt(20))), y


def ring_normal(rng: np.random.Generator, n: int) -> Made:
    """A wide bell curve around a narrow one, in twenty numbers (Breiman's ringnorm)."""
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 20)) * np.where(y, 1.0, 2.0)[:, None] + np.where(y, 1.0 / np.sqrt(20), 0.0)[:, None]
    return pd.DataFrame(_numbers(x)), y


def three_normal(rng: np.random.Generator, n: int) -> Made:
    """One bell curve between two others, in twenty numbers (Breiman's threenorm)."""
    y, side, a = rng.integers(0, 2, n), rng.integers(0, 2, n) * 2 - 1, 2.0 / np.sqrt(20)
    alternating = a * (-1.0) ** np.arange(20)
    return pd.DataFrame(_numbers(rng.normal(size=(n, 20)) + np.where(y[:, None], alternating, a * side[:, None]))), y


def loans(function: int) -> Callable[[np.random.Generator, int], Made]:
    """People and loans after Agrawal, Imielinski and Swami (1993): rules over salary, age, education, loan."""

    def make(rng: np.random.Generator, n: int) -> Made:
        salary = rng.uniform(20_000, 150_000, n)
        commission = np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, n))
        age, level = rng.integers(20, 81, n).astype(float), rng.integers(0, 5, n)
        car, zipcode, years = rng.integers(1, 21, n), rng.integers(0, 9, n), rng.integers(1, 31, n).astype(float)
        value = (9 - zipcode) * 100_000.0 * rng.uniform(0.5, 1.5, n)
        loan = rng.uniform(0, 500_000, n)
        third = np.where(age < 40, 0, np.where(age < 60, 1, 2))
        if function == 2:
            low, high = np.array([50_000, 75_000, 25_000])[third], np.array([100_000, 125_000, 75_000])[third]
            y = (salary >= low) & (salary <= high)
        elif function == 5:
            first = (salary >= np.array([50e3, 75e3, 25e3])[third]) & (salary <= np.array([100e3, 125e3, 75e3])[third])
            a = (loan >= np.array([100e3, 200e3, 300e3])[third]) & (loan <= np.array([300e3, 400e3, 500e3])[third])
            b = (loan >= np.array([200e3, 300e3, 100e3])[third]) & (loan <= np.array([400e3, 500e3, 300e3])[third])
            y = np.where(first, a, b)
        elif function == 7:
            y = 2.0 * (salary + commission) / 3.0 - loan / 5.0 - 20_000 > 0
        else:
            equity = np.where(years >= 20, value * (years - 20.0) / 10.0, 0.0)
            y = 2.0 * (salary + commission) / 3.0 - 5_000.0 * level + equity / 5.0 - 10_000 > 40_000
        numbers = {"salary": salary, "commission": commission, "age": age, "value": value, "years": years, "loan": loan}
        noisy = {name: x + 0.02 * np.ptp(x) * rng.uniform(-1, 1, n) for name, x in numbers.items()}
        codes = _strings(np.stack([level, car, zipcode], axis=1))
        return pd.DataFrame({**noisy, **codes}), _flipped(rng, y.astype(int), 0.05)

    return make


def segments(rng: np.random.Generator, n: int) -> Made:
    """A digit of seven segments, each wrong in 10 %, and seventeen bits that say nothing (Breiman's LED display)."""
    lit = np.array(["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111",
                    "1111011"])  # fmt: skip
    shown = np.array([[int(c) for c in code] for code in lit])
    y = rng.integers(0, 10, n)
    bits = np.concatenate([shown[y] ^ (rng.random((n, 7)) < 0.1), rng.integers(0, 2, (n, 17))], axis=1)
    return pd.DataFrame(_strings(bits)), y


def centres(rng: np.random.Generator, n: int) -> Made:
    """Fifty balls of several sizes in ten numbers, five classes."""
    at, width, label = rng.random((50, 10)), 0.05 + 0.2 * rng.random(50), rng.integers(0, 5, 50)
    ball = rng.choice(50, n, p=rng.dirichlet(np.full(50, 2.0)))
    step = rng.normal(size=(n, 10))
    x = at[ball] + step / np.linalg.norm(step, axis=1)[:, None] * (np.abs(rng.normal(size=n)) * width[ball])[:, None]
    return pd.DataFrame(_numbers(x)), label[ball]


def branches(rng: np.random.Generator, n: int) -> Made:
    """A tree of depth seven with questions drawn by chance, over five numbers and five categories; 10 % noise."""
    x, c = rng.random((n, 5)), rng.integers(0, 5, (n, 5))
    y = np.zeros(n, dtype=int)

    def grow(rows: NDArray[Any], depth: int) -> None:
        if depth == 7 or len(rows) < 2 or (depth > 3 and rng.random() < 0.15):
            y[rows] = rng.integers(0, 3)
            return
        k = int(rng.integers(10))
        some = rng.permutation(5)[:2]
        right = x[rows, k] > rng.uniform(0.2, 0.8) if k < 5 else np.isin(c[rows, k - 5], some)
        grow(rows[right], depth + 1)
        grow(rows[~right], depth + 1)

    grow(np.arange(n), 0)
    return pd.DataFrame({**_numbers(x), **_strings(c)}), _flipped(rng, y, 0.1)


def waves(rng: np.random.Generator, n: int) -> Made:
    """A smooth sum of five numbers among ten (Friedman's first), as log-odds."""
    x = rng.random((n, 10))
    f = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return pd.DataFrame(_numbers(x)), (rng.random(n) < 1 / (1 + np.exp(-0.8 * (f - 14.4)))).astype(int)


def hints(rng: np.random.Generator, n: int) -> Made:
    """Next to nothing: twenty columns of which three say a little, three classes."""
    x, c = rng.normal(size=(n, 12)), rng.integers(0, 6, (n, 8))
    score = np.stack([0.3 * x[:, 0] + 0.2 * (c[:, 0] == 1), -0.2 * x[:, 1], np.zeros(n)], axis=1)
    gumbel = rng.gumbel(size=score.shape)
    return pd.DataFrame({**_numbers(x), **_strings(c)}), (score + gumbel).argmax(axis=1)


GENERATED = (
    Generated("tails", 4000, tails), Generated("parity", 4000, parity), Generated("chess", 8000, chess),
    Generated("satellite", 6000, satellite), Generated("shower", 6000, shower),
    Generated("two_normal", 4000, two_normal), Generated("ring_normal", 4000, ring_normal),
    Generated("three_normal", 4000, three_normal), Generated("loans_2", 5000, loans(2)),
    Generated("loans_5", 5000, loans(5)), Generated("loans_7", 5000, loans(7)), Generated("loans_9", 5000, loans(9)),
    Generated("led", 4000, segments), Generated("centres", 6000, centres), Generated("branches", 6000, branches),
    Generated("waves", 4000, waves), Generated("hints", 4000, hints),
)  # fmt: skip
"""Every generator with its number of rows."""
