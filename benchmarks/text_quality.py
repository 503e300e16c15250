"""How well texts are classified: `python benchmarks/text_quality.py FOLDER` over the text sets in a folder.

Ten stratified folds, the same for us and for CountVectorizer with scikit-learn's own classifier. Writes
benchmarks/text_quality.md. The sets (CSV, gzipped) are not part of the project.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pandas as pd  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer  # noqa: E402
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import likely  # noqa: E402
from likely import BayesClassifier  # noqa: E402
from likely.text import Tokenizer  # noqa: E402

SETS = {
    "sms_spam": ("label", False),
    "spamassassin_2003_part": ("label", True),
    "rt_polarity": ("label", False),
    "newsgroups_mini": ("label", True),
    "ag_news_test": ("label", False),
    "gnad10_test_de": ("label", False),
    "uit_vsfc_vi": ("sentiment", False),
}
"""File, target, and whether the text begins with mail headers, which give the class away and are cut off."""

NOT_TEXT = {"label", "sentiment", "topic", "coarse", "fine", "split", "part", "fold", "id", "file", "group"}

PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}


def main() -> None:
    """Evaluate every set and write the table."""
    folder = Path(sys.argv[1])
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
    (HERE / "text_quality.md").write_text("\n".join(["# Quality on texts", "", *lines]) + "\n")


def compared(name: str, texts: list[str], labels: list[str], ngrams: tuple[int, int], family: str, peer: object) -> str:
    """One line of the table."""
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
