"""`likely show`: what a model has learned; or how two models differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likely.cli.models import (
    is_stale,
    keeps_counts,
    load_counts,
    load_model,
    provenance_of,
    shares_of,
    stale_note,
)
from likely.cli.options import Page, Reads, Writes
from likely.cli.output import (
    NEGATIVE,
    PIPE,
    OutputOptions,
    in_options,
    write,
    write_json,
    write_page,
    write_records,
    write_table,
)
from likely.errors import SettingsError, without_asides

if TYPE_CHECKING:
    from likely.api import Classifier
    from likely.models.learner import Learner
    from likely.store import Provenance
    from likely.table.infer import Column

SHOWN_CLASSES, SHOWN_COLUMNS, SHOWN_PAIRS, SHOWN_LINES = 20, 40, 12, 60


def show(
    models: Annotated[
        list[str], typer.Argument(help="A model; two with --diff.", metavar="MODEL", show_default=False), Reads()
    ],
    output: OutputOptions,
    diff: Annotated[bool, typer.Option("--diff", help="How two models differ; exit 1 if they do.")] = False,
    values: Annotated[int, typer.Option(help="So many most telling values of each class.", metavar="N", min=0)] = 5,
    depth: Annotated[
        int | None, typer.Option("--depth", help="Levels of a tree that are shown at most.", metavar="N", min=0)
    ] = None,
    html: Page = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the studio as one page (.html), or a drawing: .png, .svg, of a tree .dot.",
            metavar="FILE",
        ),
        Writes(),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", "-d", help="Rows for that page to look at and to judge by.", metavar="FILE"),
        Reads(),
    ] = None,
) -> None:
    """Show what a model has learned: classes, columns, the most telling values.

    \b
    likely show mails.likely
    likely show mails.likely -o mails.html      the studio as one page
    likely show mails.likely --data mails.csv -o mails.html
    likely show tree.likely -o tree.png --depth 4    a drawing; .svg, .dot
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
    if data is not None and (out is None or not is_page(out)):
        raise SettingsError("--data is for the page of the studio: name it with -o, as in -o page.html.")
    classifier = load_model(models[0])
    if out is not None and is_page(out):
        _write_studio(classifier, models[0], out, data)
    elif out is not None:
        _draw(classifier, out, depth)
    if html is not None:
        _write_html(classifier, models[0], html, values)
    if html is not None or out is not None:
        output.wrote(html, out)
    elif output.json:
        write_json(_content(classifier, models[0], values))
    else:
        _write_text(classifier, models[0], values, depth)


def is_page(path: str) -> bool:
    """Whether a name is that of a page."""
    return path.lower().endswith((".html", ".htm"))


def _draw(classifier: object, path: str, depth: int | None) -> None:
    """The tree, the tables of evidence, or what is believed of each column, as the suffix of the file says."""
    from likely.explain.conditionals import conditionals
    from likely.io.outputs import write_text
    from likely.models.protocols import Exports, HasTerms

    if isinstance(classifier, Exports):
        if path.lower().endswith(".dot"):
            write_text(path, classifier.to_dot(depth))
        else:
            classifier.plot(max_depth=depth).save(path)
    elif isinstance(classifier, HasTerms):
        classifier.plot_table().save(path)
    elif keeps_counts(classifier):
        conditionals(classifier).save(path)
    else:
        raise SettingsError(f"There is no drawing of a {type(classifier).__name__}; --html writes a page about it.")


def _write_studio(classifier: Classifier, path: str, out: str, data: str | None) -> None:
    from likely.io.outputs import write_text
    from likely.studio.document import packed_document
    from likely.studio.judging import material_of
    from likely.studio.page import page

    name = "model" if path == PIPE else Path(path).name
    content = packed_document(material_of(classifier, name, provenance_of(path), data))
    write_text(out, page(f"{name} · likely", content))


def _write_html(classifier: Classifier, path: str, html: str, values: int) -> None:
    from likely.io.outputs import write_text
    from likely.models.display import model_page

    if keeps_counts(classifier):
        write_text(html, model_page(classifier, per_class=values))
    else:
        write_page(html, path, classifier._repr_html_())


def _content(classifier: Classifier, path: str, values: int) -> dict[str, Any]:
    """What a model has learned, for JSON; one that has a form of its own for it tells its classes and columns."""
    from likely.explain.rank import telling_values
    from likely.models.export import document
    from likely.render.table import records

    if keeps_counts(classifier):
        ranked, telling = records(classifier.rank()), records(telling_values(classifier.summary_, values))
        content = document(classifier, provenance_of(path), with_parameters=False)
        return {**content, "information": ranked, "telling": telling}
    return {
        "classifier": type(classifier).__name__,
        "rows": classifier._rows_learned(),
        "classes": [str(label) for label in classifier.classes_.tolist()],
        "columns": [[column.name, column.kind, _why(column)] for column in classifier.schema_],
        "information": _bits(classifier),
        "telling": _telling(classifier, values),
        "stale": is_stale(classifier),
    }


