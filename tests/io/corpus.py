"""Odd and bad files, each with what must come out of it: an exact table, or a refusal that names the trouble."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BOM = b"\xef\xbb\xbf"
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
LINE_ENDS = {"unix": "\n", "windows": "\r\n", "old mac": "\r"}


@dataclass(frozen=True)
class Case:
    """One file: its bytes, options, and either its columns or a pattern of the refusal (and the line it names)."""

    name: str
    content: bytes
    table: dict[str, list[Any]] | None = None
    refusal: str | None = None
    line: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    file: str = "rows.csv"
    rejected: int = 0
    warns: bool = False


def good(name: str, text: str | bytes, table: dict[str, list[Any]], **more: Any) -> Case:
    return Case(name, text if isinstance(text, bytes) else text.encode(), table=table, **more)


def bad(name: str, text: str | bytes, refusal: str, line: int | None = None, **more: Any) -> Case:
    return Case(name, text if isinstance(text, bytes) else text.encode(), refusal=refusal, line=line, **more)


PEOPLE: dict[str, list[Any]] = {
    "age": [31, 44, None],
    "town": ["Ulm", "Bonn", "Kiel"],
    "pay": [1.5, 2.25, 3.0],
    "y": ["a", "b", "a"],
}
PEOPLE_ROWS = [
    ["age", "town", "pay", "y"],
    ["31", "Ulm", "1.5", "a"],
    ["44", "Bonn", "2.25", "b"],
    ["", "Kiel", "3", "a"],
]


def people(delimiter: str = ",", end: str = "\n", final: bool = True, rows: list[list[str]] | None = None) -> str:
    lines = [delimiter.join(row) for row in rows or PEOPLE_ROWS]
    return end.join(lines) + (end if final else "")


def shapes() -> Iterator[Case]:
    """Every delimiter with every line end, with and without the last one; mixed line ends; blank lines."""
    for mark, delimiter in DELIMITERS.items():
        for kind, end in LINE_ENDS.items():
            for final in (True, False):
                name = f"{mark}, {kind} line ends, {'a' if final else 'no'} final one"
                yield good(name, people(delimiter, end, final), PEOPLE)
        mixed = "".join(
            delimiter.join(row) + end for row, end in zip(PEOPLE_ROWS, ("\r\n", "\n", "\r", "\n"), strict=True)
        )
        yield good(f"{mark}, mixed line ends", mixed, PEOPLE)
        yield good(f"{mark}, blank lines at the end", people(delimiter) + "\n\n\r\n", PEOPLE)
        yield good(f"{mark}, blank lines between", people(delimiter).replace("\n", "\n\n"), PEOPLE)
    for mark, delimiter in {"colon": ":", "caret": "^", "space": " "}.items():
        rows = [["a", "b"], ["1", "x"], ["2", "y"]]
        text = people(delimiter, rows=rows)
        yield bad(f"unusual delimiter: {mark}", text, "delimiter=")
        yield good(
            f"unusual delimiter said: {mark}", text, {"a": [1, 2], "b": ["x", "y"]}, options={"delimiter": delimiter}
        )


def ragged() -> Iterator[Case]:
    """A row that is one cell short or long, in every place, by every delimiter; and what rejects= makes of it."""
    for mark, delimiter in DELIMITERS.items():
        for place in (1, 2, 3):
            short = [row[:-1] if number == place else row for number, row in enumerate(PEOPLE_ROWS)]
            long = [[*row, "9"] if number == place else row for number, row in enumerate(PEOPLE_ROWS)]
            yield bad(f"{mark}, row {place} short", people(delimiter, rows=short), "too short", place + 1)
            yield bad(f"{mark}, row {place} long", people(delimiter, rows=long), "too long", place + 1)
    rows = [["a", "b"], *([str(n), "x"] for n in range(20))]
    text = people(rows=[*rows[:7], ["99"], *rows[7:12], ["99", "x", "y"], *rows[12:]])
    yield bad("two bad rows among many", text, "too short", 8)
    table = {"a": list(range(20)), "b": ["x"] * 20}
    yield good("two bad rows left out", text, table, options={"rejects": "skip"}, rejected=2)
    broken = people(rows=[*rows[:5], ["7", '"x"y'], *rows[5:], ["8", '"z']])
    yield good("bad quotes left out", broken, table, options={"rejects": "skip"}, rejected=2)
    yield bad(
        "mostly bad rows", "a,b\n" + "1\n" * 9 + "1,2\n", "probably not", options={"rejects": "skip", "delimiter": ","}
    )
    yield bad("a row of one cell at the end", people() + "total\n", "too short", 5)
    yield bad("delimiter at the end of rows only", "a,b\n1,2,\n3,4,\n", "too long", 2)
    yield good(
        "delimiter at the end of all lines", "a,b,\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4], "x2": [None, None]}
    )
    yield bad("names of rows without a name", "a,b\nr1,1,2\nr2,3,4\n", "too long", 2)
    yield bad("a line of spaces", "a,b\n1,2\n   \n3,4\n", "too short", 3)


def quotes() -> Iterator[Case]:
    yield good("quoted cells", '"a","b"\n"1","x, y"\n"2","z"\n', {"a": [1, 2], "b": ["x, y", "z"]})
    yield good("doubled quotes", 'a,b\n1,"say ""hi"""\n', {"a": [1], "b": ['say "hi"']})
    yield good("a cell over lines", 'a,b\n1,"x\ny"\n2,z\n', {"a": [1, 2], "b": ["x\ny", "z"]})
    yield good("quotes inside a bare cell", 'a,b\n1,5" pipe\n2,x"y"z\n', {"a": [1, 2], "b": ['5" pipe', 'x"y"z']})
    yield good("an empty cell in quotes", 'a,b\n"","x"\n1,""\n', {"a": [None, 1], "b": ["x", None]})
    for place in (1, 2, 3):
        rows = [list(row) for row in PEOPLE_ROWS]
        rows[place][1] = '"' + rows[place][1]
        yield bad(f"quote never closed in row {place}", people(rows=rows), "never closed", place + 1)
    yield bad("quote never closed, other quotes follow", 'a,b,y\n1,"x,p\n2,"z",q\n', "text follows the quote", 2)
    several = 'a,b,y\n1,"x,p\n2,u,q\n3,v,q\n4,w",q\n'
    yield bad("two stray quotes swallow rows", several, "as if a quote was never closed", 2)
    swallowed = {"a": [1], "b": ["x,p\n2,u,q\n3,v,q\n4,w"], "y": ["q"]}
    yield good("the same said to be one cell", several, swallowed, options={"multiline": True})
    yield bad("text after a quote", 'a,b\n1,"x"y\n2,z\n', "text follows the quote", 2)
    yield bad("quote never closed in the header", 'a,"b\n1,2\n', "never closed|is never", 1)
    yield good("quotes that are ordinary", 'a,b\n1,"x\n2,y\n', {"a": [1, 2], "b": ['"x', "y"]}, options={"quote": ""})
    yield good("apostrophes", "a,b\n1,'x, y'\n2,'z'\n", {"a": [1, 2], "b": ["x, y", "z"]})
    yield good("apostrophes in words", "a,b\n1,don't\n2,'tis\n", {"a": [1, 2], "b": ["don't", "'tis"]})
    yield good("backslashes escape", 'a,b\n1,"x \\"y\\", z"\n2,w\n', {"a": [1, 2], "b": ['x "y", z', "w"]})
    yield good("a backslash is one", "a,b\n1,C:\\new\n2,D:\\\n", {"a": [1, 2], "b": ["C:\\new", "D:\\"]})
    yield good("spaces before quotes", 'a, b\n1, "x, y"\n2, z\n', {"a": [1, 2], "b": ["x, y", "z"]})
    yield bad("spaces before one quote", 'a,b,c\n1,x, "y,z"\n2,w,v\n', "spaces stand before a quote", 2)
    yield good(
        "a long cell", b'a,b\n1,"' + b"x" * 40_000_000 + b'"\n2,y\n', {"a": [1, 2], "b": ["x" * 40_000_000, "y"]}
    )
    yield good(
        "a long bare cell", b"a,b\n1," + b"x" * 20_000_000 + b"\n2,y\n", {"a": [1, 2], "b": ["x" * 20_000_000, "y"]}
    )


