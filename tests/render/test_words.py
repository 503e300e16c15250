"""Texts with their telling words marked."""

from __future__ import annotations

import re

import pytest

from likely import BayesClassifier, SettingsError
from likely.render.page import marked_text
from likely.teaching import datasets


def marks(html: str) -> dict[str, str]:
    return {word: title for title, word in re.findall(r'<mark [^>]*title="([^"]*)">([^<]*)</mark>', html)}


def test_words_are_marked_by_what_they_say() -> None:
    html = marked_text("Win <money> now, or lose.", {"win": 2.0, "money": -1.0, "now": 0.001, "else": 3.0})
    assert marks(html) == {"Win": "+2.00", "money": "-1.00"}
    assert "&lt;<mark" in html and html.endswith("or lose.")
    assert "var(--for) 60%" in html and "var(--against) 30%" in html


def test_several_words_and_stems_are_found() -> None:
    assert marks(marked_text("not good", {"not good": 2.0})) == {"not": "+1.00", "good": "+1.00"}
    assert marks(marked_text("Meetings today", {"meet": 1.0})) == {"Meetings": "+1.00"}
    assert marks(marked_text("am I", {"a": 1.0})) == {}, "a short word is no stem"
    assert marks(marked_text("win win", {"win": 2.0})) == {"win": "+1.00"}, "both together say it"


def test_an_explanation_highlights_its_text() -> None:
    mails = datasets.dwarfs()
    clf = BayesClassifier().fit(mails["text"], mails["label"])
    why = clf.explain(mails["text"][:1])
    assert "fraßen" in marks(why.highlight())
    assert marks(why._repr_html_()) == marks(why.highlight())
    with pytest.raises(SettingsError, match="'body'"):
        why.highlight(column="body")
