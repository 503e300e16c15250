// Questions about a case: the cheapest decision, the smallest change that flips it, how sure the shares are.

import { isGap } from "./expression.js";
import { Laplace } from "./laplace.js";
import { logit } from "./odds.js";
import { normalised } from "./scorer.js";
import { rangeOf, state } from "./state.js";

// The cheapest decision: its place among classes, −1 for none; and its expected cost.
export function decide(posterior, costs = state.costs, refuse = state.refuse) {
  let best = 0, least = Infinity;
  for (let d = 0; d < costs.length; d++) {
    let risk = 0;
    for (let c = 0; c < posterior.length; c++) if (posterior[c] > 0) risk += posterior[c] * costs[d][c];
    if (risk < least - 1e-15) { least = risk; best = d; }
  }
  return refuse !== null && least > refuse ? { decision: -1, risk: refuse } : { decision: best, risk: least };
}

export const COLUMNS_LOOKED_AT = 300;

// Changes of one cell that flip the decision, the smallest first; where there is none, several cells one after the other.
export function counterfactuals(row) {
  const before = decide(state.scorer.posterior(row)).decision, found = [], prepared = state.scorer.prepare(row);
  const columns = state.ranked.filter((column) => column.kind !== "text").slice(0, COLUMNS_LOOKED_AT);
  for (const column of columns) {
    const change = smallestChange(row, column, before, prepared);
    if (change) found.push({ changes: [change], size: change.size });
  }
  if (found.length) return found.sort((a, b) => a.size - b.size).slice(0, 4);
  const several = greedy(row, columns, before);
  return several ? [several] : [];
}

function candidates(column) {
  if (column.kind === "numeric") {
    const [low, high] = rangeOf(column);
    const all = steps(column)?.filter((value) => value >= low && value <= high) ?? Array.from({ length: 41 }, (_, v) => low + ((high - low) * v) / 40);
    return isWhole(column) ? [...new Set(all.map(Math.round))] : all;
  }
  return (column.values || column.outcomes || []).slice(0, 60);
}

// A value of each bin and of each branch, however narrow: between two of them nothing changes. None where a model is smooth.
function steps(column) {
  if (column.edges) return Array.from(column.grid);
  if (state.rules.form !== "tree") return null;
  const { features, threshold } = state.rules, own = Array.from(threshold).filter((_, node) => features[state.rules.column[node]]?.column === column.name);
  return own.flatMap((value) => [value, value - 1e-9 * Math.max(Math.abs(value), 1)]);
}

function smallestChange(row, column, before, prepared) {
  const vary = state.scorer.vary(row, column.name, prepared), now = row.get(column.name), flips = (value) => decide(vary.posterior(value)).decision !== before;
  if (column.kind !== "numeric") {
    const value = candidates(column).find((each) => each !== now && flips(each));
    return value === undefined ? null : { column, value, size: 1, decision: decide(vary.posterior(value)).decision };
  }
  const [low, high] = rangeOf(column), span = high - low || 1, known = !isGap(now);
  let best = null;
  for (const value of candidates(column)) {
    if (known && value === now) continue;
    const size = known ? Math.abs(value - now) / span : 1;
    if ((!best || size < best.size) && flips(value)) best = { value, size };
  }
  if (!best) return null;
  if (known) {
    let inside = now, outside = best.value;
    for (let step = 0; step < 30; step++) {
      const middle = isWhole(column) ? Math.round((inside + outside) / 2) : (inside + outside) / 2;
      if (middle === inside || middle === outside) break;
      if (flips(middle)) outside = middle; else inside = middle;
    }
    best.value = roundedAway(now, outside, flips, isWhole(column)) ?? best.value;
  }
  const few = Number(best.value.toPrecision(3));
  if (!known && flips(few)) best.value = few;
  const size = known ? Math.abs(best.value - now) / span : 1;
  return { column, value: best.value, size, decision: decide(vary.posterior(best.value)).decision };
}

// The roundest number at or beyond a border that still flips.
function roundedAway(now, border, flips, whole) {
  const distance = Math.abs(border - now) || 1;
  for (let digits = 0; digits < 12; digits++) {
    const step = 10 ** (Math.floor(Math.log10(distance)) - digits);
    if (whole && digits && step < 1) return null;
    const value = (border > now ? Math.ceil(border / step) : Math.floor(border / step)) * step;
    if (Math.abs(value - border) <= 0.1 * distance && flips(value)) return Number(value.toPrecision(12));
  }
  return whole ? null : border;
}

function isWhole(column) { return column.storage === "integer"; }

