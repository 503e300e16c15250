// One class against the rest: what each term adds to its log-odds, exactly (as `explain/contrast.py` shares it out).

const MOST = 60;
function finite(log) { return Number.isFinite(log) ? log : Math.sign(log) * MOST || 0; }

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
    const shares = why.terms.map(({ add }) => finite(add[target] - (rivals.length === 1 ? add[rivals[0]] : rest(add, why.joint, rivals))));
    return { before: null, after, shares };
  }
  return { before: logOdds(why.start, target, rivals), after, shares: sharedOut(why, target, rivals) };
}

// As `explain/contrast.py` does it, which says why. A term that rules a class out (−∞) has no logarithm to share.
function sharedOut(why, target, rivals) {
  const own = Number.isFinite(why.start[target]) ? why.start[target] : 0, known = rivals.map((c) => why.start[c] > -Infinity);
  const odds = rivals.map((c) => (known.includes(true) ? why.start[c] - own : 0));
  const isOwnDead = why.terms.map(({ add }) => add[target] === -Infinity), isDead = why.terms.map(({ add }) => rivals.map((c) => add[c] === -Infinity));
  const ratios = why.terms.map(({ add }, j) => rivals.map((c, k) => (isOwnDead[j] || isDead[j][k] ? 0 : difference(add[c], add[target]))));
  const killers = rivals.map((_, k) => isDead.filter((dead, j) => dead[k] && !isOwnDead[j]).length), anyAlive = killers.includes(0);
  const gone = killers.map((n) => anyAlive && n > 0), after = odds.map((odd, k) => (gone[k] ? -Infinity : ratios.reduce((sum, ratio) => sum + ratio[k], odd)));
  const whole = logMeanOf(logSum(odds), logSum(after));
  const weights = odds.map((odd, k) => (gone[k] || !(odd > -Infinity) ? 0 : Math.exp(logMeanOf(odd, after[k]) - whole)));
  const leaving = odds.map((odd, k) => (gone[k] && odd > -Infinity ? Math.exp(odd - whole) / killers[k] : 0));
  const isDoomed = isOwnDead.includes(true), areAllDead = rivals.every((_, k) => isDead.some((dead) => dead[k]));
  return why.terms.map((_, j) => {
    if (isDoomed && areAllDead) return 0;
    if (isOwnDead[j]) return -Infinity;
    if (areAllDead && isDead[j].includes(true)) return Infinity;
    return rivals.reduce((sum, __, k) => sum - ratios[j][k] * weights[k] + (isDead[j][k] ? leaving[k] : 0), 0);
  });
}

export function difference(a, b) { return a === b ? 0 : a - b; }
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