def _write_text(classifier: Classifier, path: str, values: int, depth: int | None) -> None:
    target, rows = classifier.schema_.target or "labels", classifier._rows_learned()
    write(f"{path}: {classifier!r}")
    write(f"learned {rows:,} rows{_origin(provenance_of(path))}, to predict {target!r}\n")
    write(f"{stale_note(classifier, path)}\n\n" if is_stale(classifier) else "\n")
    if keeps_counts(classifier):
        _write_counts(classifier, values)
        return
    shares = [[label, "" if share is None else f"{share:.4f}"] for label, share in shares_of(classifier).items()]
    _write_some("Classes", ["class", "prior"], shares, SHOWN_CLASSES)
    bits = _bits(classifier)
    columns = [
        [_short(column.name), column.kind, f"{bits[column.name]:.4f}" if column.name in bits else "", _why(column)]
        for column in sorted(classifier.schema_, key=lambda column: -bits.get(column.name, -1.0))
    ]
    title = "Columns, the most telling first" if bits else "Columns"
    _write_some(title, ["column", "kind", "bits", "why"], columns, SHOWN_COLUMNS, left=(0, 1, 3))
    _write_form(classifier, values, depth)


def _write_form(classifier: object, values: int, depth: int | None) -> None:
    """What a model has of its own: the most telling values, columns that are heard together, a tree in lines."""
    from likely.models.protocols import Exports, HasTerms

    if isinstance(classifier, HasTerms):
        lines = [
            [*map(_short, line[:3]), f"{line[3]:+.2f}", f"{line[4]:.1%}"]
            for line in classifier.telling_values(values).itertuples(index=False, name=None)
        ]
        head = ["class", "column", "value", "log-odds", "share"]
        _write_some("The most telling values", head, lines, values * SHOWN_CLASSES, left=(0, 1, 2))
        pairs = [[" × ".join(term)] for term in classifier.pairs_]
        if pairs:
            _write_some("Interactions", ["columns"], pairs, SHOWN_PAIRS)
    if isinstance(classifier, Exports):
        drawn = classifier.to_text(depth).splitlines()
        more = len(drawn) - SHOWN_LINES
        rest = [f"… and {more:,} lines more; all of them: likely show MODEL -o FILE.html"] if more > 0 else []
        write("\n".join(["", *drawn[:SHOWN_LINES], *rest, ""]))


def _telling(classifier: object, values: int) -> list[dict[str, object]]:
    from likely.models.protocols import HasTerms
    from likely.render.table import records

    return records(classifier.telling_values(values)) if isinstance(classifier, HasTerms) else []


def _bits(classifier: Classifier) -> dict[str, float]:
    """What each column tells about rows that were not learned, as far as that was counted."""
    told = classifier._column_information()
    return {} if told is None else dict(told[["column", "held_out"]].itertuples(index=False, name=None))


def _write_counts(classifier: Learner, values: int) -> None:
    """Classes, columns and the most telling values of a model that follows from counts."""
    from likely.explain.rank import telling_values

    rows, model = classifier.summary_.classes.rows, classifier.model_
    labels = model.classes.tolist()
    order = sorted(range(len(labels)), key=lambda k: -model.prior[k])
    lines = [[_short(labels[k]), f"{rows[k]:,}", f"{model.prior[k]:.4f}"] for k in order]
    _write_some("Classes", ["class", "rows", "prior"], lines, SHOWN_CLASSES)
    bits = _bits(classifier)
    lines = [
        [
            _short(column.name), column.kind, classifier.families_.get(column.name, "—"), _count(column.levels),
            _count(column.gaps), f"{bits[column.name]:.4f}" if column.name in bits else "", _why(column),
        ]
        for column in sorted(classifier.schema_, key=lambda column: -bits.get(column.name, -1.0))
    ]  # fmt: skip
    head = ["column", "kind", "family", "values", "gaps", "bits", "why"]
    _write_some("Columns, the most telling first", head, lines, SHOWN_COLUMNS, left=(0, 1, 2, 6))
    lines = [
        [*map(_short, line[:3]), f"{line[4]:.1%}", f"{line[5]:.1%}"]
        for line in telling_values(classifier.summary_, values).itertuples(index=False, name=None)
    ]
    if lines:
        head = ["class", "column", "value", "share there", "elsewhere"]
        _write_some("The most telling values", head, lines, values * SHOWN_CLASSES, left=(0, 1, 2))


def _show_diff(models: list[str], output: OutputOptions) -> None:
    from likely.models.difference import differences, to_frame

    found = differences(*(load_counts(path, "be compared", corrected=True) for path in models))
    if output.json:
        write_records(to_frame(found))
    elif found:
        lines = [[d.what, d.where, _short(d.a), _short(d.b)] for d in found]
        write_table("", ["what", "where", models[0], models[1]], lines, left=(0, 1, 2, 3))
    else:
        output.say("The models are the same.")
    if found:
        raise typer.Exit(NEGATIVE)


def _write_some(
    what: str, head: Sequence[str], lines: Sequence[Sequence[str]], most: int, left: Sequence[int] = (0,)
) -> None:
    """A table of the first lines, with a title that says how many more there are."""
    title = what if len(lines) <= most else f"{what} ({most} of {len(lines)})"
    write_table(title, head, lines[:most], left)


def _origin(origin: Provenance | None) -> str:
    if origin is None:
        return ""
    sources = f" of {', '.join(origin.sources[:3])}{' …' if len(origin.sources) > 3 else ''}" if origin.sources else ""
    return f"{sources} at {origin.created}"


def _why(column: Column) -> str:
    return in_options(without_asides(column.why))


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _short(value: object, longest: int = 40) -> str:
    from likely.render.table import shortened

    return shortened(str(value), longest)
