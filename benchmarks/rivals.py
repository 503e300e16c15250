"""The lectures' claims about naive Bayes and its rivals, tried: `python benchmarks/rivals.py DATA [PART …]`.

Writes benchmarks/rivals.md: learning curves of naive Bayes, SVM and logistic regression on three tables, handwritten
and printed letters by all classifiers. DATA is the folder of larger data sets (house_votes84, sms_spam, breast_w,
ocr_letters_folds0_5, notmnist_10k). With names of parts (little, ocr, notmnist), only these are made anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from likely import (  # noqa: E402
    BayesClassifier,
    ConvNetClassifier,
    FullBayesClassifier,
    SVMClassifier,
    TreeClassifier,
    compare,
)
from likely.comparison.baselines import LogisticBaseline  # noqa: E402

SIZES = (10, 20, 50, 100, 200)
DRAWS = 20
REPORT = HERE / "rivals.md"
TABLES = {"house_votes84": ("Class", {}), "breast_w": ("Class", {}), "sms_spam": ("label", {"text": "text"})}


CURVES = (
    f"Error on the rows that were not learned (at most 1,000 of them), mean of {DRAWS} draws, each with at least two "
    "rows of every class; ± twice the standard error. Usual settings, nothing tuned.\n"
)


def read(folder: Path, name: str, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with numbers where all cells of a column are numbers, and its labels."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    frame = frame.mask(frame == "")
    y = frame.pop(target).to_numpy(dtype=object)
    for column in frame.columns:
        numbers = pd.to_numeric(frame[column], errors="coerce")
        if numbers.notna().equals(frame[column].notna()):
            frame[column] = numbers
    return frame, y


def little(folder: Path) -> str:
    """Learning curves of the tables at hand."""
    found = [name for name in TABLES if (folder / f"{name}.csv.gz").exists()]
    return "\n".join([CURVES, *(curves(name, *read(folder, name, TABLES[name][0]), TABLES[name][1]) for name in found)])


def curves(name: str, X: pd.DataFrame, y: np.ndarray, kinds: dict[str, str]) -> str:
    """One line per number of rows learned."""
    makers: dict[str, Any] = {
        "naive Bayes": lambda: BayesClassifier(schema=kinds),
        "SVM, linear": lambda: SVMClassifier(kernel="linear", schema=kinds),
        "SVM, Gauss": lambda: SVMClassifier(schema=kinds),
        "logistic regression": lambda: LogisticBaseline(schema=kinds),
    }
    lines = [f"| {name}: rows learned | {' | '.join(makers)} |", f"|---:|{'---:|' * len(makers)}"]
    for size in SIZES:
        errors: dict[str, list[float]] = {label: [] for label in makers}
        for draw in range(DRAWS):
            train, test = split(y, size, draw)
            for label, make in makers.items():
                wrong = make().fit(X.iloc[train], y[train]).predict(X.iloc[test]) != y[test]
                errors[label].append(float(wrong.mean()))
        cells = [f"{100 * np.mean(e):.1f} % ± {200 * np.std(e, ddof=1) / np.sqrt(DRAWS):.1f}" for e in errors.values()]
        lines.append(f"| {size} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def split(y: np.ndarray, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn, two of every class at least, and rows to judge."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    first = np.concatenate([order[y[order] == label][:2] for label in np.unique(y)])
    rest = order[~np.isin(order, first)]
    return np.concatenate([first, rest[: size - len(first)]]), rest[size - len(first) :][:1000]


def ocr(folder: Path) -> str:
    """OCR letters, 26 classes, 128 pixels: folds 0 and 1 to learn, 4 and 5 to judge."""
    frame = pd.read_csv(folder / "ocr_letters_folds0_5.csv.gz")
    fold, y = frame["fold"].to_numpy(), frame["label"].to_numpy(dtype=object)
    X = frame[[name for name in frame.columns if name[0] == "p" and name[1].isdigit()]].to_numpy(dtype=np.float64)
    train, test = fold < 2, fold >= 4
    rivals = {
        "naive Bayes, Bernoulli": BayesClassifier(families="bernoulli"),
        "full Bayes, shrunk": FullBayesClassifier(covariance="shrunk"),
        "full Bayes, pooled": FullBayesClassifier(covariance="pooled"),
        "tree": TreeClassifier(prune=("confidence", 0.5), restrained=False),
        "SVM, Gauss": SVMClassifier(scale=False),
        "logistic regression": LogisticBaseline(),
        "net, 16 × 8": ConvNetClassifier(shape=(16, 8), progress=False),
    }
    return judged(rivals, (X[train], y[train]), (X[test], y[test]))


def notmnist(folder: Path) -> str:
    """notMNIST, the letters A to J in many fonts, 28 × 28 grey pixels: the first 8,000 to learn, 2,000 to judge."""
    frame = pd.read_csv(folder / "notmnist_10k.csv.gz")
    y = frame.pop("label").to_numpy(dtype=object)
    X = frame.to_numpy(dtype=np.float64) / 255.0
    rivals = {
        "naive Bayes, Gauss": BayesClassifier(),
        "naive Bayes, bins": BayesClassifier(families="bins"),
        "full Bayes, shrunk": FullBayesClassifier(covariance="shrunk"),
        "full Bayes, pooled": FullBayesClassifier(covariance="pooled"),
        "tree": TreeClassifier(prune=("confidence", 0.5), restrained=False),
        "SVM, Gauss": SVMClassifier(scale=False),
        "logistic regression": LogisticBaseline(),
        "net": ConvNetClassifier(progress=False),
    }
    return judged(rivals, (X[:8000], y[:8000]), (X[8000:], y[8000:]))


def judged(rivals: dict[str, Any], learned: tuple[Any, Any], test: tuple[Any, Any]) -> str:
    """A leaderboard, best first."""
    board = compare(*learned, rivals, cv=test, progress=True)
    lines = [f"{len(learned[1]):,} letters learned, {len(test[1]):,} judged.\n"]
    lines += ["| classifier | error | log loss | worse by (95 %) | size |", "|---|---:|---:|---:|---:|"]
    for label, line in board.to_frame().iterrows():
        if line["reason"]:
            raise SystemExit(f"{label}: {line['reason']}")
        gap = "" if label == board.best else f"{line['difference']:.3f} ({line['low']:.3f} to {line['high']:.3f})"
        figures = f"{100 * line['error']:.1f} % | {line['log_loss']:.3f} | {gap}"
        lines.append(f"| {label} | {figures} | {line['model_bytes'] / 1e3:,.0f} kB |")
    return "\n".join(lines) + "\n"


PARTS = {
    "little": ("Little training data", little),
    "ocr": ("Handwritten letters", ocr),
    "notmnist": ("Printed letters", notmnist),
}


def main() -> None:
    """The parts that are asked for, or all; the nets take most of the time."""
    folder, *wanted = sys.argv[1:]
    texts = made()
    for name, (title, make) in PARTS.items():
        if not wanted or name in wanted:
            texts[title] = make(Path(folder))
            print(f"## {title}\n\n{texts[title]}", flush=True)
    told = "".join(f"\n## {title}\n\n{texts[title]}" for title, _ in PARTS.values() if title in texts)
    REPORT.write_text(f"# Rivals\n\nMade by `python benchmarks/rivals.py DATA`.\n{told}")


def made() -> dict[str, str]:
    """The parts that an earlier run has made, by their titles."""
    parts = REPORT.read_text().split("\n## ")[1:] if REPORT.exists() else []
    return {title: text for title, text in (part.split("\n\n", 1) for part in parts)}


if __name__ == "__main__":
    main()
