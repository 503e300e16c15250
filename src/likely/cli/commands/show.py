"""`likely show`: what a model has learned, or how two models differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from likely.cli.options import Page, Reads, Writes, complete_model_files
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
    from likely.models.overview import LearnedOverview, Overview
    from likely.store import Provenance
    from likely.table.infer import Column
    from likely.table.schema import Schema

SHOWN_CLASSES, SHOWN_COLUMNS, SHOWN_PAIRS, SHOWN_LINES = 20, 40, 12, 60


def show(
    models: Annotated[
        list[str],
        typer.Argument(
            help="A model; two with --diff.", metavar="MODEL", show_default=False, autocompletion=complete_model_files
        ),
        Reads(),
    ],
    output: OutputOptions,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show how two models differ; exit with code 1 if they do.")
    ] = False,
    values: Annotated[int, typer.Option(help="Strongest values to show for each class.", metavar="N", min=0)] = 5,
    depth: Annotated[int | None, typer.Option("--depth", help="Levels of a tree to show.", metavar="N", min=0)] = None,
    html: Page = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the studio as one page (.html), or a picture: .png, .svg, .dot (trees).",
            metavar="FILE",
        ),
        Writes(),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", "-d", help="Rows for the studio page.", metavar="FILE"),
        Reads(),
    ] = None,
) -> None:
    """Show what a model has learned: classes, columns, strongest values.

    \b
    likely show mails.likely
    likely show mails.likely -o mails.html      the studio as one page
    likely show mails.likely --data mails.csv -o mails.html
    likely show tree.likely -o tree.png --depth 4    a picture; .svg, .dot
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
        raise SettingsError("--data is for the studio page; name the page as well: -o page.html.")
    if html is None and out is None:
        _tell(models[0], output, values, depth)
        return
    classifier = load_model(models[0])
    if out is not None and is_page(out):
        _write_studio(classifier, models[0], out, data)
    elif out is not None:
        _draw(classifier, out, depth)
    if html is not None:
        _write_html(classifier, models[0], html, values)
    output.wrote(html, out)


def _tell(path: str, output: OutputOptions, values: int, depth: int | None) -> None:
    if output.json:
        write_json(_content(load_model(path), path, values))
    elif path == PIPE or not _write_usual(path, values, depth):
        _write_text(load_model(path), path, values, depth)


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
        raise SettingsError(f"There is no picture of a {type(classifier).__name__}; --html writes a page about it.")


def _write_studio(classifier: Classifier, path: str, out: str, data: str | None) -> None:
    from likely.io.outputs import write_text
    from likely.studio.document import packed_document
    from likely.studio.material import material_of
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


def _content(classifier: Classifier, path: str, values: int) -> dict[str, object]:
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


def _write_usual(path: str, values: int, depth: int | None) -> bool:
    """Show a model of the usual kind without building it; False for any other."""
    from likely.models.overview import Overview, usual_overview

    shown = usual_overview(path)
    if isinstance(shown, Overview):
        _write_head(path, shown.title, shown.summary.n_rows, shown.provenance, shown.schema)
        write("\n")
        _write_counts(shown, values)
    elif shown is not None:
        _write_learned(shown, path, "", values, depth)
    return shown is not None


def _write_head(path: str, title: str, rows: int, provenance: Provenance | None, schema: Schema) -> None:
    write(f"{path}: {title}")
    write(f"predicts {schema.target or 'labels'!r}, trained on {rows:,} rows{_origin(provenance)}\n")


def _overview(classifier: Learner) -> Overview:
    from likely.models.overview import Overview

    seen, families, bits = classifier.summary_, classifier.families_, _bits(classifier)
    return Overview(repr(classifier), None, classifier.schema_, families, seen, classifier.model_, bits)


def _write_text(classifier: Classifier, path: str, values: int, depth: int | None) -> None:
    note = f"{stale_note(classifier, path)}\n" if is_stale(classifier) else ""
    if not keeps_counts(classifier):
        _write_learned(_learned_overview(classifier, path), path, note, values, depth)
        return
    _write_head(path, repr(classifier), classifier._rows_learned(), provenance_of(path), classifier.schema_)
    write(f"{note}\n")
    _write_counts(_overview(classifier), values)


def _learned_overview(classifier: Classifier, path: str) -> LearnedOverview:
    """What a model tells of itself that has no counts, or more than counts."""
    from likely.models.overview import LearnedOverview
    from likely.models.protocols import Exports, HasTerms

    terms, tree = isinstance(classifier, HasTerms), isinstance(classifier, Exports)
    return LearnedOverview(
        repr(classifier),
        provenance_of(path),
        classifier.schema_,
        classifier._rows_learned(),
        shares_of(classifier),
        _bits(classifier),
        telling=(lambda n: classifier.telling_values(n).values.tolist()) if terms else None,
        interactions=classifier.pairs_ if terms else (),
        text=classifier.to_text if tree else None,
    )


