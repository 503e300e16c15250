"""The one page: a shell that opens offline, in light and in dark, and what stands in a notebook."""

from __future__ import annotations

from likely.markup import Markup, joined, tag
from likely.render import theme

STYLE = Markup(
    theme.variables(".likely") + ".likely{--rule:rgba(128,128,128,.4);font:var(--step-0)/1.5 var(--sans)}"
    ".likely table{border-collapse:collapse;margin:.5rem 0 1.2rem;font-variant-numeric:tabular-nums}"
    ".likely caption{text-align:left;font:600 var(--step-1)/1.3 var(--serif);padding-bottom:.3rem}"
    ".likely thead th{opacity:.8;font-weight:600;font-size:var(--step--1)}"
    ".likely th,.likely td{padding:.2rem .7rem;text-align:right;white-space:nowrap}"
    ".likely tr{border-bottom:1px solid var(--rule)}"
    ".likely tbody th{font-weight:inherit}"
    ".likely tr>:first-child,.likely .left{text-align:left;white-space:normal}"
    ".likely .total{border-top:2px solid var(--edge);font-weight:600}"
    ".likely .chosen{box-shadow:inset 0 -.5em 0 -.1em color-mix(in srgb,var(--accent) 45%,transparent);font-weight:600}"
    ".likely .close>:first-child:after{content:' ≈'}"
    ".likely .bar{display:inline-block;height:.7em;vertical-align:middle;background:var(--for)}"
    ".likely .left-half,.likely .right-half{display:inline-block;width:7em;text-align:right}"
    ".likely .left-half .bar{background:var(--against)}"
    ".likely .right-half{text-align:left;border-left:1px solid var(--edge)}"
    ".likely figure{margin:0;overflow-x:auto}.likely svg{max-width:100%;height:auto;background:var(--card)}"
)
"""What stands in notebooks and pages. Letters keep the colour around them: a notebook may be light on a dark desk."""

_SHELL = Markup(
    theme.variables(":root") + ":root{color-scheme:light dark}"
    "body{background:var(--paper);color:var(--ink);font:var(--step-0)/1.5 var(--sans);max-width:70rem;"
    "margin:2rem auto;padding:0 1rem}"
    "h1{font:600 var(--step-3)/1.2 var(--serif)}h1:after{content:'';display:block;width:3.5rem;height:.3rem;"
    "margin-top:.4rem;background:var(--accent)}"
    "h2{font:600 var(--step-1)/1.3 var(--serif);margin:1.2rem 0 .2rem}"
    "a{color:inherit;text-decoration:underline .15em var(--accent);text-underline-offset:.2em}"
    "@media print{body{margin:0;max-width:none;background:#fff}table,figure{break-inside:avoid}}"
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
