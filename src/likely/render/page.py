"""The one page: a shell that opens offline, in light and in dark, and what stands in a notebook."""

from __future__ import annotations

from likely.markup import Markup, joined, tag

STYLE = Markup(
    ".likely{--for:#0072b2;--against:#d55e00;--rule:rgba(128,128,128,.4);font:14px/1.45 system-ui,sans-serif}"
    ".likely table{border-collapse:collapse;margin:.5rem 0 1.2rem;font-variant-numeric:tabular-nums}"
    ".likely caption{text-align:left;font-weight:600;padding-bottom:.2rem}"
    ".likely th,.likely td{padding:.15rem .7rem;text-align:right;white-space:nowrap}"
    ".likely tr{border-bottom:1px solid var(--rule)}"
    ".likely tbody th{font-weight:inherit}"
    ".likely tr>:first-child,.likely .left{text-align:left;white-space:normal}"
    ".likely .total{border-top:2px solid var(--rule);font-weight:600}"
    ".likely .chosen{background:rgba(0,158,115,.2);font-weight:600}"
    ".likely .close>:first-child:after{content:' ≈'}"
    ".likely .bar{display:inline-block;height:.7em;vertical-align:middle;background:var(--for)}"
    ".likely .left-half,.likely .right-half{display:inline-block;width:7em;text-align:right}"
    ".likely .left-half .bar{background:var(--against)}"
    ".likely .right-half{text-align:left;border-left:1px solid var(--rule)}"
    ".likely figure{margin:0;overflow-x:auto}.likely svg{max-width:100%;height:auto;background:#fff}"
    "@media(prefers-color-scheme:dark){.likely{--for:#56b4e9;--against:#e69f00}}"
)
"""Bars are blue and vermilion, told apart by readers of every kind of colour vision, and paler where it is dark."""

_SHELL = Markup(
    ":root{color-scheme:light dark}body{background:#fff;color:#222;max-width:70rem;margin:1.5rem auto;padding:0 1rem}"
    "h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1rem 0 .2rem}"
    "@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}}"
)


def fragment(*parts: object) -> Markup:
    """What a notebook shows, with its own style."""
    return tag("div", tag("style", STYLE), *parts, class_="likely")


def page(title: str, *parts: object) -> Markup:
    """A page of its own around fragments; it needs nothing else."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", title),
        tag("style", _SHELL),
    )
    return joined(Markup("<!DOCTYPE html>\n"), tag("html", head, tag("body", *parts), lang="en"), "\n")


def paragraphs(lines: list[str]) -> Markup:
    """A paragraph for each line."""
    return joined(*(tag("p", line) for line in lines))


def more(n: int, what: str) -> Markup | None:
    """How much is not shown; nothing if that is nothing."""
    return tag("p", f"… and {n:,} more {what}") if n > 0 else None
