// One column: densities or tables of the classes, counts beneath, what each value adds, pairs as heat maps.

import { chip, classColour, classDashes, coloured, digitsOf, legend, pathOf, plot, roomIn, roundTicks, smoothPath } from "./charts.js";
import { card, empty, h, named, s, selectOf, short } from "./dom.js";
import { decimals, figure, percent, share, shownCell, signed, whole } from "./format.js";
import { heatMaps } from "./heat.js";
import { reasonText, t } from "./language.js";
import { logit } from "./odds.js";
import { emptyRow, labels, outcomesOf, rangeOf, state } from "./state.js";

const MOST_CLASSES = 7, MOST_IN_TABLE = 12;

export function columnView(go, width) {
  const { model } = state, column = model.columns[state.column] || model.columns[0];
  if (!column) return [empty(t("The model has no columns."))];
  const order = [...state.ranked, ...model.columns.filter((each) => each.kind === "ignored")];
  const place = order.indexOf(column);
  const choose = h("div", { class: "row noprint" },
    h("button", { disabled: place <= 0, on: { click: () => go("column", model.columns.indexOf(order[place - 1])) }, "aria-label": t("Previous column") }, "←"),
    order.length <= 2000 ? selectOf(t("Column"), order.map((each) => each.name), place, (k) => go("column", model.columns.indexOf(order[k])), { "data-use": "column" }) : null,
    h("button", { disabled: place >= order.length - 1, on: { click: () => go("column", model.columns.indexOf(order[place + 1])) }, "aria-label": t("Next column") }, "→"));
  return [
    h("header", { class: "head" }, h("div", {}, h("h1", {}, named(column.name, 70)), h("p", {}, describe(column))), choose),
    h("div", { class: "grid" }, ...shapes(column, width), added(column, width, go), heatMaps(column, go)),
  ];
}

function describe(column) {
  const parts = [t(column.kind), column.family ? t(column.family) : null, column.part ? t("{0} of “{1}”", t(column.part[1]), short(column.part[0], 40)) : reasonText(column.why), column.levels ? t("{0} values", whole(column.levels)) : null,
    column.gaps ? t("{0} gaps", whole(column.gaps)) : t("no gaps")];
  if (column.bits !== undefined) parts.push(t("{0} bits", figure(column.bits, 2)) + (column.kind === "text" ? ` ${t("by its best word")}` : ""));
  return parts.filter(Boolean).join(" · ");
}

// The most common classes, in their order, and a note where there are more.
function shownClasses(most) {
  const order = state.model.classes.map((_, k) => k).sort((a, b) => (state.model.classes[b].prior ?? 0) - (state.model.classes[a].prior ?? 0));
  return order.slice(0, most).sort((a, b) => a - b);
}

function othersNote(places) {
  const k = state.model.classes.length;
  return places.length < k ? h("p", { class: "note" }, t("The {0} most common of {1} classes.", whole(places.length), whole(k))) : null;
}

function shapes(column, width) {
  if (column.kind === "ignored") return [card("", null, null, empty(t("This column is not learned from: {0}.", reasonText(column.why))))];
  if (column.words) return [wordsCard(column)];
  if (column.kind === "numeric") return [numbersCard(column, width)].filter(Boolean);
  return column.counts ? [valuesCard(column)] : [];
}

function numbersCard(column, width) {
  const k = state.model.classes.length, places = shownClasses(MOST_CLASSES), all = labels();
  const room = roomIn(width, 1100), parts = [];
  const [low, high] = rangeOf(column), ofModel = state.model.counted_in === "model", density = ofModel ? densityOf(column, k) : null;
  if (density) {
    let top = 0;
    const xs = Array.from(column.grid), inside = xs.map((x) => x >= low && x <= high);
    for (let v = 0; v < xs.length; v++) if (inside[v]) for (const c of places) top = Math.max(top, density[v * k + c]);
    parts.push(plot({ width: room, height: 260, x: [low, high], y: [0, top || 1], title: t("Density of {0} in each class", short(column.name, 40)), yLabel: t("density") },
      (svg, across, up) => places.forEach((c) => {
        const some = xs.map((x, v) => [x, density[v * k + c], inside[v]]).filter((each) => each[2]);
        const at = some.map(([x]) => across(x)), heights = some.map(([, y]) => up(y));
        if (!at.length) return;
        const drawn = String(column.family).includes("bins") ? pathOf(at, heights) : smoothPath(at, heights);
        svg.append(s("path", { d: `${drawn}L${at[at.length - 1]} ${up(0)}L${at[0]} ${up(0)}Z`, fill: classColour(c), opacity: 0.12 }));
        svg.append(s("path", { d: drawn, fill: "none", stroke: classColour(c), "stroke-width": 2, "stroke-dasharray": classDashes(c) }));
      })));
  } else if (ofModel && column.grid && column.shares) parts.push(stepShares(column, room, places, k));
  if (column.bins) parts.push(histogramOf(column, room, places, low, high));
  if (column.mean) parts.push(momentsTable(column, all));
  if (!parts.length) return null;
  return card("", t("What it looks like in each class"), !ofModel ? t("Taken from the data, because this kind of model keeps no counts.") : column.bins ? t("Curves show the model, the counts beneath show the data.") : null,
    legend(places.map((c) => all[c]), places), othersNote(places), ...parts);
}

