// Pairs and triples that evidence hears together, as heat maps; a click takes the values into the case.

import { coloured } from "./charts.js";
import { h, named, selectOf, short } from "./dom.js";
import { figure, shownCell, signed } from "./format.js";
import { t } from "./language.js";
import { labels, state } from "./state.js";

const chosenThird = new Map();
const TOO_LITTLE = 0.03;

export function heatMaps(column, go) {
  const part = state.scorer && state.scorer.parts ? state.scorer.parts.find((each) => each.told && each.told.terms) : null;
  if (!part) return null;
  const own = part.names.indexOf(column.name);
  const terms = part.told.terms.map((term, place) => ({ term, place })).filter(({ term }) => term.length > 1 && term.includes(own));
  if (!terms.length) return null;
  const maps = terms.map(({ term, place }) => ({ term, ...heat(part, term, place, go) })).sort((a, b) => b.largest - a.largest);
  const shown = maps.filter((each, k) => k === 0 || each.largest >= TOO_LITTLE).slice(0, 6), quiet = maps.slice(shown.length);
  return coloured(h("div", { class: "card" }, h("h2", {}, t("Interactions")), h("p", {}, t("What columns say together beyond what each says alone, for “{0}”. Choose a cell to look at such a case.", short(labels()[state.focus], 30))),
    h("div", { class: "grid" }, shown.map((each) => each.node)),
    quiet.length ? h("p", { class: "note" }, t("These say less together: {0}", quiet.slice(0, 20).map((each) => each.term.map((k) => short(part.names[k], 24)).join(" × ")).join(", "))) : null), state.focus, part.k);
}

// The codes of a column at the resolution of a term: their names, and a value that has each.
export function codesOf(part, k, which) {
  const column = part.told.columns[k], groups = new Map();
  for (let code = 1; code < column.size; code++) {
    const group = column[which][code];
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(code);
  }
  return [...groups].sort((a, b) => a[0] - b[0]).map(([group, codes]) => ({ group, ...nameOf(column, codes) }));
}

function nameOf(column, codes) {
  if (column.gap && codes.includes(column.size - 1) && codes.length === 1) return { name: t("gap"), value: null };
  if (column.levels) {
    const names = codes.filter((code) => code <= column.levels.length).map((code) => column.levels[code - 1]);
    return names.length ? { name: names.map(shownCell).join(", "), value: names[0] } : { name: t("rare"), value: column.rare[0] ?? null };
  }
  const real = codes.filter((code) => code <= column.cuts.length + 1), low = real[0] - 2, high = real[real.length - 1] - 1;
  const from = low >= 0 ? figure(column.cuts[low], 3) : null, to = high < column.cuts.length ? figure(column.cuts[high], 3) : null;
  const name = from === null ? (to === null ? t("all") : `≤ ${to}`) : to === null ? `> ${from}` : `${from} … ${to}`;
  return { name, value: column.means[real[Math.floor(real.length / 2)] - 1] };
}

function heat(part, term, place, go) {
  const which = term.length === 2 ? "coarse" : "tiny", sides = term.map((k) => codesOf(part, k, which));
  const third = term.length === 3 ? Math.min(chosenThird.get(place) || 0, sides[2].length - 1) : 0;
  const flip = sides[1].length > sides[0].length && matchMedia("(max-width: 48rem)").matches, [down, across] = flip ? [1, 0] : [0, 1]; // on a phone the longer side goes down
  const entry = (p, q) => {
    const [a, b] = flip ? [q, p] : [p, q], groups = [a.group, b.group, ...(term.length === 3 ? [sides[2][third].group] : [])];
    let cell = 0;
    term.forEach((k, at) => { cell = cell * part.told[which][k] + groups[at]; });
    const from = (part.told.starts[place] + cell) * part.scores;
    const scores = part.classScores(part.told.tables.subarray(from, from + part.scores)), mean = scores.reduce((x, y) => x + y, 0) / part.k;
    return part.k === 2 ? scores[state.focus] - scores[1 - state.focus] : scores[state.focus] - mean;
  };
  const cells = sides[down].map((a) => sides[across].map((b) => entry(a, b)));
  const largest = Math.max(...cells.flat().map(Math.abs)), most = Math.max(0.05, largest), digits = largest < 0.95 ? 2 : 1;
  const take = (a, b) => {
    [a, b].forEach((side, at) => state.row.set(part.names[term[[down, across][at]]], side.value));
    if (term.length === 3) state.row.set(part.names[term[2]], sides[2][third].value);
    go("case");
  };
  const node = h("div", { class: sides[1].length > 5 ? "w12" : "w6" }, h("h3", {}, named(term.map((k) => short(part.names[k], 24)).join(" × "), 80)),
    term.length === 3 ? h("div", { class: "row" }, selectOf(named(part.names[term[2]], 24), sides[2].map((each) => each.name), third, (k) => { chosenThird.set(place, k); go("column", state.column); })) : null,
    h("div", { class: "scroll", tabindex: "0" }, h("table", { class: "heat" }, h("caption", { class: "hidden" }, t("Interactions")),
      h("thead", {}, h("tr", {}, h("td", {}), sides[across].map((b) => h("th", { scope: "col" }, named(b.name, 14))))),
      h("tbody", {}, sides[down].map((a, i) => h("tr", {}, h("th", { scope: "row" }, named(a.name, 18)), sides[across].map((b, j) => {
        const value = cells[i][j], strength = Math.round(50 * Math.abs(value) / most);
        return h("td", {}, h("button", { style: { background: `color-mix(in srgb, var(--${value >= 0 ? "for" : "against"}) ${strength}%, var(--card))` }, "aria-label": `${short(a.name, 30)}, ${short(b.name, 30)}: ${signed(value)}`, on: { click: () => take(a, b) } }, signed(value, digits)));
      })))))));
  return { largest, node };
}
