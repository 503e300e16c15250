"""`likely demo blackboard`: twelve patients, three new ones, and every number behind their posteriors."""

from __future__ import annotations

from likely import BayesClassifier, Loss, evaluate
from likely.teaching import datasets
from likely.teaching.datasets import Columns

NEW_PATIENTS: Columns = {
    "sex": ["male", "female", None],
    "age": [61, 30, 45],
    "blood_pressure": ["normal", "normal", "very high"],
}

COSTS = {"A": {"A": 0.0, "B": 4.0}, "B": {"A": 1.0, "B": 0.0}}
"""What a decision (first) costs if the truth (second) is otherwise: giving drug A in vain is the dear mistake."""


def main() -> None:
    """Print the whole way from a table to a decision."""
    table = datasets.patients()
    drug = table.pop("drug")
    clf = BayesClassifier(smoothing=0).fit(table, drug)

    print("Twelve patients, two drugs. What each column was taken for:\n")
    print(clf.schema_)

    print("\nThree new patients (the last has a missing value and one that was never seen):\n")
    loss = Loss(COSTS, refuse=0.6)
    found = zip(clf.predict(NEW_PATIENTS), clf.predict_proba(NEW_PATIENTS), clf.decide(NEW_PATIENTS, loss), strict=True)
    for row, (label, shares, decision) in enumerate(found):
        cells = ", ".join(str(column[row]) if column[row] is not None else "—" for column in NEW_PATIENTS.values())
        chances = ", ".join(f"P({name}) = {share:.3f}" for name, share in zip(clf.classes_, shares, strict=True))
        print(f"  {cells:<18} {chances}; likeliest {label}, cheapest {decision}")
    print("\n  (A in vain costs 4, B in vain 1, refusing to decide 0.6.)")

    print("\nThe first posterior, factor by factor (no smoothing, as on a blackboard):\n")
    first = {name: cells[:1] for name, cells in NEW_PATIENTS.items()}
    print("  " + str(clf.explain(first)).replace("\n", "\n  "))

    print("\nA text shows which words counted:\n")
    mails = datasets.dwarfs()
    filtered = BayesClassifier().fit(mails["text"], mails["label"])
    words = filtered.explain(["Sieben Zwerge fraßen sieben Wölfe"]).tokens()
    print("  " + words.round(3).to_string(index=False).replace("\n", "\n  "))

    print("\nEvaluated honestly: each patient is judged by a model that has not seen it\n(Laplace smoothing):\n")
    report = evaluate(BayesClassifier(), table, drug, cv="loo")
    print("  " + str(report).replace("\n", "\n  "))
