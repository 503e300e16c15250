// Two columns as a plane, the others as the case has them: what the model says everywhere, and the rows of the data.

import { classColour, legend, plot, roomIn } from "./charts.js";
import { card, empty, h, s, selectOf, short } from "./dom.js";
import { asNumber } from "./expression.js";
import { t } from "./language.js";
import { labels, rangeOf, state } from "./state.js";

const CELLS = 44;
let axes = null;

export function planes() { return state.features.filter((column) => column.kind === "numeric"); }

export function planeView(go, width) {
  const numeric = planes(), all = labels(), head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Plane")), h("p", {}, t("Two columns on the axes, all others as in the case. Click a place to take its values, or use the arrow keys."))));
  if (numeric.length < 2 || !state.scorer) return [head, empty(t("A plane needs two columns of numbers, and a model that is scored in the page."))];
  const best = state.ranked.filter((column) => column.kind === "numeric");
  if (!axes || axes.some((column) => !numeric.includes(column))) axes = [best[0], best[1]];
  const names = numeric.map((column) => column.name), choose = (side) => (k) => { axes[side] = numeric[k]; go("plane"); };
  const room = roomIn(width, 1000), [a, b] = axes;
  return [head, h("div", { class: "row noprint", style: { "margin-bottom": "1rem" } }, selectOf(t("across"), names, numeric.indexOf(a), choose(0), { "data-use": "across" }), selectOf(t("up"), names, numeric.indexOf(b), choose(1), { "data-use": "up" })),
    card("", null, null, legend(all.slice(0, 7)), picture(a, b, room, all, go), h("p", { class: "note" }, state.rules.form === "svm" && all.length === 2 ? t("Solid: the border. Dashed: where the margin ends.") : t("The stronger the colour, the surer the model.")))];
}

function widened(column) {
  const [low, high] = rangeOf(column), more = 0.04 * (high - low || 1);
  return [low - more, high + more];
}

function picture(a, b, room, all, go) {
  const x = widened(a), y = widened(b), height = Math.min(Math.max(Math.round(room * 0.62), 300), 560), vary = state.scorer.vary(state.row, [a.name, b.name]);
  const svg = plot({ width: room, height, x, y, xLabel: short(a.name, 50), yLabel: short(b.name, 50), title: t("What the model says for {0} and {1}", short(a.name, 30), short(b.name, 30)) }, (inside, across, up) => {
    const wide = (across(x[1]) - across(x[0])) / CELLS, tall = (up(y[0]) - up(y[1])) / CELLS, grid = [];
    for (let i = 0; i < CELLS; i++) {
      grid.push([]);
      for (let j = 0; j < CELLS; j++) {
        const at = [x[0] + ((i + 0.5) * (x[1] - x[0])) / CELLS, y[0] + ((j + 0.5) * (y[1] - y[0])) / CELLS], posterior = vary.posterior(...at);
        let best = 0;
        posterior.forEach((p, c) => { if (p > posterior[best]) best = c; });
        grid[i].push(state.rules.form === "svm" ? valueAt(a, b, at) : null);
        inside.append(s("rect", { x: across(x[0]) + i * wide, y: up(y[0]) - (j + 1) * tall, width: wide + 0.4, height: tall + 0.4, "shape-rendering": "crispEdges", fill: `color-mix(in srgb, ${classColour(best)} ${(8 + (42 * (posterior[best] - 1 / all.length)) / (1 - 1 / all.length + 1e-9)).toFixed(0)}%, var(--card))` }));
      }
    }
    if (state.rules.form === "svm" && all.length === 2) for (const level of [-1, 0, 1]) inside.append(contour(grid, level, across(x[0]), up(y[0]), wide, tall));
    dots(inside, a, b, across, up, x, y);
    const here = [asNumber(state.row.get(a.name)), asNumber(state.row.get(b.name))];
    if (!here.some(Number.isNaN)) inside.append(s("circle", { cx: across(here[0]), cy: up(here[1]), r: 9, fill: "var(--accent)", stroke: "var(--ink)", "stroke-width": 3 }));
    svgTake(inside, across, up, a, b, go);
    svgKeys(inside, across, up, a, b, go);
  });
  return svg;
}

