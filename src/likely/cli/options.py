"""Arguments and options that several commands share: which name files, values as they are written, tables, costs."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, glob, has_magic
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

from typer import Argument, Context, Option

from likely.cli.output import PIPE, OptionGroup, OutputOptions
from likely.errors import LikelyError, NoSuchFile, SettingsError, did_you_mean, listed
from likely.io.outputs import LEFT_OUT, MODEL, PAGE, Output, refuse

if TYPE_CHECKING:
    from likely.decide import Loss
    from likely.decide.loss_tables import Axis
    from likely.io.file_table import FileTable


Given = Mapping[str, Any]
"""The arguments and options of a command by name."""


@dataclass(frozen=True)
class Reads:
    """Marks what names files to be read; with `after`, only what follows that in a value."""

    after: str = ""


@dataclass(frozen=True)
class Writes:
    """Marks what names a file to be written.

    Its `kind` is one of `likely.io.outputs`, or shows in the suffix, or in the option named by `format`. `usual` gives
    the file that is written if none is named, and `onto` names the input that may be written over.
    """

    kind: str | None = None
    format: str | None = None
    usual: Callable[[Given], str | None] | None = None
    onto: str | None = None
    words: tuple[str, ...] = ()


def refuse_losses(annotations: Mapping[str, object], given: Given) -> None:
    """Refuse a command that would write over what it reads, write a file twice, or replace one of another kind."""
    marked = [(name, mark) for name, kind in annotations.items() for mark in get_args(kind)[1:]]
    writing = {name: mark for name, mark in marked if isinstance(mark, Writes)}
    reading = {name: mark for name, mark in marked if isinstance(mark, Reads)}
    outputs = {name: output for name, mark in writing.items() if (output := _output(given[name], mark, given))}
    if not outputs:
        return
    inputs = {name: list(_inputs(given[name], mark)) for name, mark in reading.items()}
    for name, output in outputs.items():
        spared = writing[name].onto
        refuse([output], [path for other, paths in inputs.items() if other != spared for path in paths])
    refuse(list(outputs.values()))


def _output(value: str | None, mark: Writes, given: Given) -> Output | None:
    path = value if value is not None or mark.usual is None else mark.usual(given)
    if path is None or path == PIPE or path in mark.words:
        return None
    named = given[mark.format] if mark.format is not None else None
    return Output(path, mark.kind if named is None else Output(f"?.{named}").expected)


def _inputs(value: str | list[str] | None, mark: Reads) -> Iterator[str]:
    for entry in [value] if isinstance(value, str) else value or ():
        if entry.startswith(mark.after):
            yield from _files(entry.removeprefix(mark.after))


def _files(entry: str) -> Iterable[str]:
    """The files that an input means; what is wrong with it the command will say."""
    if entry == PIPE:
        return ["/dev/stdin"]
    if not os.path.isdir(entry) and (os.path.exists(entry) or not has_magic(entry)):
        return [entry]
    from likely.io.sources import find_sources

    with suppress(LikelyError):
        return [os.fspath(source.path) for source in find_sources(entry)[0]]
    return []


def _named_files(ctx: Context) -> list[str]:
    """The files on the command line."""
    named = [value for value in ctx.params.values() if value] + list(ctx.args)
    paths = [path for value in named for path in (value if isinstance(value, (list, tuple)) else [value])]
    return [path for path in paths if isinstance(path, str) and os.path.isfile(path)]


COMPARED_TOO = ("logistic", "boosting", "evidence-columns", "evidence-pairs", "evidence-triples")
"""What else can be compared; to ask the comparison for it would take longer than anybody waits for a completion."""


def complete_models(incomplete: str) -> list[str]:
    """Names of models."""
    from likely.models.registry import entries

    return [entry.name for entry in entries() if entry.reads_tables and entry.name.startswith(incomplete)]


def complete_compared(incomplete: str) -> list[str]:
    """Names of models to compare, with commas between: the last one is completed."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in (*complete_models(""), *COMPARED_TOO) if name.startswith(begun)]


def complete_choices(metavar: str) -> Callable[[str], list[str]]:
    """For an option whose metavar lists its values: `rows|columns`."""

    def offered(incomplete: str) -> list[str]:
        return [choice for choice in metavar.split("|") if choice.startswith(incomplete)]

    return offered


def complete_model_files(incomplete: str) -> list[str]:
    """Model files; where there is none, the shell offers all files."""
    return sorted(glob(f"{escape(incomplete)}*.likely"))


def complete_classes(ctx: Context, incomplete: str) -> list[str]:
    """The classes of the model on the command line; nothing if it cannot be read, and never an error."""
    from likely.api import load

    before, comma, begun = incomplete.rpartition(",")
    for path in _named_files(ctx):
        try:
            labels = map(str, load(path).classes_.tolist())
        except (LikelyError, OSError):
            continue
        return [f"{before}{comma}{label}" for label in labels if label.startswith(begun)]
    return []


