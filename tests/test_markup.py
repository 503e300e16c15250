"""Elements: whatever comes from data is escaped, once."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from likely.markup import Markup, joined, tag


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


@given(st.text(), st.text())
def test_no_text_becomes_an_element(text: str, title: str) -> None:
    read = Reader(tag("p", text, title=title))
    assert read.elements == [("p", {"title": title})]
    assert read.words == text


def test_elements_are_nested_and_not_escaped_twice() -> None:
    inner = tag("b", "a & b")
    assert tag("p", inner, " < ", 3) == "<p><b>a &amp; b</b> &lt; 3</p>"
    assert joined(inner, None, "<") == "<b>a &amp; b</b>&lt;"
    assert isinstance(joined(), Markup)


def test_text_that_was_glued_to_markup_is_text_again() -> None:
    assert tag("p", tag("b", "x") + "<script>") == "<p>&lt;b&gt;x&lt;/b&gt;&lt;script&gt;</p>"


def test_attributes() -> None:
    assert tag("text", "x", class_="a", font_size=12, id=None) == '<text class="a" font-size="12">x</text>'
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
