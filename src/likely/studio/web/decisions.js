// Costs and the price of no decision: regions, expected cost, confusion, risk against coverage; all redrawn at once.

import { chip, classColour, pathOf, plot, roomIn, roundTicks } from "./charts.js";
import { card, clear, empty, freshId, h, named, s, short } from "./dom.js";
import { figure, percent, share, whole } from "./format.js";
import { t } from "./language.js";
import { labels, state } from "./state.js";
import { decide } from "./whatif.js";

const MOST_COSTS = 8;

export function decisionsView(go, width) {
  const all = labels(), k = all.length, left = h("div", { class: "stack" }), right = h("div", { class: "stack" });
  const redraw = () => results(all, width, left, right);
  const head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Decisions")), h("p", {}, t("Say what mistakes cost. The cheapest decision is not always the most probable class."))));
  if (k < 2) return [head, empty(t("There is only one class, so there is nothing to decide."))];
  redraw();
  const costs = h("div", { class: "card" }, h("h2", {}, t("What a decision costs")), k <= MOST_COSTS ? matrix(all, redraw) : h("p", {}, t("With {0} classes every mistake costs 1.", whole(k))));
  return [head, h("div", { class: "grid" }, h("div", { class: "stack w6" }, costs, left), h("div", { class: "stack w6" }, refusal(redraw), right))];
}

function matrix(all, redraw) {
  return h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "matrix" }, h("caption", {}, t("Truths down, decisions across.")),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, t("class"))), all.map((label, d) => h("th", { scope: "col" }, chip(d), named(label, 16))))),
    h("tbody", {}, all.map((truth, c) => h("tr", {}, h("th", { scope: "row" }, chip(c), named(truth, 20)), all.map((label, d) => h("td", {},
      h("input", { type: "number", step: "any", min: "0", value: String(state.costs[d][c]), "aria-label": t("cost of deciding {0} when it is {1}", short(label, 30), short(truth, 30)), "data-cost": `${d}-${c}`, on: { input: (event) => {
        const cost = Number(event.target.value), fair = event.target.value !== "" && Number.isFinite(cost) && cost >= 0;
        event.target.setAttribute("aria-invalid", String(!fair));
        if (fair) { state.costs[d][c] = cost; redraw(); }
      } } }))))))));
}

function refusal(redraw) {
  const id = freshId("refuse"), tick = freshId("may"), told = h("output", { for: id });
  const top = () => Math.max(...state.costs.map((line) => Math.max(...line)), 1e-9);
  const slider = h("input", { id, type: "range", min: "0", max: "1000", value: String(Math.round(1000 * ((state.refuse ?? top() / 2) / top()))), disabled: state.refuse === null, on: { input: () => { state.refuse = (Number(slider.value) / 1000) * top(); say(); redraw(); } } });
  const say = () => { told.textContent = state.refuse === null ? t("every case is decided") : t("no decision costs {0}", figure(state.refuse, 3)); };
  const may = h("input", { id: tick, type: "checkbox", checked: state.refuse !== null, on: { change: () => { slider.disabled = !may.checked; state.refuse = may.checked ? (Number(slider.value) / 1000) * top() : null; say(); redraw(); } } });
  say();
  return h("div", { class: "card" }, h("h2", {}, t("The price of no decision")), h("p", {}, t("A case that is handed to a person costs something, too. Where every decision would cost more, none is taken.")),
    h("div", { class: "row" }, may, h("label", { for: tick }, t("cases may be left undecided"))), h("label", { for: id }, t("price")), slider, told);
}

// Every judged row: what is decided, and what that has cost.
export function judged() {
  const found = state.model.evaluation;
  if (!found || !found.posteriors) return null;
  const k = state.model.classes.length, n = found.truths.length, decisions = new Int32Array(n), risks = new Float64Array(n);
  const table = Array.from({ length: k }, () => new Float64Array(k + 1)), posterior = new Float64Array(k);
  let cost = 0, weight = 0;
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < k; c++) posterior[c] = found.posteriors[i * k + c];
    const { decision, risk } = decide(posterior), truth = found.truths[i], own = found.weights[i];
    decisions[i] = decision;
    risks[i] = risk;
    table[truth][decision < 0 ? k : decision] += own;
    cost += own * (decision < 0 ? state.refuse : state.costs[decision][truth]);
    weight += own;
  }
  return { table, cost: cost / weight, weight, decisions, risks };
}

