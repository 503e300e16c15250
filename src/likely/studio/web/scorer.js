// What the model says of a row: the posterior, what each column adds, and how that changes with one cell.

import { CalibratedScorer } from "./calibrated.js";
import { NetScorer } from "./net.js";
import { partOf, termsOf } from "./parts.js";
import { SvmScorer } from "./svm.js";
import { TreeScorer } from "./tree.js";

export function scorerOf(told, nClasses) {
  if (told.form === "joint") return new JointScorer(told, nClasses);
  if (told.form === "tree") return new Direct(new TreeScorer(told, nClasses), "tree");
  if (told.form === "net") return new Direct(new NetScorer(told, nClasses), "net");
  if (told.form === "calibrated") return new CalibratedScorer(told, scorerOf(told.inner, nClasses));
  if (told.form === "svm") return new Direct(new SvmScorer(told, nClasses), "svm");
  return null;
}

// Shares of a log joint, shifted by its peak; a row that no class allows has the prior.
export function normalised(joint, prior) {
  let peak = -Infinity, total = 0;
  for (const log of joint) peak = Math.max(peak, log);
  if (peak === -Infinity) return Float64Array.from(prior);
  const out = joint.map((log) => Math.exp(log - peak));
  for (const share of out) total += share;
  return out.map((share) => share / total);
}

// A row with other cells in some places; it is not copied.
class Overlay {
  constructor(row, names) { this.row = row; this.names = names; this.cells = []; }
  get(name) { const place = this.names.indexOf(name); return place < 0 ? this.row.get(name) : this.cells[place]; }
}

class JointScorer {
  constructor(told, nClasses) {
    this.k = nClasses;
    this.prior = told.prior;
    this.start = told.start;
    this.form = "joint";
    this.parts = told.parts.map((part) => partOf(part, nClasses));
    this.places = new Map();
    this.parts.forEach((part, place) => part.columns.forEach((name) => this.places.set(name, [...(this.places.get(name) || []), place])));
    this.adds = true;
    this.tied = told.parts.some((part) => part.is === "bell" || part.is === "aode" || (part.terms || []).some((t) => t.length > 1) || part.trees?.columns.length > 0 || part.discriminant?.columns.length > 0);
  }

  joint(row) {
    const joint = Float64Array.from(this.start);
    for (const part of this.parts) part.add(row, joint);
    return joint;
  }

  posterior(row) { return normalised(this.joint(row), this.prior); }

  explain(row) {
    const terms = this.parts.flatMap((part) => termsOf(part, row)), merged = new Map();
    for (const term of terms) {
      const key = JSON.stringify([term.columns, term.name]), before = merged.get(key);
      if (before) term.add.forEach((log, c) => { before.add[c] += log; });
      else merged.set(key, { columns: term.columns, name: term.name, add: Float64Array.from(term.add) });
    }
    const joint = Float64Array.from(this.start);
    for (const { add } of merged.values()) add.forEach((log, c) => { joint[c] += log; });
    return { start: this.start, terms: [...merged.values()], joint, posterior: normalised(joint, this.prior) };
  }

  // What each part adds to a row, and all of them: so that single cells are varied without reckoning the rest anew.
  prepare(row) {
    const total = Float64Array.from(this.start);
    const adds = this.parts.map((part) => { const add = new Float64Array(this.k); part.add(row, add); add.forEach((log, c) => { total[c] += log; }); return add; });
    return { adds, total };
  }

  // The posterior as a function of one cell, or of some, the others as they are.
  vary(row, given, prepared = this.prepare(row)) {
    const names = [given].flat(), own = [...new Set(names.flatMap((name) => this.places.get(name) || []))];
    const rest = Float64Array.from(prepared.total), moving = [], over = new Overlay(row, names);
    for (const place of own) prepared.adds[place].forEach((log, c) => { rest[c] -= log; });
    if (!rest.every(Number.isFinite)) {
      rest.set(this.start);
      prepared.adds.forEach((add, place) => { if (!own.includes(place)) add.forEach((log, c) => { rest[c] += log; }); });
    }
    for (const place of own) {
      const part = this.parts[place], apart = part.vary && names.length === 1 ? part.vary(row, names[0]) : null;
      if (apart) { apart.rest.forEach((log, c) => { rest[c] += log; }); moving.push((out, unknown) => apart.at(over.cells[0], unknown).forEach((log, c) => { out[c] += log; })); }
      else moving.push((out) => part.add(over, out));
    }
    const joint = (...cells) => {
      const out = Float64Array.from(rest);
      over.cells = cells;
      for (const add of moving) add(out);
      return out;
    };
    // The class before anything of this cell is known, not even that it is empty.
    const without = () => {
      const out = Float64Array.from(rest);
      over.cells = [null];
      moving.forEach((add, place) => { if (this.parts[own[place]].columns.length > 1) add(out, true); });
      return normalised(out, this.prior);
    };
    const bell = own.length === 1 && this.parts[own[0]].curves ? this.parts[own[0]] : null;
    return { joint, posterior: (...cells) => normalised(joint(...cells), this.prior), without, outcomes: bell ? () => bell.curves(names[0], joint) : null };
  }

  words(row, name) {
    for (const place of this.places.get(name) || []) {
      const part = this.parts[place], found = part.words ? part.words(row, name) : null;
      if (found) return found;
    }
    return null;
  }
}

// A model that has no log joint: what a cell does is told by leaving it out.
class Direct {
  constructor(inner, form) {
    this.inner = inner;
    this.form = form;
    this.k = inner.k;
    this.adds = false;
    this.tied = true;
  }

  posterior(row) { return this.inner.posterior(row); }

  prepare() { return null; }

  explain(row) {
    const posterior = this.posterior(row), copy = new Map(row);
    const terms = this.inner.columns.map((name) => {
      const cell = row.get(name);
      if (cell === null || cell === undefined) return { columns: [name], add: new Float64Array(this.k) };
      copy.set(name, null);
      const without = this.posterior(copy);
      copy.set(name, cell);
      return { columns: [name], add: posterior.map((share, c) => logOf(share) - logOf(without[c])) };
    });
    return { start: null, terms, joint: posterior.map(logOf), posterior };
  }

  vary(row, given) {
    const over = new Overlay(row, [given].flat());
    const posterior = (...cells) => { over.cells = cells; return this.posterior(over); };
    return { posterior, joint: (...cells) => posterior(...cells).map(logOf) };
  }

  words() { return null; }
}

const TINY = 1e-12;
function logOf(share) { return Math.log(Math.max(share, TINY)); }
