"""`likely explain`: why a row gets its posterior, factor by factor."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.models import load_model
from likely.cli.options import InputOptions, Model, Page, Tables, Writes, complete_classes, label_among, listed_in
from likely.cli.output import OutputOptions, write, write_records
from likely.errors import DataError, SettingsError

if TYPE_CHECKING:
    from likely.explain import Contrast, Explanation

SHOWN_WORDS = 10


def explain(
    model: Model,
    tables: Tables,
    input_options: InputOptions,
    output: OutputOptions,
    row: Annotated[
        int, typer.Option("--row", "-r", help="The first row to explain, from 1 on.", metavar="N", min=1)
    ] = 1,
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows.", metavar="N", min=1)] = 1,
    contrast: Annotated[
        str | None,
        typer.Option(
            help="Log-odds of a class against the rest, or of one against another: A,B",
            metavar="CLASS[,CLASS]",
            autocompletion=complete_classes,
        ),
    ] = None,
    logs: Annotated[bool, typer.Option("--logs", help="Show logarithms beside the factors.")] = False,
    html: Page = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw the first row: .svg, .png or .html.", metavar="FILE"), Writes()
    ] = None,
) -> None:
    """Show why: prior × one factor per column = posterior.

    \b
    likely explain mails.likely new.csv                    the first row
    likely explain mails.likely new.csv --row 17 --rows 3  rows 17, 18 and 19
    likely explain mails.likely new.csv --contrast spam    spam against the rest
    likely explain mails.likely new.csv --plot why.svg

    The factors multiply to the posterior; nothing is estimated afterwards. Gaps and values never seen are said. Of
    texts, the words that spoke are shown.
    """
    from likely.explain import Contrast, Explanation
    from likely.io.outputs import write_text
    from likely.markup import Markup
    from likely.render.report import report_page
    from likely.streaming.read_all import sample_rows

    classifier = load_model(model)
    table = input_options.open(tables)
    sides = _sides(contrast, classifier.classes_.tolist())
    some = sample_rows(classifier, table, row - 1, rows)
    if not some.num_rows:
        raise DataError(f"There is no row {row} in {table.sources[0].name}.")
    why = classifier.explain(some)
    if sides is not None and not isinstance(why, Explanation):
        raise SettingsError(f"A {type(classifier).__name__} has no log-odds by column; leave out --contrast.")
    shown = why if sides is None else classifier.explain(some, contrast=sides)
    adds_up = isinstance(shown, Explanation | Contrast)
    if plot is not None:
        (shown.plot(name=row) if adds_up else shown.plot()).save(plot)
    if html is not None:
        title = f"Why row {row}" if rows == 1 else f"Why rows {row} to {row + some.num_rows - 1}"
        chart = (lambda: why.plot("odds", contrast=sides, name=row)) if adds_up and len(why.classes) > 1 else None
        told = Markup(shown._repr_html_())
        write_text(html, report_page(title, told, source=f"{model}, {table.sources[0].name}", chart=chart))
    output.wrote(plot, html)
    if output.json:
        frame = shown.to_frame()
        frame["row"] += row
        write_records(frame)
        return
    if not isinstance(why, Explanation):
        write(str(shown))
        return
    for place in range(len(why)):
        write(_text(why, shown, place, row + place, logs) + "\n")


def _sides(contrast: str | None, classes: list[Hashable]) -> Hashable:
    if contrast is None:
        return None
    names = listed_in([contrast]) or []
    if len(names) > 2:
        raise SettingsError(f"--contrast is {contrast!r}, but it is one class, or two with a comma between them.")
    found = tuple(label_among(name, classes) for name in names)
    return found[0] if len(found) == 1 else found


def _text(why: Explanation, shown: Explanation | Contrast, place: int, number: int, logs: bool) -> str:
    from likely.explain import Contrast

    posterior = why.posterior[place]
    best = int(posterior.argmax())
    parts = [f"Row {number}: {why.classes.tolist()[best]} ({posterior[best]:.4f})"]
    if isinstance(shown, Contrast):
        parts.append(shown.row_log_odds(place).grid(shown.title).text())
    else:
        parts.append(why.blackboard(place, logs=logs))
    words = why.tokens(place).head(SHOWN_WORDS) if why.words else None
    if words is not None and not words.empty:
        parts.append(f"Top words\n{words.round(3).to_string(index=False)}")
    return "\n\n".join(parts)
