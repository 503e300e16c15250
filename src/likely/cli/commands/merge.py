"""`likely merge`: several models added up to one."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Annotated

import typer

from likely.cli.models import load_counts, refuse_other_target, save_and_tell, sources_of
from likely.cli.options import OUT, Force, Reads, Writes, complete_model_files
from likely.cli.output import OutputOptions
from likely.errors import NotMergeable, SettingsError
from likely.io.outputs import MODEL


def merge(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Models with the same columns.",
            metavar="MODEL",
            show_default=False,
            autocompletion=complete_model_files,
        ),
        Reads(),
    ],
    output: OutputOptions,
    out: Annotated[str | None, OUT, Writes(MODEL)] = None,
    force: Force = False,
) -> None:
    """Merge models that were trained separately, without their rows.

    \b
    likely merge north.likely south.likely -o both.likely
    likely merge sites/*.likely -o all.likely

    The result is the model that all rows together would have given. The models must have the same columns, of the same
    kinds; the settings are those of the first. Evidence models add up their counts; the corrections are then stale
    (see likely refresh).
    """
    if len(models) < 2:
        raise SettingsError("Name at least two models to merge.")
    if out is None:
        raise SettingsError("Where should the merged model be written? Say -o FILE.")
    loaded = [load_counts(path, "be merged", corrected=True) for path in models]
    kinds = {type(model).__name__ for model in loaded}
    if len(kinds) > 1:
        raise NotMergeable(f"The models are of different kinds: {' and '.join(sorted(kinds))}.")
    refuse_other_target(out, loaded[0].schema_.target, force)
    whole = reduce(add, loaded)
    told = f"Merged {len(models)} models: {whole.summary_.n_rows:,} rows; wrote {out}"
    content = {"rows": whole.summary_.n_rows, "classes": whole.classes_.tolist()}
    save_and_tell(whole, out, sources_of(models), output, content, told)
