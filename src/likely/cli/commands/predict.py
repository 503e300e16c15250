"""`likely predict`: rows with their prediction, probabilities, decision and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.models import load_model
from likely.cli.options import Guard, InputOptions, LossOptions, Model, OutTable, Tables, listed_in
from likely.cli.output import OutputOptions, destination, is_pipe, written_as
from likely.errors import SettingsError
from likely.progress import row_bar

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
    likely predict mails.likely new.csv                  CSV to standard output
    likely predict mails.likely new.csv -o out.parquet   format by suffix
    likely predict mails.likely new.csv --explain 3      and three reasons
    likely predict loans.likely new.csv --loss costs.csv --refuse 0.4
    cat new.csv | likely predict mails.likely - --keep id | head

    Writes the rows with the columns prediction and P(class) added; with costs, also decision and risk; with --explain,
    because_1, because_2 …: what counted most, as log-odds of the predicted class against the runner-up. Columns are
    matched by name; missing and unseen values are fine. The suffix decides the format: .csv .tsv .parquet .arrow .jsonl
    .xlsx, text formats also with .gz or .zst. The file is written whole or not at all.
    """
    if model == "-" and "-" in tables:
        raise SettingsError("Standard input can be the model or the table, but not both; name a file for one of them.")
    classifier = load_model(model)
    table = input_options.open(tables, output)
    loss = costs.read(classifier.classes_.tolist(), output)
    copied = [] if keep == ["none"] else listed_in(keep)
    to_pipe = is_pipe(out)
    from likely.streaming.notes import changed_columns
    from likely.streaming.transform import predict_file

    with row_bar("predicting", False if to_pipe else output.progress) as progress:
        rows = predict_file(
            classifier, table, destination(out), probabilities=probabilities, keep=copied, more=_more(loss, explain),
            guard=guard, kind=written_as(out, output), progress=progress,
        )  # fmt: skip
    output.tell_rejected(table)
    output.tell_notes(changed_columns(classifier, table))
    if not to_pipe:
        output.say(f"Predicted {rows:,} rows; wrote {out}")


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
