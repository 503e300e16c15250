"""How well tables are classified: `python benchmarks/quality.py FOLDER` over every table in a folder.

Repeated stratified folds, the same for every classifier. Results are kept fold by fold under build/quality, so that a
run can be stopped and taken up again; `--again NAME` measures one classifier anew. Writes benchmarks/quality.md and
benchmarks/quality.json. The tables (CSV, gzipped, with `index.json`) are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.quality_peers import PEERS, Classifier, installed  # noqa: E402
from benchmarks.quality_report import headlines, report  # noqa: E402
from benchmarks.quality_tables import Entry, entries, folds  # noqa: E402

KEPT = HERE.parent / "build" / "quality"
OURS = "likely"
LEAST = 1e-15
START, END = "<!-- quality: start -->", "<!-- quality: end -->"


def main() -> None:
    """Measure what is not measured yet, then write the report."""
    wishes = argparse.ArgumentParser(description=__doc__)
    wishes.add_argument("folder", type=Path)
    wishes.add_argument("--tables", nargs="*", help="only these tables")
    wishes.add_argument("--models", nargs="*", help=f"only these classifiers: {OURS}, {', '.join(PEERS)}")
    wishes.add_argument("--cap", type=int, help="at most so many rows of a table")
    wishes.add_argument("--repeats", type=int, default=1)
    wishes.add_argument("--again", nargs="*", default=[], help="measure these anew")
    wishes.add_argument("--out", type=Path, default=HERE / "quality.md")
    wishes.add_argument("--readme", action="store_true", help="put the overview into README.md")
    given = wishes.parse_args()
    models = given.models or [OURS, *installed()]
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for entry in entries(given.folder, given.tables):
        results[entry.name] = measured(entry, models, given.cap, given.repeats, given.again)
    sizes = {entry.name: min(entry.rows, given.cap or entry.rows) for entry in entries(given.folder, given.tables)}
    text = report(results, sizes, models)
    print(text)
    given.out.write_text(text)
    given.out.with_suffix(".json").write_text(json.dumps(results, indent=1))
    if given.readme:
        readme = HERE.parent / "README.md"
        before, rest = readme.read_text().split(START)
        readme.write_text(f"{before}{START}\n{headlines(results, models)}\n{rest[rest.index(END) :]}")


def measured(
    entry: Entry, models: list[str], cap: int | None, repeats: int, again: list[str]
) -> dict[str, list[dict[str, float]]]:
    """Every fold of one table by every classifier; what is kept is not run again."""
    X, y = entry.read()
    found: dict[str, list[dict[str, float]]] = {model: [] for model in models}
    for repeat in range(repeats):
        for fold, (train, test) in enumerate(folds(y, repeat, cap)):
            for model in models:
                name = f"{entry.name}-{cap if cap and cap < entry.rows else 'all'}-{repeat}-{fold}-{model}.json"
                place = KEPT / name.replace(" ", "_").replace(",", "")
                if model in again or not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(json.dumps(_run(model, X.iloc[train], y[train], X.iloc[test], y[test])))
                found[model].append(json.loads(place.read_text()))
    return found


def _run(model: str, X: Any, y: NDArray[Any], X_test: Any, y_test: NDArray[Any]) -> dict[str, float]:
    X, X_test = X.reset_index(drop=True), X_test.reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        try:
            fitted = _made(model, X).fit(X, y)
        except ValueError:  # early stopping refuses a class of one row
            if "early" not in model:
                raise
            fitted = _made("boosting", X).fit(X, y)
        middle = time.perf_counter()
        shares = np.asarray(fitted.predict_proba(X_test), dtype=np.float64)
        end = time.perf_counter()
    return scores(shares, fitted.classes_, y_test) | {"fit": middle - start, "predict": end - middle}


def _made(model: str, X: Any) -> Classifier:
    if model == OURS:
        from likely import EvidenceClassifier

        return EvidenceClassifier()
    return PEERS[model][0](X)


def scores(shares: NDArray[np.float64], classes: NDArray[Any], y: NDArray[Any]) -> dict[str, float]:
    """Error over all rows; log loss over those whose class was there to be learned."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    truth = np.array([place.get(label, -1) for label in y.tolist()])
    known = truth >= 0
    given = np.clip(shares[known, truth[known]], LEAST, None)
    return {"error": float((shares.argmax(axis=1) != truth).mean()), "log_loss": float(-np.log(given).mean())}


if __name__ == "__main__":
    main()