def encodings() -> Iterator[Case]:
    table = {"name": ["Müller", "François", "plain"], "n": [1, 2, 3]}
    text = "name,n\nMüller,1\nFrançois,2\nplain,3\n"
    yield good("utf-8", text, table)
    yield good("utf-8 with mark", BOM + text.encode(), table)
    yield good("a mark that is a cell", b"a\n" + BOM + b"x\ny\n", {"a": ["\ufeffx", "y"]})
    yield good("a mark and quotes", BOM + b'"a","b"\n1,2\n', {"a": [1], "b": [2]})
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        content = text.encode(name)
        if name in ("utf-16", "utf-32"):
            yield good(f"{name} with mark", content, table)
        elif name != "utf-32":
            yield good(f"{name} without mark", content, table, warns=True)
        yield good(f"{name} said", content, table, options={"encoding": name})
    yield good("utf-16-be with mark", b"\xfe\xff" + text.encode("utf-16-be"), table)
    yield good("windows letters", text.encode("cp1252"), table, warns=True)
    yield good("windows letters said", text.encode("cp1252"), table, options={"encoding": "cp1252"})
    yield good("latin-1 said", text.encode("latin-1"), table, options={"encoding": "latin-1"})
    signs = {"name": ["“quoted” – 5 €", "x"], "n": [1, 2]}
    yield good("windows signs", "name,n\n“quoted” – 5 €,1\nx,2\n".encode("cp1252"), signs, warns=True)
    for name, word in (
        ("cp1251", "Москва"),
        ("shift_jis", "東京都庁"),
        ("koi8-r", "Москва"),
        ("gb18030", "北京市"),
        ("euc-kr", "서울특별시"),
    ):
        content = f"name,n\n{word},1\n{word},2\n".encode(name)
        yield bad(f"{name} unsaid", content, "encoding=")
        yield good(f"{name} said", content, {"name": [word, word], "n": [1, 2]}, options={"encoding": name})
    yield bad("polish in cp1250", "name,n\nŁódź,1\nwłaś,2\n".encode("cp1250"), "encoding=")
    yield bad(
        "a picture",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x05\xdc\xff\n\xfe" * 20,
        "is no text: it holds zero bytes",
    )
    yield bad("the wrong encoding said", text.encode("cp1252"), "no UTF-8", 2, options={"encoding": "utf-8"})
    late = "a,b\n" + "1,x\n" * 100_000 + "2,"
    yield bad(
        "a byte that is no utf-8, late",
        late.encode() + b"\x81\x90\n" + b"1,x\n" * 100_000,
        "no UTF-8|encoding=",
        100_002,
    )
    yield good("half a letter", b"a,b\n1,M\xc3\n2,x\n", {"a": [1, 2], "b": ["MÃ", "x"]}, warns=True)
    yield bad("half a utf-16 letter", "a,b\n1,x\n".encode("utf-16")[:-1], "no utf-16", 2)
    yield bad("a nul byte", b"a,b\n1,x\n2,\x00\n", "NUL", 3)
    yield bad("a nul byte in quotes", b'a,b\n1,x\n2,"y\x00"\n', "NUL", 3)
    yield bad("nul bytes at the end", b"a,b\n1,x\n" + b"\x00" * 64, "NUL", 3)
    yield bad("an unknown encoding", text, "No encoding", options={"encoding": "utf-9"})


