"""Messages as rows: MIME, HTML, charsets, senders and links; and whatever a stranger may send."""

from __future__ import annotations

import base64
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.mail.message import COLUMNS, MOST_PARTS, MOST_TEXT, row_of


def test_what_people_read() -> None:
    message = EmailMessage()
    message["Subject"] = "Grüße aus Köln"
    message["From"] = "Ann Lee <ann@mail.example.org>"
    message["Reply-To"] = "other@evil.example"
    message.set_content("Hallo, siehe https://shop.example/kauf?x=1 bald")
    message.add_alternative(
        "<p>Hallo <b>Welt</b><style>p{}</style><a href='http://10.0.0.1/x'>hier</a></p>", subtype="html"
    )
    message.add_attachment(b"MZ", maintype="application", subtype="octet-stream", filename="rechnung.exe")
    row = row_of(message.as_bytes())
    assert tuple(row) == COLUMNS
    assert row["subject"] == "grüße aus köln"
    body = set(row["body"].split())
    assert {"hallo", "siehe", "welt", "hier"} <= body and not {"p", "mz"} & body
    assert {"ann", "user_ann", "domain_mail_example_org", "domain_org", "reply_domain_evil_example"} <= set(
        row["sender"].split()
    )
    assert {"host_shop_example", "host_10_0_0_1", "host_numeric"} <= set(row["links"].split())
    assert {"file_exe", "type_text_html", "charset_utf_8"} <= set(row["structure"].split())


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "koi8-r", "utf-16", "x-unknown", "nonsense\0"])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit", "x-unknown"])
def test_charsets_and_encodings_known_or_not(charset: str, encoding: str) -> None:
    text = "plain words"
    content = base64.b64encode(text.encode()) if encoding == "base64" else text.encode()
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n".encode()
    row = row_of(head + content)
    if charset in ("utf-8", "latin-1", "x-unknown"):
        assert "plain words" in row["body"]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\n", b"no headers at all", b"Subject: \xff\xfe\n\nx", b"Subject: =?x?q?=\n\n",
        b"Subject: =?utf-8?b?!!!?=\n\n",
        b"Content-Type: multipart/mixed\n\nx", b"Content-Type: multipart/mixed; boundary=\n\n--\n",
        b"Content-Type: text/html\n\n<![x", b"Content-Type: text/html\n\n<!-- <p " + b"<" * 5000,
        b"Content-Transfer-Encoding: base64\n\n\xff\xff=", b"From: <<@@>>,,;\n\n", b"From: a@[::1\n\nhttp://[::1/x http://a:b@c",
        b"Content-Type: ;;;=\n\n", b"Content-Type: text/plain; charset*=x''y\n\nz", b"\0" * 100, b"Received: x\n" * 500,
    ],
)  # fmt: skip
def test_broken_mail_is_read_as_well_as_it_can_be(raw: bytes) -> None:
    assert tuple(row_of(raw)) == COLUMNS


@given(st.binary(max_size=300))
def test_any_bytes_make_a_row(raw: bytes) -> None:
    row = row_of(b"Content-Type: text/html\nSubject: " + raw)
    assert all(isinstance(text, str) for text in row.values())


def test_the_work_is_bounded() -> None:
    parts = b"".join(b"--b\nContent-Type: text/plain\n\nword%d\n" % k for k in range(5 * MOST_PARTS))
    row = row_of(b"Content-Type: multipart/mixed; boundary=b\n\n" + parts + b"--b--\n")
    assert "parts_many" in row["structure"] and f"word{2 * MOST_PARTS}" not in row["body"]
    long = row_of(b"\n" + b"x " * MOST_TEXT + b"last")["body"]
    assert "x" in long and "last" not in long


def test_our_own_headers_tell_nothing() -> None:
    assert "likely" not in row_of(b"X-Likely: spam\nX-Likely-Evidence: x\nSubject: a\n\nb")["structure"]
