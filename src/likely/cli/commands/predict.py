"""`likely predict`: rows with their prediction, probabilities, decision and reasons."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.models import load_model
from likely.cli.options import Guard, InputOptions, LossOptions, Model, OutTable, Tables, listed_in
from likely.cli.output import (
    GAP,
    OutputOptions,
    destination,
    is_pipe,
    many,
    terminal_width,
    write_table,
    written_as,
)
from likely.errors import SettingsError
from likely.progress import row_bar

SHOWN_ROWS, MOST_SHARES, WIDEST = 20, 4, 24
"""On a terminal: rows, columns of probabilities, and characters of a cell."""
NUMBER = re.compile(r"-?[\d.,]*(e[+-]\d+)?|nan|-?inf")

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.api import Classifier
    from likely.decide import Loss
    from likely.streaming.transform import More


def predict(
    model: Model,
    tables: Tables,
    input_options: InputOptions,
    costs: LossOptions,
    output: OutputOptions,
    out: OutTable = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities/--no-probabilities", help="Add columns with P(class).")
    ] = True,
    explain: Annotated[
        int,
        typer.Option("--explain", "-e", help="Add the N strongest reasons for each prediction.", metavar="N", min=0),
    ] = 0,
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy only these columns: a,b,c; none copies no column.", metavar="NAMES")
    ] = None,
    guard: Guard = True,
) -> None:
    """Predict the class of each row, with probabilities.

    \b
    likely predict mails.likely new.csv                  the rows to look at
    likely predict mails.likely new.csv -o out.parquet   format by suffix
    likely predict mails.likely new.csv --explain 3      and three reasons
    likely predict loans.likely new.csv --loss costs.csv --refuse 0.4
    cat new.csv | likely predict mails.likely - --keep id | head

    Writes the rows with the columns prediction and P(class) added; with costs, also decision and risk; with --explain,
    because_1, because_2 …: what counted most, as log-odds of the predicted class against the runner-up. Columns are
    matched by name; missing and unseen values are fine. A terminal shows the first rows, a pipe gets all of them as
    CSV. The suffix of a file decides its format: .csv .tsv .parquet .arrow .jsonl .xlsx, text formats also with .gz or
    .zst. The file is written whole or not at all.
    """
    if model == "-" and "-" in tables:
        raise SettingsError("Standard input can be the model or the table, but not both; name a file for one of them.")
    classifier = load_model(model)
    table = input_options.open(tables, output)
    loss = costs.read(classifier.classes_.tolist(), output)
    copied = [] if keep == ["none"] else listed_in(keep)
    to_pipe = is_pipe(out)
    from likely.streaming.notes import changed_columns
    from likely.streaming.transform import predict_file, predict_first

    if out is None and sys.stdout.isatty() and not output.json:
        first = predict_first(
            classifier, table, SHOWN_ROWS + 1, probabilities=probabilities, keep=copied, more=_more(loss, explain)
        )
        _show(first, table.names, output)
        output.tell_notes(changed_columns(classifier, table))
        return
    with row_bar("predicting", False if to_pipe else output.progress) as progress:
        rows = predict_file(
            classifier, table, destination(out), probabilities=probabilities, keep=copied, more=_more(loss, explain),
            guard=guard, kind=written_as(out, output), progress=progress,
        )  # fmt: skip
    output.tell_rejected(table)
    output.tell_notes(changed_columns(classifier, table))
    if not to_pipe:
        output.say(f"Predicted {rows:,} rows; wrote {out}")


def _show(first: pa.Table, names: Sequence[str], output: OutputOptions) -> None:
    """The first rows for a person: what was added to them, and as many of their own columns as there is room for."""
    told = first.slice(0, SHOWN_ROWS).to_pydict()
    cells = {name: [_written(cell, ".6g" if name in names else ".4f") for cell in told[name]] for name in told}
    shares = [name for name in cells if name.startswith("P(") and name not in names]
    if len(shares) > MOST_SHARES:
        cells["P(prediction)"] = [max(line) for line in zip(*(cells.pop(name) for name in shares), strict=True)]
    own = {name: [_cropped(cell) for cell in cells.pop(name)] for name in names if name in cells}
    heads = {name: _cropped(name) if name in own else name for name in (*own, *cells)}
    widths = {name: GAP + max(map(len, [heads[name], *found])) for name, found in (own | cells).items()}
    room = (terminal_width() or 0) + GAP - sum(widths[name] for name in cells)
    ends = accumulate(widths[name] for name in own)
    shown = {name: own[name] for name, end in zip(own, ends, strict=True) if end <= room} | cells
    words = [k for k, found in enumerate(shown.values()) if not all(NUMBER.fullmatch(cell) for cell in found)]
    write_table("", [heads[name] for name in shown], list(zip(*shown.values(), strict=True)), left=words)
    left_out = len(own) + len(cells) - len(shown)
    if len(first) > SHOWN_ROWS or left_out or len(shares) > MOST_SHARES:
        rows = f"The first {SHOWN_ROWS} rows" if len(first) > SHOWN_ROWS else many(len(first), "row")
        less = f", without {many(left_out, 'column')}" if left_out else ""
        output.say(f"{rows}{less}; -o FILE writes everything.")


def _written(cell: object, digits: str) -> str:
    return "" if cell is None else format(cell, digits) if isinstance(cell, float) else str(cell)


def _cropped(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[: WIDEST - 1]}…" if len(line) > WIDEST else line


def _more(loss: Loss | None, most: int) -> More | None:
    """The function that makes the additional columns."""
    if loss is None and not most:
        return None

    def columns(classifier: Classifier, rows: pa.Table) -> Mapping[str, list[object]]:
        from likely.explain.reasons import reasons
        from likely.table import as_table

        found: dict[str, list[object]] = {}
        table = as_table(rows)
        if loss is not None:
            decided = classifier.decisions(table, loss)
            found = {"decision": [str(d) for d in decided["decision"]], "risk": decided["risk"].tolist()}
        if most:
            why = reasons(classifier.explain, table, most)
            for place in range(most):
                found[f"because_{place + 1}"] = [str(line[place]) if place < len(line) else None for line in why]
        return found

    return columns
