"""Elements of HTML and SVG. Whatever is not markup already is escaped, so a name from data stays a name."""

from __future__ import annotations

from html import escape

VOID = frozenset({"br", "meta"})
"""Elements that have no end."""


class Markup(str):
    """Text that is HTML or SVG already, and goes into a page as it is; any other text is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element. `class_` is written class, `font_size` font-size; attributes and children that are None are left out.

    >>> tag("p", "a < b", tag("br"), title='"x"')
    '<p title="&quot;x&quot;">a &lt; b<br></p>'
    """
    kept = [(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None]
    start = "".join([f"<{name}", *(f' {key}="{escape(str(value))}"' for key, value in kept), ">"])
    return Markup(start if name in VOID else f"{start}{joined(*children)}</{name}>")


def joined(*parts: object) -> Markup:
    """Parts one after the other; those that are None are left out."""
    shown = [part for part in parts if part is not None]
    return Markup("".join(part if isinstance(part, Markup) else escape(str(part)) for part in shown))
