"""Run the benchmarks: `make bench`, or `python benchmarks/run.py --only gaussian --scale 0.1`.

Writes benchmarks/results.json (with machine and versions) and benchmarks/results.md; `--readme` also puts the
table into README.md between its two markers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks import (  # noqa: E402
    cases_beyond,
    cases_evaluation,
    cases_files,
    cases_full_bayes,
    cases_naive_bayes,
    cases_peers,
    cases_svm,
    cases_tables,
    cases_text,
    cases_tree_peers,
    cases_trees,
)
from benchmarks.measure import Result, measure  # noqa: E402

GROUPS = {
    "gaussian": cases_naive_bayes.gaussian,
    "categorical": cases_naive_bayes.categorical,
    "multinomial": cases_naive_bayes.multinomial,
    "full-bayes": cases_full_bayes.full_bayes,
    "beyond": cases_beyond.beyond,
    "evaluation": cases_evaluation.evaluation,
    "text": cases_text.text,
    "mixed": cases_tables.mixed,
    "trees": cases_trees.trees,
    "processes": cases_tables.processes,
    "files": cases_files.files,
    "svm": cases_svm.svm,
    "peers": cases_peers.peers,
    "tree-peers": cases_tree_peers.tree_peers,
}
START, END = "<!-- benchmarks: start -->", "<!-- benchmarks: end -->"
RESULTS = HERE / "results.json"


def main() -> None:
    """Measure the chosen groups and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", choices=GROUPS, nargs="*", default=list(GROUPS), help="groups to run (none: only write)"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows (0.01 for a quick look)")
    parser.add_argument("--repeats", type=int, default=9, help="runs of ours; the median counts")
    parser.add_argument("--readme", action="store_true", help="put the table into README.md")
    arguments = parser.parse_args()
    measured = earlier()
    for group in arguments.only:
        measured[group] = []
        for case in GROUPS[group](arguments.scale):
            measured[group].append(measure(case, arguments.repeats))
            print(line(measured[group][-1]), flush=True)
    facts = machine()
    rows = {
        group: [asdict(result) | {"ratio": result.ratio} for result in results] for group, results in measured.items()
    }
    RESULTS.write_text(json.dumps({"machine": facts, "scale": arguments.scale, "groups": rows}, indent=1) + "\n")
    lines = [line(result) for group in GROUPS for result in measured.get(group, [])]
    table = "\n".join([*HEAD, *lines, "", described(facts)]) + "\n"
    RESULTS.with_suffix(".md").write_text(f"# Speed and memory\n\nMade by `make bench`.\n\n{table}")
    if arguments.readme:
        readme = HERE.parent / "README.md"
        before, rest = readme.read_text().split(START)
        told = [line(result) for result in headlines(measured)]
        short = "\n".join([*HEAD, *told, "", described(facts)]) + "\n"
        readme.write_text(f"{before}{START}\n{short}{rest[rest.index(END) :]}")


HEADLINES = (
    ("gaussian", "GaussianNB fit", "scikit-learn"),
    ("gaussian", "GaussianNB predict_proba", "scikit-learn"),
    ("categorical", "CategoricalNB fit", "scikit-learn"),
    ("multinomial", "MultinomialNB fit", "scikit-learn"),
    ("mixed", "BayesClassifier fit", ""),
    ("mixed", "BayesClassifier predict_proba", ""),
    ("text", "raw text to model", "CountVectorizer"),
    ("text", "raw text to predictions", "CountVectorizer"),
    ("files", "train_file", "DuckDB"),
    ("full-bayes", "FullBayesClassifier fit", "QDA"),
    ("full-bayes", "FullBayesClassifier predict_proba", "QDA"),
    ("trees", "TreeClassifier fit", "scikit-learn"),
    ("trees", "TreeClassifier predict,", "scikit-learn"),
    ("svm", "SVMClassifier fit", "SVC"),
    ("svm", "SVMClassifier predict", "SVC"),
    ("evaluation", "evaluate, 10 folds", "cross_val_predict"),
    ("evaluation", "evaluate, leave-one-out", "one predict"),
    ("processes", "GaussianNB first fit", "scikit-learn"),
)
"""What the README shows: group, beginning of the line, peer. All lines are in benchmarks/results.md."""


def headlines(measured: dict[str, list[Result]]) -> list[Result]:
    """One or two lines of each kind of work, hits and misses: the first of those that begin so."""
    found = []
    for group, beginning, peer in HEADLINES:
        fitting = [r for r in measured.get(group, []) if r.name.startswith(beginning) and peer in r.peer_name]
        found += fitting[:1]
    return found


def earlier() -> dict[str, list[Result]]:
    """What was measured before, by group: a run of some groups keeps the others."""
    if not RESULTS.exists():
        return {}
    groups = json.loads(RESULTS.read_text())["groups"]
    names = [field.name for field in fields(Result)]
    return {
        group: [Result(**{name: row.get(name) for name in names}) for row in rows] for group, rows in groups.items()
    }


HEAD = ["| work | likely | peer | times as fast | peak memory | asked for |", "|---|---:|---:|---:|---:|---:|"]


def line(result: Result) -> str:
    """One row of the Markdown table."""
    peer = "—" if result.peer_s is None else f"{seconds(result.peer_s)}"
    own = seconds(result.ours_s)
    if result.megabytes is not None:
        own += f" ({result.megabytes / result.ours_s:.0f} MB/s)"
    ratio = "—" if result.ratio is None else f"**{result.ratio:.{1 if result.ratio >= 1 else 2}f}×**"
    memory = "" if result.ours_mib is None else f"{result.ours_mib:,.0f} MiB"
    memory += "" if result.peer_mib is None else f" ({result.peer_mib:,.0f})"
    limit = "" if result.limit is None else f"{result.limit:g}×"
    return f"| {result.name} | {own} | {peer} {result.peer_name} | {ratio} | {memory} | {limit} |"


def seconds(value: float) -> str:
    """Three digits and a unit."""
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def machine() -> dict[str, object]:
    """What the figures depend on."""
    packages = ("likely", "numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow")
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def described(facts: object) -> str:
    """The machine in one line."""
    assert isinstance(facts, dict)
    versions = ", ".join(f"{name} {facts[name]}" for name in ("python", "scikit-learn", "numpy", "numba", "pandas"))
    return f"Medians on {facts['cores']} cores; memory beyond the data, the peer's in brackets; {versions}."


if __name__ == "__main__":
    main()
