// Which gap to fill first: bits that its value is expected to tell, and what it is expected to save.

import { isGap } from "./expression.js";
import { entropy } from "./odds.js";
import { outcomesOf, state } from "./state.js";
import { COLUMNS_LOOKED_AT, decide } from "./whatif.js";

export function gapsOf(row) { return state.ranked.filter((column) => isGap(row.get(column.name)) && column.kind !== "text"); }

export function nextMeasurements(row) {
  const found = [], prepared = state.scorer.prepare(row);
  for (const column of gapsOf(row).slice(0, COLUMNS_LOOKED_AT)) {
    const vary = state.scorer.vary(row, column.name, prepared), outcomes = vary.outcomes ? vary.outcomes() : outcomesOf(column);
    if (!outcomes) continue;
    // An empty cell that counts as evidence will not be empty any more.
    const now = vary.without ? vary.without() : vary.posterior(null), k = now.length, mixture = new Float64Array(k);
    let left = 0, later = 0;
    outcomes.values.forEach((value, v) => {
      let chance = 0;
      for (let c = 0; c < k; c++) chance += now[c] * outcomes.shares[v * k + c];
      if (!(chance > 0)) return;
      const after = vary.posterior(value);
      for (let c = 0; c < k; c++) mixture[c] += chance * after[c];
      left += chance * entropy(after);
      later += chance * decide(after).risk;
    });
    found.push({ column, bits: Math.max(entropy(mixture) - left, 0), saving: Math.max(decide(mixture).risk - later, 0) });
  }
  return found.sort((a, b) => b.saving - a.saving || b.bits - a.bits);
}
