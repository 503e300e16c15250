"""Tables for all engines: strange names, strange values, gaps, one class, thousands of categories."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

INJECTION = 'x"; drop table t; --'
STRANGE = (INJECTION, "o'clock", "two words", "größe 数", "select", "%s", "a`b", "{0}", "back\\slash", "y", "w", "f")


def plain(n: int = 600, seed: int = 0) -> pa.Table:
    """Numbers, whole numbers, truths and strings with gaps; the label says something about each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    gap = rng.random((4, n)) < 0.1
    return pa.table(
        {
            "size": pa.array(rng.normal(y, 1.0), mask=gap[0]),
            "count": pa.array(rng.poisson(2 + y).astype(np.int64), mask=gap[1]),
            "known": pa.array(rng.random(n) < 0.3 + 0.2 * y, mask=gap[2]),
            "town": pa.array(rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], n), mask=gap[3]),
            "label": pa.array(np.array(["red", "green", "blue"])[y]),
        }
    )


def far(n: int = 600) -> pa.Table:
    """Data at 1e8 ± 1, classes far apart, huge, tiny and constant numbers."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    noise = rng.normal(size=n)
    return pa.table(
        {
            "far": 1e8 + noise,
            "apart": np.where(y, 1e8, 0.0) + noise,
            "large": 1e150 * noise,
            "tiny": 1e-170 * noise,
            "constant": np.full(n, 0.5),
            "class constant": y.astype(np.float64),
            "label": np.array(["no", "yes"])[y],
        }
    )


def strangely_named(n: int = 120) -> pa.Table:
    """Columns that no one should have called so."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, n)
    columns = {name: rng.normal(y, 1.0) if k % 2 else rng.choice(["a", "b", "c"], n) for k, name in enumerate(STRANGE)}
    return pa.table({**columns, 'la\'bel "1"': np.array(["no", "yes"])[y]})


def strange_values(n: int = 400) -> pa.Table:
    """Values that look like SQL, like gaps, like numbers, or like nothing."""
    rng = np.random.default_rng(3)
    words = np.array(
        ["", " ", "NULL", "null", "nan", "'; drop table t; --", '"', "\\", "a\nb", "%", "ü", "日本", "1e5", "😀"]
    )
    y = rng.integers(0, 2, n)
    return pa.table(
        {
            "word": words[(rng.integers(0, len(words), n) + y) % len(words)],
            "whole": pa.array([[-(2**53) - 1, 2**53 + 1, 0, 7][k] for k in rng.integers(0, 4, n)], pa.int64()),
            "label": np.array(["it's", 'say "x"'])[y],
        }
    )


def one_class(n: int = 50) -> pa.Table:
    """Nothing to tell apart."""
    return plain(n).set_column(4, "label", pa.array(["only"] * n))


def many_categories(n: int = 6000) -> pa.Table:
    """Thousands of categories, and labels that are whole numbers."""
    rng = np.random.default_rng(4)
    return pa.table({"code": [f"c{k}" for k in rng.integers(0, 3000, n)], "label": rng.integers(0, 5, n)})


def weighted(n: int = 500) -> pa.Table:
    """Rows that count for more or less, or for nothing."""
    rng = np.random.default_rng(5)
    weight = rng.choice([0.0, 0.5, 1.0, 2.25], n)
    return plain(n, seed=5).append_column("mass", pa.array(weight))


def texts(n: int = 300) -> pa.Table:
    """Short texts in several scripts."""
    rng = np.random.default_rng(6)
    words = np.array(
        ["Cheap", "cheap!", "watches", "naïve", "Ärger", "ÉCOLE", "don't", "two-way", "x_1", "42", "日本語", "привет",
         "ПРИВЕТ", "—", "“quoted”", "a", "ß", "MASSE", "e.g.", "O'Neil", "½", "²"]
    )  # fmt: skip
    y = rng.integers(0, 2, n)
    body = [" ".join(rng.choice(words, 8 + k % 3)) for k in range(n)]
    gap = rng.random(n) < 0.05
    return pa.table({"body": pa.array(body, mask=gap), "label": np.array(["ham", "spam"])[y]})


def dated(n: int = 400) -> pa.Table:
    """Days, moments with microseconds before and after 1970, and both as text, some with a zone; gaps."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, n)
    moments = np.datetime64("1950-01-01T00:00:00", "us") + rng.integers(0, 120 * 365 * 86_400 * 10**6, n)
    days = np.datetime64("2024-01-01", "D") + 7 * rng.integers(0, 40, n) + y * rng.integers(0, 7, n)
    gap = rng.random((3, n)) < 0.1
    zones = np.array(["", "Z", "+02:00", "-0530"])[rng.integers(0, 4, n)]
    written = [f" {str(moment)[:19]}{zone}" for moment, zone in zip(moments, zones, strict=True)]
    return pa.table(
        {
            "day": pa.array(days, mask=gap[0]),
            "moment": pa.array(moments, mask=gap[1]),
            "written": pa.array(written, mask=gap[2]),
            "short": pa.array([str(day) for day in days]),
            "label": np.array(["no", "yes"])[y],
        }
    )


TABLES = {
    "plain": plain,
    "far": far,
    "strange names": strangely_named,
    "strange values": strange_values,
    "one class": one_class,
    "many categories": many_categories,
    "dates": dated,
}