def headers() -> Iterator[Case]:
    yield bad("empty", b"", "empty")
    yield bad("only a mark", BOM, "empty")
    yield bad("only line ends", b"\n\r\n\n", "empty")
    yield bad("only spaces", b"   \n  \n", "empty")
    yield good("header only", "a,b,y\n", {"a": [], "b": [], "y": []})
    yield good("header only, no line end", "a,b,y", {"a": [], "b": [], "y": []})
    yield bad("a name twice", "a,b,a\n1,2,3\n", "several columns are called 'a'", 1)
    yield good(
        "a name twice, names said", "a,b,a\n1,2,3\n", {"p": [1], "q": [2], "r": [3]}, options={"names": ["p", "q", "r"]}
    )
    yield bad("too few names said", "a,b,c\n1,2,3\n", "names= gives 2", options={"names": ["p", "q"]})
    yield good("a column without a name", ",a\n0,5\n1,6\n", {"x0": [0, 1], "a": [5, 6]})
    yield bad("a made-up name that exists", "x1,\n1,2\n", "several columns|called 'x1'", 1)
    yield bad("no names at all", ",,\n1,2,3\n", "no column has a name", 1)
    yield bad("no header", "1,2,3\n4,5,6\n", "looks like data", 1)
    yield bad("no header, words and numbers", "x,1\ny,2\nx,3\n", "looks like data", 1)
    yield bad("no header, words that return", "p,x,s\ne,x,s\np,b,w\n", "looks like data", 1)
    yield bad("one record of numbers", "1,2,3\n", "looks like data", 1)
    yield good("no header, said", "1,2\n4,5\n", {"x0": [1, 4], "x1": [2, 5]}, options={"header": False})
    yield good("no header, names said", "1,2\n4,5\n", {"p": [1, 4], "q": [2, 5]}, options={"names": ["p", "q"]})
    yield good("years as names, said", "2019,2020\n4,5\n", {"2019": [4], "2020": [5]}, options={"header": True})
    yield bad("a year among names", "town,2020\nUlm,5\n", "looks like data", 1)
    yield good("a year and other names", "town,2020,n\nUlm,5,6\n", {"town": ["Ulm"], "2020": [5], "n": [6]})
    yield good("spaces around names", " a ,b \n1,2\n", {"a": [1], "b": [2]})
    yield good("names in capitals and signs", "Ä,b c,π\n1,2,3\n", {"Ä": [1], "b c": [2], "π": [3]})
    yield good("all text", "a,b\nx,u\ny,v\n", {"a": ["x", "y"], "b": ["u", "v"]})
    yield good("comments first", "# made today\n# by us\na,b\n1,2\n", {"a": [1], "b": [2]})
    yield good("comments with delimiters", "# made, by, us, all\na,b\n1,x\n", {"a": [1], "b": ["x"]})
    yield bad("a comment as wide as the table", "# made, by us\na,b\nx,y\n", "skip=", 1)
    yield good("a header that begins with #", "#id,b\n1,2\n", {"#id": [1], "b": [2]})
    yield good("a title and a blank line", "Sales report\n\na,b\nx,y\n", {"a": ["x"], "b": ["y"]})
    yield bad("titles above numbers", "Sales report\n2024\na,b\n1,2\n", "skip=", 3)
    yield bad("a header that was cut in two", "co\rl0;col1\n1;2\n3;4\n", "skip=", 2)
    yield bad("a title above text", "Sales report\na,b\nx,y\n", "skip=", 2)
    yield good("a title, skip said", "Sales report\na,b\nx,y\n", {"a": ["x"], "b": ["y"]}, options={"skip": 1})
    yield bad("a short header", "a,b\n1,2,3\n4,5,6\n", "too long", 2)
    yield good("sep= of spreadsheets", "sep=;\na;b\n1;2\n", {"a": [1], "b": [2]})
    yield bad("skip past the end", "a,b\n1,2\n", "no text", options={"skip": 9})
    yield bad("two delimiters fit", "a,b;c,d\n1,2;3,4\n", "fit equally well")
    yield bad("one column with commas", "text\nhello, you\nand me\nwhat, now, then\nx\n", "delimiter=")
    yield good("one column", "text\nhello\nand me\n", {"text": ["hello", "and me"]})
    yield good("one column of numbers", "n\n1\n2\n", {"n": [1, 2]})
    yield bad("one column with a blank line", "n\n1\n\n2\n", "blank line", 4)
    yield good("one column with a quoted gap", 'n\n1\n""\n2\n', {"n": [1, None, 2]})
    yield bad("spaces as delimiters", "a b c\n1 2 3\n4 5 6\n", "delimiter=' '")
    yield bad("a column that is not there", "a,b\n1,2\n", "lacks the column 'c'", options={"columns": ["c"]})
    yield good("chosen columns", "a,b,c\n1,2,3\n", {"c": [3], "a": [1]}, options={"columns": ["c", "a"]})


