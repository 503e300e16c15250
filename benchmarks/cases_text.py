"""Raw strings to a fitted model and to predictions, beside CountVectorizer + MultinomialNB."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.measure import Case
from likely import BayesClassifier
from likely.text import HashingCounter, TextCounter

LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


def corpus(megabytes: float, n_classes: int = 20) -> tuple[list[str], np.ndarray]:
    """Texts of 120,000 made-up words, used as unevenly as those of a language, some with capitals and commas."""
    rng = np.random.default_rng(5)
    n_words = 120_000
    lengths = np.clip(rng.poisson(5, n_words) + 2, 2, 16)
    letters = np.array(list(LETTERS))
    often = 1.0 / np.arange(1, 27)
    spelled = rng.choice(letters, size=lengths.sum(), p=often / often.sum())
    ends = np.cumsum(lengths)
    words = np.array(["".join(spelled[end - length : end]) for end, length in zip(ends, lengths, strict=True)])
    words[::17] = np.char.capitalize(words[::17])
    words[::11] = np.char.add(words[::11], ",")
    n_tokens = int(megabytes * 1e6 / (lengths.mean() + 1.2))
    ranks = (n_words ** rng.random(n_tokens)).astype(int) - 1
    per_text = 60
    texts = [" ".join(row) for row in words[ranks[: n_tokens // per_text * per_text]].reshape(-1, per_text)]
    return texts, rng.integers(0, n_classes, len(texts))


def text(scale: float) -> Iterator[Case]:
    """A corpus of 50 MB."""
    texts, y = corpus(50 * scale)
    megabytes = sum(map(len, texts)) / 1e6
    size = f"{megabytes:.0f} MB, {len(texts):,} texts"
    peer = make_pipeline(CountVectorizer(), MultinomialNB())
    name = "CountVectorizer + MultinomialNB"
    yield Case(
        f"raw text to model, {size}",
        lambda: BayesClassifier().fit(texts, y),
        lambda: peer.fit(texts, y),
        name,
        12.0,
        2,
        megabytes=megabytes,
    )
    mine, their = BayesClassifier().fit(texts, y), peer.fit(texts, y)
    yield Case(
        f"raw text to predictions, {size}",
        lambda: mine.predict(texts),
        lambda: their.predict(texts),
        name,
        12.0,
        2,
        megabytes=megabytes,
    )
    yield Case(
        f"raw text to counts, {size}",
        lambda: TextCounter().fit_transform(texts),
        lambda: CountVectorizer().fit_transform(texts),
        "CountVectorizer",
        None,
        2,
        megabytes=megabytes,
    )
    yield Case(
        f"raw text to hashed counts, {size}",
        lambda: HashingCounter().transform(texts),
        lambda: HashingVectorizer(norm=None, alternate_sign=False).transform(texts),
        "HashingVectorizer",
        None,
        2,
        megabytes=megabytes,
    )
    if find_spec("polars") is not None:
        import polars as pl

        column = pl.Series("text", texts)

        def polars_counts() -> object:
            tokens = column.str.to_lowercase().str.extract_all(r"\b\w\w+\b").explode()
            return tokens.value_counts()

        yield Case(
            f"raw text to counts of all words, {size}",
            lambda: BayesClassifier().fit(texts, np.zeros(len(texts), dtype=int)),
            polars_counts,
            "Polars (words only, no classes)",
            None,
            2,
            memory=False,
        )
    if find_spec("fasttext") is not None:
        yield from fast_text(texts, y, size)


def fast_text(texts: list[str], y: np.ndarray, size: str) -> Iterator[Case]:
    """fastText's own training (five epochs of its linear model), from a file as it wants one."""
    import fasttext

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        path.write_text("".join(f"__label__{label} {text}\n" for label, text in zip(y, texts, strict=True)))
        yield Case(
            f"raw text to model, {size}",
            lambda: BayesClassifier().fit(texts, y),
            lambda: fasttext.train_supervised(str(path), epoch=5, thread=2, verbose=0),
            "fastText, 5 epochs",
            None,
            1,
            memory=False,
        )
