// A nomogram: points for every value of every column; drag a point, and the total turns into a probability.

import { digitsOf, roomIn, roundTicks, scale } from "./charts.js";
import { clear, empty, h, s, selectOf, short } from "./dom.js";
import { isGap } from "./expression.js";
import { exactly, shareIn, shownCell, signed } from "./format.js";
import { t } from "./language.js";
import { difference } from "./odds.js";
import { labels, rangeOf, state } from "./state.js";

const MOST_ROWS = 18, LINE = 64, FAN = 20, SAMPLES = 61, MOST_VALUES = 24, FARTHEST_POINT = 10, NOTHING = 1e-6;
let rival = null;

export function nomogramView(go, width) {
  const all = labels(), head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Nomogram")), h("p", {}, t("Every value has points, the log-odds of one class against another. Drag a point, or move it with the arrow keys."))));
  if (!state.scorer || all.length < 2) return [head, empty(t("This model has no nomogram: it is not scored in the page, or has one class."))];
  if (rival === null || rival >= all.length || rival === state.focus) rival = state.focus === 0 ? 1 : 0;
  const others = all.map((_, c) => c).filter((c) => c !== state.focus), room = roomIn(width, 1100);
  const box = h("div", {}), again = () => go("nomogram");
  const sheet = new Sheet(box, room, again);
  if (!sheet.columns.length) return [head, empty(t("A nomogram needs columns with values: a text has no scale. The case shows what its words say."))];
  sheet.draw();
  return [head, h("div", { class: "row noprint", style: { "margin-bottom": "1rem" } }, selectOf(t("for the class"), all, state.focus, (c) => { state.focus = c; state.focusChosen = true; again(); }, { "data-use": "focus" }), selectOf(t("against"), others.map((c) => all[c]), others.indexOf(rival), (place) => { rival = others[place]; again(); }, { "data-use": "rival" })),
    h("section", { class: "card" }, state.scorer.tied ? h("p", { class: "note" }, t("In this model columns interact, so the points of one depend on the values of the others.")) : null, state.features.some((column) => column.kind === "text") ? h("p", { class: "note" }, t("Texts have no scale; they count as they are in the case.")) : null, box)];
}

