"""Draws the pictures of docs/explanation.md: run it again after a change to `likely.render`."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_iris

from likely import BayesClassifier, FullBayesClassifier, render
from likely.explain.conditionals import conditionals
from likely.teaching import datasets

HERE = Path(__file__).parent
PATIENT = {"sex": ["male"], "age": [61], "blood_pressure": ["normal"]}
PETALS = ("petal length (cm)", "petal width (cm)")


def main() -> None:
    """Twelve patients for the rows, the irises for the plane."""
    table = datasets.patients()
    clf = BayesClassifier().fit(table, table.pop("drug"))
    why = clf.explain(PATIENT)
    why.plot().save(HERE / "bars.svg")
    why.plot("odds", contrast=("B", "A")).save(HERE / "odds.svg")
    clf.nomogram("A").plot({name: cells[0] for name, cells in PATIENT.items()}).save(HERE / "nomogram.svg")
    conditionals(clf).save(HERE / "conditionals.svg")

    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    naive, full = BayesClassifier().fit(iris.data, species), FullBayesClassifier().fit(iris.data, species)
    render.regions({"Naive Bayes": naive, "Full Bayes": full}, iris.data, species, PETALS).save(HERE / "regions.svg")
    render.ranking(naive.rank(iris.data)).save(HERE / "ranking.svg")


if __name__ == "__main__":
    main()
