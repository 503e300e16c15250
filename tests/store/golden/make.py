"""Made the golden file of format 1 and its predictions. A new format gets a new pair; old ones are never made again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from likely import BayesClassifier, FullBayesClassifier, MEstimate
from likely.text import Tokenizer

HERE = Path(__file__).resolve().parent


def rows() -> dict[str, list[object]]:
    """Twenty-four rows with everything: numbers, counts, categories, text, gaps."""
    k = np.arange(24)
    return {
        "number": [None if n % 7 == 3 else float(np.round(np.sin(n) * 3 + n % 3, 6)) for n in k],
        "size": [float(np.round(1.0 + np.cos(n * 1.7) ** 2 + n % 3, 6)) for n in k],
        "visits": [int(n % 5 + n % 3) for n in k],
        "town": [["Ulm", "Köln", None, "Bonn"][n % 4] for n in k],
        "member": [bool(n % 3 == 1) for n in k],
        "note": [["to be or not", "not to be", "or to see the sea"][n % 3] + " ☂" * int(n % 2) for n in k],
    }


def labels() -> list[str]:
    """Three classes."""
    return [["a", "b", "c"][n % 3] for n in range(24)]


def classifiers() -> dict[str, BayesClassifier | FullBayesClassifier]:
    """One of each kind that a file may hold."""
    kinds = {"note": "text", "town": "nominal"}
    naive = BayesClassifier(
        schema=kinds,
        families={"visits": "poisson", "size": "lognormal", "note": "complement"},
        smoothing={"town": MEstimate(2, p={"Ulm": 0.5, "Köln": 0.25, "Bonn": 0.25})},
        text={"note": Tokenizer(ngram_range=(1, 2), emoji=True)},
        missing="value",
    )
    return {"naive": naive, "full": FullBayesClassifier(schema={**kinds, "note": "ignored"}, covariance="shrunk")}


if __name__ == "__main__":
    for name, clf in classifiers().items():
        clf.fit(rows(), labels()).save(HERE / f"format-1-{name}.likely")
        expected = clf.predict_log_proba(rows()).tolist()
        (HERE / f"format-1-{name}.json").write_text(json.dumps(expected))