class Sheet {
  constructor(box, room, again) {
    this.box = box;
    this.room = room;
    this.again = again;
    this.columns = this.chosen();
    this.dragging = null;
    this.settle();
    this.svg = s("svg", { width: room, height: this.bottom + 84, viewBox: `0 0 ${room} ${this.bottom + 84}` });
    this.svg.addEventListener("pointermove", (event) => { if (this.dragging !== null) this.move(event); });
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { this.dragging = null; });
    clear(box, this.svg);
  }

  // The columns whose values move the odds most.
  chosen() {
    const found = state.ranked.filter((column) => column.kind !== "text").slice(0, 80).map((column) => ({ column, values: valuesOf(column) })).filter(({ values }) => values.length);
    const prepared = state.scorer.prepare(state.row);
    for (const each of found) { const points = this.points(each, prepared); each.spread = Math.max(...points) - Math.min(...points); }
    const speaking = found.filter((each) => each.spread > NOTHING || state.scorer.tied);
    return (speaking.length ? speaking : found).sort((a, b) => b.spread - a.spread).slice(0, MOST_ROWS);
  }

  // Where each line begins. One whose labels would lie upon each other gets room to spread them out beneath.
  settle() {
    this.tops = [];
    this.bottom = 20;
    this.fans = new Set();
    this.scaled();
    this.all.forEach((each, place) => {
      this.tops.push(this.bottom);
      const { left } = this.labelled(each, place);
      if (left && each.spread > NOTHING && each.column.kind !== "numeric") this.fans.add(place);
      this.bottom += LINE + (this.fans.has(place) ? FAN : 0);
    });
  }

  scaled() {
    const prepared = state.scorer.prepare(state.row);
    this.all = this.columns.map((each) => ({ ...each, points: this.points(each, prepared) }));
    const flat = this.all.flatMap((each) => each.points);
    this.low = Math.max(Math.min(-0.5, ...flat), -FARTHEST_POINT);
    this.high = Math.min(Math.max(0.5, ...flat), FARTHEST_POINT);
    this.across = scale(this.low, this.high, 12, this.room - 12);
  }

  points({ column, values }, prepared = state.scorer.prepare(state.row)) {
    const vary = state.scorer.vary(state.row, column.name, prepared), none = ratio(vary.joint(null));
    return values.map((value) => bound(ratio(vary.joint(value)) - none));
  }

  draw() {
    this.scaled();
    const { low, high, across, all, bottom } = this, parts = [];
    const ticks = roundTicks(low, high, Math.max(Math.floor(this.room / 110), 3)), digits = digitsOf(ticks);
    parts.push(s("g", {}, ticks.map((tick) => [s("line", { x1: across(tick), x2: across(tick), y1: 18, y2: bottom - 10, stroke: "var(--rule)" }), s("text", { x: Math.min(Math.max(across(tick), 20), this.room - 20), y: 12, "text-anchor": "middle", class: "muted" }, signed(tick, digits))])));
    all.forEach((each, place) => parts.push(this.line(each, place)));
    parts.push(this.total(bottom + 18));
    const focused = document.activeElement && document.activeElement.getAttribute ? document.activeElement.getAttribute("data-slider") : null;
    this.told = s("g", { "aria-hidden": "true", "pointer-events": "none" });
    clear(this.svg, parts, this.told);
    if (focused !== null) this.svg.querySelector(`[data-slider="${focused}"]`)?.focus({ preventScroll: true });
  }

  // Labels of a line's values: below their points, or above where there is no room below; or spread out, with a thread to each.
  labelled({ column, values, points }, place) {
    const top = this.tops[place], middle = top + 34, now = state.row.get(column.name), numeric = column.kind === "numeric", { room } = this;
    const rising = points.every((p, k) => !k || p >= points[k - 1] - 1e-9), falling = points.every((p, k) => !k || p <= points[k - 1] + 1e-9);
    const y = (k) => (numeric && !rising && !falling ? middle + 7 - (14 * k) / (values.length - 1) : middle);
    const xs = points.map((point) => Math.min(Math.max(this.across(point), 4), room - 4)), title = short(column.name, limited(0.52 * room, 9, 40));
    const at = isGap(now) ? null : numeric ? nearest(values, now) : values.indexOf(now), read = isGap(now) ? t("open") : short(shownCell(now), limited(0.48 * room - 72, 8, 20));
    const ticks = numeric ? roundTicks(values[0], values[values.length - 1], 6).filter((tick) => column.storage !== "integer" || Number.isInteger(tick)) : values;
    const marks = byWeight(ticks.map((value, k) => [value, numeric ? nearest(values, value) : k]), xs, at).map(([value, k]) => { const text = short(shownCell(value), 14); return { text, k, x: xs[k], wide: 8 * text.length + 10 }; });
    const found = { xs, y, title, read, at, middle, marks, left: 0, labels: [] };
    if (this.fans.has(place)) {
      let full = 0;
      found.labels = spread(marks.filter((mark) => { full += mark.wide; return full <= room; }), room).map((mark) => ({ ...mark, y: middle + 36, thread: true }));
      return found;
    }
    const here = at === null || at < 0 ? middle : y(at), reach = (mark) => (at !== null && at >= 0 && Math.abs(xs[at] - mark.x) < mark.wide / 2 + 8 ? Math.max(y(mark.k), here) : y(mark.k)); // a label lies below the mark of the case, too
    const taken = [[], [[0, 12 + 9 * title.length], [room - 8 * (read.length + 9), room]]]; // the name and what is read stand above, too
    for (const mark of marks) {
      const { wide } = mark, x = Math.min(Math.max(mark.x, wide / 2), room - wide / 2), side = taken.findIndex((others) => others.every(([from, to]) => x + wide / 2 <= from || x - wide / 2 >= to));
      if (side < 0) { found.left += 1; continue; }
      found.labels.push({ ...mark, at: x, y: side ? y(mark.k) - 11 : reach(mark) + 20 });
      taken[side].push([x - wide / 2, x + wide / 2]);
    }
    return found;
  }

  line(each, place) {
    const { column, values } = each, { across } = this, now = state.row.get(column.name), numeric = column.kind === "numeric", { xs, y, title, read, at, middle, marks, labels: texts } = this.labelled(each, place), top = this.tops[place], group = s("g", {});
    group.append(s("text", { x: 2, y: top + 12, "font-weight": 600 }, title));
    each.places = xs.map((x, k) => [x, y(k)]);
    group.append(s("polyline", { points: each.places.map(([x, h2]) => `${x.toFixed(1)},${h2.toFixed(1)}`).join(" "), fill: "none", stroke: "var(--edge)", "stroke-width": 2 }));
    const vary = state.scorer.vary(state.row, column.name), own = isGap(now) ? 0 : difference(logRatio(vary.joint(now)), logRatio(vary.joint(null)));
    for (const mark of texts) if (mark.thread) group.append(s("path", { d: `M${mark.x.toFixed(1)} ${middle}L${mark.x.toFixed(1)} ${middle + 7}L${mark.at.toFixed(1)} ${middle + 24}`, fill: "none", stroke: "var(--edge)", opacity: 0.6 }));
    for (const { x, k } of marks) group.append(s("circle", { cx: x, cy: y(k), r: 3, fill: "var(--edge)" }));
    for (const mark of texts) group.append(s("text", { x: mark.at, y: mark.y, "text-anchor": "middle", class: "muted halo" }, mark.text));
    group.append(this.track(place, middle));
    const cx = Math.min(Math.max(across(own), 8), this.room - 8), cy = at === null || at < 0 ? middle : y(at);
    const slider = s("g", { class: "grab", role: "slider", tabindex: "0", "data-slider": place, "aria-label": short(column.name, 60), "aria-valuemin": 0, "aria-valuemax": values.length - 1, "aria-valuenow": at ?? 0, "aria-valuetext": `${isGap(now) ? t("open") : short(shownCell(now), 40)}, ${signed(own)}` },
      s("circle", { cx, cy, r: 15, fill: "transparent" }), s("circle", { cx, cy, r: 8, fill: isGap(now) ? "var(--card)" : "var(--accent)", stroke: "var(--ink)", "stroke-width": 2 }));
    slider.addEventListener("pointerdown", (event) => { this.dragging = place; this.svg.setPointerCapture(event.pointerId); event.preventDefault(); slider.focus({ preventScroll: true }); });
    slider.addEventListener("keydown", (event) => this.key(event, place));
    slider.addEventListener("focus", () => this.hint(place, at));
    slider.addEventListener("blur", () => clear(this.told));
    group.append(slider, s("text", { x: this.room - 4, y: top + 12, "text-anchor": "end" }, s("tspan", { class: "muted" }, `${read}  `), s("tspan", { "font-weight": 600 }, signed(own))));
    return group;
  }

  // Where a line may be touched: what lies there is told, and a click or a tap takes it.
  track(place, middle) {
    const area = s("rect", { x: 0, y: middle - 14, width: this.room, height: 30, fill: "transparent" });
    area.addEventListener("pointermove", (event) => { if (this.dragging === null && event.pointerType !== "touch") this.hint(place, this.under(event, place)); });
    area.addEventListener("pointerleave", () => { if (this.dragging === null) clear(this.told); });
    area.addEventListener("click", (event) => {
      const { column, values } = this.all[place];
      this.take(column, values[this.under(event, place)]);
      this.svg.querySelector(`[data-slider="${place}"]`).focus({ preventScroll: true });
    });
    return area;
  }

  // The value of a line that is nearest to a pointer.
  under(event, place) {
    const box = this.svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * this.room, y = event.clientY - box.top;
    let best = 0, least = Infinity;
    this.all[place].places.forEach(([px, py], k) => { const far = Math.abs(px - x) + 0.3 * Math.abs(py - y); if (far < least) { least = far; best = k; } });
    return best;
  }

  // A value and its points, above everything else; nothing where the value is open or not on the line.
  hint(place, k) {
    clear(this.told);
    if (k === null || k < 0) return;
    const { values, points, places } = this.all[place], [px, py] = places[k], near = values.filter((_, v) => v !== k && Math.hypot(places[v][0] - px, places[v][1] - py) < 5);
    const beside = typeof values[k] === "number" ? [] : near.slice(0, 3), names = [values[k], ...beside].map((value) => short(shownCell(value), limited(this.room / (beside.length + 1.5), 8, 40)));
    const text = `${names.join(", ")}${near.length > beside.length && beside.length ? ", …" : ""}  ${signed(points[k])}`;
    const wide = 8 * [...text].length + 12, x = Math.min(Math.max(px, wide / 2), this.room - wide / 2), top = py - 34;
    this.told.append(s("circle", { cx: px, cy: py, r: 4, fill: "var(--ink)" }), s("rect", { x: x - wide / 2, y: top, width: wide, height: 21, rx: 5, fill: "var(--ink)" }), s("text", { x, y: top + 15, "text-anchor": "middle", style: { fill: "var(--card)" } }, text));
  }

  move(event) {
    const { column, values } = this.all[this.dragging];
    this.take(column, values[this.under(event, this.dragging)]);
  }

  key(event, place) {
    const { column, values } = this.all[place], now = state.row.get(column.name);
    const at = isGap(now) ? Math.floor(values.length / 2) : column.kind === "numeric" ? nearest(values, now) : values.indexOf(now);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
    if (step !== undefined) this.take(column, values[Math.min(Math.max(at + step, 0), values.length - 1)]);
    else if (event.key === "Home") this.take(column, values[0]);
    else if (event.key === "End") this.take(column, values[values.length - 1]);
    else if (event.key === "Delete" || event.key === "Backspace") this.take(column, null);
    else return;
    event.preventDefault();
  }

  take(column, value) {
    state.row.set(column.name, value);
    state.truth = state.rowNumber = null;
    this.draw();
  }

  total(top) {
    const posterior = state.scorer.posterior(state.row), total = logRatio(state.scorer.explain(state.row).joint), most = Math.max(5, Math.min(Math.abs(total) * 1.15, 40)), all = labels();
    const across = scale(-most, most, 12, this.room - 12), chances = [0.5, ...[0.1, 0.01, 0.25, 1e-6, 1e-4, 0.001, 0.05, 1e-9].flatMap((p) => [p, 1 - p])]; // those that matter come first
    const taken = [];
    const group = s("g", {}, s("text", { x: 2, y: top - 8, "font-weight": 600 }, t("Total {0} against “{1}”.", signed(total), short(all[rival], 24))), s("text", { x: 2, y: top + 10, class: "muted" }, t("Among all classes “{0}” has {1}.", short(all[state.focus], 24), shareIn(posterior, state.focus))), s("line", { x1: 12, x2: this.room - 12, y1: top + 24, y2: top + 24, stroke: "var(--ink)", "stroke-width": 2 }));
    for (const p of chances) {
      const x = across(Math.log(p / (1 - p))), text = exactly(p), half = 4 * text.length + 2;
      if (x < half || x > this.room - half || taken.some(([from, to]) => x + half + 8 > from && x - half - 8 < to)) continue;
      taken.push([x - half, x + half]);
      group.append(s("line", { x1: x, x2: x, y1: top + 18, y2: top + 30, stroke: "var(--ink)" }), s("text", { x, y: top + 46, "text-anchor": "middle", class: "muted" }, text));
    }
    group.append(s("circle", { cx: Math.min(Math.max(across(total), 12), this.room - 12), cy: top + 24, r: 9, fill: "var(--ink)", stroke: "var(--accent)", "stroke-width": 4 }));
    return group;
  }
}

