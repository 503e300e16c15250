// The studio's beginning: unpack the document, make the scorer, show the page.

import { scorerOf } from "./scorer.js";
import { unpack } from "./unpack.js";

async function begin() {
  const content = document.getElementById("document").textContent;
  const model = content ? await unpack(content) : null;
  const scorer = model ? scorerOf(model.scorer, model.classes.length) : null;
  window.likely = { model, unpack, posterior: (row) => Array.from(scorer.posterior(new Map(row))),
    explain: (row) => scorer.explain(new Map(row)), scorer };
}

begin();
