// How sure evidence is: Laplace's approximation of the posterior of its scores, as `models/evidence/laplace.py` has it.

const NUGGET = 0.05, LARGEST_SCORE = 4, SLICE = 12;

// Prior covariances of the bins of a number: a line, a Brownian motion and a jump (`encoding.numeric_covariance`).
function fineTable({ means, mass, gap, size }) {
  if (!means || means.length < 2) return null;
  const n = means.length, largest = means.reduce((most, mean) => Math.max(most, Math.abs(mean)), 0) || 1;
  let total = 0, centre = 0, spread = 0, walked = 0, whole = 0, trace = 0;
  for (let k = 0; k < n; k++) total += mass[k];
  const at = Array.from(means, (mean) => mean / largest), share = Array.from({ length: n }, (_, k) => mass[k] / total);
  at.forEach((mean, k) => { centre += share[k] * mean; });
  at.forEach((mean, k) => { spread += share[k] * (mean - centre) ** 2; });
  const deviation = Math.sqrt(spread), z = at.map((mean) => (deviation > 0 ? Math.min(Math.max((mean - centre) / deviation, -LARGEST_SCORE), LARGEST_SCORE) : 0));
  const place = share.map((part) => { walked += Math.sqrt(part); return walked; });
  const average = place.map((p) => place.reduce((sum, q) => sum + Math.min(p, q), 0) / n);
  for (const mean of average) whole += mean / n;
  const motion = (a, b) => Math.min(place[a], place[b]) - average[a] - average[b] + whole;
  for (let k = 0; k < n; k++) trace += motion(k, k) / n;
  const table = new Float64Array(size * size);
  for (let a = 0; a < n; a++) for (let b = 0; b < n; b++)
    table[(a + 1) * size + b + 1] = (z[a] * z[b] + motion(a, b) / (trace > 0 ? trace : 1) + (a === b ? NUGGET : 0)) / (2 + NUGGET);
  if (gap) table[size * size - 1] = 1;
  return table;
}

// Of two codes of a column; a table that was not sent is that of categories.
function entryOf(table, width, a, b) { return table ? table[a * width + b] : a === b && a > 0 ? 1 : 0; }

export class Laplace {
  constructor(told, part) {
    this.told = told;
    this.part = part;
    this.columns = part.told.columns;
    this.fine = this.columns.map(fineTable);
    [this.n, this.d] = told.codes.shape;
    this.scores = told.hessian.shape[1];
    this.factors = null;
    this.work = this.factorise();
  }

  // Prior covariances of one row with the first rows that were kept: `codes` holds the row from place `from` on.
  against(codes, from, count, kept = this.told.codes, start = 0) {
    const { told, d } = this, mains = new Float64Array(count), total = new Float64Array(count), squares = new Float64Array(count), lines = [];
    for (let k = 0; k < d; k++) {
      const { size } = this.columns[k], own = codes[from + k], fine = new Float64Array(size), coarse = new Float64Array(size);
      for (let code = 0; code < size; code++) { fine[code] = entryOf(this.fine[k], size, code, own); coarse[code] = this.grouped("coarse", k, code, own); }
      for (let i = 0, at = start + k; i < count; i++, at += d) {
        const code = kept[at], found = coarse[code];
        mains[i] += fine[code];
        total[i] += found;
        squares[i] += found * found;
      }
      lines.push(coarse);
    }
    const out = mains.map((main, i) => main + told.pair_scale * 0.5 * (total[i] * total[i] - squares[i]));
    for (const [j, k] of told.pairs) for (let i = 0, at = start; i < count; i++, at += d) out[i] += told.term_scales[0] * lines[j][kept[at + j]] * lines[k][kept[at + k]];
    for (const term of told.triples) for (let i = 0, at = start; i < count; i++, at += d) out[i] += told.term_scales[1] * term.reduce((product, k) => product * this.grouped("tiny", k, kept[at + k], codes[from + k]), 1);
    return out.map((sum) => told.variance * sum);
  }

  grouped(which, k, x, y) {
    const groups = this.columns[k][which], table = this.told[which][k];
    return entryOf(table, table ? table.shape[0] : 0, groups[x], groups[y]);
  }

  // The factors of I + W^½ K W^½, one for each score; in steps, so that the page goes on answering.
  * factorise() {
    const { n, d, scores, told } = this, between = new Float64Array(n * n), factors = [];
    for (let i = 0; i < n; i++) {
      between.set(this.against(told.codes, i * d, i + 1), i * n);
      yield;
    }
    this.roots = Float64Array.from(told.hessian, Math.sqrt);
    for (let c = 0; c < scores; c++) {
      const lower = new Float64Array(n * n), root = (i) => this.roots[i * scores + c];
      for (let i = 0; i < n; i++) {
        for (let j = 0; j <= i; j++) {
          let sum = root(i) * between[i * n + j] * root(j) + (i === j ? 1 : 0);
          for (let k = 0; k < j; k++) sum -= lower[i * n + k] * lower[j * n + k];
          lower[i * n + j] = i === j ? Math.sqrt(sum) : sum / lower[j * n + j];
        }
        yield;
      }
      factors.push(lower);
    }
    this.factors = factors;
  }

  finish() { for (const _ of this.work); }

  // Go on a few milliseconds at a time, then say so.
  begin(then) {
    if (this.begun) return;
    this.begun = true;
    const go = () => {
      const end = performance.now() + SLICE;
      while (performance.now() < end) if (this.work.next().done) { then(); return; }
      setTimeout(go);
    };
    setTimeout(go);
  }

  // Posterior variance of the log-odds of each class; of two classes both have the same.
  variances(row, k) {
    const { n, d, scores, told } = this, codes = Uint8Array.from({ length: d }, (_, j) => this.part.code(j, row));
    const [prior] = this.against(codes, 0, 1, codes), across = this.against(codes, 0, n);
    const found = this.factors.map((lower, c) => {
      const z = new Float64Array(n);
      let left = prior;
      for (let i = 0; i < n; i++) {
        let sum = this.roots[i * scores + c] * across[i];
        for (let j = 0; j < i; j++) sum -= lower[i * n + j] * z[j];
        z[i] = sum / lower[i * n + i];
        left -= z[i] * z[i];
      }
      return told.widening * Math.max(left, 0);
    });
    return Float64Array.from({ length: k }, (_, c) => (found[Math.min(c, scores - 1)] ?? prior) + (told.prior ? told.prior[c] : 0));
  }
}
