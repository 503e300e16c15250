"""`likely explain`: why a row gets its probabilities, factor by factor."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from likely.cli.models import load_model, provenance_of
from likely.cli.options import (
    InputOptions,
    Model,
    Page,
    Studio,
    Tables,
    Writes,
    complete_classes,
    label_among,
    listed_in,
)
from likely.cli.output import OutputOptions, terminal_width, write, write_records
from likely.cli.studio_link import model_name, studio_link
from likely.errors import DataError, SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from likely.explain import Contrast, Explanation
    from likely.models.svm.explain import PlaneExplanation
    from likely.models.tree.explain import Paths
    from likely.models.tree.plot import TreePicture
    from likely.render.picture import Picture

    Shown = Explanation | Contrast | Paths | PlaneExplanation

SHOWN_WORDS = 10
MOST_CLASSES, LEAST_CLASSES, LEAST_NAME, LONGEST_HEAD = 10, 3, 24, 16
WIDTH = 80


def explain(
    model: Model,
    tables: Tables,
    input_options: InputOptions,
    output: OutputOptions,
    row: Annotated[
        int, typer.Option("--row", "-r", help="The first row to explain, counted from 1.", metavar="N", min=1)
    ] = 1,
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows.", metavar="N", min=1)] = 1,
    contrast: Annotated[
        str | None,
        typer.Option(
            help="Log-odds of one class against the rest, or of A against B: A,B",
            metavar="CLASS[,CLASS]",
            autocompletion=complete_classes,
        ),
    ] = None,
    logs: Annotated[bool, typer.Option("--logs", help="Show logarithms beside the factors.")] = False,
    html: Page = None,
    studio: Studio = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw the first row: .svg, .png or .html.", metavar="FILE"), Writes()
    ] = None,
) -> None:
    """Explain predictions: prior × one factor per column = posterior.

    \b
    likely explain mails.likely new.csv                    the first row
    likely explain mails.likely new.csv --row 17 --rows 3  rows 17, 18 and 19
    likely explain mails.likely new.csv --contrast spam    spam against the rest
    likely explain mails.likely new.csv --plot why.svg
    likely explain mails.likely new.csv --html why.html --studio mails.html

    The factors multiply to the posterior exactly; the explanation is the model itself, not an estimate of it. Missing
    and unseen values are marked. For texts, the top words are shown.
    """
    from likely.explain import Contrast, Explanation
    from likely.io.outputs import write_text
    from likely.markup import Markup
    from likely.models.tree.explain import Paths
    from likely.render.page import report_page
    from likely.streaming.read_all import sample_rows
    from likely.studio import write_page

    classifier = load_model(model)
    table = input_options.open(tables)
    sides = _sides(contrast, classifier.classes_.tolist())
    some = sample_rows(classifier, table, row - 1, rows)
    if not some.num_rows:
        raise DataError(f"There is no row {row} in {table.sources[0].name}; rows are counted from 1.")
    why = classifier.explain(some)
    if isinstance(why, Explanation):
        factors = why
        shown: Shown = why if sides is None else why.contrast(sides)
        odds = (lambda: factors.plot("odds", contrast=sides, name=row)) if len(why.classes) > 1 else None
    elif sides is not None:
        raise SettingsError(f"A {type(classifier).__name__} has no log-odds per column; leave out --contrast.")
    else:
        shown, odds = why, None
    if plot is not None:
        _draw(shown, row).save(plot)
    if html is not None:
        said = f"{str(classifier.predict(some)[0])!r}"
        title = f"Why row {row} is {said}" if some.num_rows == 1 else f"Why rows {row} to {row + some.num_rows - 1}"
        told = Markup(
            shown._repr_html_(row) if isinstance(shown, Explanation | Contrast | Paths) else shown._repr_html_()
        )
        link = studio_link(studio, html)
        source = f"{model}, {table.sources[0].name}"
        write_text(html, report_page(title, told, source=source, chart=odds, studio=link and f"{link}#case/{row}"))
    if studio is not None:
        write_page(
            studio, classifier, name=model_name(model), rows=some, first_row=row - 1, data_name=table.sources[0].name,
            origin=provenance_of(model),
        )  # fmt: skip
    output.wrote(plot, html, studio)
    if output.json:
        frame = shown.to_frame()
        frame["row"] += row
        write_records(frame)
        return
    if not isinstance(why, Explanation) or not isinstance(shown, Explanation | Contrast):
        write(shown.listed(row) if isinstance(shown, Paths) else str(shown))
        return
    for place in range(len(why)):
        write(_text(why, shown, place, row + place, logs) + "\n")


def _draw(shown: Shown, row: int) -> Picture | TreePicture:
    """A picture of the first row."""
    from likely.explain import Contrast, Explanation
    from likely.models.tree.explain import Paths

    if isinstance(shown, Explanation | Contrast):
        return shown.plot(name=row)
    if isinstance(shown, Paths):
        return shown.plot()
    raise SettingsError("There is no picture of this explanation; leave out --plot.")


def _sides(contrast: str | None, classes: list[Hashable]) -> Hashable:
    if contrast is None:
        return None
    names = listed_in([contrast]) or []
    if len(names) > 2:
        raise SettingsError(f"--contrast is {contrast!r}, but it takes one class, or two separated by a comma.")
    found = tuple(label_among(name, classes) for name in names)
    return found[0] if len(found) == 1 else found


def _factors(why: Explanation, place: int, logs: bool) -> str:
    """All factors of a row, for as many of the most probable classes as a line has room for; long names are cut."""
    from likely.render.picture import named, named_apart

    room = terminal_width() or WIDTH
    for classes in range(min(len(why.classes), MOST_CLASSES), LEAST_CLASSES, -1):
        text = why.row_factors(place, classes=classes).grid(logs=logs).text()
        if max(map(len, text.splitlines())) <= room:
            return text
    grid = why.row_factors(place, classes=LEAST_CLASSES).grid(logs=logs)
    heads = [column.head for column in grid.columns]
    short = dict(zip(heads[1 :: 1 + logs], named_apart(heads[1 :: 1 + logs], LONGEST_HEAD), strict=True))
    grid = replace(grid, columns=[replace(column, head=short.get(column.head, column.head)) for column in grid.columns])
    lines = grid.lines()
    names, beside = max(len(line[0]) for line in lines), max(len(line) for line in grid.text().splitlines()) - room
    longest = max(names - max(beside, 0), LEAST_NAME)
    rows = [[named(line[0], longest), *row[1:]] for line, row in zip(lines[1:], grid.rows, strict=True)]
    return replace(grid, rows=rows).text()


def _top_words(words: pd.DataFrame, order: list[int]) -> str:
    """A table of words, with as many classes as a line has room for, in this `order`; they are the last columns."""
    room, text = terminal_width() or WIDTH, ""
    first = words.shape[1] - len(order)
    for shown in range(min(len(order), MOST_CLASSES), -1, -1):
        places = [*range(first), *(first + place for place in order[:shown])]
        text = str(words.iloc[:, places].to_string(index=False))
        if max(map(len, text.splitlines())) <= room:
            break
    return text


def _words_title(why: Explanation, place: int, sides: object) -> str:
    """What the words are told for, where there is more than one class."""
    if len(why.classes) < 2:
        return "Top words"
    one, other = (why.classes.tolist()[k] for k in why.row_sides(place, sides))
    return f"Top words (ratio: {one} against {other})"


def _text(why: Explanation, shown: Explanation | Contrast, place: int, number: int, logs: bool) -> str:
    from likely.explain import Contrast

    posterior = why.posterior[place]
    best = int(posterior.argmax())
    parts = [f"Row {number}: {why.classes.tolist()[best]} ({posterior[best]:.4f})"]
    if isinstance(shown, Contrast):
        parts.append(shown.row_log_odds(place).grid(shown.title).text())
    else:
        parts.append(_factors(why, place, logs))
    sides = (shown.target, shown.rivals) if isinstance(shown, Contrast) else None
    words = why.tokens(place, sides).head(SHOWN_WORDS) if why.words else None
    if words is not None and not words.empty:
        parts.append(
            f"{_words_title(why, place, sides)}\n{_top_words(words.round(3), (-posterior).argsort().tolist())}"
        )
    return "\n\n".join(parts)
