// A model whose probabilities were calibrated on rows held out (`decide/calibration.py`): a power, or rising curves.

const FARTHEST_ODDS = 700;

// log P(class) − log P(any other class), for the classes that are judged by themselves: of two, the second.
function judgedOdds(posterior) {
  const odds = Array.from(posterior, (share, c) => {
    let others = 0;
    posterior.forEach((other, place) => { if (place !== c) others += other; });
    const found = Math.log(share) - Math.log(others);
    return Number.isNaN(found) ? 0 : Math.min(Math.max(found, -FARTHEST_ODDS), FARTHEST_ODDS);
  });
  return odds.length === 2 ? odds.slice(1) : odds;
}

// How many numbers of a rising list are below another.
function below(numbers, number) {
  let low = 0, high = numbers.length;
  while (low < high) { const middle = (low + high) >> 1; if (numbers[middle] < number) low = middle + 1; else high = middle; }
  return low;
}

function interpolated(at, xs, ys) {
  const n = xs.length, place = below(xs, at);
  if (place === 0) return ys[0];
  if (place === n) return ys[n - 1];
  return ys[place - 1] + ((ys[place] - ys[place - 1]) * (at - xs[place - 1])) / (xs[place] - xs[place - 1]);
}

function together(shares, posterior) {
  if (shares.length === 1) return Float64Array.of(1 - shares[0], shares[0]);
  const total = shares.reduce((sum, part) => sum + part, 0);
  return total > 0 ? Float64Array.from(shares, (part) => part / total) : Float64Array.from(posterior);
}

export class CalibratedScorer {
  constructor(told, inner) {
    this.told = told;
    this.inner = inner;
    this.form = "calibrated";
    this.k = inner.k;
    this.adds = inner.adds;
    this.tied = inner.tied || told.method !== "temperature";
    this.bounds = told.method === "venn-abers" ? (row) => this.between(inner.posterior(row)) : null;
  }

  apply(posterior) {
    const { power, curves, method } = this.told;
    if (method === "temperature") {
      const logs = posterior.map((share) => power * Math.log(share)).map((log) => (Number.isNaN(log) ? -Infinity : log)), peak = Math.max(...logs), shares = logs.map((log) => Math.exp(log - peak));
      const total = shares.reduce((sum, part) => sum + part, 0);
      return shares.map((part) => part / total);
    }
    if (!curves.length) return Float64Array.from(posterior);
    if (method === "isotonic") return together(judgedOdds(posterior).map((odds, c) => interpolated(odds, curves[c][0], curves[c][1])), posterior);
    const { low, high } = this.between(posterior), some = Array.from(low, (lower, c) => high[c] / (1 - lower + high[c]));
    return together(some.length === 2 ? some.slice(1) : some, posterior);
  }

  // Two rising curves, between which the truth lies.
  between(posterior) {
    const { curves } = this.told;
    if (!curves.length) return { low: Float64Array.from(posterior), high: Float64Array.from(posterior) };
    const ends = judgedOdds(posterior).map((odds, c) => {
      const [scores, lower, upper] = curves[c], place = below(scores, odds), at = 2 * place + (place < scores.length && scores[place] === odds ? 1 : 0);
      return [lower[at], upper[at]];
    });
    if (ends.length === 1) { const [[low, high]] = ends; return { low: Float64Array.of(1 - high, low), high: Float64Array.of(1 - low, high) }; }
    return { low: Float64Array.from(ends, (each) => each[0]), high: Float64Array.from(ends, (each) => each[1]) };
  }

  posterior(row) { return this.apply(this.inner.posterior(row)); }

  // The explanation of the model inside, and what calibration makes of it as one term more.
  explain(row) {
    const why = this.inner.explain(row), posterior = this.apply(why.posterior);
    const add = posterior.map((share, c) => logShare(share) - logShare(why.posterior[c]));
    return { start: why.start, terms: [...why.terms, { columns: [], name: "calibration", add }], joint: why.joint.map((log, c) => log + add[c]), posterior };
  }

  prepare(row) { return this.inner.prepare(row); }

  vary(row, given, prepared) {
    const inner = this.inner.vary(row, given, prepared), posterior = (...cells) => this.apply(inner.posterior(...cells));
    return { posterior, joint: (...cells) => posterior(...cells).map(logShare), without: inner.without ? () => this.apply(inner.without()) : null, outcomes: inner.outcomes };
  }

  words(row, name) { return this.inner.words(row, name); }
}

function logShare(share) { return Math.log(Math.max(share, 1e-300)); }
