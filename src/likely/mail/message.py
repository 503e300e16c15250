"""One message as a row of texts: what people read, who sent it, where its links lead, and how it is built.

MIME is taken apart by the standard library. Mail comes from strangers: whatever cannot be decoded is read as well as it
can be, and the work on one message is bounded.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from html.parser import HTMLParser
from urllib.parse import urlsplit

COLUMNS = ("subject", "body", "sender", "links", "structure")
"""The columns of a row, all of them texts."""

OWN_HEADER = "X-Likely"
MOST_PARTS = 100
MOST_TEXT = 400_000
MOST_HTML = 1_000_000
MOST_LINKS = 200
MOST_STATIONS = 60
SHORT = 2
"""Letters of a word that is often written in capitals."""
_LETTERS = re.compile(r"\w+(?:['’]\w+)?|[$€£!]+")
_LINK = re.compile(r"https?://[^\s<>\"')\]]{1,500}", re.IGNORECASE)
_SILENT = frozenset({"script", "style", "head", "title"})
_WORD = re.compile(r"[^\s\"<>,;()\[\]]+")


def row_of(raw: bytes) -> dict[str, str]:
    """The row of a message.

    >>> row = row_of(b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\\nFrom: Ann <ann@example.org>\\n\\nsee https://a.example/x\\n")
    >>> row["subject"], row["links"]
    ('grüße', 'host_a_example domain_example')
    """
    message = message_from_bytes(raw)
    texts, links, marks = list[str](), dict[str, None](), list[str]()
    for number, part in enumerate(message.walk()):
        if number >= MOST_PARTS:
            marks.append("parts_many")
            break
        _read_part(part, texts, links, marks)
    body = "\n".join(texts)[:MOST_TEXT]
    for found in _LINK.findall(body)[:MOST_LINKS]:
        links.setdefault(found)
    return {
        "subject": words(_header(message, "Subject")),
        "body": words(body),
        "sender": " ".join(
            [
                *_address(message, "From"),
                *_address(message, "Reply-To", "reply_"),
                *_address(message, "Return-Path", "path_"),
            ]
        ),
        "links": " ".join(token for link in list(links)[:MOST_LINKS] for token in _host_tokens(link)),
        "structure": " ".join([*marks, *_structure(message)]),
    }


def words(text: str) -> str:
    """The words of a text, each once: how often a word is repeated tells less than that it is there.

    A word in capitals is there in both ways of writing.

    >>> words("free FREE offer")
    'free offer caps_free'
    """
    found = _LETTERS.findall(text)
    plain = dict.fromkeys(word.lower() for word in found)
    shouted = dict.fromkeys(f"caps_{word.lower()}" for word in found if len(word) > SHORT and word.isupper())
    return " ".join([*plain, *shouted])


def _read_part(part: Message, texts: list[str], links: dict[str, None], marks: list[str]) -> None:
    kind = part.get_content_type()
    marks.append(f"type_{_plain(kind)}")
    if part.is_multipart():
        return
    name = part.get_filename()
    if name is not None:
        marks.append(f"file_{_plain(str(name).rpartition('.')[2])[:10]}")
    if kind not in ("text/plain", "text/html") or (name is not None and kind != "text/html"):
        return
    charset = part.get_content_charset() or "utf-8"
    marks.append(f"charset_{_plain(charset)}")
    text = _decoded(part, charset)
    if kind == "text/html":
        seen = _Html()
        seen.read(text[:MOST_HTML])
        texts.append(" ".join(seen.texts))
        links.update(dict.fromkeys(seen.links[:MOST_LINKS]))
        marks.extend(sorted(seen.marks))
    else:
        texts.append(text)


def _decoded(part: Message, charset: str) -> str:
    try:
        content = part.get_payload(decode=True)
    except (NotBase64, ValueError, AssertionError):
        content = str(part.get_payload()).encode("utf-8", "replace")
    raw = content if isinstance(content, bytes) else b""
    try:
        return raw.decode(charset, "replace")
    except (LookupError, ValueError):  # a charset that nobody knows
        return raw.decode("latin-1")


class _Html(HTMLParser):
    """The words that a reader sees, where links lead, and a few habits of those who write such pages."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.links: list[str] = []
        self.marks: set[str] = set()
        self._silent = 0

    def read(self, text: str) -> None:
        try:
            self.feed(text)
            self.close()
        except (AssertionError, ValueError):  # markup that no parser takes: what came before it is kept
            self.marks.add("html_broken")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        for name, value in attrs:
            if name in ("href", "src", "action", "background") and value:
                self.links.append(value)
        if tag in ("img", "form", "iframe", "script", "font", "table", "base", "input"):
            self.marks.add(f"html_{tag}")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent and data.strip():
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.marks.add("html_comment")


def _header(message: Message, name: str) -> str:
    """A header as people read it."""
    found = message.get(name)
    if found is None:
        return ""
    text = str(found)
    try:
        parts = decode_header(text)
    except (HeaderParseError, MessageError, ValueError):
        return text
    return " ".join("".join(_header_part(content, charset) for content, charset in parts).split())


def _header_part(content: bytes | str, charset: str | None) -> str:
    if isinstance(content, str):
        return content
    try:
        return content.decode(charset or "latin-1", "replace")
    except (LookupError, ValueError):
        return content.decode("latin-1")


def _address(message: Message, name: str, before: str = "") -> list[str]:
    """Words of an address: names as they are, domains from the right."""
    tokens = []
    for word in _WORD.findall(_header(message, name))[:50]:
        user, mark, domain = word.partition("@")
        if not mark:
            tokens.append(before + _plain(word))
            continue
        tokens.append(f"{before}user_{_plain(user)}")
        tokens += [f"{before}{token}" for token in _domains(domain)]
    return tokens


def _host_tokens(link: str) -> list[str]:
    try:
        parts = urlsplit(link.strip())
        host = parts.hostname
    except ValueError:
        return ["link_broken"]
    if not host:
        return [f"link_{_plain(parts.scheme)[:10]}"] if parts.scheme else []
    tokens = [f"host_{_plain(host)}", *_domains(host)[-1:]]
    if re.fullmatch(r"[0-9.]+", host):
        tokens.append("host_numeric")
    if parts.username is not None:
        tokens.append("link_user")
    return tokens


def _domains(host: str) -> list[str]:
    """The host and every domain above it.

    >>> _domains("a.b.example")
    ['domain_a_b_example', 'domain_b_example', 'domain_example']
    """
    labels = [label for label in host.lower().split(".") if label][-5:]
    return [f"domain_{_plain('.'.join(labels[k:]))}" for k in range(len(labels))]


_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_STRUCTURAL = ("X-Mailer", "User-Agent", "Precedence", "X-Priority", "Importance", "MIME-Version", "List-Id")


def _structure(message: Message) -> list[str]:
    """Which headers there are, how many stations the mail passed, and what program wrote it."""
    names = [
        f"has_{_plain(name)}"
        for name in dict.fromkeys(key.lower() for key in message)
        if not name.startswith("x-likely")
    ]
    found = [f"{_plain(name)}_{_plain(word)}" for name in _STRUCTURAL for word in _header(message, name).split()[:4]]
    hosts = [host.lower() for text in (message.get_all("Received") or [])[:20] for host in _HOST.findall(str(text))]
    via = dict.fromkeys(f"via_{token}" for host in dict.fromkeys(hosts) for token in _domains(host)[-2:])
    return [
        *names[:60],
        *found,
        *list(via)[:MOST_STATIONS],
        f"stations_{min(len(message.get_all('Received') or []), 9)}",
    ]


def _plain(text: str) -> str:
    """One word for a tokenizer: letters, digits and underscores."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:60]
