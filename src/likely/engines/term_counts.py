"""How an engine counts words: split, unnest, count; the same words as in memory, or a refusal that says why not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cache

import numpy as np
import scipy

from likely.engines.group_by import Grouping
from likely.engines.relation import Expression, Relation, builtin, ibis_module
from likely.errors import DataError, SettingsError
from likely.stats import FeatureCounts, TokenCounts
from likely.text.tokenizer import Tokenizer
from likely.text.unicode import CONTEXT_LETTERS, N_CODES
from likely.text.vocabulary import Words

PLAIN = Tokenizer(normalize="NFC")
COUNTED_THERE = ("lowercase", "normalize", "min_chars", "stop_words")
"""Options that engines can follow; all others must be as they usually are."""

SURROGATES = range(0xD800, 0xE000)

DISTINCT = {"duckdb": "list_distinct", "pyspark": "array_distinct"}
"""Engines whose own function is better than what Ibis writes."""

COMPOSES = {"duckdb": "nfc_normalize", "postgres": "normalize"}
"""Engines that compose accents, and what their function is called."""


def token_counts(grouping: Grouping, name: str, tokenizer: Tokenizer) -> list[TokenCounts]:
    """Words of a text column by class, and the texts that hold each; by fold."""
    refuse_tokenizer(grouping.relation, name, tokenizer)
    refuse_letters(grouping.relation, name, tokenizer)
    text = _composed(grouping.relation, grouping.relation.table[name], tokenizer)
    if tokenizer.lowercase:
        text = text.lower()
    words = text.re_split(f"[^{word_class()}]+")
    counted = [_counted(grouping, some, tokenizer) for some in (words, _distinct(grouping.relation, words))]
    known = grouping.project({"x": grouping.relation.table[name]})
    texts = grouping.sums(known, [lambda table: grouping.weight_of(table, table.x)])[..., 0]
    found = sorted(set(counted[0][2]))
    place = {word: k for k, word in enumerate(found)}
    order = Words.of(found)
    out = []
    for fold in range(grouping.n_folds):
        tables = [_table(grouping, some, place, fold) for some in counted]
        out.append(TokenCounts._kept(tokenizer, order, tables[0], tables[1], texts[fold]))
    return out


def _counted(
    grouping: Grouping, words: Expression, tokenizer: Tokenizer
) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
    table = grouping.project({"t": words.unnest()})
    table = table.filter(table.t.length() >= tokenizer.min_chars)
    if tokenizer.stop_words:
        table = table.filter(~table.t.isin(sorted(tokenizer.stop_words)))
    found = grouping.relation.run(table.group_by([*grouping.keys, "t"]).aggregate(n=grouping.weight_of(table)))
    fold, y = grouping.places(found)
    return fold, y, found.column("t").to_pylist(), found.column("n").cast("float64").to_numpy()


def _table(
    grouping: Grouping, counted: tuple[np.ndarray, np.ndarray, list[str], np.ndarray], place: dict[str, int], fold: int
) -> FeatureCounts:
    folds, y, words, n = counted
    own = folds == fold
    columns = np.fromiter((place[word] for word in words), np.int32, len(words))
    shape = (grouping.n_classes, len(place))
    held = scipy.sparse.csr_array((n[own], (y[own], columns[own])), shape=shape)
    held.sort_indices()
    return FeatureCounts._of(held)


def _composed(relation: Relation, text: Expression, tokenizer: Tokenizer) -> Expression:
    if tokenizer.normalize is None or relation.engine not in COMPOSES:
        return text
    return builtin(COMPOSES[relation.engine], "string", "string")(text)


def _distinct(relation: Relation, words: Expression) -> Expression:
    """Each word of a text once."""
    if relation.engine not in DISTINCT:
        return words.unique()
    return builtin(DISTINCT[relation.engine], "array<string>", "array<string>")(words)


# What an engine would read otherwise.


def refuse_tokenizer(relation: Relation, name: str, tokenizer: Tokenizer) -> None:
    """Raise for an option of the tokeniser that engines do not know."""
    option = foreign_option(tokenizer)
    if option is not None:
        raise SettingsError(
            f"Words of column {name!r} are counted in {relation.engine}, which has no {option[0]}={option[1]!r}: leave "
            "it as it is usually, or fetch the rows and count them in memory."
        )


def foreign_option(tokenizer: Tokenizer) -> tuple[str, object] | None:
    """An option that engines cannot follow, and what it is; None if they find the same words."""
    for option in (field.name for field in fields(Tokenizer)):
        if option not in COUNTED_THERE and getattr(tokenizer, option) != getattr(PLAIN, option):
            return option, getattr(tokenizer, option)
    return None


def refuse_letters(relation: Relation, name: str, tokenizer: Tokenizer) -> None:
    """Raise where a text holds letters whose lower case or accents the engine sees otherwise than Python does."""
    suspect: dict[str, frozenset[str]] = {}
    if tokenizer.lowercase:
        suspect["lowercase"] = _strange_capitals(relation)
    if tokenizer.normalize is not None and relation.engine not in COMPOSES:
        suspect["normalize"] = _not_composed()
    for option, letters in suspect.items():
        if not letters:
            continue
        table, text = relation.table, relation.table[name]
        held = table.filter(text.re_search(f"[{_ranges(letters)}]")).select(x=text).limit(1)
        found = relation.run(held)
        if found.num_rows:
            letter = next((c for c in found.column("x")[0].as_py() if c in letters), "?")
            raise DataError(
                f"{relation.name}: column {name!r} holds {letter!r} (U+{ord(letter):04X}), which {relation.engine} "
                f"reads otherwise than Python does; set {option}={'False' if option == 'lowercase' else None} in the "
                "tokenizer, or fetch the rows and count them in memory."
            )


def _strange_capitals(relation: Relation) -> frozenset[str]:
    """Letters whose lower case is another one in the engine: it is asked for all of them at once."""
    letters = _capitals()
    literal = ibis_module().literal(" ".join(letters), "string").as_table()
    text = literal[literal.columns[0]]
    found = relation.run(literal.select(x=text.lower())).column("x")[0].as_py().split(" ")
    if len(found) != len(letters):
        return frozenset(letters) | set(CONTEXT_LETTERS)
    strange = {letter for letter, low in zip(letters, found, strict=True) if letter.lower() != low}
    return frozenset(strange) | set(CONTEXT_LETTERS)


@cache
def _capitals() -> tuple[str, ...]:
    """All letters that have a lower case, but for those whose lower case depends on where they stand."""
    letters = (chr(code) for code in range(N_CODES) if code not in SURROGATES)
    return tuple(letter for letter in letters if letter.lower() != letter and letter not in CONTEXT_LETTERS)


@cache
def _not_composed() -> frozenset[str]:
    """Characters that are not composed, or may compose with the one before."""
    from likely.text.unicode import _maybe_not_composed

    marks = np.flatnonzero(_maybe_not_composed())
    return frozenset(chr(code) for code in marks if int(code) not in SURROGATES)


@cache
def word_class() -> str:
    """All characters of words as a class of a regular expression, so that no engine's idea of a word matters."""
    every = "".join(chr(code) for code in range(N_CODES) if code not in SURROGATES)
    return _ranges("".join(re.findall(r"\w+", every)))


def _ranges(characters: Iterable[str]) -> str:
    """Characters as ranges, each end as it is; none of them is one that a class of characters gives a meaning to."""
    codes = np.array(sorted({ord(character) for character in characters}))
    starts = np.flatnonzero(np.diff(codes, prepend=-2) > 1)
    ends = np.append(starts[1:] - 1, len(codes) - 1)
    return "".join(
        chr(codes[a]) if a == b else f"{chr(codes[a])}-{chr(codes[b])}" for a, b in zip(starts, ends, strict=True)
    )
