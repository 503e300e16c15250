"""Tables of results: set by set, geometric means of ratios, mean ranks, times."""

from __future__ import annotations

import numpy as np

Results = dict[str, dict[str, list[dict[str, float]]]]

BASE = "boosting"
AGAINST = (BASE, "boosting, early stop", "CatBoost")
SOFT = 0.005
LARGE = 2000
NAMES = {
    "likely": "**likely: EvidenceClassifier**",
    "boosting": "HistGradientBoosting, 100 iterations",
    "boosting, early stop": "HistGradientBoosting, early stopping",
    "logistic": "logistic regression",
    "textbook Bayes": "naive Bayes, Gaussian and categorical",
    "ten bins": "naive Bayes, ten bins",
    "CatBoost": "CatBoost, 500 rounds",
    "EBM": "explainable boosting machine",
}


def mean(results: Results, table: str, model: str, figure: str) -> float:
    """Mean of a figure over the folds of a table; the median of times, because machines are noisy."""
    middle = np.median if figure in ("fit", "predict") else np.mean
    return float(middle([fold[figure] for fold in results[table][model]]))


def ratio(results: Results, tables: list[str], model: str, base: str, figure: str) -> float:
    """Geometric mean of (x + 0.005)/(base + 0.005) over the tables; of plain ratios for times."""
    soft = 0.0 if figure in ("fit", "predict") else SOFT
    logs = [
        np.log((mean(results, table, model, figure) + soft) / (mean(results, table, base, figure) + soft))
        for table in tables
    ]
    return float(np.exp(np.mean(logs)))


def ranks(results: Results, tables: list[str], models: list[str], figure: str) -> dict[str, float]:
    """Mean rank of each model, 1 for the best."""
    from scipy.stats import rankdata

    places = [rankdata([mean(results, table, model, figure) for model in models]) for table in tables]
    return dict(zip(models, np.mean(places, axis=0), strict=True))


def report(results: Results, sizes: dict[str, int], models: list[str]) -> str:
    """The whole report in Markdown."""
    lines = ["# How well tables are classified", ""]
    for figure in ("log_loss", "error"):
        lines += [f"## {figure.replace('_', ' ')}, table by table", "", *_by_table(results, sizes, models, figure), ""]
    for name, group in _groups(sizes).items():
        lines += [f"## {name} ({len(group)})", "", *_overview(results, group, models), ""]
    return "\n".join(lines)


def _groups(sizes: dict[str, int]) -> dict[str, list[str]]:
    groups = {
        "all tables": list(sizes),
        f"below {LARGE:,} rows": [table for table, rows in sizes.items() if rows < LARGE],
        f"from {LARGE:,} rows up": [table for table, rows in sizes.items() if rows >= LARGE],
    }
    return {name: group for name, group in groups.items() if group}


def _by_table(results: Results, sizes: dict[str, int], models: list[str], figure: str) -> list[str]:
    lines = [f"| table | rows | {' | '.join(models)} |", f"|---|---:{'|---:' * len(models)}|"]
    for table in results:
        cells = [f"{mean(results, table, model, figure):.4f}" for model in models]
        lines.append(f"| {table} | {sizes[table]:,} | {' | '.join(cells)} |")
    return lines


def _overview(results: Results, tables: list[str], models: list[str]) -> list[str]:
    bases = [base for base in AGAINST if base in models]
    heads = [f"{figure} / {base}" for base in bases for figure in ("log loss", "error")]
    heads += ["mean ECE", "rank, log loss", "rank, error", "time to fit", "slowest fit", "time to predict"]
    lines = [f"| classifier | {' | '.join(heads)} |", f"|---{'|---:' * len(heads)}|"]
    by_loss, by_error = (ranks(results, tables, models, figure) for figure in ("log_loss", "error"))
    for model in models:
        cells = [ratio(results, tables, model, base, figure) for base in bases for figure in ("log_loss", "error")]
        cells += [float(np.mean([mean(results, table, model, "ece") for table in tables]))]
        cells += [by_loss[model], by_error[model]]
        if BASE in models:
            fits = [mean(results, table, model, "fit") / mean(results, table, BASE, "fit") for table in tables]
            cells += [ratio(results, tables, model, BASE, "fit"), max(fits)]
            cells.append(ratio(results, tables, model, BASE, "predict"))
        lines.append(f"| {model} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    return lines


def headlines(results: Results, sizes: dict[str, int], models: list[str]) -> str:
    """The few lines for the README: log loss and error of small and of large tables, rank, calibration and times."""
    groups = _groups(sizes)
    tables = groups.pop("all tables")
    by_loss = ranks(results, tables, models, "log_loss")
    heads = [f"{figure}, {name}" for name in groups for figure in ("log loss", "error")]
    heads = ["classifier", *heads, "mean rank in log loss", "mean calibration error", "time to fit", "time to predict"]
    lines = [f"| {' | '.join(heads)} |", f"|---{'|---:' * (len(heads) - 1)}|"]
    for model in models:
        cells = [
            ratio(results, group, model, BASE, figure) for group in groups.values() for figure in ("log_loss", "error")
        ]
        calibration = float(np.mean([mean(results, table, model, "ece") for table in tables]))
        times = [ratio(results, tables, model, BASE, figure) for figure in ("fit", "predict")]
        shown = [*(f"{cell:.2f}" for cell in [*cells, by_loss[model]]), f"{calibration:.3f}"]
        lines.append(f"| {NAMES.get(model, model)} | {' | '.join([*shown, *(f'{each:.2f}' for each in times)])} |")
    sizes_of = " and ".join(f"{len(group)} {name}" for name, group in groups.items())
    n_folds = max(len(folds) for by_model in results.values() for folds in by_model.values())
    note = (
        f"{len(tables)} tables ({sizes_of}), {n_folds} folds; log loss, error and processor time (one thread "
        "each) as geometric means relative to HistGradientBoosting with 100 iterations."
    )
    return "\n".join([*lines, "", note])
