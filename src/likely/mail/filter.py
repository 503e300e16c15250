"""A filter for mail: naive Bayes over the texts of messages, which learns and unlearns, alone or over a common model.

A user's own counts lie in a file of their own and are merged with those of the common model when mail is judged: what
one user teaches changes nothing for another, and the common file is never written.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from likely.api import load, new_classifier
from likely.arrays import Array
from likely.errors import DataError, NotMergeable, SettingsError, listed
from likely.explain import Explanation
from likely.mail.boxes import Mail
from likely.mail.message import COLUMNS, OWN_HEADER, row_of
from likely.models.classifier import Classifier

if sys.platform != "win32":
    from fcntl import LOCK_EX, flock

UNSURE = "unsure"
SMOOTHING = 0.1
"""Most words of mail are rare: a whole count for each of them would drown what was seen."""
AT_ONCE = 1_000
"""Messages that are judged or learned at once."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a message: a class or "unsure", P of the likeliest class, which that is, and telling words."""

    label: str
    probability: float
    likeliest: str
    evidence: tuple[tuple[str, float], ...] = ()


def new_model() -> Classifier:
    """A classifier for the columns of messages that has learned nothing."""
    made: Classifier = new_classifier("naive", {"schema": dict.fromkeys(COLUMNS, "text"), "smoothing": SMOOTHING})
    return made


def as_rows(mails: Sequence[Mail]) -> dict[str, list[str]]:
    """Messages as a table."""
    rows = [row_of(mail.raw) for mail in mails]
    return {name: [row[name] for row in rows] for name in COLUMNS}


def load_mail_model(path: str | os.PathLike[str]) -> Classifier:
    """A model of messages; one of other tables is refused."""
    model: Classifier = load(path)
    lacking = [name for name in COLUMNS if name not in model.schema_.text]
    if lacking:
        raise SettingsError(f"{os.fspath(path)!r} is no model of mail: it knows no text {listed(lacking)}.")
    return model


def merged(common: Classifier, own: Classifier) -> Classifier:
    """The counts of both."""
    try:
        together: Classifier = common + own
    except NotMergeable as error:
        raise SettingsError(f"The user's model does not go with the common one: {error}") from None
    return together


# Learning: read the file, change the counts, write it whole; one at a time.


def teach(path: Path, mails: Sequence[Mail], label: str, *, forget: bool = False) -> int:
    """Learn messages as `label`, or take them out again; how many rows the model has then."""
    if not mails:
        raise DataError("There is no message to learn from.")
    with _locked(path):
        model = load_mail_model(path) if path.exists() else new_model()
        if forget and not path.exists():
            raise SettingsError(f"There is no model {os.fspath(path)!r} to forget anything.")
        for start in range(0, len(mails), AT_ONCE):
            some = mails[start : start + AT_ONCE]
            labels = [label] * len(some)
            if forget:
                model.forget(as_rows(some), labels)
            else:
                model.partial_fit(as_rows(some), labels)
        model.save(path)
    return int(model.summary_.n_rows)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two deliveries at the same time learn one after the other."""
    if sys.platform == "win32":
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    with open(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600), "rb") as file:
        flock(file.fileno(), LOCK_EX)
        yield


# Judging.


class MailFilter:
    """Judges messages by a model; a class is told only if it is sure enough."""

    def __init__(self, model: Classifier, sure: Mapping[str, float], usual: float, words: int = 0) -> None:
        self.model, self.words = model, words
        self.labels = [str(label) for label in model.classes_.tolist()]
        strange = [name for name in sure if name not in self.labels]
        if strange:
            raise SettingsError(f"--sure names {listed(strange)}, but the classes are {listed(self.labels)}.")
        self._least = np.array([sure.get(label, usual) for label in self.labels])

    def judge(self, mails: Sequence[Mail]) -> list[Verdict]:
        """A verdict for each message."""
        rows = as_rows(mails)
        posterior = self.model.predict_proba(rows)
        why = self.model.explain(rows) if self.words else None
        verdicts = []
        for row, shares in enumerate(posterior):
            best = int(shares.argmax())
            sure = len(self.labels) > 1 and shares[best] >= self._least[best]
            evidence = () if why is None else self._evidence(why, row, best, shares)
            label = self.labels[best] if sure else UNSURE
            verdicts.append(Verdict(label, float(shares[best]), self.labels[best], evidence))
        return verdicts

    def _evidence(self, why: Explanation, row: int, best: int, shares: Array) -> tuple[tuple[str, float], ...]:
        """The words that told most: log-odds for the likeliest class against the next one."""
        if len(self.labels) < 2:
            return ()
        rival = int(np.argsort(-shares, kind="stable")[1])
        told = [
            (
                token.word if column == "body" else f"{column}:{token.word}",
                float(token.evidence[best] - token.evidence[rival]),
            )
            for column, texts in why.words.items()
            for token in texts[row]
        ]
        told.sort(key=lambda word: -abs(word[1]))
        return tuple(told[: self.words])


def with_headers(raw: bytes, verdict: Verdict) -> bytes:
    """The message with our headers before all others; those that it came with are taken out, for they may lie."""
    head, blank, body = _split(raw)
    ending = b"\r\n" if b"\r\n" in head[:2000] else b"\n"
    kept, own = list[bytes](), False
    for line in head.splitlines(keepends=True):
        if line[:1] not in (b" ", b"\t"):
            own = line.lower().startswith(OWN_HEADER.lower().encode())
        if not own:
            kept.append(line)
    first = [line for line in kept[:1] if line.startswith(b"From ")]
    told = [
        f"{OWN_HEADER}: {_ascii(verdict.label)}; likeliest={_ascii(verdict.likeliest)}; p={verdict.probability:.6f}"
    ]
    if verdict.evidence:
        words = [f"{_ascii(word)[:40]} {odds:+.2f}" for word, odds in verdict.evidence if math.isfinite(odds)]
        told.append(f"{OWN_HEADER}-Evidence: " + ";\n ".join(words))
    added = b"".join(line.encode().replace(b"\n", ending) + ending for line in told)
    return b"".join([*first, added, *kept[len(first) :], blank, body])


def _split(raw: bytes) -> tuple[bytes, bytes, bytes]:
    """Headers, the blank line, and the rest."""
    places = [(place, mark) for mark in (b"\r\n\r\n", b"\n\n") if (place := raw.find(mark)) >= 0]
    if not places:
        return raw, b"", b""
    place, mark = min(places)
    half = len(mark) // 2
    return raw[: place + half], raw[place + half : place + 2 * half], raw[place + 2 * half :]


def _ascii(text: str) -> str:
    """A word as a header may hold it: no end of line can be smuggled in."""
    return "".join(sign if sign.isascii() and sign.isprintable() and sign not in ";" else "?" for sign in text)
