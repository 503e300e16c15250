"""Draws posterior.svg: one patient's prior and evidence, which add up to his posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from likely import BayesClassifier
from likely.teaching import datasets

FOR, AGAINST, INK, LINE = "#0072B2", "#E69F00", "#333333", "#BBBBBB"
LEFT, MIDDLE, SCALE, STEP, BAR = 180, 460, 100, 34, 18


def main() -> None:
    """Learn the patients, explain one, draw it."""
    table = datasets.patients()
    drug = table.pop("drug")
    clf = BayesClassifier(priors={"A": 0.6, "B": 0.4}).fit(table, drug)
    patient = {"sex": ["female"], "age": [61], "blood_pressure": ["high"]}
    why = clf.explain(patient)
    evidence = why.contributions[0, :, 0] - why.contributions[0, :, 1]
    odds = np.concatenate([[np.log(why.prior[0] / why.prior[1])], evidence])
    cells = zip(why.columns, why.cells[0], strict=True)
    names = ["prior 60 : 40", *(f"{name.replace('_', ' ')} = {cell}" for name, cell in cells)]
    lines = [*zip(names, odds, strict=True), ("together", odds.sum())]
    body = [bar(place, name, value) for place, (name, value) in enumerate(lines)]
    height = 92 + STEP * len(lines)
    share = why.posterior[0, 0]
    foot = text(MIDDLE, height - 16, f"P(drug A | this patient) = {share:.2f}", "middle", weight="bold")
    head = text(MIDDLE - 8, 26, "← evidence for drug B", "end", AGAINST)
    head += text(MIDDLE + 8, 26, "evidence for drug A →", "start", FOR)
    axis = f'<line x1="{MIDDLE}" y1="38" x2="{MIDDLE}" y2="{height - 44}" stroke="{LINE}"/>'
    style = 'font-family="system-ui, sans-serif" font-size="14"'
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" {style}>'
    picture += f'<rect width="720" height="{height}" fill="white"/>{axis}{head}{"".join(body)}{foot}</svg>\n'
    Path(__file__).with_suffix(".svg").write_text(picture)


def bar(place: int, name: str, value: float) -> str:
    """One factor: its name, a bar to the side it speaks for, and the odds it multiplies."""
    y = 46 + STEP * place
    width = abs(value) * SCALE
    start = MIDDLE if value >= 0 else MIDDLE - width
    odds = np.exp(abs(value))
    side = ("A", "start", MIDDLE + width + 6) if value >= 0 else ("B", "end", MIDDLE - width - 6)
    label = text(LEFT, y + 14, name, "end", weight="bold" if name == "together" else "normal")
    colour = FOR if value >= 0 else AGAINST
    shape = f'<rect x="{start:.1f}" y="{y}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}"/>'
    note = "says nothing" if abs(value) < 1e-9 else f"{odds:.2g} : 1 for {side[0]}"
    return label + shape + text(side[2], y + 14, note, side[1])


def text(x: float, y: float, words: str, anchor: str, colour: str = INK, weight: str = "normal") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">{words}</text>'


if __name__ == "__main__":
    main()
