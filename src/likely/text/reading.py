"""The settings that both transformers share, as a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from likely.text.documents import Block
from likely.text.linguistics import GUESS, with_language
from likely.text.recipe import Recipe
from likely.text.stopwords import stop_words

SHARED = ("analyzer", "ngram_range", "lowercase", "normalize", "strip_accents", "min_chars", "cjk", "emoji", "urls",
          "numbers", "reduce", "language")  # fmt: skip


def recipe_of(counter: Any, blocks: Sequence[Block]) -> Recipe:
    """A transformer's recipe: checked, with its language guessed and its stop words found."""
    recipe = with_language(Recipe(**{name: getattr(counter, name) for name in SHARED}), blocks)
    wanted = counter.stop_words
    if wanted is None:
        return recipe
    if isinstance(wanted, str):
        wanted = stop_words(recipe.language or GUESS if wanted == GUESS else wanted)
    return replace(recipe, stop_words=wanted)