function valuesOf(column) {
  if (column.kind !== "numeric") return (column.values || column.outcomes || []).slice(0, MOST_VALUES);
  const whole = column.storage === "integer", [low, high] = rangeOf(column).map((end, k) => (whole ? [Math.ceil, Math.floor][k](end) : end));
  if (high < low) return [];
  if (whole && high - low <= 2 * SAMPLES) return Array.from({ length: high - low + 1 }, (_, k) => low + k);
  return Array.from({ length: SAMPLES }, (_, k) => low + ((high - low) * k) / (SAMPLES - 1)).map((value) => (whole ? Math.round(value) : Number(value.toPrecision(5))));
}

// Labels in the order of their points, as near to these as they may be without lying upon each other (neighbours are pooled).
function spread(given, room) {
  const marks = [...given].sort((a, b) => a.x - b.x), pools = [];
  let before = 0;
  for (const mark of marks) {
    pools.push({ sum: mark.x - mark.wide / 2 - before, n: 1 });
    before += mark.wide;
    while (pools.length > 1 && pools[pools.length - 2].sum / pools[pools.length - 2].n > pools[pools.length - 1].sum / pools[pools.length - 1].n) {
      const last = pools.pop();
      pools[pools.length - 1].sum += last.sum;
      pools[pools.length - 1].n += last.n;
    }
  }
  const starts = pools.flatMap(({ sum, n }) => Array(n).fill(Math.min(Math.max(sum / n, 0), room - before)));
  let left = 0;
  return marks.map((mark, k) => { const from = starts[k] + left; left += mark.wide; return { ...mark, at: from + mark.wide / 2 }; });
}

// How many letters of so many pixels each fit into a width.
function limited(width, letter, most) { return Math.max(Math.min(Math.floor(width / letter), most), 6); }

// Values in the order in which they get a label: that of the case, both ends, then those that are farthest from all before.
function byWeight(marks, xs, at) {
  const left = marks.filter(([, k]) => k !== at).sort((a, b) => xs[a[1]] - xs[b[1]]), own = marks.filter(([, k]) => k === at);
  const first = [...own, ...left.splice(0, 1), ...left.splice(-1, 1)];
  while (left.length) {
    const far = left.map(([, k]) => Math.min(...first.map(([, other]) => Math.abs(xs[k] - xs[other]))));
    first.push(...left.splice(far.indexOf(Math.max(...far)), 1));
  }
  return first;
}

function logRatio(joint) { return difference(joint[state.focus], joint[rival]); }
function ratio(joint) { return Math.max(Math.min(logRatio(joint), 1e6), -1e6); }
function bound(x) { return Number.isNaN(x) ? 0 : Math.max(Math.min(x, 60), -60); }
function nearest(values, value) {
  let best = 0;
  values.forEach((each, k) => { if (Math.abs(each - value) < Math.abs(values[best] - value)) best = k; });
  return best;
}
