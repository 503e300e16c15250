"""`likely refresh`: stale corrections, fitted again to rows."""

from __future__ import annotations

from likely.cli.models import load_model, refuse_other_target, save_and_tell, sources_of
from likely.cli.options import Force, InputOptions, Model, OutModel, Tables, Target
from likely.cli.output import PIPE, OutputOptions, many
from likely.errors import SettingsError
from likely.progress import row_bar


def refresh(
    model: Model,
    tables: Tables,
    input_options: InputOptions,
    output: OutputOptions,
    target: Target = None,
    out: OutModel = None,
    force: Force = False,
) -> None:  # fmt: skip
    """Refit the corrections of a model to rows that it has counted.

    \b
    likely train more.csv --onto mails.likely         adds rows
    likely refresh mails.likely mails.csv more.csv    refits to all rows
    likely refresh both.likely sample.csv -o fresh.likely

    An evidence model that has learned more rows, forgotten some or been merged predicts as weighted naive Bayes over
    its counts until it is refreshed; interactions and variances stay as they were chosen. Learned weights of naive
    Bayes are refreshed in the same way. Give all the rows that were counted, or a random sample with every class; if
    they do not fit into memory (512 MiB), a sample is drawn. Without --out the model is written in place.
    """
    from likely.models.protocols import Refreshes
    from likely.streaming.update import refresh_file

    path = out or (model if model != PIPE else None)
    if path is None:
        raise SettingsError("Where should the model be written? Say -o FILE.")
    classifier = load_model(model)
    if not issubclass(type(classifier), Refreshes) or classifier.get_params().get("weights", "learned") is None:
        kind = type(classifier).__name__
        raise SettingsError(
            f"The {kind} in {model!r} has nothing to refresh; only evidence models and learned weights do."
        )
    refuse_other_target(path, classifier.schema_.target, force)
    table = input_options.open(tables, output)
    with row_bar("refreshing", output.progress) as progress:
        classifier, rows = refresh_file(classifier, table, target, progress=progress)
    counted = int(classifier.summary_.n_rows)
    some = [f"note: refitted to {many(rows, 'row')} of the {counted:,} that were counted"] if rows != counted else []
    told = f"Refreshed with {many(rows, 'row')}; wrote {path}"
    save_and_tell(classifier, path, sources_of([model]), output, {"rows": rows, "counted": counted}, *some, told)
