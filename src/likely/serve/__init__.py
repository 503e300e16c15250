"""The service: models that answer, learn on and forget over HTTP. It has no mathematics of its own.

In reading order:

- `options` says where it listens and how much it takes; `refusals` what it answers when it will not.
- `bodies` and `rows` turn what was sent into tables; `answers` turns what a classifier says into JSON, CSV or Arrow.
- `catalogue` keeps the newest snapshot of each model file, and every answer comes from one of them; `batcher` asks it
  for the rows of many requests at once.
- `journal` is the file in which rows are on the disk before anybody is told that they were learned; `changes` and
  `live_model` apply them, in order, and fold the journal into a new model file.
- `routes` and `open_inference` are the addresses, `openapi` their description, `guard` stands before them all,
  `metrics` counts; `app` puts them together, and `server` runs them.
"""

from __future__ import annotations
