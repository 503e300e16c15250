"""The one look: ink on paper, marked with marigold. Pages, the studio and pictures take their colours from here.

Classes have the colours of Okabe and Ito, which readers of every kind of colour vision can tell apart; what speaks for
a class is blue, what speaks against it vermilion. The accent is a highlighter's yellow, which no class has: it marks
where the reader is, never what the data say. Every text has a contrast of at least 4.5 to 1 with its ground.
"""

from __future__ import annotations

from dataclasses import dataclass

from likely.markup import Markup

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"

CLASSES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Okabe and Ito's palette without its yellow, which is too pale for a line on white."""

CLASSES_IN_THE_DARK = ("#56B4E9", "#F0803C", "#2BC59A", "#DE9CC0", "#F2B93B", "#9AD4F5", "#E6E3DA")
"""The same hues in the same order, lighter: each stands out from a dark ground."""

FOR, AGAINST = BLUE, VERMILION

MARIGOLD = "#FFC629"
INK, MUTED, FAINT, RULE = "#1B1F2A", "#555B66", "#BBBBBB", "#888888"
ON_CELL, ON_DARK_CELL = "#1C1F2A", "#FEFEFE"
"""Ink on a shaded cell of a picture, which stays as it is where the page around it is dark."""

SHADE, GRID, PAPER = "#F2F1EC", "#E8E6DF", "#FFFFFF"

SANS = 'ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif'
SERIF = '"Iowan Old Style","Palatino Linotype",Palatino,Charter,Georgia,"Noto Serif","DejaVu Serif",serif'
MONO = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'


@dataclass(frozen=True, slots=True)
class ColourScheme:
    """Colours by what they are for, of one kind of light."""

    paper: str
    """Behind everything."""
    card: str
    """Behind what belongs together."""
    shade: str
    """Behind what lies still deeper: heads of tables, tracks of bars."""
    ink: str
    muted: str
    rule: str
    """Lines between things."""
    edge: str
    """Lines around what can be used."""
    accent: str
    on_accent: str
    good: str
    bad: str
    towards: str
    """What speaks for a class; `against` speaks against it."""
    against: str
    classes: tuple[str, ...]

    def variables(self) -> str:
        """As variables of CSS: --paper, --ink, …, and --class-0, --class-1, …"""
        plain = {
            "paper": self.paper, "card": self.card, "shade": self.shade, "ink": self.ink, "muted": self.muted,
            "rule": self.rule, "edge": self.edge, "accent": self.accent, "on-accent": self.on_accent,
            "good": self.good, "bad": self.bad, "for": self.towards, "against": self.against,
        }  # fmt: skip
        coloured = {f"class-{k}": colour for k, colour in enumerate(self.classes)}
        return "".join(f"--{name}:{colour};" for name, colour in (plain | coloured).items())


LIGHT = ColourScheme(
    paper="#FAF9F5", card=PAPER, shade=SHADE, ink=INK, muted=MUTED, rule="#DDDAD0", edge="#8A8779",
    accent=MARIGOLD, on_accent=INK, good="#00714F", bad="#B03A00", towards=FOR, against=AGAINST, classes=CLASSES,
)  # fmt: skip

DARK = ColourScheme(
    paper="#14171F", card="#1C202A", shade="#262B37", ink="#ECEAE3", muted="#A7ACB8", rule="#343A48", edge="#7C8494",
    accent=MARIGOLD, on_accent=INK, good="#2BC59A", bad="#F58B4C", towards="#56B4E9", against="#F0803C",
    classes=CLASSES_IN_THE_DARK,
)  # fmt: skip

_SIZES = (
    "--step--1:.8125rem;--step-0:.9375rem;--step-1:1.125rem;--step-2:1.375rem;--step-3:1.8rem;--step-4:2.4rem;"
    "--space-1:.25rem;--space-2:.5rem;--space-3:.75rem;--space-4:1rem;--space-5:1.5rem;--space-6:2.5rem;--round:.5rem;"
    f"--sans:{SANS};--serif:{SERIF};--mono:{MONO};"
)
"""A scale of letters (each step about a fifth larger), one of spaces, one radius, three faces."""


def variables(selector: str) -> Markup:
    """The look as variables of CSS: for light, for readers who like it dark, and as [data-theme] says otherwise."""
    return Markup(
        f"{selector}{{{LIGHT.variables()}{_SIZES}}}"
        f"@media screen and (prefers-color-scheme:dark){{{selector}:not([data-theme=light]){{{DARK.variables()}}}}}"
        f"@media screen{{{selector}[data-theme=dark]{{{DARK.variables()}}}}}"
    )
