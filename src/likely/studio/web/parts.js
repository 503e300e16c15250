// Parts of a log joint. Each has `columns`, adds to a row's log joint, and splits what it adds into terms.

import { asNumber, compiled, firstAbove, isGap } from "./expression.js";
import { Rest } from "./rest.js";
import { PresencePart, TfIdfPart, WordsPart } from "./words.js";

const LOG_ROOT_TAU = 0.5 * Math.log(2 * Math.PI), MOST_OUTCOMES = 400;

export function partOf(told, nClasses) {
  return new PARTS[told.is](told, nClasses);
}

// What a part adds as one term.
function asOneTerm(part, row) {
  const add = new Float64Array(part.k);
  part.add(row, add);
  return [{ columns: part.columns, add }];
}

class TermsPart {
  constructor(told, nClasses) {
    this.columns = told.columns;
    this.k = nClasses;
    this.reckon = compiled(told.tree);
  }

  add(row, out) {
    for (let c = 0; c < this.k; c++) out[c] += this.reckon(row, c);
  }
}

function addTo(out, add) { for (let c = 0; c < out.length; c++) out[c] += add[c]; }

// One bell curve over several columns. By the chain rule each known column adds what it says given those before it.
class BellPart {
  constructor(told, nClasses) {
    this.columns = told.columns;
    this.k = nClasses;
    this.told = told;
    this.weight = told.weight ?? 1;
    this.factors = new Map();
  }

  terms(row) {
    const cells = this.columns.map((name) => asNumber(row.get(name)));
    const known = [];
    cells.forEach((cell, j) => { if (!Number.isNaN(cell)) known.push(j); });
    const { mean, deviation, correlation } = this.told, d = this.columns.length;
    const terms = this.columns.map((name) => ({ columns: [name], add: new Float64Array(this.k) }));
    const own = this.factorsOf(known, correlation, d);
    const z = new Float64Array(known.length);
    for (let c = 0; c < this.k; c++) {
      const lower = own[own.length > 1 ? c : 0];
      for (let a = 0; a < known.length; a++) {
        const at = c * d + known[a];
        let step = (cells[known[a]] - mean[at]) / deviation[at];
        for (let b = 0; b < a; b++) step -= lower[a * known.length + b] * z[b];
        const diagonal = lower[a * known.length + a];
        z[a] = step / diagonal;
        if (deviation[at] === Infinity) continue;
        const log = LOG_ROOT_TAU + Math.log(deviation[at]) + Math.log(diagonal) + 0.5 * z[a] * z[a];
        terms[known[a]].add[c] -= this.weight * log;
      }
    }
    return terms;
  }

  add(row, out) {
    if (this.weight === 0) return;
    for (const term of this.terms(row)) for (let c = 0; c < this.k; c++) out[c] += term.add[c];
  }

  // How probable the values of one number are in each class, given the other cells. The log joint is a parabola in it.
  curves(name, joint) {
    const j = this.columns.indexOf(name), d = this.columns.length, { mean, deviation } = this.told;
    let middle = 0, step = 0;
    for (let c = 0; c < this.k; c++) { middle += mean[c * d + j] / this.k; step += deviation[c * d + j] / this.k; }
    const [left, here, right] = [middle - step, middle, middle + step].map((value) => joint(value)), means = [], spreads = [];
    for (let c = 0; c < this.k; c++) {
      const precision = (2 * here[c] - left[c] - right[c]) / (step * step);
      means.push(middle + (right[c] - left[c]) / (2 * step * precision));
      spreads.push(1 / Math.sqrt(precision));
    }
    if (this.weight !== 1 || !spreads.every((each) => each > 0 && Number.isFinite(each))) return null;
    const low = Math.min(...means.map((each, c) => each - 5 * spreads[c])), high = Math.max(...means.map((each, c) => each + 5 * spreads[c]));
    const n = Math.min(MOST_OUTCOMES, Math.ceil((4 * (high - low)) / Math.min(...spreads))), width = (high - low) / n;
    const values = Array.from({ length: n }, (_, v) => low + (v + 0.5) * width), shares = new Float64Array(n * this.k);
    values.forEach((value, v) => means.forEach((centre, c) => { shares[v * this.k + c] = width * Math.exp(-0.5 * ((value - centre) / spreads[c]) ** 2 - LOG_ROOT_TAU) / spreads[c]; }));
    return { values, shares };
  }

  factorsOf(known, correlation, d) {
    const pattern = known.join(" ");
    if (!this.factors.has(pattern)) {
      if (this.factors.size > 64) this.factors.clear();
      const n = correlation.shape[0], all = [];
      for (let g = 0; g < n; g++) all.push(cholesky(known, correlation.subarray(g * d * d, (g + 1) * d * d), d));
      this.factors.set(pattern, all);
    }
    return this.factors.get(pattern);
  }
}

