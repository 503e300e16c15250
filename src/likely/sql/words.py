"""Texts cut into words by an engine: the words that `Tokenizer` finds, or a refusal that names the option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely.engines.token_tables import COMPOSES, foreign_option, word_class
from likely.errors import SettingsError, listed
from likely.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from likely.sql.nodes import Node, Nodes

SPLITS = ("duckdb", "postgres", "spark", "databricks")
"""Dialects in which texts can be cut."""


def split_words(nodes: Nodes, text: Node, tokenizer: Tokenizer, name: str) -> Node:
    """A row for each word of a text, in lower case and composed as the tokenizer has it.

    Words that are too short, or are stop words, are in no vocabulary and so need not be left out here.
    """
    engine, exp = nodes.dialect.name, nodes.exp
    if engine not in SPLITS:
        raise SettingsError(
            f"Column {name!r} is free text, which {engine} is not taught to cut into words here: write the query for "
            f"{listed(SPLITS)}, or predict with likely."
        )
    option = foreign_option(tokenizer)
    if option is not None:
        raise SettingsError(
            f"Words of column {name!r} are found by {option[0]}={option[1]!r}, which SQL does not have: fit with "
            "tokens as they are usually, or predict with likely."
        )
    if tokenizer.normalize is not None and engine in COMPOSES:
        text = nodes.call(COMPOSES[engine], text)
    if tokenizer.lowercase:
        text = exp.Lower(this=text)
    between = exp.Literal.string(f"[^{word_class()}]+")
    if engine == "postgres":
        return exp.Explode(this=nodes.call("regexp_split_to_array", text, between))
    return exp.Explode(this=exp.RegexpSplit(this=text, expression=between))
