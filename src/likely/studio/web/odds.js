// One class against the rest: what each term adds to its log-odds, exactly (as `explain/contrast.py` shares it out).

const MOST = 60;
function bounded(log) { return Math.max(Math.min(log, MOST), -MOST); }

export function logSum(logs) {
  const peak = Math.max(...logs);
  if (peak === -Infinity) return peak;
  let total = 0;
  for (const log of logs) total += Math.exp(log - peak);
  return peak + Math.log(total);
}

export function logit(p) { return Math.log(p) - Math.log1p(-p); }

function logMeanOf(a, b) {
  if (Math.abs(a - b) < 1e-9) return 0.5 * (a + b);
  const high = Math.max(a, b), gap = Math.abs(a - b);
  return high + Math.log(-Math.expm1(-gap) / gap);
}

// Log-odds before and after, and the share of each term in the difference.
export function contrast(why, target) {
  const k = why.posterior.length, rivals = [];
  for (let c = 0; c < k; c++) if (c !== target) rivals.push(c);
  const after = logOdds(why.joint, target, rivals);
  if (!why.start) {
    const shares = why.terms.map(({ add }) => bounded(add[target] - (rivals.length === 1 ? add[rivals[0]] : rest(add, why.joint, rivals))));
    return { before: null, after, shares };
  }
  const before = logOdds(why.start, target, rivals);
  const odds = rivals.map((c) => [bounded(why.start[c] - why.start[target]), bounded(why.joint[c] - why.joint[target])]);
  const whole = logMeanOf(logSum(odds.map((each) => each[0])), logSum(odds.map((each) => each[1])));
  const weights = odds.map(([a, b]) => Math.exp(logMeanOf(a, b) - whole));
  const shares = why.terms.map(({ add }) => {
    let total = 0;
    rivals.forEach((c, place) => { total -= weights[place] * bounded(difference(add[c], add[target])); });
    return total;
  });
  return { before, after, shares };
}

function difference(a, b) { return a === b ? 0 : a - b; }
function logOdds(logs, target, rivals) { return rivals.length ? logs[target] - logSum(rivals.map((c) => logs[c])) : Infinity; }
function rest(add, joint, rivals) {
  const total = logSum(rivals.map((c) => joint[c]));
  return rivals.reduce((sum, c) => sum + Math.exp(joint[c] - total) * add[c], 0);
}

export function entropy(shares) {
  let bits = 0;
  for (const p of shares) if (p > 0) bits -= p * Math.log2(p);
  return bits;
}
