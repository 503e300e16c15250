// What the page knows, and who is told when it changes.

import { asNumber } from "./expression.js";
import { takeGivenNames } from "./language.js";

export const state = {
  model: null, scorer: null, rules: null, bare: null, served: false, row: new Map(), focus: 0, column: 0, view: "overview",
  costs: null, refuse: null, filter: "", truth: null, rowNumber: null,
};

export function begin(model, scorer, served) {
  Object.assign(state, { model, scorer, served });
  if (!model) return;
  const calibrated = model.scorer.form === "calibrated";
  state.rules = calibrated ? model.scorer.inner : model.scorer;
  state.bare = calibrated ? scorer.inner : scorer;
  const k = model.classes.length;
  state.focus = k === 2 ? 1 : 0;
  state.costs = Array.from({ length: k }, (_, d) => Float64Array.from({ length: k }, (__, t) => (d === t ? 0 : 1)));
  state.features = model.columns.filter((column) => column.kind !== "ignored");
  for (const column of state.features) if (!column.values && !column.outcomes && column.kind !== "numeric") column.values = ruledLevels(column.name);
  takeGivenNames(model.columns);
  state.byName = new Map(model.columns.map((column) => [column.name, column]));
  state.ranked = [...state.features].sort((a, b) => (b.bits ?? -1) - (a.bits ?? -1));
  state.column = state.ranked.length ? model.columns.indexOf(state.ranked[0]) : 0;
  if (model.rows && model.rows.cells.length) takeRow(0);
  else { for (const column of state.features) state.row.set(column.name, null); refocus(); }
}

export function takeRow(place) {
  const { columns, cells, truths, numbers } = state.model.rows;
  columns.forEach((name, k) => state.row.set(name, cells[place][k]));
  state.truth = truths.length ? truths[place] : null;
  state.rowNumber = numbers[place];
  refocus();
}

// Why is asked of the most probable class, as long as nobody has chosen another.
export function refocus() {
  if (!state.scorer || state.focusChosen) return;
  const posterior = state.scorer.posterior(state.row);
  state.focus = posterior.indexOf(Math.max(...posterior));
}

// The row of a number, counted from 1 as people do: other pages link to it.
export function takeNumbered(number) {
  const place = state.model.rows ? state.model.rows.numbers.indexOf(number - 1) : -1;
  if (place >= 0 && state.rowNumber !== number - 1) takeRow(place);
}

export function labels() { return state.model.classes.map((each) => String(each.label)); }

export function emptyRow() { return new Map(state.features.map((column) => [column.name, null])); }

// What was typed, as a cell of its column: null for a gap, undefined for what is none.
export function readCell(column, text) {
  if (text === "" || text === null) return null;
  if (column.kind === "numeric") {
    const number = Number(String(text).trim().replace(/^([+-]?\d*),(\d+(?:e[+-]?\d+)?)$/i, "$1.$2"));
    return Number.isFinite(number) ? number : undefined;
  }
  if (column.kind === "text") return String(text);
  const known = column.values || column.outcomes || [];
  const found = known.find((value) => String(value) === text);
  if (found !== undefined) return found;
  if (known.length && known.every((value) => typeof value === "number")) {
    const number = Number(text);
    return Number.isFinite(number) ? number : text;
  }
  return text;
}

// Values of a column, and how probable each is in each class: shares[v * k + c].
export function outcomesOf(column) {
  const k = state.model.classes.length;
  if (column.edges && column.known) return { values: Array.from(column.grid), shares: smoothed(column.grid.length, k, (v, c) => column.shares[v * k + c] * column.known[c]), numeric: true };
  if (column.grid && column.shares) return { values: Array.from(column.grid), shares: column.shares, numeric: true };
  if (column.outcomes && column.shares) return { values: column.outcomes, shares: column.shares, numeric: false };
  if (column.values && column.counts) {
    const width = column.counts.shape[1];
    return { values: column.values, shares: smoothed(column.values.length, k, (v, c) => column.counts[c * width + v]), numeric: false };
  }
  return null;
}

// Shares of values in each class, as if one row more had been seen there that is like all rows.
function smoothed(n, k, count) {
  const shares = new Float64Array(n * k), totals = new Float64Array(k), seen = new Float64Array(n);
  for (let v = 0; v < n; v++) for (let c = 0; c < k; c++) { totals[c] += count(v, c); seen[v] += count(v, c); }
  const all = totals.reduce((a, b) => a + b, 0) || 1;
  for (let v = 0; v < n; v++) for (let c = 0; c < k; c++) shares[v * k + c] = (count(v, c) + seen[v] / all) / (totals[c] + 1);
  return shares;
}

// Low and high end of what a number usually is.
export function rangeOf(column) {
  if (column.grid && column.grid.length > 1) {
    const k = state.model.classes.length, n = column.grid.length;
    if (column.shares && (column.density || column.is_density)) {
      let low = Infinity, high = -Infinity;
      for (let c = 0; c < k; c++) {
        let total = 0;
        for (let v = 0; v < n; v++) {
          total += column.shares[v * k + c];
          if (total >= 0.002 && column.grid[v] < low) low = column.grid[v];
          if (total <= 0.998 && column.grid[v] > high) high = column.grid[v];
        }
      }
      // No value below the least and none above the largest that was seen: a bell curve goes on beyond both.
      const [least, most] = column.range || [low, high], from = Math.max(low, least), to = Math.min(high, most);
      if (to > from) return [from, to];
      if (high > low) return [low, high];
    }
    return [column.grid[0], column.grid[n - 1]];
  }
  if (column.range) return column.range;
  if (column.bins) return [column.bins.edges[0], column.bins.edges[column.bins.edges.length - 1]];
  const seen = state.model.rows ? state.model.rows.cells.map((row) => asNumber(row[state.model.rows.columns.indexOf(column.name)])) : [];
  const known = seen.filter((cell) => !Number.isNaN(cell));
  return known.length ? [Math.min(...known), Math.max(...known)] : ruledRange(column.name);
}

// Of models that keep no counts: around the thresholds of a tree, and as far as a machine has scaled its numbers.
function ruledRange(name) {
  const { form, features, threshold, column: asked, parts } = state.rules;
  if (form === "tree") {
    const own = Array.from(threshold).filter((_, node) => features[asked[node]]?.column === name && !features[asked[node]].levels);
    const low = Math.min(...own), high = Math.max(...own), more = 0.25 * (high - low) || 0.5 * Math.abs(high) || 1;
    if (own.length) return [low - more, high + more];
  }
  const scaled = form === "svm" ? parts.find((part) => part.columns?.includes(name)) : null, at = scaled ? scaled.columns.indexOf(name) : -1;
  return at < 0 ? [0, 1] : [scaled.centre[at] - 2 * scaled.scale[at], scaled.centre[at] + 2 * scaled.scale[at]];
}

// The categories that a tree or a machine knows by itself.
function ruledLevels(name) {
  const { form, features, parts } = state.rules;
  const own = form === "tree" ? features.find((feature) => feature.column === name && !feature.word) : form === "svm" ? parts.find((part) => part.column === name && part.is === "levels") : null;
  return own?.levels ? Array.from(own.levels) : undefined;
}