function greedy(given, columns, before) {
  const row = new Map(given), changes = [];
  for (let turn = 0; turn < 4; turn++) {
    let best = null;
    const prepared = state.scorer.prepare(row);
    for (const column of columns) {
      if (changes.some((each) => each.column === column)) continue;
      const vary = state.scorer.vary(row, column.name, prepared);
      for (const value of candidates(column)) {
        const share = vary.posterior(value)[Math.max(before, 0)];
        if (!best || share < best.share) best = { column, value, share };
      }
    }
    if (!best) return null;
    row.set(best.column.name, best.value);
    const { decision } = decide(state.scorer.posterior(row));
    changes.push({ column: best.column, value: best.value, decision, size: 1 });
    if (decision !== before) return { changes, size: changes.length };
  }
  return null;
}

const TWO_SIDED = 1.6448536269514722;
export const LEFT_OUT = "left out";

let laplace = null;

// Evidence needs some work before its first interval: it is begun here, and `then` is called when it is done.
export function whenSure(then) {
  if (state.model.intervals?.is !== "laplace" || laplace?.factors) return false;
  laplace = laplace || new Laplace(state.model.intervals, state.scorer.parts[0]);
  laplace.begin(then);
  return true;
}

// Bounds of P(class) at a level of 90 %: normal in the log-odds, as `explain/credible.py` has it.
export function interval(row, atOnce = false) {
  if (state.scorer.bounds) return state.scorer.bounds(row);
  const tables = state.model.intervals;
  if (!tables || tables.is === LEFT_OUT || !state.scorer.joint) return null;
  if (tables.is === "laplace") {
    if (atOnce && whenSure(() => {})) laplace.finish();
    if (!laplace?.factors) return null;
    const believed = state.scorer.posterior(row), variance = laplace.variances(row, believed.length);
    return around(believed, believed, variance);
  }
  const joint = state.scorer.joint(row), k = joint.length, shift = new Float64Array(k), variance = new Float64Array(k);
  for (const column of tables.columns) addSpread(column, row.get(column.name), k, shift, variance);
  if (tables.prior) for (let c = 0; c < k; c++) { shift[c] += tables.prior.shift[c]; variance[c] += tables.prior.variance[c]; }
  const believed = normalised(joint, state.scorer.prior);
  const centre = normalised(joint.map((log, c) => log + shift[c]), state.scorer.prior);
  if (k < 2) return { low: believed, high: believed };
  let total = 0;
  for (let c = 0; c < k; c++) total += centre[c] * centre[c] * variance[c];
  return around(believed, centre, variance.map((own, c) => {
    const rest = Math.max(1 - centre[c], 1e-150);
    return own + Math.max(total - centre[c] * centre[c] * own, 0) / (rest * rest);
  }));
}

// Bounds that are normal in the log-odds of each class; what is believed lies always between them.
function around(believed, centre, variance) {
  const low = new Float64Array(believed.length), high = new Float64Array(believed.length);
  for (let c = 0; c < believed.length; c++) {
    const odds = logit(Math.min(Math.max(centre[c], 1e-300), 1 - 1e-16)), reach = TWO_SIDED * Math.sqrt(variance[c]);
    low[c] = Math.min(1 / (1 + Math.exp(reach - odds)), believed[c]);
    high[c] = Math.max(1 / (1 + Math.exp(-reach - odds)), believed[c]);
  }
  return { low, high };
}

function addSpread(column, cell, k, shift, variance) {
  if (isGap(cell)) return;
  const { values } = column, n = values.length;
  if (typeof values[0] !== "number" || Array.isArray(values)) {
    const place = values.indexOf(cell);
    if (place >= 0) for (let c = 0; c < k; c++) { shift[c] += column.shift[place * k + c]; variance[c] += column.variance[place * k + c]; }
    return;
  }
  const weights = weightsAround(values, cell, column.smooth);
  for (let c = 0; c < k; c++) for (const [place, weight] of weights) {
    shift[c] += weight * column.shift[place * k + c];
    variance[c] += weight * column.variance[place * k + c];
  }
  for (let c = 0; c < k; c++) variance[c] = Math.max(variance[c], 0);
}

// Weights of the values around a number: a cubic through four of them where the curve is smooth, else a straight line.
function weightsAround(values, cell, smooth) {
  const n = values.length, at = Math.min(Math.max(cell, values[0]), values[n - 1]);
  let high = 1;
  while (high < n - 1 && values[high] < at) high++;
  if (n < 2) return [[0, 1]];
  const first = smooth && n >= 4 ? Math.min(Math.max(high - 2, 0), n - 4) : high - 1, places = Array.from({ length: smooth && n >= 4 ? 4 : 2 }, (_, j) => first + j);
  return places.map((place) => [place, places.reduce((weight, other) => (other === place || values[place] === values[other] ? weight : (weight * (at - values[other])) / (values[place] - values[other])), 1)]);
}