function cholesky(known, matrix, d) {
  const n = known.length, out = new Float64Array(n * n);
  for (let a = 0; a < n; a++) {
    for (let b = 0; b <= a; b++) {
      let total = matrix[known[a] * d + known[b]];
      for (let k = 0; k < b; k++) total -= out[a * n + k] * out[b * n + k];
      out[a * n + b] = a === b ? Math.sqrt(Math.max(total, 1e-16)) : total / out[b * n + b];
    }
  }
  return out;
}

// Every column given the class and one other column, in turn, and the mean of that.
class AodePart {
  constructor(told, nClasses) {
    this.columns = told.columns;
    this.k = nClasses;
    this.told = told;
    this.weight = told.weight ?? 1;
    this.sizes = told.axes.map((axis) => (axis.cuts ? axis.cuts.length + 1 : axis.levels.length));
    this.levels = told.axes.map((axis) => (axis.levels ? new Map(axis.levels.map((level, k) => [level, k])) : null));
    this.singles = [];
    let start = 0;
    for (const size of this.sizes) { this.singles.push(start); start += size; }
    this.pairs = this.sizes.map(() => []);
    start = 0;
    for (let j = 0; j < this.sizes.length; j++)
      for (let m = 0; m < this.sizes.length; m++) {
        this.pairs[j][m] = start;
        if (j !== m) start += this.sizes[j] * this.sizes[m];
      }
  }

  codes(row) {
    return this.columns.map((name, j) => {
      const cell = row.get(name), { cuts } = this.told.axes[j];
      if (isGap(cell)) return -1;
      return cuts ? firstAbove(cuts, asNumber(cell), false) : this.levels[j].get(cell) ?? -1;
    });
  }

  scores(codes) {
    const { single, given, parents } = this.told, k = this.k, known = codes.flatMap((code, j) => (code >= 0 ? [j] : []));
    const able = known.filter((j) => parents[this.singles[j] + codes[j]]);
    const scores = able.map((j) => {
      const line = single.slice((this.singles[j] + codes[j]) * k, (this.singles[j] + codes[j] + 1) * k);
      for (const m of known) {
        if (m === j) continue;
        const at = (this.pairs[j][m] + codes[j] * this.sizes[m] + codes[m]) * k;
        for (let c = 0; c < k; c++) line[c] += given[at + c];
      }
      return line;
    });
    return { known, able, scores };
  }

  terms(row) {
    const codes = this.codes(row), { single, given } = this.told, k = this.k;
    const { known, able, scores } = this.scores(codes);
    const terms = this.columns.map((name) => ({ columns: [name], add: new Float64Array(k) }));
    for (let c = 0; c < k; c++) {
      if (able.length === 0) {
        for (const m of known) terms[m].add[c] = this.weight * single[(this.singles[m] + codes[m]) * k + c];
        continue;
      }
      const mean = logMean(scores, c);
      if (mean === -Infinity) {
        for (const m of known) terms[m].add[c] = -Infinity;
        continue;
      }
      let mixing = -Math.log(able.length);
      const shares = scores.map((line) => Math.exp(line[c] - mean) / able.length);
      for (const share of shares) if (share > 0) mixing -= share * Math.log(share);
      for (const m of known) {
        let own = 0;
        able.forEach((j, place) => {
          if (!(shares[place] > 0)) return;
          const cell = j === m
            ? single[(this.singles[j] + codes[j]) * k + c]
            : given[(this.pairs[j][m] + codes[j] * this.sizes[m] + codes[m]) * k + c];
          own += shares[place] * cell;
        });
        terms[m].add[c] = this.weight * (own + mixing / known.length);
      }
    }
    return terms;
  }

  add(row, out) {
    if (this.weight === 0) return;
    const codes = this.codes(row), { known, able, scores } = this.scores(codes);
    for (let c = 0; c < this.k; c++) {
      if (able.length) out[c] += this.weight * logMean(scores, c);
      else for (const m of known) out[c] += this.weight * this.told.single[(this.singles[m] + codes[m]) * this.k + c];
    }
  }
}

function logMean(scores, c) {
  let peak = -Infinity, total = 0;
  for (const line of scores) peak = Math.max(peak, line[c]);
  if (peak === -Infinity) return peak;
  for (const line of scores) total += Math.exp(line[c] - peak);
  return peak + Math.log(total / scores.length);
}

