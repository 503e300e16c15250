"""Words of texts by hand: shares, rare words that weigh more, words elsewhere, words that are absent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely import BayesClassifier
from likely.families.protocol import HasParameters, HasTokens
from likely.stats import TokenCounts, feature_counts
from likely.table import as_table
from likely.text import class_counts

TEXTS = ["ant ant bee fox gnu", "bee", "cat bee", "cat cat cat dog hen"]
LABELS = ["p", "p", "q", "q"]
WORDS = ["ant", "bee", "cat", "dog", "fox", "gnu", "hen"]
COUNTS = {"p": [2, 2, 0, 0, 1, 1, 0], "q": [0, 1, 4, 1, 0, 0, 1]}
HOLDERS = [1, 3, 2, 1, 1, 1, 1]
"""Texts that hold each word."""

ASKED = ["ant cat cat eel", "eel", "dog dog dog dog dog bee", "gnu"]


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def thin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the table of counts is to be kept as a sparse one."""
    if request.param:
        monkeypatch.setattr(feature_counts, "DENSE_CELLS", 0)
        monkeypatch.setattr(class_counts, "ALWAYS_DENSE", 0)
    return bool(request.param)


def learned(thin: bool, **settings: Any) -> BayesClassifier:
    clf = BayesClassifier(schema={"t": "text"}, **settings).fit({"t": TEXTS}, LABELS)
    (seen,) = clf.summary_.parts.values()
    assert isinstance(seen, TokenCounts)
    assert sparse.issparse(seen.counts.table) == sparse.issparse(seen.documents.table) == thin
    return clf


def evidence(clf: BayesClassifier) -> np.ndarray:
    """What the words of each asked text add (texts × classes)."""
    return np.asarray(clf.predict_joint_log_proba({"t": ASKED}) - np.log(clf.model_.prior))


def told(clf: BayesClassifier) -> dict[str, list[float]]:
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasParameters)
    return {str(each.value): each.numbers.tolist() for each in belief.parameters() or ()}


def counted(text: str) -> list[int]:
    return [text.split().count(word) for word in WORDS]


def added(lines: list[list[float]]) -> list[list[float]]:
    """Σ count · line of every asked text."""
    return [[sum(n * line[c] for n, line in zip(counted(text), lines, strict=True)) for c in (0, 1)] for text in ASKED]


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(1, 4)])
def test_shares_of_words(thin: bool, gamma: Fraction) -> None:
    clf = learned(thin, smoothing=float(gamma))
    shares = {
        word: [float((Fraction(own[place]) + gamma) / (sum(own) + 7 * gamma)) for own in COUNTS.values()]
        for place, word in enumerate(WORDS)
    }
    found = told(clf)
    assert list(found) == WORDS
    for word, numbers in shares.items():
        assert found[word] == pytest.approx(numbers)
    logs = [[math.log(share) for share in shares[word]] for word in WORDS]
    np.testing.assert_allclose(evidence(clf), added(logs), rtol=1e-12, atol=1e-12)
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasTokens)
    (first, second, third, _) = belief.tokens(as_table({"t": ASKED})) or ()
    assert [(token.word, token.weight) for token in first] == [("ant", 1.0), ("cat", 2.0)] and second == []
    assert [(token.word, token.weight) for token in third] == [("bee", 1.0), ("dog", 5.0)]
    np.testing.assert_allclose(third[1].evidence, 5.0 * np.array(logs[3]))


def test_rare_words_weigh_more(thin: bool) -> None:
    """log((1 + texts) / (1 + texts with the word)) + 1, in the counts as in what is asked."""
    clf = learned(thin, weighting="tf-idf")
    factor = [math.log(5 / (1 + holders)) + 1.0 for holders in HOLDERS]
    lines = []
    for place in range(7):
        line = []
        for own in COUNTS.values():
            weighed = [n * each for n, each in zip(own, factor, strict=True)]
            line.append(factor[place] * math.log((weighed[place] + 1.0) / (sum(weighed) + 7.0)))
        lines.append(line)
    np.testing.assert_allclose(evidence(clf), added(lines), rtol=1e-12, atol=1e-12)
    (belief,) = clf.model_.beliefs
    assert isinstance(belief, HasTokens)
    first = (belief.tokens(as_table({"t": ASKED})) or [])[0]
    assert [token.weight for token in first] == pytest.approx([factor[0], 2.0 * factor[2]])
    np.testing.assert_allclose(sum(token.evidence for token in first), added(lines)[0])


@pytest.mark.parametrize("norm", [False, True])
def test_words_elsewhere(thin: bool, norm: bool) -> None:
    """Minus the logarithm of a word's share outside the class; with `normalise`, as a share of these of all words."""
    clf = learned(thin, families={"t": "complement"}, normalise=norm)
    lines = []
    for c, _ in enumerate(COUNTS):
        other = list(COUNTS.values())[1 - c]
        lines.append([-math.log((n + 1) / (sum(other) + 7)) for n in other])
        if norm:
            lines[-1] = [each / sum(lines[-1]) for each in lines[-1]]
    by_word = [list(pair) for pair in zip(*lines, strict=True)]
    for word, expected in zip(WORDS, by_word, strict=True):
        assert told(clf)[word] == pytest.approx(expected)
    np.testing.assert_allclose(evidence(clf), added(by_word), rtol=1e-12, atol=1e-12)


def test_words_that_are_absent_speak(thin: bool) -> None:
    """A text without any known word says nothing, and how often a word is there makes no difference."""
    clf = learned(thin, families={"t": "bernoulli"})
    holders = {"p": [1, 2, 0, 0, 1, 1, 0], "q": [0, 1, 2, 1, 0, 0, 1]}
    expected = np.zeros((4, 2))
    for row, text in enumerate(ASKED):
        for c, own in enumerate(holders.values()):
            for n, times in zip(own, counted(text), strict=True):
                share = Fraction(n + 1, 2 + 2)
                expected[row, c] += math.log(share if times else 1 - share)
    expected[1] = 0.0
    np.testing.assert_allclose(evidence(clf), expected, rtol=1e-12, atol=1e-12)
    for place, word in enumerate(WORDS):
        assert told(clf)[word] == pytest.approx([(own[place] + 1) / 4 for own in holders.values()])
