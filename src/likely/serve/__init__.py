"""The service: models that answer, learn on and forget over HTTP. It has no mathematics of its own.

In reading order:

- `options` says where it listens and how much it takes; `refusals` what it answers when it will not.
- `bodies` and `rows` turn what was sent into tables, `tensors` does so for the Open Inference Protocol,
  and `arrow_bodies` for Arrow; `answers` turns what a classifier says into JSON, CSV or Arrow.
- `snapshot` is a model as it was at one moment: every answer comes from one of them. `catalogue` keeps the newest of
  each file, and `batching` asks it for the rows of many requests at once.
- `journal` is the file in which rows are on the disk before anybody is told that they were learned; `learning` applies
  them, in order, and folds the journal into a new model file.
- `routes` and `open_inference` are the addresses, `openapi` their description, `guard` stands before them all,
  `metrics` counts; `app` puts them together, `connections` and `server` run them.
"""

from __future__ import annotations
