"""Links between pages lead somewhere, headings included; pictures are there; nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import pages

REPO = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def anchors(text: str) -> set[str]:
    """What can stand after `#` in a link to this page, as GitHub and the site name headings."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = 0
        while (slug if not number else f"{slug}-{number}") in found:
            number += 1
        found.add(slug if not number else f"{slug}-{number}")
    return found


def broken(page: Path) -> list[str]:
    """Relative links of a page that lead nowhere."""
    text, lost = page.read_text(), []
    for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if ELSEWHERE.match(target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and (there.suffix != ".md" or anchor not in anchors(there.read_text()))):
            lost.append(target)
    return lost


@pytest.mark.parametrize("page", pages(REPO), ids=lambda page: str(page.relative_to(REPO)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_pictures_lie_in_the_repository() -> None:
    for page in pages(REPO):
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", FENCE.sub("", page.read_text())):
            assert not ELSEWHERE.match(target), f"{page.name} fetches {target}"


def test_every_picture_is_shown_somewhere() -> None:
    shown = "".join(page.read_text() for page in pages(REPO))
    for picture in (REPO / "docs" / "pictures").glob("*.svg"):
        assert f"pictures/{picture.name}" in shown, picture.name


def test_lost_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `title`, and more\n\n## Twice\n\n## Twice\n")
    page = tmp_path / "page.md"
    good = "[a](other.md#a-title-and-more) [b](other.md#twice-1) [c](#here) [d](https://example.org/#x)"
    page.write_text(f"# Here\n{good}\n\n```text\n[no](link.md)\n```\n`[no](code.md)`\n")
    assert broken(page) == []
    page.write_text("# Here\n[a](other.md#gone) [b](gone.md) [c](#there) ![d](none.svg)\n")
    assert broken(page) == ["other.md#gone", "gone.md", "#there", "none.svg"]
