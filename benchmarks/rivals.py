"""The lectures' claims about naive Bayes and its rivals, tried: `python benchmarks/rivals.py DATA`.

Writes benchmarks/rivals.md: learning curves of naive Bayes, SVM and logistic regression on three tables, and letters by
all classifiers. DATA is the folder of larger data sets (house_votes84, sms_spam, breast_w, ocr_letters_folds0_5).
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
from likely.comparison.yardsticks import LogisticYardstick  # noqa: E402

SIZES = (10, 20, 50, 100, 200)
DRAWS = 20
TABLES = {"house_votes84": ("Class", {}), "breast_w": ("Class", {}), "sms_spam": ("label", {"text": "text"})}


def main() -> None:
    """All experiments; the net takes most of the time."""
    folder = Path(sys.argv[1])
    parts = ["# Rivals\n\nMade by `python benchmarks/rivals.py DATA`.\n", "## Little training data\n", CURVES]
    for name, (target, kinds) in TABLES.items():
        if (folder / f"{name}.csv.gz").exists():
            parts.append(curves(name, *read(folder, name, target), kinds))
            print(parts[-1], flush=True)
    parts += ["## Letters\n", letters(folder)]
    print(parts[-1], flush=True)
    (HERE / "rivals.md").write_text("\n".join(parts) + "\n")


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


def curves(name: str, X: pd.DataFrame, y: np.ndarray, kinds: dict[str, str]) -> str:
    """One line per number of rows learned."""
    makers: dict[str, Any] = {
        "naive Bayes": lambda: BayesClassifier(schema=kinds),
        "SVM, linear": lambda: SVMClassifier(kernel="linear", schema=kinds),
        "SVM, Gauss": lambda: SVMClassifier(schema=kinds),
        "logistic regression": lambda: LogisticYardstick(schema=kinds),
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


def letters(folder: Path) -> str:
    """OCR letters, 26 classes, 128 pixels: folds 0 and 1 to learn, 4 and 5 to judge."""
    frame = pd.read_csv(folder / "ocr_letters_folds0_5.csv.gz")
    fold, y = frame["fold"].to_numpy(), frame["label"].to_numpy(dtype=object)
    X = frame[[name for name in frame.columns if name[0] == "p" and name[1].isdigit()]].to_numpy(dtype=np.float64)
    train, test = fold < 2, fold >= 4
    rivals = {
        "naive Bayes, Bernoulli": BayesClassifier(families="bernoulli"),
        "full Bayes, shrunk": FullBayesClassifier(covariance="shrunk"),
        "full Bayes, pooled": FullBayesClassifier(covariance="pooled"),
        "tree": TreeClassifier(prune=("confidence", 0.5)),
        "SVM, Gauss": SVMClassifier(scale=False),
        "logistic regression": LogisticYardstick(),
        "net, 16 × 8": ConvNetClassifier(shape=(16, 8), progress=False),
    }
    board = compare(X[train], y[train], rivals, cv=(X[test], y[test]), progress=True)
    frame = board.to_frame()
    lines = [f"{int(train.sum()):,} letters learned, {int(test.sum()):,} judged.\n"]
    lines += ["| classifier | error | log loss | worse by (95 %) | size |", "|---|---:|---:|---:|---:|"]
    for label, line in frame.iterrows():
        gap = "" if label == board.best else f"{line['difference']:.3f} ({line['low']:.3f} to {line['high']:.3f})"
        figures = f"{100 * line['error']:.1f} % | {line['log_loss']:.3f} | {gap}"
        lines.append(f"| {label} | {figures} | {line['model_bytes'] / 1e3:,.0f} kB |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
