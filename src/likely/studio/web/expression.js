// Trees of `expressions.py` as functions of a row (a Map of cells by column) and a class.

export function asNumber(cell) {
  if (cell === null || cell === undefined || cell === "") return NaN;
  return typeof cell === "number" ? cell : Number(cell);
}

export function isGap(cell) {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

export function compiled(tree) {
  const [op, ...parts] = tree;
  return COMPILERS[op](parts);
}

function perClass(numbers) {
  return numbers.length === 1 ? () => numbers[0] : (row, c) => numbers[c];
}

function binary(reckon) {
  return ([a, b]) => {
    const left = compiled(a), right = compiled(b);
    return (row, c) => reckon(left(row, c), right(row, c));
  };
}

function unary(reckon) {
  return ([a]) => {
    const inner = compiled(a);
    return (row, c) => reckon(inner(row, c));
  };
}

const COMPILERS = {
  number: (numbers) => perClass(numbers),
  value: ([value]) => () => value,
  real: ([name]) => (row) => asNumber(row.get(name)),
  cell: ([name]) => (row) => row.get(name),
  missing: ([name]) => (row) => isGap(row.get(name)),
  "+": (terms) => {
    const each = terms.map(compiled);
    return (row, c) => each.reduce((total, term) => total + term(row, c), 0);
  },
  "-": binary((a, b) => a - b),
  "*": binary((a, b) => a * b),
  "/": binary((a, b) => a / b),
  "=": binary((a, b) => a === b),
  "<": binary((a, b) => a < b),
  "<=": binary((a, b) => a <= b),
  or: binary((a, b) => a || b),
  pow: binary((a, b) => (b === 2 ? a * a : a ** b)),
  ln: unary(Math.log),
  exp: unary(Math.exp),
  sqrt: unary(Math.sqrt),
  abs: unary(Math.abs),
  lgamma: unary(logGamma),
  case: (parts) => {
    const whens = [];
    for (let k = 0; k + 1 < parts.length; k += 2) whens.push([compiled(parts[k]), compiled(parts[k + 1])]);
    const otherwise = compiled(parts[parts.length - 1]);
    return (row, c) => {
      for (const [condition, result] of whens) if (condition(row, c)) return result(row, c);
      return otherwise(row, c);
    };
  },
  look: ([, cell, keys, numbers, otherwise]) => {
    const read = compiled(cell), places = new Map(keys.map((key, k) => [key, k])), rest = compiled(otherwise);
    const at = tableOf(numbers);
    return (row, c) => {
      const place = places.get(read(row, c));
      return place === undefined ? rest(row, c) : at(c, place);
    };
  },
  step: ([op, cell, edges, numbers, otherwise]) => {
    const read = compiled(cell), rest = compiled(otherwise), at = tableOf(numbers);
    return (row, c) => {
      const place = firstAbove(edges, read(row, c), op === "<=");
      return place >= edges.length ? rest(row, c) : at(c, place);
    };
  },
  class: (branches) => {
    const each = branches.map(compiled);
    return (row, c) => each[c](row, 0);
  },
};

function tableOf([, table]) {
  const [lines, width] = table.shape;
  return lines === 1 ? (c, place) => table[place] : (c, place) => table[c * width + place];
}

// The first edge that lies above a number, or at it where `reached` says so.
export function firstAbove(edges, number, reached) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (number < edges[middle] || (reached && number === edges[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Lanczos's approximation, good to about fifteen digits.
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

export function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - logGamma(1 - x);
  const z = x - 1, t = z + 7.5;
  let total = LANCZOS[0];
  for (let k = 1; k < 9; k++) total += LANCZOS[k] / (z + k);
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(total);
}
