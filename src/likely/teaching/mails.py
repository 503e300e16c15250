"""A made-up inbox: who wrote, when, with how many links and under which subject, and what its owner did.

Every kind of column is in it, gaps as well, and what the owner does depends on them alone and together, with some
chance: newsletters are read at weekends only, and what colleagues send in the evening waits until the next day.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random

Columns = dict[str, list[object]]

ROWS, NEW_ROWS = 600, 20
BEGIN, END = datetime(2025, 1, 6), datetime(2025, 6, 30)
NEW_END = datetime(2025, 7, 14)
KINDS = ("read", "later", "skip")

SENDERS = {"colleague": 30, "customer": 18, "newsletter": 17, "shop": 15, "friend": 10, "stranger": 10}
"""Who writes, and how often."""

GAPS = {"sender": 0.03, "links": 0.09, "words": 0.04}
"""The part of the cells that is not known."""

LINKS = {"colleague": 0.6, "customer": 0.8, "newsletter": 7.0, "shop": 5.0, "friend": 0.5, "stranger": 4.0}
WORDS = {"colleague": 90, "customer": 140, "newsletter": 420, "shop": 180, "friend": 120, "stranger": 110}
ATTACHED = {"colleague": 0.4, "customer": 0.3, "newsletter": 0.02, "shop": 0.1, "friend": 0.2, "stranger": 0.15}

TOPICS: Mapping[str, Mapping[str, int]] = {
    "colleague": {"urgent": 3, "meeting": 5, "report": 4, "lunch": 2},
    "customer": {"urgent": 3, "order": 5, "thanks": 2, "meeting": 1},
    "newsletter": {"news": 8, "offer": 2},
    "shop": {"offer": 6, "order": 4},
    "friend": {"lunch": 3, "trip": 5, "thanks": 1},
    "stranger": {"prize": 5, "offer": 2, "order": 1, "trip": 1},
}

SUBJECTS: Mapping[str, Sequence[str]] = {
    "urgent": ("Urgent: the {thing} is down since {day}", "Please answer before {day}: {thing} for {place}",
               "We need a decision about the {thing} in {place}", "Problem with your {thing} since {day}"),
    "meeting": ("Agenda for the meeting on {day} in {place}", "Can we move the meeting about the {thing} to {day}?",
                "Minutes of the {thing} meeting in {place}", "Invitation: {thing} review on {day}"),
    "report": ("Draft of the {thing} report for {place}", "Figures of {month} about the {thing}",
               "Comments on the {thing} report until {day}", "The {month} report is ready to read"),
    "order": ("Your order of the {thing} was sent to {place}", "Question about the invoice of {month}",
              "Order confirmation: {thing}, delivery on {day}", "Where is our {thing} from {month}?"),
    "thanks": ("Thank you for the {thing} and for {day}", "Thanks for the quick answer about the {thing}",
               "Many thanks from {place} for your help"),
    "lunch": ("Lunch on {day} near the {place} office?", "Cake in the kitchen on {day}, come soon",
              "Who joins us for dinner in {place} on {day}?"),
    "trip": ("Photos of our weekend in {place}", "Shall we go to {place} in {month}?",
             "Train tickets to {place} for {day}", "How was your trip to {place} in {month}?"),
    "news": ("This week in {place}: the {thing} and more", "{month} news: ten stories about the {thing}",
             "What we learned about the {thing} in {month}", "The weekend read from {place}, {month} issue"),
    "offer": ("Only until {day}: half price on every {thing}", "Save now on a new {thing} in {month}",
              "Last chance: free delivery to {place} until {day}", "Your discount on the {thing} ends on {day}"),
    "prize": ("You have won a {thing}, claim before {day}", "Final notice about your {thing} account in {place}",
              "Dear friend, a {thing} waits for you in {place}",
              "Confirm your account before {day} to keep the {thing}"),
}  # fmt: skip

FILLINGS = {
    "thing": ("printer", "server", "budget", "contract", "website", "bicycle", "phone", "coat", "garden", "database",
              "lamp", "camera", "roof", "calendar", "survey", "piano"),
    "place": ("Bremen", "Leeds", "Lyon", "Porto", "Turin", "Ghent", "Aarhus", "Cork", "Graz", "Malmö"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month": ("January", "February", "March", "April", "May", "June"),
}  # fmt: skip

READ: Mapping[str, float] = {
    "colleague": 0.8, "customer": 1.1, "newsletter": -1.2, "shop": -1.0, "friend": 1.5, "stranger": -1.8,
    "urgent": 1.8, "meeting": 0.6, "report": -0.6, "order": 1.1, "thanks": 0.2, "lunch": 0.8, "trip": 0.4, "news": 0.0,
    "offer": -0.6, "prize": -1.6,
}  # fmt: skip
"""How sender and topic speak for being read at once."""

LATER: Mapping[str, float] = {
    "colleague": 0.4, "customer": 0.2, "newsletter": -1.2, "shop": -1.4, "friend": 0.3, "stranger": -2.2,
    "urgent": -0.8, "meeting": 0.4, "report": 1.5, "order": 0.1, "thanks": 0.3, "lunch": -0.6, "trip": 0.5, "news": 0.2,
    "offer": -0.4, "prize": -1.0,
}  # fmt: skip
"""How they speak for being put off."""


def mails() -> Columns:
    """Half a year of an inbox, 600 mails: read at once, put off until later, or skipped."""
    return _inbox(Random(2025), ROWS, BEGIN, END)


def new_mails() -> Columns:
    """Twenty mails of the two weeks after; nobody knows yet what becomes of them."""
    table = _inbox(Random(7), NEW_ROWS, END, NEW_END)
    del table["kind"]
    return table


def _inbox(random: Random, n_rows: int, begin: datetime, end: datetime) -> Columns:
    moments = sorted(_moment(random, begin, end) for _ in range(n_rows))
    rows = [_mail(random, moment) for moment in moments]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _moment(random: Random, begin: datetime, end: datetime) -> datetime:
    """Mails come by day more often than by night, and at weekends a third as often."""
    while True:
        moment = begin + timedelta(minutes=int(random.random() * ((end - begin) / timedelta(minutes=1))))
        by_day = math.exp(-(((moment.hour + moment.minute / 60 - 13) / 5) ** 2))
        if random.random() < by_day * (1 / 3 if moment.weekday() >= 5 else 1):
            return moment


def _mail(random: Random, received: datetime) -> dict[str, object]:
    sender = _drawn(random, SENDERS)
    topic = _drawn(random, TOPICS[sender])
    links = _poisson(random, LINKS[sender] * (1.5 if topic in ("offer", "prize") else 1.0))
    words = max(int(WORDS[sender] * math.exp(random.gauss(0.0, 0.5))), 3)
    attached = random.random() < ATTACHED[sender] + (0.3 if topic == "report" else 0.0)
    row: dict[str, object] = {
        "received": received, "sender": sender, "links": links, "words": words, "attachment": attached,
        "subject": _subject(random, topic), "kind": _kind(random, sender, topic, received, links, words),
    }  # fmt: skip
    return {name: None if random.random() < GAPS.get(name, 0.0) else cell for name, cell in row.items()}


def _kind(random: Random, sender: str, topic: str, received: datetime, links: int, words: int) -> str:
    """What the owner does: a choice with chances, by sender, topic, moment, and some of these together."""
    weekend, late = received.weekday() >= 5, received.hour >= 17
    read, later = READ[sender] + READ[topic], LATER[sender] + LATER[topic]
    read -= 0.12 * links + 0.5 * max(words - 200, 0) / 200
    later -= 0.15 * links
    if sender == "newsletter" and weekend:
        read += 4.0
    if sender in ("colleague", "customer") and (late or weekend):
        read, later = read - 2.0, later + 1.2
    if topic == "news" and received.month >= 4:  # a new habit since spring
        later += 1.5
    weights = [math.exp(1.6 * read), math.exp(1.6 * later), 1.0]
    return random.choices(KINDS, weights)[0]


def _subject(random: Random, topic: str) -> str:
    pattern = random.choices(SUBJECTS[topic])[0]
    return pattern.format(**{name: random.choices(words)[0] for name, words in FILLINGS.items()})


def _drawn(random: Random, shares: Mapping[str, int]) -> str:
    return random.choices(list(shares), list(shares.values()))[0]


def _poisson(random: Random, mean: float) -> int:
    """A count: how many chances in a row stay above e to the minus mean."""
    count, left = 0, random.random()
    while left > math.exp(-mean):
        count, left = count + 1, left * random.random()
    return count