def _write_learned(shown: LearnedOverview, path: str, note: str, values: int, depth: int | None) -> None:
    """Classes, columns, and what only some models have: strongest values, interactions, a tree in lines."""
    _write_head(path, shown.title, shown.rows, shown.provenance, shown.schema)
    write(f"{note}\n")
    shares = [[label, "" if share is None else f"{share:.4f}"] for label, share in shown.shares.items()]
    _write_some("Classes", ["class", "prior"], shares, SHOWN_CLASSES)
    bits = shown.bits
    columns = [
        [_short(column.name), column.kind, told, _why(column)] for column, told in _with_bits(shown.schema, bits)
    ]
    title = "Columns, the most informative first" if bits else "Columns"
    _write_some(title, ["column", "kind", "bits", "why"], columns, SHOWN_COLUMNS, left=(0, 1, 3))
    if shown.telling is not None:
        lines = [[*map(_short, line[:3]), f"{line[3]:+.2f}", f"{line[4]:.1%}"] for line in shown.telling(values)]
        head = ["class", "column", "value", "log-odds", "share"]
        _write_some("Strongest values", head, lines, values * SHOWN_CLASSES, left=(0, 1, 2))
    if shown.interactions:
        pairs = [[" × ".join(term)] for term in shown.interactions]
        _write_some("Interactions", ["columns"], pairs, SHOWN_PAIRS)
    if shown.text is not None:
        drawn = shown.text(depth).splitlines()
        more = len(drawn) - SHOWN_LINES
        rest = [f"… and {more:,} more lines; for all of them: likely show MODEL -o FILE.html"] if more > 0 else []
        write("\n".join(["", *drawn[:SHOWN_LINES], *rest, ""]))


def _telling(classifier: object, values: int) -> list[dict[str, object]]:
    from likely.models.protocols import HasTerms
    from likely.render.table import records

    return records(classifier.telling_values(values)) if isinstance(classifier, HasTerms) else []


def _bits(classifier: Classifier) -> dict[str, float]:
    """Information of each column about held-out rows, in bits, as far as that is known."""
    told = classifier._column_information()
    return {} if told is None else dict(told[["column", "held_out"]].itertuples(index=False, name=None))


def _with_bits(schema: Schema, bits: Mapping[str, float]) -> list[tuple[Column, str]]:
    """Columns, the most informative first, with their bits; those of a date are the most that a part of it tells."""
    from likely.table.dates import part_of

    of_dates: dict[str, float] = {}
    for name, told in bits.items():
        part = part_of(name)
        if part is not None:
            of_dates[part[0]] = max(told, of_dates.get(part[0], 0.0))
    found = {**of_dates, **bits}
    columns = sorted(schema, key=lambda column: -found.get(column.name, -1.0))
    return [(column, f"{found[column.name]:.4f}" if column.name in found else "") for column in columns]


def _write_counts(shown: Overview, values: int) -> None:
    """Classes, columns and strongest values of a model that is made of counts."""
    rows, model, bits = shown.summary.classes.rows, shown.model, shown.bits
    labels = model.classes.tolist()
    order = sorted(range(len(labels)), key=lambda k: -model.prior[k])
    lines = [[_short(labels[k]), f"{rows[k]:,}", f"{model.prior[k]:.4f}"] for k in order]
    _write_some("Classes", ["class", "rows", "prior"], lines, SHOWN_CLASSES)
    lines = [
        [
            _short(column.name), column.kind, shown.families.get(column.name, "—"), _count(column.levels),
            _count(column.gaps), told, _why(column),
        ]
        for column, told in _with_bits(shown.schema, bits)
    ]  # fmt: skip
    head = ["column", "kind", "family", "values", "missing", "bits", "why"]
    _write_some("Columns, the most informative first", head, lines, SHOWN_COLUMNS, left=(0, 1, 2, 6))
    lines = [[*map(_short, line[:3]), f"{line[4]:.1%}", f"{line[5]:.1%}"] for line in shown.telling(values)]
    if lines:
        head = ["class", "column", "value", "in class", "elsewhere"]
        _write_some("Strongest values", head, lines, values * SHOWN_CLASSES, left=(0, 1, 2))


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
    moment = origin.created.replace("T", " ")
    return f"{sources} ({moment[:16]} UTC)" if moment.endswith("+00:00") else f"{sources} ({moment})"


def _why(column: Column) -> str:
    return in_options(without_asides(column.why))


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _short(value: object, longest: int = 40) -> str:
    from likely.render.table import shortened

    return shortened(str(value), longest)
