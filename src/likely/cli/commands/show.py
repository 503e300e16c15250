"""`likely show`: what a model has learned; or how two models differ."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from likely.cli.models import (
    is_stale,
    keeps_counts,
    load_counts,
    load_model,
    provenance_of,
    rows_learned,
    shares_of,
    stale_note,
)
from likely.cli.options import Page, Reads
from likely.cli.output import NEGATIVE, OutputOptions, in_options, records, write, write_json, write_table
from likely.errors import SettingsError, without_asides

SHOWN_CLASSES, SHOWN_COLUMNS, SHOWN_LINES = 20, 40, 60


def show(
    models: Annotated[
        list[str], typer.Argument(help="A model; two with --diff.", metavar="MODEL", show_default=False), Reads()
    ],
    output: OutputOptions,
    diff: Annotated[bool, typer.Option("--diff", help="How two models differ; exit 1 if they do.")] = False,
    values: Annotated[int, typer.Option(help="So many most telling values of each class.", metavar="N", min=0)] = 5,
    html: Page = None,
) -> None:
    """Show what a model has learned: classes, columns, the most telling values.

    \b
    likely show mails.likely
    likely show mails.likely --html mails.html
    likely show --diff old.likely new.likely    exit 1 if they differ
    likely show mails.likely --json | jq .classes
    """
    if diff:
        if len(models) != 2:
            raise SettingsError(f"--diff compares two models, but {len(models)} were named.")
        _show_diff(models, output)
        return
    if len(models) != 1:
        raise SettingsError("Show one model at a time, or two with --diff.")
    classifier = load_model(models[0])
    if not keeps_counts(classifier):
        _show_other(classifier, models[0], output, html)
        return
    if html is not None:
        from likely.io.outputs import write_text
        from likely.models.display import model_page

        write_text(html, model_page(classifier, per_class=values))
        output.say(f"Wrote {html}")
        return
    if output.json:
        _write_json(classifier, models[0], values)
        return
    _write_text(classifier, models[0], values)


def _show_other(classifier: Any, path: str, output: OutputOptions, html: str | None) -> None:
    """A classifier that keeps what it learned in a form of its own: its classes and columns, and its own page."""
    columns = [[column.name, column.kind, in_options(without_asides(column.why))] for column in classifier.schema_]
    labels = [str(label) for label in classifier.classes_.tolist()]
    if html is not None:
        from likely.io.outputs import write_text
        from likely.markup import Markup
        from likely.render.page import page

        write_text(html, page(path, Markup(classifier._repr_html_())))
        output.say(f"Wrote {html}")
    elif output.json:
        content = {"classifier": type(classifier).__name__, "rows": rows_learned(classifier)}
        write_json({**content, "classes": labels, "columns": columns, "stale": is_stale(classifier)})
    else:
        target = classifier.schema_.target or "labels"
        write(f"{path}: {classifier!r}")
        write(f"learned {rows_learned(classifier):,} rows{_origin(provenance_of(path))}, to predict {target!r}\n")
        write(f"{stale_note(classifier, path)}\n\n" if is_stale(classifier) else "\n")
        shares = [[label, "" if share is None else f"{share:.4f}"] for label, share in shares_of(classifier).items()]
        write_table(
            _title("Classes", len(shares[:SHOWN_CLASSES]), len(shares)), ["class", "prior"], shares[:SHOWN_CLASSES]
        )
        shown = columns[:SHOWN_COLUMNS]
        write_table(_title("Columns", len(shown), len(columns)), ["column", "kind", "why"], shown, left=(0, 1, 2))
        from likely.models.protocols import Exports, HasTerms

        terms = [[" × ".join(term)] for term in (classifier.pairs_ if isinstance(classifier, HasTerms) else ())]
        if terms:
            shown = terms[:SHOWN_COLUMNS]
            write_table(_title("Heard together", len(shown), len(terms)), ["columns"], shown)
        if isinstance(classifier, Exports):
            write(f"\n{_drawing(classifier.to_text())}\n")


def _drawing(text: str) -> str:
    """A tree in lines, the rest of a large one left out."""
    lines = text.splitlines()
    more = len(lines) - SHOWN_LINES
    rest = [f"… and {more:,} lines more; all of them: likely show MODEL --html FILE"] if more > 0 else []
    return "\n".join([*lines[:SHOWN_LINES], *rest])


def _show_diff(models: list[str], output: OutputOptions) -> None:
    from likely.models.difference import differences, to_frame

    found = differences(*(load_counts(path, "be compared", corrected=True) for path in models))
    if output.json:
        write_json(records(to_frame(found)))
    elif found:
        lines = [[d.what, d.where, _short(d.a), _short(d.b)] for d in found]
        write_table("", ["what", "where", models[0], models[1]], lines, left=(0, 1, 2, 3))
    else:
        output.say("The models are the same.")
    if found:
        raise typer.Exit(NEGATIVE)


def _write_json(classifier: Any, path: str, values: int) -> None:
    from likely.explain.rank import telling_values
    from likely.models.export import document

    content = document(classifier, provenance_of(path), with_parameters=False)
    content["information"] = records(classifier.rank())
    content["telling"] = records(telling_values(classifier.summary_, values))
    write_json(content)


def _write_text(classifier: Any, path: str, values: int) -> None:
    summary, model = classifier.summary_, classifier.model_
    origin = provenance_of(path)
    write(f"{path}: {classifier!r}")
    write(f"learned {summary.n_rows:,} rows{_origin(origin)}, to predict {classifier.schema_.target or 'labels'!r}\n\n")
    order = sorted(range(len(model.classes)), key=lambda k: -model.prior[k])[:SHOWN_CLASSES]
    labels = model.classes.tolist()
    lines = [[_short(labels[k]), f"{summary.classes.rows[k]:,}", f"{model.prior[k]:.4f}"] for k in order]
    write_table(_title("Classes", len(lines), len(labels)), ["class", "rows", "prior"], lines)
    _write_columns(classifier)
    if values:
        _write_telling(classifier, values)


def _write_columns(classifier: Any) -> None:
    bits = dict(classifier.rank()[["column", "information"]].itertuples(index=False))
    columns = sorted(classifier.schema_, key=lambda column: -bits.get(column.name, -1.0))
    lines = [
        [
            _short(column.name), column.kind, classifier.families_.get(column.name, "—"), _count(column.levels),
            _count(column.gaps), f"{bits[column.name]:.4f}" if column.name in bits else "",
            in_options(without_asides(column.why)),
        ]
        for column in columns[:SHOWN_COLUMNS]
    ]  # fmt: skip
    head = ["column", "kind", "family", "values", "gaps", "bits", "why"]
    write_table(_title("Columns, the most telling first", len(lines), len(columns)), head, lines, left=(0, 1, 2, 6))


def _write_telling(classifier: Any, values: int) -> None:
    from likely.explain.rank import telling_values

    frame = telling_values(classifier.summary_, values)
    if frame.empty:
        return
    most = values * SHOWN_CLASSES
    lines = [
        [_short(line[0]), _short(line[1]), _short(line[2]), f"{line[4]:.1%}", f"{line[5]:.1%}"]
        for line in frame.head(most).itertuples(index=False)
    ]
    head = ["class", "column", "value", "share there", "elsewhere"]
    write_table(_title("The most telling values", len(lines), len(frame)), head, lines, left=(0, 1, 2))


def _origin(origin: Any) -> str:
    if origin is None:
        return ""
    sources = f" of {', '.join(origin.sources[:3])}{' …' if len(origin.sources) > 3 else ''}" if origin.sources else ""
    return f"{sources} at {origin.created}"


def _title(what: str, shown: int, there: int) -> str:
    return what if shown == there else f"{what} ({shown} of {there})"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _short(value: object, longest: int = 40) -> str:
    from likely.render.table import shortened

    return shortened(str(value), longest)
