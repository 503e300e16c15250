"""The text columns of the larger data sets."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from pathlib import Path

COLUMNS = (
    ("sms_spam", "text"),
    ("spamassassin_2003_part", "text"),
    ("newsgroups_mini", "text"),
    ("rt_polarity", "text"),
    ("ag_news_test", "title"),
    ("ag_news_test", "description"),
    ("gnad10_test_de", "text"),
    ("uit_vsfc_vi", "text"),
    ("tweeteval_emotion", "text"),
)


def read_texts(folder: Path, name: str, column: str) -> list[str]:
    csv.field_size_limit(sys.maxsize)
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        return [row[column] for row in csv.DictReader(lines)]


def text_columns(folder: Path) -> set[tuple[str, str]]:
    """Every text column that the folder's index names."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    entries = index["datasets"] if isinstance(index, dict) else index
    return {
        (entry["file"].removesuffix(".csv.gz"), column)
        for entry in entries
        for column, kind in entry["column_kinds"].items()
        if kind == "text"
    }