def numbers() -> Iterator[Case]:
    yield good("decimal commas", "a;y\n1,5;x\n2;y\n-3,25;x\n", {"a": [1.5, 2.0, -3.25], "y": ["x", "y", "x"]})
    yield good("decimal commas, tabs", "a\ty\n1,5\tx\n2,5\ty\n", {"a": [1.5, 2.5], "y": ["x", "y"]})
    yield good("decimal commas in quotes", 'a,y\n"1,5",x\n"2,25",y\n', {"a": [1.5, 2.25], "y": ["x", "y"]})
    yield good("decimal comma and whole numbers", "a;b\n1,5;7\n2,5;8\n", {"a": [1.5, 2.5], "b": [7, 8]})
    yield bad("commas and points", "a;b\n1,5;1.5\n2,5;2.5\n", "decimal=")
    yield good("commas and points, said", "a;b\n1,5;1.5\n", {"a": [1.5], "b": ["1.5"]}, options={"decimal": ","})
    yield bad("thousands or decimals", 'a,y\n"1,500",x\n"2,500",y\n', "thousands")
    yield good("decimals said", 'a,y\n"1,500",x\n', {"a": [1.5], "y": ["x"]}, options={"decimal": ","})
    yield good("kept as text", 'a,y\n"1,500",x\n', {"a": ["1,500"], "y": ["x"]}, options={"types": {"a": "text"}})
    yield bad("english thousands", 'a,y\n"1,234.56",x\n"7.5",y\n', "thousands")
    yield bad("german thousands", "a;y\n1.234,56;x\n7,5;y\n", "thousands")
    for word in ("1e999", "-1e999", "1" + "0" * 400):
        yield bad(f"too large: {word[:6]}", f"a,y\n1.5,x\n{word},y\n", "too large", 3)
    yield good("very small", "a,y\n1e-999,x\n1.5,y\n", {"a": [0.0, 1.5], "y": ["x", "y"]})
    yield good(
        "infinity", "a,y\ninf,x\n1.5,y\n-Infinity,x\n", {"a": [float("inf"), 1.5, float("-inf")], "y": ["x", "y", "x"]}
    )
    yield good(
        "all ways to write a number",
        "a,y\n+1.5,x\n.5,y\n2.,x\n1E3,y\n 7 ,x\n",
        {"a": [1.5, 0.5, 2.0, 1000.0, 7.0], "y": list("xyxyx")},
    )
    yield good("not quite numbers", "a,y\n1_000,x\n2,y\n", {"a": ["1_000", "2"], "y": ["x", "y"]})
    yield good("hexadecimal", "a,y\n0x1F,x\n2,y\n", {"a": ["0x1F", "2"], "y": ["x", "y"]})
    yield bad(
        "hexadecimal, late",
        "a,y\n" + "1,x\n" * 400_000 + "0x1F,x\n",
        "not a whole number",
        400_002,
        options={"types": {"a": "integer"}},
    )
    yield good("leading zeros", "zip,y\n01234,x\n99999,y\n", {"zip": ["01234", "99999"], "y": ["x", "y"]})
    yield good("a single zero", "a,y\n0,x\n10,y\n", {"a": [0, 10], "y": ["x", "y"]})
    yield good("past 2^53", "a,y\n9007199254740993,x\n1,y\n", {"a": [9007199254740993, 1], "y": ["x", "y"]})
    yield good("past 2^63", "a,y\n9223372036854775808,x\n1,y\n", {"a": ["9223372036854775808", "1"], "y": ["x", "y"]})
    yield good("truths", "a,y\ntrue,x\nFALSE,y\n", {"a": [True, False], "y": ["x", "y"]})
    yield good("currency", "a,y\n$5,x\n$6,y\n", {"a": ["$5", "$6"], "y": ["x", "y"]})
    yield good("percent", "a,y\n5%,x\n6%,y\n", {"a": ["5%", "6%"], "y": ["x", "y"]})
    yield good("arabic digits", "a,y\n٣,x\n٤,y\n", {"a": ["٣", "٤"], "y": ["x", "y"]})
    yield bad(
        "a word where numbers were said", "a,y\n1,x\nfive,y\n", "not a number", 3, options={"types": {"a": "number"}}
    )
    yield good(
        "left out instead",
        "a,y\n1,x\nfive,y\n2,x\n",
        {"a": [1.0, 2.0], "y": ["x", "x"]},
        options={"types": {"a": "number"}, "rejects": "skip"},
        rejected=1,
    )
    late = "a,y\n" + "1,x\n" * 300_000 + "abc,y\n" + "1,x\n" * 300_000
    yield bad("a word among numbers, late", late, "not a whole number", 300_002, options={"types": {"a": "integer"}})
    yield bad("an unknown type", "a,y\n1,x\n", "they are integer", options={"types": {"a": "float"}})
    yield bad("a type for no column", "a,y\n1,x\n", "lacks the column 'b'", options={"types": {"b": "text"}})


