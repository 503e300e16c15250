"""`likely rank`: which columns are most informative about the class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.commands.train import wanted_target
from likely.cli.model_options import ModelOptions
from likely.cli.models import adds_counts, is_model, load_model
from likely.cli.options import DropUnlabelled, InputOptions, Reads, Target, Weight
from likely.cli.output import OutputOptions, columns_that_fit, write_records, write_table
from likely.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from likely.api import Classifier

NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")
"""How the types of columns of numbers begin."""

LONGEST_NAME = 28
"""Letters of a column's name, so that the table fits a terminal of 80."""

READ_ROWS = 20_000
"""Rows of a table that are read; those that are shuffled are drawn from them."""

FIRST = ("held_out", "permutation", "contribution", "share", "gaps", "information")
SHORT = ("gain_ratio", "chi2", "gini", "misclassification")
"""Shown before the others, which have longer names."""


def rank(
    inputs: Annotated[
        list[str], typer.Argument(help="A model, or a table.", metavar="MODEL|TABLE", show_default=False), Reads()
    ],
    model_options: ModelOptions,
    input_options: InputOptions,
    output: OutputOptions,
    target: Target = None,
    weight: Weight = None,
    drop_unlabelled: DropUnlabelled = False,
    by: Annotated[
        str | None,
        typer.Option(
            help="held_out, permutation, contribution, information, information_gain, gain_ratio, "
            "symmetric_gain_ratio_1 or _2, chi2, gini or misclassification.",
            metavar="MEASURE",
        ),
    ] = None,
) -> None:
    """Rank columns by how informative they are about the class.

    \b
    likely rank mails.likely
    likely rank loans.csv --target risk
    likely rank loans.csv --target risk --by gain_ratio
    likely rank svm.likely loans.csv    by shuffling columns

    held_out: bits of information about the class of held-out rows; share: the same as a proportion of the entropy of
    the class; gaps: the part that comes from missing values; information: mutual information on the rows as counted.
    With a model and rows, contribution is the mean absolute log-odds of a column, and permutation the log loss that
    shuffling it costs. The other measures take numbers in ten intervals of equal weight. Numeric columns of a table are
    binned, so that no assumption about their distribution flatters them, unless --model or --family says otherwise.
    """
    if is_model(inputs[0]):
        classifier = load_model(inputs[0])
        rows = _rows(classifier, inputs[1:], target, input_options, output) if len(inputs) > 1 else (None, None)
    else:
        from likely.api import learn, select_model

        rows = None, None
        table = input_options.open(inputs, output)
        label = wanted_target(table, target)
        if drop_unlabelled:
            table.labelled(label)
        settings = model_options.settings(table.types, label)
        if model_options.model is None and "families" not in settings:
            settings["families"] = _in_bins(table.types, settings.get("schema") or {}, {label, weight})
        selection = select_model(
            table, label, model_options.model or "naive", settings, weight=weight, progress=output.progress
        )
        classifier = learn(selection, table, label, weight=weight, progress=output.progress)
    frame = _ranked(classifier, by, *rows)
    if output.json:
        write_records(frame)
        return
    if by is None:  # the measures of a table of counts are there for those who ask
        frame = frame[[name for name in frame.columns if name == "column" or name in FIRST]]
    head = list(frame.columns)
    lines = [[_short_name(line[0]), *(_figure(cell) for cell in line[1:])] for line in frame.itertuples(index=False)]
    fits = columns_that_fit(head, lines)
    write_table("", head[:fits], [line[:fits] for line in lines])
    if fits < len(head):
        output.say(
            f"Not shown for lack of room: {', '.join(head[fits:])}; --by MEASURE puts one first, --json has all."
        )


def _rows(
    classifier: Classifier, paths: list[str], target: str | None, input_options: InputOptions, output: OutputOptions
) -> tuple[pa.Table, str | None]:
    """Rows to rank by, and their labels if the table has them."""
    from likely.engines.files import label_type
    from likely.streaming.read_all import sample_rows

    table = input_options.open(paths, output)
    label = target or classifier.schema_.target
    if label is None or label not in table.names:
        return sample_rows(classifier, table, 0, READ_ROWS), None
    as_read = {label: label_type(table.types[label], classifier.classes_)}
    return sample_rows(classifier, table, 0, READ_ROWS, as_read), label


def _in_bins(types: Mapping[str, str], kinds: Mapping[str, str], left_out: set[str | None]) -> dict[str, str]:
    """The family of bins for each column of numbers."""
    numbers = [name for name, kind in types.items() if kind == "number" or kind.startswith(NUMBERS)]
    return {name: "bins" for name in numbers if name not in left_out and kinds.get(name, "numeric") == "numeric"}


def _short_name(name: object) -> str:
    """The name of a column, cut so that its figures have room beside it."""
    from likely.render.table import shortened

    return shortened(str(name), LONGEST_NAME)


def _ranked(classifier: Classifier, by: str | None, rows: pa.Table | None, labels: str | None) -> pd.DataFrame:
    from likely.errors import did_you_mean, listed
    from likely.explain.rank import rank_by
    from likely.models.classifier import Classifier as Ranks
    from likely.models.feature_importance import ORDERS

    if not isinstance(classifier, Ranks):
        raise SettingsError(f"A {type(classifier).__name__} does not rank columns; train a model with --model naive.")
    frame = classifier.rank(rows, labels)
    if frame.empty:
        raise SettingsError(
            f"A {type(classifier).__name__} has nothing to say about single columns, so they cannot be ranked; train a "
            "model with --model naive."
        )
    usual = next(name for name in ORDERS if name in frame.columns)
    if adds_counts(classifier):
        others = rank_by(classifier.model_, classifier.summary_)
        frame = frame.merge(others.astype({"column": frame["column"].dtype}), on="column", how="left")
    choices = [name for name in frame.columns if name != "column"]
    if by is not None and by not in choices:
        raise SettingsError(
            f"There is no measure {by!r}; the measures are {listed(choices)}.{did_you_mean(by, choices)}"
        )
    by = by or usual
    others = [name for name in (*FIRST, *SHORT, *choices) if name in frame.columns]
    frame = frame[list(dict.fromkeys(["column", by, *others]))]
    return frame.sort_values(by, ascending=False, kind="stable", ignore_index=True, na_position="last")


def _figure(cell: float) -> str:
    return "" if cell != cell else f"{cell:.4f}" if abs(cell) < 1000 else f"{cell:,.1f}"
