"""How well tables are classified: `python benchmarks/quality.py [FOLDER]` over made tables and those of a folder.

Repeated stratified folds, the same for every classifier; times are processor time, with one thread for each, after
libraries and compiled kernels are loaded. Results are kept fold by fold under build/quality, so that a run can be
stopped and taken up again; `--again NAME` measures one classifier anew. Writes benchmarks/quality.md and
benchmarks/quality.json. The tables of the folder (CSV, gzipped, with `index.json`) are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LIKELY_THREADS")
os.environ |= dict.fromkeys(ONE_THREAD, "1")

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.quality_generated import GENERATED, Generated  # noqa: E402
from benchmarks.quality_peers import PEERS, Classifier, installed  # noqa: E402
from benchmarks.quality_report import headlines, report  # noqa: E402
from benchmarks.quality_tables import N_FOLDS, Entry, entries, folds  # noqa: E402

KEPT = HERE.parent / "build" / "quality"
OURS = "likely"
LEAST = 1e-15
START, END = "<!-- quality: start -->", "<!-- quality: end -->"


def main() -> None:
    """Measure what is not measured yet, then write the report."""
    wishes = argparse.ArgumentParser(description=__doc__)
    wishes.add_argument("folder", type=Path, nargs="?", help="tables beside those that are made")
    wishes.add_argument("--tables", nargs="*", help="only these tables")
    wishes.add_argument("--models", nargs="*", help=f"only these classifiers: {OURS}, {', '.join(PEERS)}")
    wishes.add_argument("--cap", type=int, help="at most so many rows of a table")
    wishes.add_argument("--folds", type=int, default=N_FOLDS, help=f"only the first of {N_FOLDS} folds")
    wishes.add_argument("--repeats", type=int, default=1)
    wishes.add_argument("--again", nargs="*", default=[], help="measure these anew")
    wishes.add_argument("--out", type=Path, default=HERE / "quality.md")
    wishes.add_argument("--readme", action="store_true", help="put the overview into README.md")
    given = wishes.parse_args()
    models = given.models or [OURS, *installed()]
    tables: list[Entry | Generated] = [*(entries(given.folder) if given.folder else []), *GENERATED]
    tables = sorted((t for t in tables if given.tables is None or t.name in given.tables), key=lambda t: t.rows)
    results: dict[str, dict[str, list[dict[str, float]]]] = {t.name: {model: [] for model in models} for t in tables}
    for repeat in range(given.repeats):
        for fold in range(given.folds):
            for table in tables:
                for model, found in measured(table, models, given.cap, repeat, fold, given.again).items():
                    results[table.name][model].append(found)
    sizes = {table.name: min(table.rows, given.cap or table.rows) for table in tables}
    text = report(results, sizes, models)
    print(text)
    given.out.write_text(text)
    given.out.with_suffix(".json").write_text(json.dumps(results, indent=1))
    if given.readme:
        readme = HERE.parent / "README.md"
        before, rest = readme.read_text().split(START)
        readme.write_text(f"{before}{START}\n{headlines(results, sizes, models)}\n{rest[rest.index(END) :]}")


def measured(
    table: Entry | Generated, models: list[str], cap: int | None, repeat: int, fold: int, again: list[str]
) -> dict[str, dict[str, float]]:
    """One fold of a table by every classifier; what is kept is not run again."""
    cut = cap if cap and cap < table.rows else "all"
    names = {model: f"{table.name}-{cut}-{repeat}-{fold}-{model}.json" for model in models}
    places = {model: KEPT / name.replace(" ", "_").replace(",", "") for model, name in names.items()}
    wanted = [model for model in models if model in again or not places[model].exists()]
    if wanted:
        KEPT.mkdir(parents=True, exist_ok=True)
        X, y = table.read()
        train, test = list(folds(y, repeat, cap))[fold]
        for model in wanted:
            _load(model)
            found = _run(model, X.iloc[train], y[train], X.iloc[test], y[test])
            places[model].write_text(json.dumps(found))
    return {model: json.loads(place.read_text()) for model, place in places.items()}


@cache
def _load(model: str) -> None:
    """Fit a made table of each size first, so that imports and compiled kernels are not part of anybody's time."""
    for name, n_rows in (("tails", 500), ("parity", 2500)):
        X, y = next(table for table in GENERATED if table.name == name).read()
        _run(model, X[:n_rows], y[:n_rows], X[n_rows : n_rows + 50], y[n_rows : n_rows + 50])


def _run(model: str, X: Any, y: NDArray[Any], X_test: Any, y_test: NDArray[Any]) -> dict[str, float]:
    X, X_test = X.reset_index(drop=True), X_test.reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            fitted = _made(model, X).fit(X, y)
        except ValueError:  # early stopping refuses a class of one row
            if "early" not in model:
                raise
            fitted = _made("boosting", X).fit(X, y)
        middle = time.process_time()
        shares = np.asarray(fitted.predict_proba(X_test), dtype=np.float64)
        end = time.process_time()
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
    return {
        "error": float((shares.argmax(axis=1) != truth).mean()),
        "log_loss": float(-np.log(given).mean()),
        "ece": _calibration_error(shares.max(axis=1), shares.argmax(axis=1) == truth),
    }


def _calibration_error(claimed: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error of the predicted class, in ten bins of equal width."""
    places = np.minimum((claimed * 10).astype(int), 9)
    gaps = [abs(claimed[places == k].sum() - right[places == k].sum()) for k in range(10)]
    return float(sum(gaps) / len(claimed))


if __name__ == "__main__":
    main()
