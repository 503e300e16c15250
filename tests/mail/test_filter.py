"""The filter learns, unlearns, is unsure, says why, and keeps users apart."""

from __future__ import annotations

import io
import json
import sys
import threading
from email import message_from_bytes
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import likely
from likely.cli.run import run
from likely.errors import LikelyError, SettingsError
from likely.mail.boxes import Mail
from likely.mail.filter import UNSURE, MailFilter, Verdict, as_rows, load_mail_model, merged, teach, with_headers

SPAM = [
    Mail(f"s{k}", f"Subject: win money {k}\nFrom: x@bad.example\n\ncheap pills money now {k}\n".encode())
    for k in range(8)
]
HAM = [Mail(f"h{k}", f"Subject: lunch\nFrom: ann@good.example\n\nsee you at noon {k}\n".encode()) for k in range(8)]
ASKED = [
    Mail("a", b"Subject: money\n\ncheap money\n"),
    Mail("b", b"Subject: lunch at noon\nFrom: ann@good.example\n\nyes\n"),
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "mail.likely"
    teach(path, SPAM, "spam")
    teach(path, HAM, "ham")
    return path


def test_it_learns_and_judges(model: Path) -> None:
    found = MailFilter(load_mail_model(model), {}, 0.9, words=3).judge(ASKED)
    assert [verdict.label for verdict in found] == ["spam", "ham"]
    assert all(len(verdict.evidence) == 3 for verdict in found)
    word, odds = found[0].evidence[0]
    assert "money" in word or word == "cheap"
    assert odds > 0


def test_unlearning_is_exact(model: Path) -> None:
    before = load_mail_model(model).predict_proba(as_rows(ASKED))
    teach(model, ASKED[:1], "ham")
    assert abs(load_mail_model(model).predict_proba(as_rows(ASKED)) - before).max() > 1e-6
    teach(model, ASKED[:1], "ham", forget=True)
    assert_allclose(load_mail_model(model).predict_proba(as_rows(ASKED)), before, rtol=1e-12)
    with pytest.raises(LikelyError):
        teach(model, ASKED[1:], "spam", forget=True)
    assert_allclose(load_mail_model(model).predict_proba(as_rows(ASKED)), before, rtol=1e-12)


def test_unsure(model: Path) -> None:
    found = load_mail_model(model)
    nothing = [Mail("c", b"\n\n")]
    assert MailFilter(found, {}, 0.99).judge(nothing)[0].label == UNSURE
    assert MailFilter(found, {"spam": 1.0, "ham": 0.0}, 0.5).judge(ASKED)[1].label == "ham"
    with pytest.raises(SettingsError, match="'eggs'"):
        MailFilter(found, {"eggs": 0.5}, 0.9)


def test_one_class_is_nothing_to_be_sure_of(tmp_path: Path) -> None:
    teach(tmp_path / "m", SPAM, "spam")
    assert MailFilter(load_mail_model(tmp_path / "m"), {}, 0.5, 3).judge(ASKED)[0] == Verdict(UNSURE, 1.0, "spam")


def test_a_user_is_merged_and_the_common_model_stays(model: Path, tmp_path: Path) -> None:
    own, common = tmp_path / "ann.likely", model.read_bytes()
    teach(own, [Mail("n", b"Subject: newsletter\n\ncheap money offers\n")] * 20, "ham")
    both = merged(load_mail_model(model), load_mail_model(own))
    assert both.summary_.n_rows == 36 and model.read_bytes() == common
    asked = as_rows(ASKED[:1])
    ham = both.classes_.tolist().index("ham")
    assert both.predict_proba(asked)[0, ham] > load_mail_model(model).predict_proba(asked)[0, ham]
    whole = tmp_path / "whole"
    for mails, label in (
        (SPAM, "spam"),
        (HAM, "ham"),
        ([Mail("n", b"Subject: newsletter\n\ncheap money offers\n")] * 20, "ham"),
    ):
        teach(whole, mails, label)
    assert_allclose(both.predict_proba(asked), load_mail_model(whole).predict_proba(asked), rtol=1e-9)


def test_a_model_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.likely"
    likely.BayesClassifier().fit({"a": ["x", "y"]}, [0, 1]).save(path)
    with pytest.raises(SettingsError, match="no model of mail"):
        load_mail_model(path)
    with pytest.raises(SettingsError, match="to forget"):
        teach(tmp_path / "none", SPAM, "spam", forget=True)
    with pytest.raises(LikelyError, match="no message"):
        teach(path, [], "spam")


def test_deliveries_at_the_same_time_lose_no_message(model: Path) -> None:
    threads = [threading.Thread(target=teach, args=(model, [mail], "spam")) for mail in SPAM]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert load_mail_model(model).summary_.n_rows == 24


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_headers_are_added_and_forged_ones_taken_out(ending: bytes) -> None:
    raw = b"From x Mon\nSubject: a\nX-Likely: ham; p=1\nx-likely-evidence: a\n folded\nTo: b\n\nbody\nX-Likely: stays\n"
    raw = raw.replace(b"\n", ending)
    out = with_headers(raw, Verdict("spam", 0.5, "spam", (("wörd\nTo: evil", 1.5), ("x", float("inf")))))
    assert out.startswith(b"From x Mon" + ending + b"X-Likely: spam")
    message = message_from_bytes(out)
    assert message.get_all("X-Likely") == ["spam; likeliest=spam; p=0.500000"]
    assert message.get_all("To") == ["b"]
    assert message["X-Likely-Evidence"] == "w?rd?To: evil +1.50"
    assert out.endswith(ending.join([b"", b"", b"body", b"X-Likely: stays", b""]))
    assert with_headers(b"Subject: no body", Verdict("ham", 1.0, "ham")).endswith(b"\nSubject: no body")


def test_the_command(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)

    def said(*given: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(["mail", *given])
        sys.stdout.flush()
        return code, *capfdbinary.readouterr()

    code, out, _ = said("mail.likely", stdin=ASKED[0].raw)
    assert code == 0 and out.endswith(b"cheap money\n")
    assert message_from_bytes(out)["X-Likely"].startswith("spam;")
    (tmp_path / "box.eml").write_bytes(ASKED[1].raw)
    assert said("mail.likely", "--learn", "ham", "box.eml")[0] == 0
    assert said("mail.likely", "--user", "ann.likely", "--learn", "ham", "box.eml")[0] == 0
    _, out, _ = said("mail.likely", "box.eml", "--json", "--sure", "ham=0.5,0.9", "--user", "ann.likely")
    assert json.loads(out)["label"] == "ham"
    assert said("mail.likely", "box.eml")[1].startswith(b"ham\t")
    for wrong in (
        ("none.likely",), ("mail.likely", "--learn", "a", "--unlearn", "b"), ("mail.likely", "--sure", "much"),
        ("mail.likely", "no.mbox"),
    ):  # fmt: skip
        code, out, err = said(*wrong)
        assert code == 2 and err.count(b"\n") == 1 and not out
