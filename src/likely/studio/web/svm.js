// A support vector machine: rows as numbers, kernels with support vectors, sigmoids of pairs, coupled.

import { asNumber, isGap } from "./expression.js";
import { wordsIn } from "./words.js";

const LEAST = 1e-7, LOWEST = -700, LARGEST = 1e150;

function clipped(number, low, high) { return Math.min(Math.max(number, low), high); }

const KERNELS = {
  Linear: () => (dot) => dot,
  Polynomial: ([degree, offset, scale]) => (dot) => clipped((dot * (scale || 1) + offset) ** degree, -LARGEST, LARGEST),
  Gauss: ([sigma]) => {
    const gamma = 0.5 / (sigma || 1) ** 2;
    return (dot, a, b) => Math.exp(clipped(2 * gamma * dot - gamma * a - gamma * b, LOWEST, 0));
  },
  Sigmoid: ([slope, offset]) => (dot) => Math.tanh(dot * (slope ?? 1) + offset),
  Scaled: ([factor, inner]) => { const own = kernelOf(inner); return (...given) => factor * own(...given); },
  Sum: ([a, b]) => { const one = kernelOf(a), two = kernelOf(b); return (...given) => one(...given) + two(...given); },
  Product: ([a, b]) => {
    const one = kernelOf(a), two = kernelOf(b);
    return (...given) => clipped(one(...given) * two(...given), -LARGEST, LARGEST);
  },
};

function kernelOf([name, ...fields]) { return KERNELS[name](fields); }

export class SvmScorer {
  constructor(told, nClasses) {
    this.told = told;
    this.k = nClasses;
    this.width = told.features.length;
    this.columns = [...new Set(told.features.map((feature) => feature[1]))];
    this.kernel = kernelOf(told.kernel);
    this.places = told.parts.map((part) => {
      const keys = part.is === "levels" ? part.levels : part.is === "text" ? part.words : [];
      return new Map(keys.map((key, place) => [key, place]));
    });
    if (told.vectors) {
      this.norms = Float64Array.from({ length: told.vectors.shape[0] }, (_, i) =>
        squared(told.vectors.subarray(i * this.width, (i + 1) * this.width)));
    }
  }

  features(row) {
    const x = new Float64Array(this.width);
    let at = 0;
    this.told.parts.forEach((part, place) => { at = FEATURES[part.is](part, row, x, at, this.places[place], this.told.farthest); });
    return x;
  }

  // The value of every pair of classes; above 0 it is for the later one.
  values(x) {
    const { b, planes, vectors, duals } = this.told, n = this.width;
    if (planes) return b.map((offset, pair) => dotOf(planes.subarray(pair * n, (pair + 1) * n), x) + offset);
    const own = squared(x), m = this.norms.length;
    const near = this.norms.map((norm, i) => this.kernel(dotOf(vectors.subarray(i * n, (i + 1) * n), x), own, norm));
    return b.map((offset, pair) => dotOf(duals.subarray(pair * m, (pair + 1) * m), near) + offset);
  }

  posterior(row) { return this.coupled(this.values(this.features(row))); }

  coupled(values) {
    const { slopes, shifts } = this.told, k = this.k;
    const shares = values.map((value, pair) => clipped(1 / (1 + Math.exp(-(slopes[pair] * value + shifts[pair]))), LEAST, 1 - LEAST));
    if (k === 1) return Float64Array.of(1);
    if (k === 2) return Float64Array.of(1 - shares[0], shares[0]);
    const r = Array.from({ length: k }, () => new Float64Array(k));
    let pair = 0;
    for (let a = 0; a < k; a++) for (let c = a + 1; c < k; c++, pair++) { r[c][a] = shares[pair]; r[a][c] = 1 - shares[pair]; }
    const system = Array.from({ length: k + 1 }, () => new Float64Array(k + 2));
    for (let i = 0; i < k; i++) {
      for (let j = 0; j < k; j++) {
        system[i][j] -= r[i][j] * r[j][i];
        if (i === j) { system[i][i] = 0; for (let m = 0; m < k; m++) system[i][i] += r[m][i] ** 2; }
      }
      system[i][k] = system[k][i] = 1;
    }
    system[k][k + 1] = 1;
    const found = solved(system).slice(0, k).map((share) => Math.max(share, LEAST * LEAST));
    const total = found.reduce((a, b) => a + b, 0);
    return Float64Array.from(found, (share) => share / total);
  }
}

const FEATURES = {
  numbers: (part, row, x, at, _, farthest) => {
    part.columns.forEach((name, j) => {
      const cell = asNumber(row.get(name)), gap = Number.isNaN(cell);
      x[at + j] = clipped(((gap ? part.fill[j] : cell) - part.centre[j]) / part.scale[j], -farthest, farthest);
      const mark = part.holed.indexOf(j);
      if (mark >= 0) x[at + part.columns.length + mark] = gap ? 1 : 0;
    });
    return at + part.columns.length + part.holed.length;
  },
  levels: (part, row, x, at, places) => {
    const cell = row.get(part.column), place = isGap(cell) ? (part.holed ? part.levels.length : -1) : places.get(cell) ?? -1;
    if (place >= 0) x[at + place] = 1;
    return at + part.levels.length + (part.holed ? 1 : 0);
  },
  text: (part, row, x, at, places) => {
    const counts = new Map(), cell = row.get(part.column);
    for (const { word } of isGap(cell) ? [] : wordsIn(String(cell), part.tokenizer).words)
      if (places.has(word)) counts.set(places.get(word), (counts.get(places.get(word)) || 0) + 1);
    let length = 0;
    for (const [place, count] of counts) { x[at + place] = (1 + Math.log(count)) * part.idf[place]; length += x[at + place] ** 2; }
    if (length > 0) for (const place of counts.keys()) x[at + place] /= Math.sqrt(length);
    return at + part.words.length;
  },
};

function dotOf(a, b) { let total = 0; for (let k = 0; k < a.length; k++) total += a[k] * b[k]; return total; }
function squared(a) { return dotOf(a, a); }

// Gauss's elimination with pivots; the last column is the right side.
function solved(system) {
  const n = system.length;
  for (let i = 0; i < n; i++) {
    let best = i;
    for (let j = i + 1; j < n; j++) if (Math.abs(system[j][i]) > Math.abs(system[best][i])) best = j;
    [system[i], system[best]] = [system[best], system[i]];
    for (let j = i + 1; j < n; j++) {
      const factor = system[j][i] / system[i][i];
      if (factor !== 0) for (let m = i; m <= n; m++) system[j][m] -= factor * system[i][m];
    }
  }
  const out = new Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let total = system[i][n];
    for (let m = i + 1; m < n; m++) total -= system[i][m] * out[m];
    out[i] = total / system[i][i];
  }
  return out;
}
