"""`make demo`: learn twelve patients, predict two more, show why, and say how good it is."""

from __future__ import annotations

import numpy as np

from likely import BayesClassifier, datasets
from likely.datasets import Columns

NEW_PATIENTS: Columns = {
    "sex": ["male", "female", None],
    "age": [61, 30, 45],
    "blood_pressure": ["normal", "normal", "very high"],
}


def main() -> None:
    """Print the whole way from a table to a decision."""
    table = datasets.patients()
    drug = table.pop("drug")
    clf = BayesClassifier(smoothing=0).fit(table, drug)

    print("Twelve patients, two drugs. What each column was taken for:\n")
    print(clf.schema_)

    print("\nThree new patients (the last with a gap and with a value never seen):\n")
    for row, (label, shares) in enumerate(zip(clf.predict(NEW_PATIENTS), clf.predict_proba(NEW_PATIENTS), strict=True)):
        cells = ", ".join(str(column[row]) if column[row] is not None else "—" for column in NEW_PATIENTS.values())
        chances = ", ".join(f"P({name}) = {share:.3f}" for name, share in zip(clf.classes_, shares, strict=True))
        print(f"  {cells:<28} → {label}   {chances}")

    print("\nThe first posterior, factor by factor (no smoothing, as on a blackboard):\n")
    first = {name: cells[:1] for name, cells in NEW_PATIENTS.items()}
    print("  " + str(clf.explain(first)).replace("\n", "\n  "))

    print("\nAn honest first evaluation: each patient judged by a model that has forgotten him (Laplace smoothing):\n")
    right, log_loss = leave_one_out(BayesClassifier().fit(table, drug), table, drug)
    print(f"  {right} of {len(drug)} right, log loss {log_loss:.3f} (guessing by halves: {np.log(2):.3f})")


def leave_one_out(clf: BayesClassifier, table: Columns, labels: list[object]) -> tuple[int, float]:
    """Right answers and mean log loss when each row is forgotten, judged, and learned again."""
    right, loss = 0, 0.0
    for row, label in enumerate(labels):
        held_out = {name: [cells[row]] for name, cells in table.items()}
        clf.forget(held_out, [label])
        right += int(clf.predict(held_out)[0] == label)
        loss -= float(clf.predict_log_proba(held_out)[0, list(clf.classes_).index(label)])
        clf.partial_fit(held_out, [label])
    return right, loss / len(labels)


if __name__ == "__main__":
    main()
