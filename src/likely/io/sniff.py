"""How a delimited text is written, found from some of it: delimiter, quotes, header, decimal mark, types of columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from likely.errors import (
    About,
    Aside,
    FileError,
    Message,
    Setting,
    one_of,
    say_type,
)
from likely.io import scan
from likely.io.blocks import TextCell, count_lines, each_record, first_fault, scan_text
from likely.io.dialect import FALSE, GAPS, NUMBER_GAPS, TRUE, Dialect, ReadOptions
from likely.io.header import COMMENT
from likely.io.parse import CellType

DELIMITERS = (",", ";", "\t", "|")
QUOTINGS = (('"', ""), ('"', "\\"), ("'", ""))
MOST_RECORDS = 1000
"""Records that are looked at."""
LOCATED = 50
"""Of so many it is known in which line they begin: no table has more lines before its header."""
HALF = 0.5
SPACED_LINES = 50


@dataclass(frozen=True)
class Trial:
    """The head read in one way: cells of each record, and whether all of it could be read."""

    dialect: Dialect
    counts: tuple[int, ...]
    lines: tuple[int, ...]
    sound: bool

    @cached_property
    def width(self) -> int:
        """The number of columns: what most records have, if it is more than one."""
        wide = Counter(count for count in self.counts if count > 1)
        return max(wide, key=lambda count: (wide[count], count)) if wide else 1

    @cached_property
    def first(self) -> int:
        """The first record that has all columns."""
        return self.counts.index(self.width) if self.width in self.counts else 0

    @cached_property
    def share(self) -> float:
        """The part of the records from there on that have as many cells."""
        rest, width = self.counts[self.first :], self.width
        return rest.count(width) / max(len(rest), 1)

    @cached_property
    def rank(self) -> tuple[bool, bool, bool, float]:
        return self.width > 1 and self.share > HALF, self.sound, self.first == 0, self.share


def sniff(head: bytes, whole: bool, options: ReadOptions, encoding: str, name: str) -> tuple[Dialect, int]:
    """The dialect but for decimals and header, and the number of columns."""
    options, said = _said_in_file(head, options)
    skip = said if options.skip is None else options.skip
    body = head[after_lines(head, skip) :]
    if not body.strip():
        if skip:
            raise FileError(About("nothing after", skip), f"{name} holds no text after {skip} lines.")
        raise FileError(About("empty"), f"{name} is empty; it has no header.")
    trials = sorted(_trials(body, whole, options, encoding), key=lambda trial: trial.rank, reverse=True)
    best = trials[0]
    if best.width == 1:
        for trial in trials:
            fault = None if trial.sound else first_fault(body, trial.dialect, name, skip)
            if fault is not None:
                raise fault
        best = _single_column(best, body, options, name)
    elif options.delimiter is None:
        _refuse_rivals(best, trials, name)
    before = best.first if options.skip is None and options.header is not False else 0
    if before and not _is_preamble(best, body):
        return replace(best.dialect, skip=skip), best.counts[0]
    return replace(best.dialect, skip=skip + (best.lines[before] if before else 0)), best.width


def _trials(body: bytes, whole: bool, options: ReadOptions, encoding: str) -> Iterator[Trial]:
    gaps = GAPS if options.gaps is None else options.gaps
    delimiters = DELIMITERS if options.delimiter is None else (options.delimiter,)
    quotings = [
        (quote if options.quote is None else options.quote, escape if options.escape is None else options.escape)
        for quote, escape in QUOTINGS
    ]
    for quote, escape in dict.fromkeys(quotings):
        # Backslashes escape only where one stands before a quote; apostrophes quote only where nothing else does.
        if options.escape is None and escape and b'\\"' not in body:
            continue
        if options.quote is None and quote == "'" and b'"' in body:
            continue
        for delimiter in delimiters:
            if delimiter not in (quote, escape):
                dialect = Dialect(delimiter, encoding, quote, escape, gaps=gaps, multiline=options.multiline)
                trial = _try(body, whole, dialect)
                spaced = trial.width > 1 and _spaced(body, trial.dialect)
                yield _try(body, whole, replace(dialect, trim=True)) if spaced else trial


def _try(body: bytes, whole: bool, dialect: Dialect) -> Trial:
    found = scan_text(body, dialect, final=whole, room=MOST_RECORDS)
    n = found.records
    sound = found.code in (scan.FINE, scan.NUL) and (whole or n > 0 or not found.is_open)
    lines = [count_lines(body[:start]) for start in found.starts[:LOCATED].tolist()]
    return Trial(dialect, tuple(found.counts.tolist()), tuple(lines + [0] * (n - len(lines))), sound)


def _spaced(body: bytes, dialect: Dialect) -> bool:
    """Whether every delimiter of the first records is followed by a space, as in `a, b, c`."""
    mark, quote = dialect.delimiter.encode(), dialect.quote.encode()
    lines = [line for line in body.splitlines()[:SPACED_LINES] if line.strip()]
    if quote:
        lines = [re.sub(quote + b"[^" + quote + b"]*" + quote, b"x", line) for line in lines]
    if mark == b" " or len(lines) < 2:
        return False
    return all(line.count(mark) == line.count(mark + b" ") for line in lines) and any(mark in line for line in lines)


def _refuse_rivals(best: Trial, trials: list[Trial], name: str) -> None:
    """Two delimiters that fit equally well are a question, not a guess."""
    others = [t for t in trials if t.dialect.delimiter != best.dialect.delimiter and t.rank == best.rank]
    if others:
        one, other = best.dialect.delimiter, others[0].dialect.delimiter
        why = f"{name}: {one!r} and {other!r} fit equally well as delimiters; say which it is, as in "
        raise FileError(About("delimiters", one, other), why, Setting("delimiter", ";"), ".")


_SIGN = re.compile(r"[^\w\s\"'.+-]")


def _single_column(trial: Trial, body: bytes, options: ReadOptions, name: str) -> Trial:
    """One column is believed only if nothing in the file looks like a delimiter."""
    if options.delimiter is not None:
        return trial
    lines = [line for line in body.decode("utf-8", "replace").splitlines()[:MOST_RECORDS] if line.strip()]
    if not lines:  # nothing but signs that are no letters, such as NEL
        return trial
    bare = [re.sub(r'"(?:[^"]|"")*"', "x", line) for line in lines]
    words = {len(line.split()) for line in bare}
    if len(words) == 1 and words.pop() > 1:
        why = f"{name}: no delimiter was found, but spaces cut every line alike; say "
        raise FileError(About("spaces"), why, Setting("delimiter", " "), " or '\\t'.")
    for sign in sorted(set(_SIGN.findall(bare[0]))):
        if len(bare) > 1 and {line.count(sign) for line in bare} == {bare[0].count(sign)}:
            why = f"{name}: no usual delimiter was found; say "
            raise FileError(About("unusual delimiter", sign), why, Setting("delimiter", sign), " if it is that.")
    found = [mark for mark in DELIMITERS if any(mark in line for line in bare)]
    if found:
        why = f"{name}: {found[0]!r} stands in some lines, but most have no delimiter; name it, as in "
        rest = Setting("delimiter", found[0]), ", or put the cells of a single column in quotes."
        raise FileError(About("rare delimiter", found[0]), why, *rest)
    return trial


def _said_in_file(head: bytes, options: ReadOptions) -> tuple[ReadOptions, int]:
    """The line `sep=;` that spreadsheets write, and the number of lines that it takes."""
    said = re.match(rb"sep=([^\w\r\n])\r?\n", head)
    if said and options.skip is None and options.delimiter in (None, said.group(1).decode("latin-1")):
        return replace(options, delimiter=said.group(1).decode("latin-1")), 1
    return options, 0


def after_lines(head: bytes, lines: int) -> int:
    """Where the text goes on after so many lines."""
    return sum(map(len, head.splitlines(keepends=True)[:lines]))


def _is_preamble(trial: Trial, body: bytes) -> bool:
    """Whether the lines before the first full record are titles or comments, and no records that lost cells."""
    records = list(each_record(body, trial.dialect, trial.first))[: trial.first]
    return all(len(cells) == 1 or _is_comment(cells) for _, cells in records)


def _is_comment(cells: list[TextCell]) -> bool:
    return cells[0].text.lstrip().startswith(COMMENT) and not cells[0].quoted


# What the cells of a column spell: whole numbers, numbers, truths, dates, or just text.

INTEGER = r"^\s*-?(0|[1-9][0-9]{0,18})\s*$"
DIGITS = r"^\s*[+-]?[0-9]+\s*$"
PADDED = r"^\s*[+-]?0[0-9]+\s*$"
NUMBER = r"^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|Inf|INF|infinity|Infinity))\s*$"
COMMA_NUMBER = r"^\s*[+-]?([0-9]+,?[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?\s*$"
THOUSANDS = r"^\s*[+-]?[0-9]{1,3}(,[0-9]{3})+\s*$"
GROUPED = r"^\s*[+-]?[0-9]{1,3}(\.[0-9]{3})+\s*$"
PARTS = r"^\s*[+-]?([0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]{1,3}(\.[0-9]{3})+(,[0-9]+)?)\s*$"
PARTED = rf"({PARTS})|({NUMBER})|({COMMA_NUMBER})"
FRACTION = r"[.][0-9]|[0-9][.]"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
MOSTLY = 0.9
SHOWN_COLUMNS = 4
ENOUGH = 20
"""Of so many cells nine in ten must be numbers to make the others look like slips."""


@dataclass(frozen=True, slots=True)
class InferredType:
    """A type, and a note where the reader should know of something."""

    type: CellType
    note: str = ""
    mostly_numbers: bool = False
    kept_words: tuple[str, ...] = ()


def infer_type(column: pa.ChunkedArray, name: str, decimal: str) -> InferredType:
    """The type of a column of strings (null for a gap) that were looked at."""
    known = column.drop_null()
    words = _without_number_gaps(known)
    if not len(known):
        return InferredType("text")
    if len(words) and _all(words, NUMBER if decimal == "." else COMMA_NUMBER):
        return _number(words, name)
    words_for_none: list[str] = []
    if len(words) < len(known):
        words_for_none = pc.unique(known.filter(pc.is_in(known, pa.array(NUMBER_GAPS, column.type)))).to_pylist()
    elif bool(pc.all(pc.is_in(known, pa.array(TRUE + FALSE, column.type))).as_py()):
        return InferredType("truth")
    if _all(known, DATE) and _casts(known, pa.date32()):
        return InferredType("date")
    if _all(known, TIME) and _casts(known, pa.timestamp("us")):
        return InferredType("time")
    odd = _mostly_numbers(words, name, decimal)
    kept = () if odd else tuple(words_for_none)
    return InferredType("text", odd, bool(odd) and len(words) >= ENOUGH, kept)


def kept_note(inferred: Mapping[str, InferredType]) -> str:
    """Which words were kept as categories that might stand for a missing value; one sentence for all columns."""
    found = {name: kind.kept_words for name, kind in inferred.items() if kind.kept_words}
    words = list(dict.fromkeys(word for each in found.values() for word in each))
    if not found:
        return ""
    where = ", ".join(map(repr, list(found)[:SHOWN_COLUMNS]))
    more = (" and ", str(len(found) - SHOWN_COLUMNS), " more columns") if len(found) > SHOWN_COLUMNS else ()
    remedy = Aside("; if it stands for a missing value, say "), Setting("na", words[0])
    return Message(_quoted(words), " is a category in ", where, *more, *remedy)


def _without_number_gaps(known: pa.ChunkedArray) -> pa.ChunkedArray:
    return known.filter(pc.invert(pc.is_in(known, pa.array(NUMBER_GAPS, known.type))))


def find_decimal(columns: Mapping[str, pa.ChunkedArray], file: str) -> str:
    """The decimal mark of a file, from columns of strings; refuses where comma and point both make sense."""
    commas: list[str] = []
    unclear: list[str] = []
    points: list[str] = []
    for name, column in columns.items():
        known = _without_number_gaps(column.drop_null())
        if not len(known):
            continue
        if _all(known, NUMBER):
            if _any(known, FRACTION):
                points.append(name)
        elif _all(known, COMMA_NUMBER):
            with_comma = known.filter(pc.match_substring(known, ","))
            (unclear if _all(with_comma, THOUSANDS) else commas).append(name)
        elif _all(known, PARTED) and _any(known, PARTS):  # else points and commas side by side: odd cells, told later
            parted = known.filter(pc.match_substring_regex(known, PARTS))[0].as_py()
            why = (
                f"{file}: column {name!r} parts thousands, as in {parted!r}; remove these marks from the file, or say "
            )
            raise FileError(About("thousands", name, parted), why, say_type(name, "text"), " to keep it as written.")
    if commas and points:
        if all(_all(columns[name].drop_null(), GROUPED) for name in points):
            why = f"{file}: column {points[0]!r} has points as in 1.500 and column {commas[0]!r} has commas; "
            remedy = "remove the points between thousands, or say "
            about = About("thousands and decimals", points[0], commas[0])
            raise FileError(about, why, remedy, one_of("decimal", ".", ","), ".")
        why = f"{file}: column {commas[0]!r} has decimal commas and column {points[0]!r} decimal points; say which "
        rest = "it is with ", one_of("decimal", ",", "."), ", then the other column is read as text."
        raise FileError(About("two decimals", commas[0], points[0]), why, *rest)
    if unclear and not commas:
        why = f"{file}: the commas of column {unclear[0]!r} may be decimal or part thousands; say "
        about, as_text = About("thousands or decimals", unclear[0]), say_type(unclear[0], "text")
        raise FileError(about, why, Setting("decimal", ","), " for the first, or ", as_text, " to keep it as written.")
    return "," if commas else "."


def _number(known: pa.ChunkedArray, name: str) -> InferredType:
    if not _all(known, DIGITS):
        return InferredType("number")
    if _any(known, PADDED):
        why = Message("column ", repr(name), " is text, because leading zeros as in 007 would be lost in numbers", "; ")
        return InferredType("text", Message(why, say_type(name, "number"), " reads it as numbers"))
    fits = _casts(known, pa.int64())
    if not _all(known, INTEGER):
        return InferredType(
            "number" if fits else "text", Message("column ", repr(name), " has very long whole numbers")
        )
    too_long = Message("column ", repr(name), " is text, because its whole numbers are too long to be kept exactly")
    return InferredType("integer") if fits else InferredType("text", too_long)


def _mostly_numbers(known: pa.ChunkedArray, name: str, decimal: str) -> str:
    fits = pc.match_substring_regex(known, NUMBER if decimal == "." else COMMA_NUMBER)
    if not len(known) or pc.mean(fits).as_py() < MOSTLY:
        return ""
    odd = pc.unique(known.filter(pc.invert(fits))).to_pylist()
    what = "column ", repr(name), " is text: mostly numbers, but also ", _quoted(odd), "; "
    return Message(*what, Setting("na"), " makes such cells missing values")


def _quoted(values: Sequence[object]) -> str:
    return ", ".join(repr(value) for value in values[:3]) + (", …" if len(values) > 3 else "")


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _any(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern), min_count=0).as_py())


def _casts(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        pc.utf8_trim_whitespace(column).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