// A density: as it was sent, or from the shares of values and how far these are apart.
function densityOf(column, k) {
  if (column.density || !column.is_density) return column.density || null;
  const { grid, shares } = column, n = grid.length;
  const wide = (v) => (n < 2 ? 1 : (grid[Math.min(v + 1, n - 1)] - grid[Math.max(v - 1, 0)]) / 2);
  return Float64Array.from(shares, (part, at) => part / (wide(Math.floor(at / k)) || 1)); // seven digits are enough, their range is not
}

function stepShares(column, room, places, k) {
  const n = column.grid.length;
  let top = 0;
  for (let v = 0; v < n; v++) for (const c of places) top = Math.max(top, column.shares[v * k + c]);
  return plot({ width: room, height: 240, x: [0, n], y: [0, top || 1], xTicks: [], title: t("Share of each bin in each class"), yLabel: t("share of the class"), xLabel: t("bins, each at its mean"), yFormat: percent },
    (svg, across, up) => {
      places.forEach((c) => {
        let path = "";
        for (let v = 0; v < n; v++) path += `${v ? "L" : "M"}${across(v)} ${up(column.shares[v * k + c])}L${across(v + 1)} ${up(column.shares[v * k + c])}`;
        svg.append(s("path", { d: path, fill: "none", stroke: classColour(c), "stroke-width": 2, "stroke-dasharray": classDashes(c) }));
      });
      const every = Math.max(Math.ceil(n / Math.max(room / 80, 2)), 1);
      for (let v = 0; v < n; v += every) svg.append(s("text", { x: across(v + 0.5), y: 240 - 27, "text-anchor": "middle", class: "muted" }, figure(column.grid[v], 3)));
    });
}

function histogramOf(column, room, places, low, high) {
  const { edges, counts } = column.bins, n = edges.length - 1, k = state.model.classes.length;
  let top = 0;
  for (let b = 0; b < n; b++) { let total = 0; for (let c = 0; c < k; c++) total += counts[c * n + b]; top = Math.max(top, total); }
  return plot({ width: room, height: 130, x: [Math.min(low, edges[0]), Math.max(high, edges[n])], y: [0, top || 1], title: t("Rows counted"), yLabel: t("rows") }, (svg, across, up) => {
    for (let b = 0; b < n; b++) {
      let below = 0;
      for (let c = 0; c < k; c++) {
        const count = counts[c * n + b];
        if (count > 0) svg.append(s("rect", { x: across(edges[b]) + 0.5, width: Math.max(across(edges[b + 1]) - across(edges[b]) - 1, 0.5), y: up(below + count), height: Math.max(up(below) - up(below + count), 0), fill: classColour(c), opacity: 0.8 }));
        below += count;
      }
    }
  });
}

function momentsTable(column, all) {
  return h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("class"), t("rows"), t("mean"), t("deviation")].map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", {}, all.slice(0, 30).map((label, c) => h("tr", {}, h("th", { scope: "row" }, chip(c), named(label, 40)), h("td", {}, column.known ? whole(column.known[c]) : "–"), h("td", {}, figure(column.mean[c], 4)), h("td", {}, figure(column.deviation[c], 3)))))));
}

function valuesCard(column) {
  const places = shownClasses(MOST_IN_TABLE), all = labels(), width = column.counts.shape[1], n = Math.min(column.values.length, 40);
  const totals = places.map((c) => Array.from(column.counts.subarray(c * width, (c + 1) * width)).reduce((a, b) => a + b, 0) || 1);
  const rows = Array.from({ length: n }, (_, v) => h("tr", {}, h("th", { scope: "row" }, named(shownCell(column.values[v]), 40)),
    places.map((c, place) => {
      const count = column.counts[c * width + v];
      return h("td", {}, h("span", { class: "track", style: { display: "block", "min-width": "4rem" } }, h("span", { class: "fill", style: { width: `${(100 * count) / totals[place]}%`, background: classColour(c) } })),
        `${share(count / totals[place])} · ${whole(count)}`);
    })));
  const more = column.values.length - n + (column.more_values || 0);
  return card("", t("Values in each class"), `${t("Share of the class, and rows.")} ${state.model.counted_in === "data" ? t("Taken from the data, because this kind of model keeps no counts.") : ""}`, h("div", { class: "scroll", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("value")), places.map((c) => h("th", { scope: "col" }, chip(c), named(all[c], 20))))), h("tbody", {}, rows))), othersNote(places),
  more > 0 ? h("p", { class: "note" }, t("… and {0} more", whole(more))) : null);
}