function valueAt(a, b, at) {
  const { inner } = state.bare, row = { get: (name) => (name === a.name ? at[0] : name === b.name ? at[1] : state.row.get(name)) };
  return inner.values(inner.features(row))[0];
}

// Arrow keys move the case by a hundredth of an axis, with Shift by a tenth; Escape leaves both open.
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function svgKeys(svg, across, up, a, b, go) {
  for (const [name, value] of [["tabindex", "0"], ["data-use", "plane"], ["role", "application"]]) svg.setAttribute(name, value);
  svg.addEventListener("keydown", (event) => {
    const step = STEPS[event.key], ends = [across, up];
    if (!step && event.key !== "Escape") return;
    event.preventDefault();
    [a, b].forEach((column, side) => {
      const { low, high } = ends[side], now = asNumber(state.row.get(column.name)), from = Number.isNaN(now) ? (low + high) / 2 : now;
      const next = step && from + (step[side] * (high - low)) / (event.shiftKey ? 10 : 100);
      state.row.set(column.name, step ? Number(Math.min(Math.max(next, low), high).toPrecision(4)) : null);
    });
    state.truth = state.rowNumber = null;
    go("plane");
  });
}

function svgTake(svg, across, up, a, b, go) {
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), px = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width, py = ((event.clientY - box.top) / box.height) * svg.viewBox.baseVal.height;
    const values = [across.back(px), up.back(py)].map((value) => Number(value.toPrecision(4)));
    if (values[0] < across.low || values[0] > across.high || values[1] < up.low || values[1] > up.high) return;
    state.row.set(a.name, values[0]);
    state.row.set(b.name, values[1]);
    state.truth = state.rowNumber = null;
    go("plane");
  });
}

function dots(svg, a, b, across, up, x, y) {
  const { rows } = state.model;
  if (!rows) return;
  const i = rows.columns.indexOf(a.name), j = rows.columns.indexOf(b.name), all = labels();
  rows.cells.forEach((cells, k) => {
    const at = [asNumber(cells[i]), asNumber(cells[j])], place = rows.truths.length ? all.indexOf(String(rows.truths[k])) : -1;
    if (at.some(Number.isNaN) || at[0] < x[0] || at[0] > x[1] || at[1] < y[0] || at[1] > y[1]) return;
    svg.append(s("circle", { cx: across(at[0]), cy: up(at[1]), r: 4, fill: place >= 0 ? classColour(place) : "var(--muted)", stroke: "var(--card)", "stroke-width": 1.2 }));
  });
}

// Where a value is crossed: marching squares.
function contour(grid, level, left, bottom, wide, tall) {
  let path = "";
  const at = (i, j) => [left + (i + 0.5) * wide, bottom - (j + 0.5) * tall];
  const between = (p, q, u, v) => { const part = (level - u) / (v - u); return [p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])]; };
  for (let i = 0; i + 1 < grid.length; i++) for (let j = 0; j + 1 < grid.length; j++) {
    const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], crossed = [];
    corners.forEach((p, e) => {
      const q = corners[(e + 1) % 4], u = grid[p[0]][p[1]], v = grid[q[0]][q[1]];
      if (u < level !== v < level) crossed.push(between(at(...p), at(...q), u, v));
    });
    for (let e = 0; e + 1 < crossed.length; e += 2) path += `M${crossed[e].map((n) => n.toFixed(1)).join(" ")}L${crossed[e + 1].map((n) => n.toFixed(1)).join(" ")}`;
  }
  return s("path", { d: path, fill: "none", stroke: "var(--ink)", "stroke-width": level === 0 ? 2.5 : 1.5, "stroke-dasharray": level === 0 ? null : "5 4" });
}
