"""The one look: enough contrast in light and in dark, and no colour written down anywhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import likely
from likely.render.theme import DARK, LIGHT, ColourScheme, variables

HEX = re.compile(r'"#[0-9A-Fa-f]{6}"')


def luminance(colour: str) -> float:
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_stand_out_from_their_ground(scheme: ColourScheme) -> None:
    for ground in (scheme.paper, scheme.card, scheme.shade):
        for text in (scheme.ink, scheme.muted, scheme.good, scheme.bad):
            assert contrast(text, ground) >= 4.5, (text, ground)
        assert contrast(scheme.edge, ground) >= 3.0, ground
    assert contrast(scheme.on_accent, scheme.accent) >= 7.0


def test_every_class_has_another_colour() -> None:
    assert len(set(LIGHT.classes)) == len(set(DARK.classes)) == len(LIGHT.classes) == len(DARK.classes)
    assert LIGHT.accent not in LIGHT.classes


def test_variables_are_there_for_both_lights() -> None:
    written = variables(":root")
    assert written.count("--ink:") == 3 and "prefers-color-scheme:dark" in written
    assert all(f"--class-{k}:{colour};" in written for k, colour in enumerate(LIGHT.classes))


def test_no_other_module_writes_colours_down() -> None:
    source = Path(likely.__file__).parent
    own = source / "render" / "theme.py"
    found = {p.relative_to(source): HEX.findall(p.read_text("utf-8")) for p in source.rglob("*.py") if p != own}
    allowed = {"#FFFFFF"}
    assert not {str(path): hits for path, hits in found.items() if {hit.strip('"') for hit in hits} - allowed}
