// What no table of three columns holds: trees and the quadratic discriminant, and how their columns share what they say.

const QUESTIONS = 6, LEAVES = 64, CODES = 256;
const FACTORIAL = [1, 1, 2, 6, 24, 120, 720];

// The answers to the six questions of a tree are the bits of its leaf.
export class Trees {
  constructor(told, nScores) {
    this.told = told;
    this.k = nScores;
    this.n = told.columns.length / QUESTIONS;
    this.players = [];
    for (let tree = 0; tree < this.n; tree++) this.players.push(this.playersOf(tree));
    this.columns = [...new Set(this.players.flatMap((own) => own.map((player) => player.column)))].sort((a, b) => a - b);
  }

  // The columns that a tree asks about, and the bits of their questions.
  playersOf(tree) {
    const bits = new Map(), { columns, sides } = this.told;
    for (let q = 0; q < QUESTIONS; q++) {
      const at = tree * QUESTIONS + q, column = columns[at];
      if (sides.subarray(CODES * at, CODES * (at + 1)).includes(1)) bits.set(column, (bits.get(column) || 0) | 1 << QUESTIONS - 1 - q);
    }
    return [...bits].map(([column, mask]) => ({ column, mask })).sort((a, b) => a.column - b.column);
  }

  leaf(tree, codes) {
    const { columns, sides } = this.told;
    let leaf = 0;
    for (let at = tree * QUESTIONS; at < (tree + 1) * QUESTIONS; at++) leaf = 2 * leaf + sides[CODES * at + codes[columns[at]]];
    return leaf;
  }

  addScores(codes, out) {
    for (let tree = 0; tree < this.n; tree++) {
      const at = (LEAVES * tree + this.leaf(tree, codes)) * this.k;
      for (let c = 0; c < this.k; c++) out[c] += this.told.leaves[at + c];
    }
  }

  // Shapley values, as `contributions` of `models/evidence/ensemble.py`: `base` is what is said of a row that is not known.
  share(codes, base, shares) {
    for (let tree = 0; tree < this.n; tree++) {
      const players = this.players[tree], n = players.length, all = (1 << n) - 1;
      const worth = this.worth(tree, this.leaf(tree, codes));
      for (let c = 0; c < this.k; c++) base[c] += worth[c];
      for (let coalition = 0; coalition < all; coalition++) {
        const size = bitCount(coalition), much = FACTORIAL[size] * FACTORIAL[n - size - 1] / FACTORIAL[n];
        for (let j = 0; j < n; j++) {
          if (coalition >> j & 1) continue;
          const out = shares.get(players[j].column), more = (coalition | 1 << j) * this.k;
          for (let c = 0; c < this.k; c++) out[c] += much * (worth[more + c] - worth[coalition * this.k + c]);
        }
      }
    }
  }

  // The mean of the leaves that agree with one in the questions of a coalition, by their rows; for every coalition.
  worth(tree, leaf) {
    const { leaves, covers } = this.told, players = this.players[tree], k = this.k, width = k + 1;
    const asked = players.reduce((mask, player) => mask | player.mask, 0);
    const sums = this.sums(asked, (apart, out) => {
      const at = LEAVES * tree + (leaf ^ apart), cover = covers[at];
      out[k] = cover;
      for (let c = 0; c < k; c++) out[c] = cover * leaves[at * k + c];
    });
    let plain = null;
    const out = new Float64Array((1 << players.length) * k);
    for (let coalition = 0; coalition < 1 << players.length; coalition++) {
      let open = asked;
      players.forEach((player, j) => { if (coalition >> j & 1) open &= ~player.mask; });
      let from = sums;
      if (open === 0 || !(sums[open * width + k] > 0)) {
        plain ??= this.sums(asked, (apart, own) => {
          own[k] = 1;
          for (let c = 0; c < k; c++) own[c] = leaves[(LEAVES * tree + (leaf ^ apart)) * k + c];
        });
        from = plain;
      }
      for (let c = 0; c < k; c++) out[coalition * k + c] = from[open * width + c] / from[open * width + k];
    }
    return out;
  }

  // Sums over all leaves that differ from one in some of given questions, for every choice of questions.
  sums(asked, read) {
    const width = this.k + 1, out = new Float64Array(LEAVES * width);
    for (let apart = 0; apart < LEAVES; apart++) if ((apart & ~asked) === 0) read(apart, out.subarray(apart * width, (apart + 1) * width));
    for (let bit = 1; bit < LEAVES; bit <<= 1) {
      if (!(asked & bit)) continue;
      for (let mask = 0; mask < LEAVES; mask++) if (mask & bit) for (let c = 0; c < width; c++) out[mask * width + c] += out[(mask ^ bit) * width + c];
    }
    return out;
  }
}

function bitCount(number) {
  let n = 0;
  for (let left = number; left; left &= left - 1) n++;
  return n;
}

// A polynomial of second degree in the standard scores of some columns; a product is shared evenly by both.
export class Discriminant {
  constructor(told, nScores) {
    this.told = told;
    this.k = nScores;
    this.columns = [...told.columns];
  }

  standardScores(codes) { return this.columns.map((column, a) => this.told.values[CODES * a + codes[column]]); }

  addScores(codes, out) {
    const { linear, products } = this.told, z = this.standardScores(codes), k = this.k;
    for (let a = 0, place = 0; a < z.length; a++) {
      for (let c = 0; c < k; c++) out[c] += z[a] * linear[a * k + c];
      for (let b = a; b < z.length; b++, place++) for (let c = 0; c < k; c++) out[c] += z[a] * z[b] * products[place * k + c];
    }
  }

  share(codes, base, shares) {
    const { linear, products, base: means } = this.told, z = this.standardScores(codes), k = this.k;
    const own = this.columns.map((column) => shares.get(column));
    for (let a = 0, place = 0; a < z.length; a++) {
      for (let c = 0; c < k; c++) { own[a][c] += z[a] * linear[a * k + c] - means[a * k + c]; base[c] += means[a * k + c]; }
      for (let b = a; b < z.length; b++, place++)
        for (let c = 0; c < k; c++) {
          const half = 0.5 * z[a] * z[b] * products[place * k + c];
          own[a][c] += half;
          own[b][c] += half;
        }
    }
  }
}

// Both of them, as far as a model has them.
export class Rest {
  constructor(told, nScores) {
    this.k = nScores;
    this.parts = [new Trees(told.trees, nScores), new Discriminant(told.discriminant, nScores)].filter((part) => part.told.columns.length);
    this.columns = [...new Set(this.parts.flatMap((part) => part.columns))].sort((a, b) => a - b);
  }

  get some() { return this.parts.length > 0; }

  scores(codes) {
    const out = new Float64Array(this.k);
    for (const part of this.parts) part.addScores(codes, out);
    return out;
  }

  // Scores of a mean row, and what each column adds to these.
  shared(codes) {
    const base = new Float64Array(this.k), shares = new Map(this.columns.map((column) => [column, new Float64Array(this.k)]));
    for (const part of this.parts) part.share(codes, base, shares);
    return { base, shares };
  }
}
