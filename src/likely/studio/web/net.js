// A small network: convolution, pooling, one score for each class from all that is left (`models/convnet/network.py`).

import { asNumber } from "./expression.js";

export class NetScorer {
  constructor(told, nClasses) {
    this.told = told;
    this.k = nClasses;
    this.columns = told.columns;
  }

  // Pixels from 0 to 1 in the middle of an image with zeros around them.
  image(row) {
    const { shape, padded, range, columns } = this.told, [tall, wide, deep] = shape, [height, width] = padded, [low, high] = range;
    const out = new Float64Array(height * width * deep), above = (height - tall) >> 1, left = (width - wide) >> 1;
    for (let i = 0; i < tall; i++) for (let j = 0; j < wide; j++) for (let c = 0; c < deep; c++)
      out[((i + above) * width + j + left) * deep + c] = (asNumber(row.get(columns[(i * wide + j) * deep + c])) - low) / (high - low || 1);
    return { cells: out, height, width, deep };
  }

  posterior(row) {
    const { weights, maps, filter, pool, pool_size: size } = this.told;
    let seen = this.image(row);
    maps.forEach((n, layer) => { seen = pooled(convolved(seen, weights[2 * layer], weights[2 * layer + 1], filter, n), size, pool); });
    const last = weights[weights.length - 2], shifts = weights[weights.length - 1];
    const scores = Float64Array.from(shifts);
    seen.cells.forEach((cell, at) => { for (let c = 0; c < this.k; c++) scores[c] += cell * last[at * this.k + c]; });
    const peak = Math.max(...scores), shares = scores.map((score) => Math.exp(score - peak)), total = shares.reduce((sum, part) => sum + part, 0);
    return shares.map((part) => part / total);
  }
}

function convolved({ cells, height, width, deep }, filters, shifts, size, maps) {
  const tall = height - size + 1, wide = width - size + 1, out = new Float64Array(tall * wide * maps);
  for (let i = 0; i < tall; i++) for (let j = 0; j < wide; j++) {
    const to = (i * wide + j) * maps;
    for (let m = 0; m < maps; m++) out[to + m] = shifts[m];
    for (let a = 0; a < size; a++) for (let b = 0; b < size; b++) for (let c = 0; c < deep; c++) {
      const cell = cells[((i + a) * width + j + b) * deep + c], from = ((a * size + b) * deep + c) * maps;
      if (cell !== 0) for (let m = 0; m < maps; m++) out[to + m] += cell * filters[from + m];
    }
    for (let m = 0; m < maps; m++) out[to + m] = Math.max(out[to + m], 0);
  }
  return { cells: out, height: tall, width: wide, deep: maps };
}

function pooled({ cells, height, width, deep }, size, kind) {
  const tall = Math.floor(height / size), wide = Math.floor(width / size), out = new Float64Array(tall * wide * deep).fill(kind === "max" ? -Infinity : 0);
  for (let i = 0; i < tall * size; i++) for (let j = 0; j < wide * size; j++) for (let c = 0; c < deep; c++) {
    const to = (Math.floor(i / size) * wide + Math.floor(j / size)) * deep + c, cell = cells[(i * width + j) * deep + c];
    out[to] = kind === "max" ? Math.max(out[to], cell) : out[to] + cell / (size * size);
  }
  return { cells: out, height: tall, width: wide, deep };
}
