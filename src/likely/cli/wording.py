"""Errors speak of parameters, as in Python; here they speak of options."""

from __future__ import annotations

import re

_PAIR = re.compile(r"\b(schema|types)=\{(['\"])(.*?)\2: '(\w+)'\}")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\bheader=False\b"), "--no-header"),
    (re.compile(r"\bheader=True\b"), "--header"),
    (re.compile(r"\bmultiline=True\b"), "--multiline"),
    (re.compile(r"\bquote=''"), "--quote none"),
    (re.compile(r"\b(names|columns|keep)=\[…\]"), r"--\1 a,b,c"),
    (re.compile(r"\b(encoding|truth)='([\w-]+)'"), r"--\1 \2"),
    (re.compile(r"\b(escape|decimal|delimiter|quote)='(.*?)'"), r"--\1 '\2'"),
    (
        re.compile(r"\b(rejects|na|skip|encoding|delimiter|quote|decimal|columns|names|keep|target)=(?=[\s.,;:)]|$)"),
        r"--\1",
    ),
    (re.compile(r" \(--type \S+ in open_table\)"), ""),
    (re.compile(r"\bfolder=, or (?=the variable TMPDIR)"), ""),
)


def in_options(message: str) -> str:
    """The message with `rejects=` as `--rejects`, `schema={'zip': 'nominal'}` as `--kind zip=nominal`."""

    def pair(found: re.Match[str]) -> str:
        option = "--kind" if found[1] == "schema" else "--type"
        text = f"{found[3]}={found[4]}"
        return f"{option} {text}" if re.fullmatch(r"[\w=.-]+", text) else f"{option} '{text}'"

    message = _PAIR.sub(pair, message)
    for pattern, words in _RULES:
        message = pattern.sub(words, message)
    return " ".join(message.split())
