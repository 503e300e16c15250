"""`likely forget`: a model as if it had never seen some rows."""

from __future__ import annotations

from likely.cli.models import load_counts, refuse_other_target, save_and_tell, sources_of
from likely.cli.options import Force, InputOptions, Model, OutModel, Tables, Target
from likely.cli.output import OutputOptions
from likely.errors import SettingsError
from likely.progress import row_bar


def forget(
    model: Model,
    tables: Tables,
    input_options: InputOptions,
    output: OutputOptions,
    target: Target = None,
    out: OutModel = None,
    force: Force = False,
) -> None:  # fmt: skip
    """Remove rows from a model.

    \b
    likely forget mails.likely leaver.csv -o mails.likely
    grep ^4711, all.csv | likely forget m.likely - --names id,age,y -o m.likely

    The result is the model that the remaining rows would have given. Rows that were never learned are refused, as far
    as counts can tell. An evidence model removes them from its counts; its corrections are then stale (see likely
    refresh).
    """
    from likely.streaming.update import forget_file

    if out is None:
        raise SettingsError("Where should the model be written? Say -o FILE; it may be the same file.")
    classifier = load_counts(model, "forget", corrected=True)
    refuse_other_target(out, classifier.schema_.target, force)
    table = input_options.open(tables, output)
    before = classifier.summary_.n_rows
    with row_bar("forgetting", output.progress) as progress:
        forget_file(classifier, table, target, progress=progress)
    left = classifier.summary_.n_rows
    told = f"Forgot {before - left:,} rows, {left:,} remain; wrote {out}"
    content = {"forgotten": before - left, "rows": left}
    save_and_tell(classifier, out, sources_of([model]), output, content, told)