def complete_columns(ctx: Context, incomplete: str) -> list[str]:
    """The columns of the table on the command line; nothing if it cannot be read, and never an error."""
    for path in _named_files(ctx):
        from likely.io.file_table import open_table

        try:
            return [name for name in open_table(path).names if name.startswith(incomplete)]
        except (LikelyError, OSError):
            continue
    return []


# Arguments that several commands share.

Tables = Annotated[
    list[str],
    Argument(help="Files, globs, folders, or - for standard input.", metavar="TABLE", show_default=False),
    Reads(),
]
Model = Annotated[
    str,
    Argument(
        help="A model file, or - for standard input.",
        metavar="MODEL",
        show_default=False,
        autocompletion=complete_model_files,
    ),
    Reads(),
]
Target = Annotated[
    str | None,
    Option("--target", "-t", help="The column to predict.", metavar="COLUMN", autocompletion=complete_columns),
]
Weight = Annotated[
    str | None,
    Option(help="A column of row weights.", metavar="COLUMN", autocompletion=complete_columns),
]
OUT = Option("--out", "-o", help="Where to write; - is standard output.", metavar="FILE")
Guard = Annotated[bool, Option("--guard/--no-guard", help="Protect spreadsheets from text that looks like a formula.")]
OutTable = Annotated[str | None, OUT, Writes()]
OutModel = Annotated[str | None, OUT, Writes(MODEL, onto="model", usual=lambda given: given.get("model"))]
"""A model that may be written where it was read."""
Page = Annotated[
    str | None, Option("--html", help="Write an HTML page that opens offline.", metavar="FILE"), Writes(PAGE)
]
Studio = Annotated[
    str | None,
    Option("--studio", help="Write the studio of the model as a page, and link to it from --html.", metavar="FILE"),
    Writes(PAGE),
]
Seed = Annotated[int, Option(help="The same seed gives the same folds.", metavar="N")]
DropUnlabelled = Annotated[bool, Option("--drop-unlabelled", help="Leave out rows without a label, and say how many.")]
Force = Annotated[bool, Option("--force", help="Overwrite a model file even if it predicts another column.")]


# Values as they are written on a command line: lists, pairs of a name and a value, labels, numbers.


def listed_in(given: Sequence[str] | None) -> list[str] | None:
    """Names in an option that may be repeated, each time with several names between commas (quoted if need be)."""
    if not given:
        return None
    return [name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line]


def pairs_in(option: str, given: Iterable[str], example: str) -> dict[str, str]:
    """`name=value` of an option that may be repeated; the last `=` divides, since names may hold one."""
    found = {}
    for pair in given:
        name, mark, value = pair.rpartition("=")
        if not mark or not name:
            raise SettingsError(f"{option} is {pair!r}, but it has the form NAME=VALUE, as in {option} {example}.")
        found[name] = value
    return found


def number_in(option: str, text: str) -> float:
    """A number, or an error that names the option."""
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{option} is {text!r}, but it takes a number.") from None


def label_among(text: str, classes: Sequence[Hashable]) -> Hashable:
    """The class that is written like this."""
    names = [str(label) for label in classes]
    if text not in names:
        raise SettingsError(f"There is no class {text!r}; the classes are {listed(names)}.{did_you_mean(text, names)}")
    return classes[names.index(text)]


def label_of_type(text: str, kind: str) -> Hashable:
    """A label as a table in files has it, by what the column of labels seems to hold."""
    try:
        if "int" in kind:
            return int(text)
        if kind == "number" or kind in ("float", "double"):
            return float(text)
    except ValueError:
        return text
    if kind in ("truth", "bool") and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text


# How a table is read: the options of every command that reads one.

FORMATS = ("delimited", "json", "parquet", "arrow", "excel")
MARKS = {"\\t": "\t", "tab": "\t", "space": " ", "none": ""}

Text = str | None
Texts = list[str] | None


