"""`likely mail`: a mail filter that learns, for maildirs, mboxes and pipes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.models import load_model
from likely.cli.options import Reads, complete_classes, complete_model_files, listed_in
from likely.cli.output import OutputOptions, StandardOutput, write, write_json
from likely.errors import SettingsError

if TYPE_CHECKING:
    from likely.mail.boxes import Mail
    from likely.mail.filter import MailFilter, Verdict

STANDARD = "-"
SURE = 0.99


def mail(
    model: Annotated[
        str,
        typer.Argument(
            help="The model; --learn creates it if it does not exist.",
            metavar="MODEL",
            autocompletion=complete_model_files,
        ),
        Reads(),
    ],
    output: OutputOptions,
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Maildirs, mboxes, files, or - for one message (the default).", metavar="MAIL"),
        Reads(),
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            "--learn", "-l", help="Learn the messages as this class.", metavar="CLASS", autocompletion=complete_classes
        ),
    ] = None,
    unlearn: Annotated[
        str | None,
        typer.Option(
            "--unlearn",
            "-u",
            help="Forget the messages that were learned as this class.",
            metavar="CLASS",
            autocompletion=complete_classes,
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(help="A user's own model, merged with the shared one; only this one learns.", metavar="FILE"),
        Reads(),
    ] = None,
    sure: Annotated[
        list[str] | None,
        typer.Option(help="Probability below which the answer is unsure: 0.9, or spam=0.999,ham=0.6.", metavar="P"),
    ] = None,
    words: Annotated[
        int, typer.Option("--words", "-w", help="Top words to show for each message.", metavar="N", min=0)
    ] = 5,
) -> None:
    """Filter mail, and learn from it.

    \b
    likely mail mail.likely --learn spam Maildir/.Junk
    likely mail mail.likely --learn ham Maildir/.Archive old.mbox
    likely mail mail.likely < message              with X-Likely headers added
    likely mail mail.likely Maildir/new.mbox --json
    likely mail mail.likely --user ann.likely --unlearn ham < message

    A message from standard input is written to standard output with two headers added: X-Likely (the class, or unsure,
    and its probability) and X-Likely-Evidence (top words with their log-odds); such headers that were there before are
    removed. For mailboxes, one line is written per message. MIME, HTML, links and senders are read.
    """
    from likely.mail.boxes import read_boxes
    from likely.mail.filter import MailFilter, load_mail_model, merged, teach

    if learn is not None and unlearn is not None:
        raise SettingsError("Say --learn or --unlearn, not both.")
    places = sources or [STANDARD]
    label = learn if learn is not None else unlearn
    if label is not None:
        mails = list(read_boxes(places))
        path = Path(user if user is not None else model)
        rows = teach(path, mails, label, forget=unlearn is not None)
        done = "Learned" if learn is not None else "Forgot"
        output.say(f"{done} {len(mails):,} messages as {label!r}; {path} has {rows:,} now")
        return
    if not Path(model).exists():
        load_model(model)  # says that there is none, and which is near
    found = load_mail_model(model)
    if user is not None and Path(user).exists():
        found = merged(found, load_mail_model(user))
    usual, by_class = _least(sure)
    judge = MailFilter(found, by_class, usual, words)
    if places == [STANDARD] and not output.json:
        _pass_on(judge, next(read_boxes(places)))
        return
    _list(judge, read_boxes(places), output)


def _pass_on(judge: MailFilter, mail: Mail) -> None:
    from likely.mail.filter import with_headers

    StandardOutput().write(with_headers(mail.raw, judge.judge([mail])[0]))


def _list(judge: MailFilter, mails: Iterator[Mail], output: OutputOptions) -> None:
    from likely.mail.filter import AT_ONCE

    while some := list(islice(mails, AT_ONCE)):
        for mail, verdict in zip(some, judge.judge(some), strict=True):
            if output.json:
                write_json(_record(mail, verdict))
                continue
            why = ", ".join(f"{word} {odds:+.2f}" for word, odds in verdict.evidence)
            write(f"{verdict.label}\t{verdict.probability:.6f}\t{mail.place}\t{why}")
    sys.stdout.flush()


def _record(mail: Mail, verdict: Verdict) -> dict[str, object]:
    evidence = [{"word": word, "log_odds": odds} for word, odds in verdict.evidence]
    return {
        "mail": mail.place, "label": verdict.label, "likeliest": verdict.likeliest,
        "probability": verdict.probability, "evidence": evidence,
    }  # fmt: skip


def _least(given: list[str] | None) -> tuple[float, dict[str, float]]:
    """How sure each class must be."""
    usual, by_class = SURE, dict[str, float]()
    for entry in listed_in(given) or []:
        name, mark, number = entry.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not 0.0 <= share <= 1.0:
            raise SettingsError(f"--sure is {entry!r}, but it is a probability: 0.9, or spam=0.999.")
        if mark:
            by_class[name] = share
        else:
            usual = share
    return usual, by_class
