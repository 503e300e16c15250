"""The studio: a page that shows a model, scores rows in the browser, moves costs and says why.

In reading order:

- `material` is what a page is made from: a model, rows, and how it was judged.
- `rules` says how the page scores a row, `columns` what was seen and believed of each column, `intervals` how sure
  that is, `evaluation` how good the model is, and `suspicions` what looks odd.
- `document` puts all of it together as plain values and arrays, `payload` makes a few bytes of that.
- `page` makes one HTML file of the document and of what lies in `web/`: styles and ES modules, no build step. A page
  on a disk needs nothing else; one that is served may ask the service to score, to train and to compare.
- `workbench`, `jobs` and `routes` are the side of the service.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.comparison.comparison import Comparison
    from likely.evaluation.report import Report
    from likely.models.classifier import Classifier
    from likely.store import Provenance
    from likely.table import RowsLike


def write_page(
    path: str | os.PathLike[str],
    classifier: Classifier,
    *,
    name: str = "model",
    rows: RowsLike | None = None,
    first_row: int = 0,
    report: Report | None = None,
    comparison: Comparison | None = None,
    data_name: str = "",
    honest: bool = True,
    origin: Provenance | None = None,
) -> None:
    """Write the studio of a fitted classifier as one page that opens offline.

    `rows` are cases to choose from, the first of them row `first_row` of their table, counted from 0; `report` and
    `comparison` are what was found about the classifier, on the table `data_name`. `honest` says whether the rows of
    the report were held out. Other pages may link to a view: `page.html#evaluation`, or `page.html#case/17` for the
    17th row.
    """
    from likely.io.outputs import write_text
    from likely.studio.document import packed_document
    from likely.studio.material import Material
    from likely.studio.page import page

    content = packed_document(
        Material(
            classifier=classifier, name=name, rows=rows, first_row=first_row, report=report, comparison=comparison,
            data_name=data_name, honest=honest, origin=origin,
        )
    )  # fmt: skip
    write_text(path, page(f"{name} · likely", content))
