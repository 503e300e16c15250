"""`likely refresh`: corrections that are stale, made anew by rows."""

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
    """Correct a model anew by rows that it has counted.

    \b
    likely train more.csv --onto mails.likely         counts more rows
    likely refresh mails.likely mails.csv more.csv    corrects it by all rows
    likely refresh both.likely sample.csv -o fresh.likely

    Evidence that has learned on, forgotten or merged is weighted naive Bayes over its counts until then; pairs and
    variances stay as they were chosen. Learned weights of naive Bayes are renewed in the same way. The rows are all
    that were counted, or a fair sample with every class; of more than fit into memory (512 MiB), some are drawn by
    chance. Without --out the model is written where it was.
    """
    from likely.models.protocols import Refreshes
    from likely.streaming.update import refresh_file

    path = out or (model if model != PIPE else None)
    if path is None:
        raise SettingsError("Say where to write the model: -o FILE.")
    classifier = load_model(model)
    if not issubclass(type(classifier), Refreshes) or classifier.get_params().get("weights", "learned") is None:
        kind = type(classifier).__name__
        raise SettingsError(
            f"The {kind} in {model!r} has nothing to refresh: that is for evidence and learned weights."
        )
    refuse_other_target(path, classifier.schema_.target, force)
    table = input_options.open(tables, output)
    with row_bar("refreshing", output.progress) as progress:
        classifier, rows = refresh_file(classifier, table, target, progress=progress)
    counted = int(classifier.summary_.n_rows)
    some = [f"note: {many(rows, 'row')} of {counted:,} that were counted"] if rows != counted else []
    told = f"Refreshed by {many(rows, 'row')}; wrote {path}"
    save_and_tell(classifier, path, sources_of([model]), output, {"rows": rows, "counted": counted}, *some, told)