function wordsCard(column) {
  const places = shownClasses(MOST_IN_TABLE), all = labels(), n = column.words.length;
  const rows = column.words.slice(0, 40).map((word, v) => h("tr", {}, h("th", { scope: "row" }, named(word, 40)), h("td", {}, decimals(column.word_bits[v])),
    places.map((c) => {
      const part = column.word_counts[c * n + v] / (column.texts[c] || 1);
      return h("td", {}, h("span", { class: "track", style: { display: "block", "min-width": "4rem" } }, h("span", { class: "fill", style: { width: `${100 * part}%`, background: classColour(c) } })), share(part));
    })));
  return card("", t("Words that tell most"), t("Share of each class's texts that hold the word; {0} words are known.", whole(column.n_words)),
    h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("word")), h("th", { scope: "col" }, t("bits")), places.map((c) => h("th", { scope: "col" }, chip(c), named(all[c], 20))))), h("tbody", {}, rows))), othersNote(places));
}

// What a value adds: log-odds of the class with this cell alone, less those of the prior.
function added(column, width, go) {
  if (column.kind === "ignored" || column.kind === "text" || !state.scorer) return null;
  const vary = state.scorer.vary(emptyRow(), column.name), before = vary.posterior(null), c = state.focus;
  const weigh = (value) => logit(clip(vary.posterior(value)[c])) - logit(clip(before[c]));
  const all = labels(), which = h("div", { class: "row noprint" }, selectOf(t("for the class"), all, c, (k) => { state.focus = k; state.focusChosen = true; go("column", state.column); }, { "data-use": "focus" }));
  const title = t("What each value adds"), note = t("Evidence for the class against the rest, in nats: +0.7 doubles the odds.");
  if (column.kind === "numeric") {
    const [low, high] = rangeOf(column), xs = Array.from({ length: 121 }, (_, v) => low + ((high - low) * v) / 120), ys = xs.map(weigh);
    const most = Math.max(0.1, ...ys.filter(Number.isFinite).map(Math.abs));
    const gap = weigh(null), room = roomIn(width, 1100), yTicks = roundTicks(-most, most, 4);
    return coloured(card("", title, note, which, plot({ width: room, height: 220, x: [low, high], y: [-most, most], title, yTicks, yFormat: (y) => signed(y, digitsOf(yTicks)) }, (svg, across, up) => {
      svg.append(s("line", { x1: across(low), x2: across(high), y1: up(0), y2: up(0), stroke: "var(--edge)" }));
      for (const [sign, colour] of [[1, "var(--for)"], [-1, "var(--against)"]]) {
        const at = xs.map(across), heights = ys.map((y) => up(sign > 0 ? Math.max(y, 0) : Math.min(y, 0)));
        svg.append(s("path", { d: `${pathOf(at, heights)}L${at[at.length - 1]} ${up(0)}L${at[0]} ${up(0)}Z`, fill: colour, opacity: 0.3 }));
      }
      svg.append(s("path", { d: pathOf(xs.map(across), ys.map(up)), fill: "none", stroke: "var(--ink)", "stroke-width": 1.8 }));
    }), Math.abs(gap) > 1e-9 ? h("p", { class: "note" }, t("A gap adds {0}.", signed(gap))) : null), c, all.length);
  }
  const values = (column.values || column.outcomes || []).slice(0, 40);
  if (!values.length) return null;
  const lines = values.map((value) => [value, weigh(value)]), gap = weigh(null);
  if (Math.abs(gap) > 1e-9) lines.push([null, gap]);
  const most = Math.max(0.1, ...lines.map(([, y]) => Math.abs(y)).filter(Number.isFinite));
  return coloured(card("", title, note, which, diverging(lines.map(([value, y]) => ({ name: value === null ? t("gap") : shownCell(value), size: y })), most)), c, all.length);
}

export function diverging(lines, most, kind = "") {
  return h("ul", { class: `bars ${kind}` }, lines.map(({ name, size, node }) => h("li", {}, h("span", { class: "name" }, node || named(name, 40)),
    h("span", { class: "track", style: { background: "linear-gradient(90deg, var(--shade) calc(50% - 1px), var(--edge) calc(50% - 1px) calc(50% + 1px), var(--shade) calc(50% + 1px))" } },
      h("span", { class: "fill", style: { left: size >= 0 ? "50%" : `${50 - 50 * Math.min(1, -size / most)}%`, width: `${50 * Math.min(1, Math.abs(size) / most)}%`, background: size >= 0 ? "var(--for)" : "var(--against)" } })),
    h("span", { class: "value" }, signed(size)))));
}

function clip(p) { return Math.min(Math.max(p, 1e-15), 1 - 1e-15); }
