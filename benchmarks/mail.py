"""`likely mail` beside bogofilter: accuracy at equal false positives, and messages a second.

`python benchmarks/mail.py DATA` reads spamassassin_2003_part (whole raw messages) and sms_spam (texts, made into
messages) from the folder of data sets, learns one half of each by both filters and judges the other half, three times.
Bogofilter is Debian's package with its usual settings, in bulk mode (one process); both read the same files. Its
spamicity and our log-odds rank the messages, so that the share of spam that is found is compared where both accuse the
same number of hams.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likely.mail.boxes import Mail, read_boxes
from likely.mail.filter import as_rows, load_mail_model, teach

ACCUSED = (0, 1, 2, 5, 10)
Scores = NDArray[np.float64]


class Raced(NamedTuple):
    """Scores of the messages to judge, and messages a second, learned and judged."""

    scores: Scores
    learned: float
    judged: float


def read(path: Path) -> tuple[list[bytes], NDArray[np.bool_]]:
    """Messages, and which are spam."""
    csv.field_size_limit(1 << 30)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [row["text"].encode() for row in rows]
    if "sms" in path.name:
        texts = [b"From: someone@example.org\nSubject: sms\n\n" + text + b"\n" for text in texts]
    return texts, np.array([row["label"] == "spam" for row in rows])


def ours(folders: dict[str, Path], judged: list[Path], work: Path) -> Raced:
    """By likely, in this process; files are read as the command reads them."""
    model = work / "mail.likely"
    begin = time.perf_counter()
    n_learned = 0
    for label, folder in folders.items():
        mails = list(read_boxes([str(folder)]))
        n_learned += len(mails)
        teach(model, mails, label)
    learned = time.perf_counter() - begin
    begin = time.perf_counter()
    found = load_mail_model(model)
    joint = found.predict_joint_log_proba(as_rows([Mail(str(path), path.read_bytes()) for path in judged]))
    took = time.perf_counter() - begin
    spam = found.classes_.tolist().index("spam")
    return Raced(joint[:, spam] - joint[:, 1 - spam], n_learned / learned, len(judged) / took)


def bogofilter(folders: dict[str, Path], judged: list[Path], work: Path) -> Raced:
    """By Debian's bogofilter with its usual settings."""
    home = work / "bogofilter"
    home.mkdir()
    begin = time.perf_counter()
    n_learned = 0
    for label, folder in folders.items():
        files = sorted(folder.iterdir())
        n_learned += len(files)
        flag = "-s" if label == "spam" else "-n"
        names = "".join(f"{file}\n" for file in files).encode()
        subprocess.run(["bogofilter", "-d", str(home), flag, "-b"], input=names, check=True)
    learned = time.perf_counter() - begin
    begin = time.perf_counter()
    names = "".join(f"{file}\n" for file in judged).encode()
    said = subprocess.run(["bogofilter", "-d", str(home), "-TT", "-v", "-b"], input=names, capture_output=True)
    took = time.perf_counter() - begin
    scores = [float(line.split()[-1]) for line in said.stdout.decode("utf-8", "replace").splitlines()]
    return Raced(np.array(scores), n_learned / learned, len(judged) / took)


def found_at(scores: Scores, spam: NDArray[np.bool_], accused: int) -> float:
    """The share of spam that is found where so many hams are accused; a tie with one more ham is no find."""
    bound = np.sort(scores[~spam])[::-1][accused]
    return float((scores[spam] > bound).mean())


def race(name: str, path: Path, turn: int) -> dict[str, tuple[list[float], Raced]]:
    """One split of one data set."""
    texts, spam = read(path)
    order = np.random.default_rng(turn).permutation(len(texts))
    half = len(texts) // 2
    with tempfile.TemporaryDirectory(prefix="likely-") as folder:
        work = Path(folder)
        folders = {label: work / label for label in ("spam", "ham")}
        for each in (*folders.values(), work / "test"):
            each.mkdir()
        for place in order[:half]:
            (folders["spam" if spam[place] else "ham"] / f"{place:05}").write_bytes(texts[place])
        judged = []
        for place in order[half:]:
            judged.append(work / "test" / f"{place:05}")
            judged[-1].write_bytes(texts[place])
        truth, raced = spam[order[half:]], {}
        for who, run in (("likely", ours), ("bogofilter", bogofilter)):
            done = run(folders, judged, work)
            raced[who] = ([found_at(done.scores, truth, accused) for accused in ACCUSED], done)
    return raced


def main() -> None:
    """Race and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    if shutil.which("bogofilter") is None:
        sys.exit("bogofilter is not installed: apt-get install bogofilter")
    for name in ("spamassassin_2003_part", "sms_spam"):
        turns = [race(name, options.data / f"{name}.csv.gz", turn) for turn in range(options.turns)]
        print(f"{name}: share of spam found where {', '.join(map(str, ACCUSED))} hams are accused; messages a second")
        for who in turns[0]:
            shares = np.mean([turn[who][0] for turn in turns], axis=0)
            learned, judged = (np.median([turn[who][1][k] for turn in turns]) for k in (1, 2))
            told = "  ".join(f"{share:.3f}" for share in shares)
            print(f"  {who:10}  {told}   learned {learned:,.0f}, judged {judged:,.0f}", flush=True)


if __name__ == "__main__":
    main()