// One table per column and per pair or triple of columns, weights of texts, and the rest.
class AdditivePart {
  constructor(told, nClasses) {
    this.k = nClasses;
    this.told = told;
    this.names = told.columns.map((column) => column.name);
    this.columns = [...this.names, ...told.texts.map((text) => text.columns[0])];
    this.scores = nClasses === 2 ? 1 : nClasses;
    this.levels = told.columns.map((column) => (column.levels
      ? new Map([...column.levels.map((level, k) => [level, k + 1]),
        ...column.rare.map((level) => [level, column.levels.length + 1])]) : null));
    this.texts = told.texts.map((text) => (text.is === "tf-idf" ? new TfIdfPart(text, nClasses) : new WordsPart(text, nClasses)));
    this.rest = new Rest(told, this.scores);
    this.termsOf = this.names.map((_, k) => told.terms.flatMap((term, place) => (term.includes(k) ? [place] : [])));
  }

  code(k, row) {
    const column = this.told.columns[k], cell = row.get(column.name);
    if (isGap(cell)) return column.gap ? column.size - 1 : 0;
    if (this.levels[k]) return this.levels[k].get(cell) ?? 0;
    const number = asNumber(cell);
    if (!column.means.length) return Number.isNaN(number) ? (column.gap ? column.size - 1 : 0) : 0;
    return firstAbove(column.cuts, number, true) + 1;
  }

  // What the table of one term holds for a row, for each class.
  entry(place, codes) {
    const term = this.told.terms[place];
    let cell = codes[term[0]];
    if (term.length > 1) {
      const which = term.length === 2 ? "coarse" : "tiny";
      cell = 0;
      for (const k of term) cell = cell * this.told[which][k] + this.told.columns[k][which][codes[k]];
    }
    const at = (this.told.starts[place] + cell) * this.scores;
    return this.classScores(this.told.tables.subarray(at, at + this.scores));
  }

  classScores(scores) {
    return this.k === 2 ? Float64Array.of(-0.5 * scores[0], 0.5 * scores[0]) : Float64Array.from(scores);
  }

  textEntry(part, row) {
    const logs = new Float64Array(this.k);
    part.add(row, logs);
    const share = part.told.share;
    if (this.k === 2) return this.classScores([share * (logs[1] - logs[0])]);
    const mean = logs.reduce((a, b) => a + b, 0) / this.k;
    return logs.map((log) => share * (log - mean));
  }

  codes(row) { return this.names.map((_, k) => this.code(k, row)); }

  // What tables and texts add.
  tableTerms(row, codes) {
    const terms = this.told.terms.map((term, place) => ({ columns: term.map((k) => this.names[k]), add: this.entry(place, codes) }));
    for (const part of this.texts) terms.push({ columns: part.columns, add: this.textEntry(part, row) });
    return terms;
  }

  // The rest is shared by its columns, and what it says of a mean row goes to the intercept.
  terms(row) {
    const codes = this.codes(row), intercept = Float64Array.from(this.told.beyond), terms = [{ columns: [], add: intercept }, ...this.tableTerms(row, codes)];
    if (!this.rest.some) return terms;
    const { base, shares } = this.rest.shared(codes);
    addTo(intercept, this.classScores(base));
    for (const [k, scores] of shares) terms.push({ columns: [this.names[k]], name: "with others", add: this.classScores(scores) });
    return terms;
  }

  add(row, out) {
    const codes = this.codes(row);
    addTo(out, this.told.beyond);
    for (const term of this.tableTerms(row, codes)) addTo(out, term.add);
    if (this.rest.some) addTo(out, this.classScores(this.rest.scores(codes)));
  }

  // What one column adds with its pairs and triples and the rest, as a function of its cell.
  vary(row, name) {
    const k = this.names.indexOf(name);
    if (k < 0) return null;
    const codes = this.codes(row), own = new Set(this.termsOf[k]), only = { cell: null, get() { return this.cell; } };
    const fixed = Float64Array.from(this.told.beyond);
    this.tableTerms(row, codes).forEach((term, place) => { if (!own.has(place)) addTo(fixed, term.add); });
    return { rest: fixed, at: (cell, unknown) => {
      only.cell = cell;
      codes[k] = unknown ? 0 : this.code(k, only);
      const out = new Float64Array(this.k);
      for (const place of own) addTo(out, this.entry(place, codes));
      if (this.rest.some) addTo(out, this.classScores(this.rest.scores(codes)));
      return out;
    } };
  }

  words(row, name) {
    const part = this.texts.find((each) => each.columns[0] === name);
    if (!part) return null;
    const read = part.words(row), share = part.told.share;
    const words = read.words.map((each) => {
      const mean = each.add.reduce((a, b) => a + b, 0) / this.k;
      return { ...each, add: each.add.map((log) => share * (log - mean)) };
    });
    return { text: read.text, words };
  }
}

const PARTS = {
  terms: TermsPart, bell: BellPart, aode: AodePart, additive: AdditivePart, words: WordsPart, presence: PresencePart,
};

// The terms of any part: its own, or all of it as one.
export function termsOf(part, row) {
  return part.terms ? part.terms(row) : asOneTerm(part, row);
}