@dataclass(frozen=True)
class InputOptions(OptionGroup):
    """The parameters of `open_table`, under the same names."""

    panel = "Input options (inferred from the table by default)"
    rare = True

    format: Annotated[Text, Option(help="Format of the files.", metavar="|".join(FORMATS))] = None
    delimiter: Annotated[Text, Option(help="Between cells: , ; tab space | or any other.", metavar="CHAR")] = None
    encoding: Annotated[Text, Option(help="Such as utf-8, cp1252, utf-16.", metavar="NAME")] = None
    decimal: Annotated[Text, Option(help="Decimal point: . or ,", metavar="CHAR")] = None
    quote: Annotated[Text, Option(help="Quote around cells, or none.", metavar="CHAR")] = None
    escape: Annotated[Text, Option(help="Character before a quote inside a cell.", metavar="CHAR")] = None
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether the first line holds the column names.")
    ] = None
    names: Annotated[Texts, Option(help="Column names instead of a header: a,b,c", metavar="NAMES")] = None
    skip: Annotated[int | None, Option(help="Lines to skip before the header.", metavar="N", min=0)] = None
    na: Annotated[Texts, Option(help="A cell that stands for a missing value; may be repeated.", metavar="CELL")] = None
    type: Annotated[
        Texts,
        Option(
            "--type",
            help="Type of a column in a text file: zip=text, n=number; may be repeated.",
            metavar="COLUMN=TYPE",
        ),
    ] = None
    columns: Annotated[Texts, Option(help="Read only these columns: a,b,c", metavar="NAMES")] = None
    rejects: Annotated[
        Text,
        Option(
            help="Write lines that cannot be read to this file, and go on without them (skip: only count them).",
            metavar="FILE",
        ),
        Writes(LEFT_OUT, words=("skip",)),
    ] = None
    multiline: Annotated[bool, Option("--multiline", help="Quoted cells may span lines.")] = False
    sheet: Annotated[Text, Option(help="The sheet of a workbook.", metavar="NAME")] = None

    def open(self, sources: Sequence[str], output: OutputOptions | None = None) -> FileTable:
        """The table in these files; `output` prints the notes about it."""
        from likely.compilation import watch
        from likely.io.file_table import open_table

        watch()
        given = {**vars(self), "types": pairs_in("--type", self.type or (), "zip=text"), "na": self.na or None}
        del given["type"]
        given |= {name: _mark(given[name]) for name in ("delimiter", "quote", "escape")}
        given |= {name: listed_in(given[name]) for name in ("names", "columns")}
        table = open_table(_source(sources), **given)
        if output is not None:
            output.tell_notes(table.notes)
        return table


def _source(sources: Sequence[str]) -> str | list[str]:
    if len(sources) == 1:
        return sources[0]
    if PIPE in sources:
        raise SettingsError("Standard input (-) cannot be combined with files; name one or the other.")
    return list(sources)


def _mark(given: str | None) -> str | None:
    return given if given is None else MARKS.get(given.lower(), given)


def name_of(sources: Sequence[str]) -> str:
    """What a table is called where it is made into something: the first file, without its folder and suffixes."""
    first = os.path.basename(os.path.normpath(sources[0])) if sources[0] != PIPE else "model"
    stem = first.split(".")[0] if not first.startswith(".") else first
    return stem if stem and not set(stem) & set("*?[") else "model"


# What mistakes cost, from a file and a price for refusing.


@dataclass(frozen=True)
class LossOptions(OptionGroup):
    """A loss: costs by decision and truth, and the price of refusing."""

    panel = "Cost options"

    loss: Annotated[
        Text,
        Option(
            help="CSV of costs; its first cell tells rows from columns: truth\\decision or decision\\truth.",
            metavar="FILE",
        ),
        Reads(),
    ] = None
    truth: Annotated[
        Text,
        Option(help="Where the true classes are, if the first cell does not say.", metavar="rows|columns"),
    ] = None
    refuse: Annotated[
        float | None,
        Option(help="Cost of refusing to decide; without --loss every mistake costs 1.", metavar="PRICE"),
    ] = None

    def read(self, classes: Sequence[Hashable], output: OutputOptions) -> Loss | None:
        """The loss for these classes, told as it is understood; None if no option speaks of costs."""
        if self.loss is None and self.refuse is None:
            return None
        from likely.decide import Loss

        if self.truth not in (None, "columns", "rows"):
            raise SettingsError(f"--truth is {self.truth!r}, but the true classes are in 'columns' or in 'rows'.")
        if self.loss is None:
            return Loss.zero_one(list(classes), refuse=self.refuse)
        try:
            loss = Loss.from_csv(self.loss, truth=cast("Axis | None", self.truth))
        except FileNotFoundError:
            raise NoSuchFile(f"There is no file {self.loss!r}.") from None
        spelled = {str(label): label for label in classes}
        named = [[spelled.get(str(name), name) for name in names] for names in (loss.decisions, loss.truths)]
        price = loss.refuse if self.refuse is None else self.refuse
        loss = Loss(loss.costs, decisions=named[0], truths=named[1], refuse=price)
        self._refuse_lacking(loss, classes)
        output.show(f"Costs from {self.loss}:\n{loss}")
        return loss

    def _refuse_lacking(self, loss: Loss, classes: Sequence[Hashable]) -> None:
        from likely.table import index_levels

        lacking = [label for label, place in zip(classes, index_levels(classes, loss.truths), strict=True) if place < 0]
        if lacking:
            turned = (index_levels(classes, loss.decisions) >= 0).all()
            hint = " If its rows are the true classes, say --truth rows." if turned and self.truth is None else ""
            raise SettingsError(
                f"{self.loss} has no cost for the class {listed(lacking)}; "
                f"its true classes are {listed(loss.truths)}.{hint}"
            )
