// What the model says of a row: the posterior, what each column adds, and how that changes with one cell.

import { partOf, termsOf } from "./parts.js";
import { SvmScorer } from "./svm.js";
import { TreeScorer } from "./tree.js";

export function scorerOf(told, nClasses) {
  if (told.form === "joint") return new JointScorer(told, nClasses);
  if (told.form === "tree") return new Direct(new TreeScorer(told, nClasses), "tree");
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

class JointScorer {
  constructor(told, nClasses) {
    this.k = nClasses;
    this.prior = told.prior;
    this.start = told.start;
    this.form = "joint";
    this.parts = told.parts.map((part) => partOf(part, nClasses));
    this.adds = true;
    this.tied = told.parts.some((part) => part.is === "bell" || part.is === "aode" || (part.terms || []).some((t) => t.length > 1));
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
      const key = JSON.stringify(term.columns), before = merged.get(key);
      if (before) term.add.forEach((log, c) => { before.add[c] += log; });
      else merged.set(key, { columns: term.columns, add: Float64Array.from(term.add) });
    }
    const joint = Float64Array.from(this.start);
    for (const { add } of merged.values()) add.forEach((log, c) => { joint[c] += log; });
    return { start: this.start, terms: [...merged.values()], joint, posterior: normalised(joint, this.prior) };
  }

  // The posterior as a function of one cell, the others as they are.
  vary(row, name) {
    const rest = Float64Array.from(this.start), moving = [], copy = new Map(row);
    for (const part of this.parts) {
      if (!part.columns.includes(name)) { part.add(row, rest); continue; }
      const own = part.vary ? part.vary(row, name) : null;
      if (own) { own.rest.forEach((log, c) => { rest[c] += log; }); moving.push(own.at); }
      else moving.push((cell) => { copy.set(name, cell); const out = new Float64Array(this.k); part.add(copy, out); return out; });
    }
    const joint = (cell) => {
      const out = Float64Array.from(rest);
      for (const at of moving) at(cell).forEach((log, c) => { out[c] += log; });
      return out;
    };
    return { joint, posterior: (cell) => normalised(joint(cell), this.prior) };
  }

  words(row, name) {
    for (const part of this.parts) {
      if (!part.columns.includes(name) || !part.words) continue;
      const found = part.words(row, name);
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

  vary(row, name) {
    const copy = new Map(row);
    const posterior = (cell) => { copy.set(name, cell); return this.posterior(copy); };
    return { posterior, joint: (cell) => posterior(cell).map(logOf) };
  }

  words() { return null; }
}

const TINY = 1e-12;
function logOf(share) { return Math.log(Math.max(share, TINY)); }