def gaps() -> Iterator[Case]:
    for word in ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "\\N"):
        yield good(
            f"gap {word!r} everywhere", f"a,b\n1,x\n{word},{word}\n3,z\n", {"a": [1, None, 3], "b": ["x", None, "z"]}
        )
    for word in ("None", "none", "n/a", "na", "?", "-", "."):
        yield good(
            f"gap {word!r} in numbers, a value in text",
            f"a,b\n1,x\n{word},{word}\n3,z\n",
            {"a": [1, None, 3], "b": ["x", word, "z"]},
        )
    yield good("NA in quotes is text", 'a,b\n1,"NA"\n2,NA\n', {"a": [1, 2], "b": ["NA", None]})
    yield good(
        "gaps of one's own",
        "a,b\n1,x\n-999,none\nNA,y\n",
        {"a": ["1", None, "NA"], "b": ["x", None, "y"]},
        options={"na": ["-999", "none"]},
    )
    yield good("a column of gaps", "a,b\n,x\n,y\n", {"a": [None, None], "b": ["x", "y"]})
    yield good("all gaps", "a,b\n,\nNA,NULL\n", {"a": [None, None], "b": [None, None]})


def other_formats() -> Iterator[Case]:
    text = people().encode()
    yield good("gzip", gzip.compress(text), PEOPLE, file="rows.csv.gz")
    yield good("gzip without the suffix", gzip.compress(text), PEOPLE)
    yield good("gzip in two parts", gzip.compress(text[:20]) + gzip.compress(text[20:]), PEOPLE, file="rows.csv.gz")
    yield bad("gzip cut off", gzip.compress(text * 100)[:-20], "damaged or ends too early", file="rows.csv.gz")
    flipped = bytearray(gzip.compress(text))
    flipped[-6] ^= 1
    yield bad("gzip with a wrong check sum", bytes(flipped), "damaged or ends too early", file="rows.csv.gz")
    yield bad("a zip archive", b"PK\x03\x04" + bytes(100), "zip archive")
    yield bad("a web page", b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "web page")
    yield bad("a pickle", b"\x80\x04\x95" + bytes(30), "pickle")
    yield bad("a Parquet file that is none", b"PAR1" + bytes(60), "cannot be read", file="rows.parquet")
    yield bad("a CSV called Parquet", text, "does not begin like", file="rows.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in ({"a": 1, "b": "x"}, {"a": 2.5, "b": None}, {"b": "z"}))
    yield good("JSON lines", lines, {"a": [1.0, 2.5, None], "b": ["x", None, "z"]}, file="rows.jsonl")
    yield good(
        "JSON lines, packed",
        gzip.compress(lines.encode()),
        {"a": [1.0, 2.5, None], "b": ["x", None, "z"]},
        file="rows.jsonl.gz",
    )
    yield good("JSON lines by their look", '{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}, file="rows")
    yield good("JSON lines without a final end", '{"a": 1}\n{"a": 2}', {"a": [1, 2]}, file="rows.jsonl")
    yield bad("a JSON array", '[{"a": 1}]', "JSON array", file="rows.json")
    yield bad("JSON cut off", '{"a": 1}\n{"a": \n', "mend the line", 2, file="rows.jsonl")
    yield bad("two objects in a line", '{"a": 1}{"a": 2}\n', "no JSON|one object", 1, file="rows.jsonl")
    yield bad("a key twice", '{"a": 1}\n{"a": 1, "a": 2}\n', "twice", 2, file="rows.jsonl")
    yield bad("a JSON number too large", '{"a": 1}\n{"a": 1e999}\n', "too big|too large|fit", 2, file="rows.jsonl")
    yield bad("JSON of two types", '{"a": 1}\n{"a": "x"}\n', "changed from|fit", 2, file="rows.jsonl")
    yield good(
        "bad JSON left out",
        '{"a": 1}\n{"a": \n{"a": 2}\n',
        {"a": [1, 2]},
        file="rows.jsonl",
        options={"rejects": "skip"},
        rejected=1,
    )
    yield bad("empty JSON", "\n", "empty", file="rows.jsonl")


CASES = [case for part in (shapes, ragged, quotes, encodings, headers, numbers, gaps, other_formats) for case in part()]