function results(all, width, left, right) {
  const parts = [], k = all.length, room = roomIn(width, 620, true);
  if (k === 2) parts.push(card("", t("Regions"), t("What is decided at each probability."), strip(all, room)));
  else if (k === 3) parts.push(card("", t("Regions"), t("Corners are certainty of a class; colours are decisions."), triangle(all, Math.min(room, 420))));
  const found = judged();
  if (!found) { clear(left, parts); clear(right, card("", t("What that means for your rows"), null, empty(t("Open the studio with rows whose class is known:"), h("p", {}, h("code", {}, "likely studio MODEL --data rows.csv"))))); return; }
  const hits = found.table.reduce((total, line, c) => total + line[c], 0), refused = found.table.reduce((total, line) => total + line[k], 0);
  const zero = h("div", { class: "facts" }, [[figure(found.cost, 3), t("mean cost of a row")], [share(hits / (found.weight - refused || 1)), t("of the decisions are right")], [share(1 - refused / found.weight), t("of the rows are decided")]].map(([number, what]) => h("div", { class: "fact" }, h("b", {}, number), h("span", {}, what))));
  const meaning = card("", t("What that means for your rows"), state.model.evaluation.sampled ? t("Based on a sample of {0} evaluated rows.", whole(found.weight)) : t("Based on {0} evaluated rows.", whole(found.weight)), zero);
  parts.push(card("", t("Confusion"), t("Truths down, decisions across."), confusionTable(found.table, all, refused > 0 || state.refuse !== null)));
  clear(left, parts);
  clear(right, meaning, card("", t("Risk and coverage"), t("What a decision costs on average if only the surest rows are decided."), coverage(found, room)));
}

// Where another decision begins, between two probabilities.
function borderOf(low, high, before) {
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (decide([1 - middle, middle]).decision === before) low = middle; else high = middle;
  }
  return high;
}

function strip(all, room) {
  const n = 400, parts = [];
  let from = 0, before = null;
  for (let v = 0; v <= n; v++) {
    const p = v / n, { decision } = decide([1 - p, p]);
    if (before !== null && decision !== before) { const border = borderOf((v - 1) / n, p, before); parts.push([from, border, before]); from = border; }
    before = decision;
  }
  parts.push([from, 1, before]);
  // A border is told at its place, so a tick beside it is left out.
  const borders = parts.slice(0, -1).map((part) => part[1]), near = (p, q) => Math.abs(p - q) * room < 56;
  const xTicks = roundTicks(0, 1, Math.max(Math.floor(room / 90), 2)).filter((tick) => !borders.some((border) => near(tick, border)));
  const anchorOf = (border) => (borders.some((other) => other > border && near(other, border)) ? "end" : borders.some((other) => other < border && near(other, border)) ? "start" : "middle");
  return plot({ width: room, height: 110, x: [0, 1], y: [0, 1], xTicks, yTicks: [], xLabel: t("probability of “{0}”", short(all[1], 24)), title: t("Regions"), xFormat: percent }, (svg, across) => {
    for (const [low, high, decision] of parts) {
      svg.append(s("rect", { x: across(low), width: Math.max(across(high) - across(low), 0), y: 14, height: 48, fill: decision < 0 ? "var(--shade)" : classColour(decision), opacity: decision < 0 ? 1 : 0.75 }));
      const name = decision < 0 ? t("none") : short(all[decision], 14);
      if (across(high) - across(low) > 7 * name.length) svg.append(s("text", { x: (across(low) + across(high)) / 2, y: 10, "text-anchor": "middle" }, name));
      if (high < 1) svg.append(s("line", { x1: across(high), x2: across(high), y1: 10, y2: 66, stroke: "var(--ink)", "stroke-width": 2 }), s("text", { x: across(high), y: 83, "text-anchor": anchorOf(high) }, share(high)));
    }
  });
}

// What is left of a polygon of probabilities where a line of them is not negative.
function halfOf(corners, line) {
  const value = (p) => p[0] * line[0] + p[1] * line[1] + p[2] * line[2], out = [];
  corners.forEach((p, place) => {
    const q = corners[(place + 1) % corners.length], a = value(p), b = value(q);
    if (a >= 0) out.push(p);
    if (a * b < 0) out.push(p.map((part, c) => part + (a / (a - b)) * (q[c] - part)));
  });
  return out;
}

