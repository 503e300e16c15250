"""How long a new process takes to its first fit, and to show a model: `python -m benchmarks.startup`.

Every line is a process of its own, ours and scikit-learn's by turns; processor seconds of the whole process, imports
included, as medians. `--first-ever` gives each fit an empty cache of compiled loops, counts these, and names the loops
that were compiled for more than one set of types.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

DATA = """
import numpy as np
rng = np.random.default_rng(0)
X, codes, y = rng.normal(size=(1000, 10)), rng.integers(0, 5, (1000, 10)), rng.integers(0, 3, 1000)
"""

DROP_INS = {"GaussianNB": "X", "CategoricalNB": "codes", "MultinomialNB": "codes", "BernoulliNB": "codes"}
"""Classifiers of scikit-learn's names, and what they learn here."""

MODELS = ("naive", "full", "aode", "tree", "svm", "evidence")

TABLE = """
from likely import api
from likely.teaching.mails import mails
columns = mails()
kinds = columns.pop("kind")
"""

COUNT = """
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event): pass
    def on_end(self, event):
        loop = event.data["dispatcher"]
        if loop.__module__.startswith("likely"):
            seen.append(loop.__name__ + str(event.data["args"]))
seen = []
event.register("numba:compile", Listener())
"""

END = """
import json, time
print(json.dumps({"seconds": time.process_time(), "compiled": globals().get("seen", [])}))
"""


def fit(name: str, home: str = "likely") -> str:
    """A program that fits one classifier."""
    if name in DROP_INS:
        return f"{DATA}from {home}.naive_bayes import {name}\n{name}().fit({DROP_INS[name]}, y)\n"
    return f"{TABLE}api.new_classifier({name!r}, {{}}).fit(columns, kinds)\n"


def measured(program: str, **environment: str) -> dict[str, object]:
    """Run a program in a process of its own; its processor seconds, and the loops that it had to compile."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program + END], capture_output=True, text=True, check=True, env=usual | environment
    )
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def by_turns(programs: dict[str, str], turns: int) -> dict[str, float]:
    """Median processor seconds of some programs; one turn before is not counted, it fills caches."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(turns + 1):
        for name, program in programs.items():
            found = measured(program)["seconds"]
            if turn:
                seconds[name].append(float(str(found)))
    return {name: median(own) for name, own in seconds.items()}


def warm(turns: int) -> None:
    """The first fit of a process whose loops have been compiled before."""
    print(f"{'first fit in a new process':30} {'likely':>8} {'sklearn':>8} {'ratio':>6}")
    for name in DROP_INS:
        found = by_turns({"likely": fit(name), "sklearn": fit(name, "sklearn")}, turns)
        print(f"{name:30} {found['likely']:8.2f} {found['sklearn']:8.2f} {found['likely'] / found['sklearn']:6.2f}")
    for name in MODELS:
        print(f"{name:30} {by_turns({name: fit(name)}, turns)[name]:8.2f}")
    parts = {
        "import sklearn.base": "import sklearn.base\n",
        "import numba": "import numba\n",
        "import likely": "import likely\n",
    }
    for what, seconds in by_turns(parts, turns).items():
        print(f"{what:30} {seconds:8.2f}")


def shown(turns: int) -> None:
    """Showing a model in a file, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        programs = {}
        for name in MODELS:
            path = str(Path(folder, f"{name}.likely"))
            measured(f"{fit(name).rstrip()}.save({path!r})\n")
            programs[name] = f"from likely.cli.run import run\nassert run(['show', {path!r}]) == 0\n"
        print(f"\n{'likely show':30} {'likely':>8}")
        for name, seconds in by_turns(programs, turns).items():
            print(f"{name:30} {seconds:8.2f}")


def first_ever() -> None:
    """The first fit on a machine: everything is compiled."""
    print(f"\n{'first fit, nothing compiled':30} {'seconds':>8} {'loops':>6}  more than one set of types")
    for name in (*DROP_INS, *MODELS):
        with tempfile.TemporaryDirectory() as folder:
            found = measured(COUNT + fit(name), NUMBA_CACHE_DIR=folder)
        compiled = [str(each) for each in found["compiled"]] if isinstance(found["compiled"], list) else []
        loops = [each.partition("(")[0] for each in compiled]
        twice = sorted({f"{loop} ×{loops.count(loop)}" for loop in loops if loops.count(loop) > 1})
        print(f"{name:30} {float(str(found['seconds'])):8.2f} {len(loops):6}  {', '.join(twice)}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--first-ever", action="store_true", help="also compile everything anew; takes minutes")
    options = parser.parse_args()
    warm(options.turns)
    shown(options.turns)
    if options.first_ever:
        first_ever()


if __name__ == "__main__":
    main()
