"""The studio: a page that shows a model, scores rows in the browser, moves costs and says why.

In reading order:

- `expressions` writes what families add to the log joint as small trees, which the page evaluates; `scoring` does so
  for every kind of model; `columns` says what was seen and believed of each column, `intervals` how sure that is,
  `evaluation` how good the model is, and `suspicions` what looks odd.
- `document` puts all of it together as plain values and arrays, `packing` makes a few bytes of that.
- `page` makes one HTML file of the document and of what lies in `web/`: styles and ES modules, no build step. A page
  on a disk needs nothing else; one that is served may ask the service to score, to train and to compare.
- `workbench`, `jobs` and `routes` are the side of the service.
"""

from __future__ import annotations
