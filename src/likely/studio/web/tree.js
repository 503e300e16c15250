// A decision tree: a row walks down to its leaf, or, where a test meets a gap, to several with a share each.

import { asNumber, isGap } from "./expression.js";
import { wordsIn } from "./words.js";

export class TreeScorer {
  constructor(told, nClasses) {
    this.told = told;
    this.k = nClasses;
    this.columns = [...new Set(told.features.map((feature) => feature.column))];
    this.levels = told.features.map((feature) => (feature.levels
      ? new Map(feature.levels.map((level, place) => [level, place])) : null));
  }

  code(feature, row) {
    const told = this.told.features[feature], cell = row.get(told.column);
    if (isGap(cell)) return -1;
    if (!told.word) return this.levels[feature].get(cell) ?? -1;
    const held = wordsIn(String(cell), this.told.tokenizer).words.some((each) => each.word === told.word[1]);
    return held ? 1 : 0;
  }

  branch(node, row) {
    const feature = this.told.column[node];
    if (this.levels[feature] === null) {
      const number = asNumber(row.get(this.told.features[feature].column));
      return Number.isNaN(number) ? -1 : number >= this.told.threshold[node] ? 1 : 0;
    }
    const code = this.code(feature, row);
    return code < 0 ? -1 : this.told.branches[this.told.values[node] + code];
  }

  standIn(node, row) {
    const own = this.told.stand_ins;
    for (let k = own.starts[node]; k < own.starts[node + 1]; k++) {
      const feature = own.column[k];
      if (this.levels[feature] === null) {
        const number = asNumber(row.get(this.told.features[feature].column));
        if (!Number.isNaN(number)) return number >= own.threshold[k] ? own.high[k] : own.low[k];
      } else {
        const code = this.code(feature, row);
        const branch = code < 0 ? -1 : this.told.branches[own.values[k] + code];
        if (branch >= 0) return branch;
      }
    }
    return this.told.majority[node];
  }

  // Every node that the row comes through, with the share of it that does.
  path(row) {
    const visited = [], pending = [[0, 1]], { column, first, children, sizes } = this.told;
    while (pending.length) {
      const [node, share] = pending.pop();
      visited.push({ node, share });
      if (column[node] < 0) continue;
      let branch = this.branch(node, row);
      if (branch < 0 && this.told.missing === "surrogates") branch = this.standIn(node, row);
      if (branch >= 0) { pending.push([first[node] + branch, share]); continue; }
      let total = 0;
      for (let child = first[node]; child < first[node] + children[node]; child++) total += sizes[child];
      for (let child = first[node] + children[node] - 1; child >= first[node]; child--)
        if (sizes[child] > 0) pending.push([child, share * sizes[child] / total]);
      if (!(total > 0)) visited[visited.length - 1].ends = true;
    }
    return visited;
  }

  posterior(row) {
    const out = new Float64Array(this.k);
    for (const { node, share, ends } of this.path(row)) {
      if (this.told.column[node] >= 0 && !ends) continue;
      for (let c = 0; c < this.k; c++) out[c] += share * this.told.shares[node * this.k + c];
    }
    return out;
  }
}
