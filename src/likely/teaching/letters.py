"""Letters A to Z, drawn as 28 × 28 images with the fonts at hand: a data set for demonstrations."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np

from likely.arrays import AnyArray, UInt8
from likely.errors import MissingExtra, SettingsError, to_install
from likely.models.settings import whole

SIDE = 28
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:/Windows/Fonts",
    "~/.fonts",
    "~/.local/share/fonts",
)
USUAL = ("dejavu", "liberation", "freesans", "freeserif", "freemono", "arial", "times", "georgia", "verdana", "courier")
"""Beginnings of the names of fonts that have plain letters; others, as those for display, may have signs only."""


def draw_letters(
    n: int, letters: Sequence[str] = tuple(string.ascii_uppercase), *, seed: int = 0
) -> tuple[UInt8, AnyArray]:
    """So many images (n × 28 × 28, white on black) and their letters: turned, moved and sized a little at random."""
    whole("n", n, 1)
    if not letters:
        raise SettingsError("There is no letter to draw: give at least one.")
    image, draw, font = _pillow()
    rng = np.random.default_rng(whole("seed", seed, 0))
    labels = np.array(list(letters))[rng.integers(0, len(letters), n)]
    fonts, drawn = fonts_at_hand(), np.zeros((n, SIDE, SIDE), dtype=np.uint8)
    for place, letter in enumerate(labels.tolist()):
        size, angle = int(rng.integers(17, 25)), float(rng.uniform(-12.0, 12.0))
        name = fonts[int(rng.integers(0, len(fonts)))] if fonts else None
        face = font.load_default(size) if name is None else _face(name, size)
        sheet = image.new("L", (2 * SIDE, 2 * SIDE))
        draw.Draw(sheet).text((SIDE, SIDE), letter, fill=255, font=face, anchor="mm")
        left, top = (int(k) for k in SIDE // 2 + rng.integers(-2, 3, 2))
        drawn[place] = np.asarray(sheet.rotate(angle).crop((left, top, left + SIDE, top + SIDE)))
    return drawn, labels


@cache
def fonts_at_hand() -> tuple[str, ...]:
    """Files of fonts with plain letters, in a fixed order; Pillow's own font is taken if there are none."""
    found: set[Path] = set()
    for folder in FOLDERS:
        found |= set(Path(folder).expanduser().rglob("*.[to]tf"))
    library = find_spec("matplotlib")
    if library is not None and library.origin is not None:
        found |= set(Path(library.origin).parent.glob("mpl-data/fonts/ttf/DejaVu*.ttf"))
    by_name = {path.name.lower(): str(path) for path in sorted(found)}
    return tuple(path for name, path in sorted(by_name.items()) if name.startswith(USUAL) and "display" not in name)


@cache
def _face(path: str, size: int) -> object:
    return _pillow()[2].truetype(path, size)


def _pillow() -> tuple[ModuleType, ModuleType, ModuleType]:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingExtra(f"Letters are drawn with Pillow: {to_install('deep')}.") from None
    return Image, ImageDraw, ImageFont
