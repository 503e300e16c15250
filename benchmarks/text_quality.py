"""How well texts are classified: `python benchmarks/text_quality.py FOLDER` over the text sets in a folder.

First the usual model beside TF-IDF with logistic regression, in the same five stratified folds; then families of naive
Bayes beside CountVectorizer with scikit-learn's own, in ten. Time is that of the processor, for learning. Writes
benchmarks/text_quality.md; `--only evidence` or `--only families` does one of the two parts and keeps the other. The
sets (CSV, gzipped) are not part of the project.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)  # this folder has a module `coverage`, which is not the one that Numba looks for

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import likely  # noqa: E402
from likely import BayesClassifier, EvidenceClassifier  # noqa: E402
from likely.parallel import one_thread_each  # noqa: E402
from likely.text import Tokenizer  # noqa: E402

SETS = {
    "sms_spam": ("label", False),
    "spamassassin_2003_part": ("label", True),
    "rt_polarity": ("label", False),
    "newsgroups_mini": ("label", True),
    "ag_news_test": ("label", False),
    "gnad10_test_de": ("label", False),
    "uit_vsfc_vi": ("sentiment", False),
    "tweeteval_emotion": ("label", False),
}
"""File, target, and whether the text begins with mail headers, which give the class away and are cut off."""

NOT_TEXT = {"label", "sentiment", "topic", "coarse", "fine", "split", "part", "fold", "id", "file", "group"}

PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}
STRENGTHS = (1, 10, 100)
"""C of logistic regression: the usual one, and two that texts often want more."""

EVIDENCE, FAMILIES = "## The usual model", "## Families of naive Bayes"


def main() -> None:
    """Evaluate every set and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=("evidence", "families"))
    given = parser.parse_args()
    page = HERE / "text_quality.md"
    kept = dict(_parts(page.read_text())) if page.exists() else {}
    if given.only != "families":
        kept[EVIDENCE] = evidence_table(given.folder)
    if given.only != "evidence":
        kept[FAMILIES] = family_table(given.folder)
    parts = [f"{title}\n\n{kept[title]}" for title in (EVIDENCE, FAMILIES) if title in kept]
    page.write_text("\n\n".join(["# Quality on texts", *parts]) + "\n")


def _parts(page: str) -> list[tuple[str, str]]:
    """Titles and what stands below them; a page without titles has families alone."""
    if EVIDENCE not in page:
        return [(FAMILIES, "\n".join(line for line in page.splitlines() if line.startswith("|")))]
    before, _, after = page.partition(FAMILIES)
    return [(EVIDENCE, before.partition(EVIDENCE)[2].strip()), (FAMILIES, after.strip())]


def evidence_table(folder: Path) -> str:
    """`EvidenceClassifier` as it is, beside TF-IDF and logistic regression of several strengths."""
    peers = [f"C = {strength}: accuracy | log loss | time" for strength in STRENGTHS]
    head = " | ".join(["set", "rows", "classes", "ours: accuracy", "log loss", "time", *peers])
    lines = [f"| {head} |", "|---|" + "---:|" * (5 + 3 * len(peers))]
    for name, (target, mail) in SETS.items():
        texts, labels = read(folder / f"{name}.csv.gz", target, mail)
        models: list[Any] = [EvidenceClassifier()]
        models += [make_pipeline(TfidfVectorizer(), LogisticRegression(C=c, max_iter=1000)) for c in STRENGTHS]
        found = [" | ".join(held_out(model, texts, labels)) for model in models]
        lines.append(f"| {name} | {len(texts)} | {len(set(labels))} | {' | '.join(found)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def held_out(model: Any, texts: list[str], labels: list[str]) -> tuple[str, str, str]:
    """Accuracy, log loss, and processor time of learning, in five folds."""
    x, (classes, y) = np.array(texts, dtype=object), np.unique(labels, return_inverse=True)
    posterior, spent = np.zeros((len(y), len(classes))), 0.0
    with one_thread_each():
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
            start = time.process_time()
            model.fit(x[train].tolist(), y[train])
            spent += time.process_time() - start
            posterior[test] = model.predict_proba(x[test].tolist())
    accuracy = float((posterior.argmax(axis=1) == y).mean())
    return f"{accuracy:.4f}", f"{log_loss(y, posterior):.4f}", f"{spent / 5:.2f} s"


def family_table(folder: Path) -> str:
    """Families of naive Bayes beside those of scikit-learn."""
    lines = [
        "| set | n-grams | family | accuracy | macro F1 | log loss | scikit-learn: accuracy | log loss | time |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, (target, mail) in SETS.items():
        texts, labels = read(folder / f"{name}.csv.gz", target, mail)
        for ngrams in ((1, 1), (1, 2)):
            for family, peer in PEERS.items():
                lines.append(compared(name, texts, labels, ngrams, family, peer()))
                print(lines[-1], flush=True)
    return "\n".join(lines)


def compared(name: str, texts: list[str], labels: list[str], ngrams: tuple[int, int], family: str, peer: object) -> str:
    """One line of the table of families."""
    start = time.perf_counter()
    priors = "uniform" if family == "complement" else None  # scikit-learn's ComplementNB looks at no prior
    clf = BayesClassifier(families=family, text=Tokenizer(ngram_range=ngrams), priors=priors)
    ours = likely.evaluate(clf, texts, labels, cv=10)
    middle = time.perf_counter()
    theirs = likely.evaluate(make_pipeline(CountVectorizer(ngram_range=ngrams), peer), texts, labels, cv=10)
    end = time.perf_counter()
    macro_f1 = ours.to_frame()["value"]["f_macro"]
    return (
        f"| {name} | {ngrams[0]}–{ngrams[1]} | {family} | {ours.accuracy:.4f} | {macro_f1:.4f} | "
        f"{ours.log_loss:.3f} | {theirs.accuracy:.4f} | {theirs.log_loss:.3f} | "
        f"{middle - start:.1f} s, {end - middle:.1f} s |"
    )


def read(path: Path, target: str, mail: bool) -> tuple[list[str], list[str]]:
    """All text columns of a file joined, and its labels."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    columns = [column for column in table if column != target and column not in NOT_TEXT]
    texts = table[columns].agg("\n".join, axis=1).tolist()
    if mail:
        texts = [text.partition("\n\n")[2] or text for text in texts]
    return texts, table[target].tolist()


if __name__ == "__main__":
    main()