function triangle(all, size) {
  const height = size * 0.8, at = (a, b) => [30 + (size - 60) * (b + 0.5 * (1 - a - b)), height - 24 - (height - 50) * (1 - a - b)];
  const svg = s("svg", { width: size, height, viewBox: `0 0 ${size} ${height}`, role: "img", "aria-label": t("Regions") });
  const whole3 = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], drawn = (corners, fill) => svg.append(s("polygon", { points: corners.map(([a, b]) => at(a, b).map((v) => v.toFixed(1)).join(",")).join(" "), fill, stroke: "var(--card)", "stroke-width": 1.5 }));
  drawn(whole3, "var(--shade)");
  state.costs.forEach((own, d) => {
    let corners = whole3;
    state.costs.forEach((other, e) => { if (e !== d) corners = halfOf(corners, other.map((cost, c) => cost - own[c])); });
    if (state.refuse !== null) corners = halfOf(corners, own.map((cost) => state.refuse - cost));
    if (corners.length > 2) drawn(corners, `color-mix(in srgb, ${classColour(d)} 75%, var(--card))`);
  });
  [[1, 0, "start", 14], [0, 1, "end", 14], [0, 0, "middle", -8]].forEach(([a, b, anchor, dy], c) => {
    const [x, y] = at(a, b);
    svg.append(s("text", { x: x + (anchor === "start" ? -20 : anchor === "end" ? 20 : 0), y: y + dy, "text-anchor": anchor }, short(all[c], 18)));
  });
  return svg;
}

const MOST_CONFUSED = 15, FEW_CLASSES = 8;

export function confusionTable(table, all, withNone) {
  const rows = table.map((line) => line.reduce((a, b) => a + b, 0));
  const places = rows.map((_, c) => c).sort((a, b) => rows[b] - rows[a]).slice(0, MOST_CONFUSED).sort((a, b) => a - b);
  return [h("div", { class: "scroll", tabindex: "0" }, h("table", { class: `heat confusion${places.length > FEW_CLASSES ? " many" : ""}` }, h("caption", { class: "hidden" }, t("Confusion")), h("thead", {}, h("tr", {}, h("td", {}), places.map((d) => h("th", { scope: "col" }, named(all[d], 24))), withNone ? h("th", { scope: "col" }, t("none")) : null)),
    h("tbody", {}, places.map((c) => h("tr", {}, h("th", { scope: "row" }, named(all[c], 30)), [...places, ...(withNone ? [all.length] : [])].map((d) => {
      const count = table[c][d] || 0, part = count / (rows[c] || 1);
      return h("td", { class: d === c ? "right" : null, style: { background: `color-mix(in srgb, var(--ink) ${Math.round(32 * part)}%, var(--card))`, color: count ? null : "var(--muted)" }, title: share(part) }, whole(count));
    })))))),
  places.length < all.length ? h("p", { class: "note" }, t("The {0} most common of {1} classes.", whole(places.length), whole(all.length))) : null];
}

function coverage(found, room) {
  const { evaluation } = state.model, n = found.risks.length, order = Array.from({ length: n }, (_, i) => i), k = state.model.classes.length, posterior = new Float64Array(k);
  const own = order.map((i) => {
    for (let c = 0; c < k; c++) posterior[c] = evaluation.posteriors[i * k + c];
    const { decision, risk } = decide(posterior, state.costs, null);
    return { risk, cost: state.costs[decision][evaluation.truths[i]], weight: evaluation.weights[i] };
  }).sort((a, b) => a.risk - b.risk);
  const xs = [], ys = [], fewest = Math.max(10, n / 50); // the mean of fewer rows says nothing
  let cost = 0, weight = 0;
  own.forEach((each, i) => { cost += each.cost * each.weight; weight += each.weight; if ((i >= fewest && i % Math.ceil(n / 200) === 0) || i === n - 1) { xs.push(weight / found.weight); ys.push(cost / weight); } });
  const decided = state.refuse === null ? 1 : own.filter((each) => each.risk <= state.refuse).reduce((total, each) => total + each.weight, 0) / found.weight;
  return plot({ width: room, height: 230, x: [0, 1], y: [0, Math.max(...ys, 1e-9)], xLabel: t("share of rows that are decided"), yLabel: t("mean cost"), title: t("Risk and coverage"), xFormat: percent }, (svg, across, up) => {
    svg.append(s("path", { d: pathOf(xs.map(across), ys.map(up)), fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
    svg.append(s("line", { x1: across(decided), x2: across(decided), y1: up(up.low), y2: up(up.high), stroke: "var(--accent)", "stroke-width": 4 }));
  });
}
