// Axes, lines, bars: plain SVG, drawn at the width that there is.

import { h, named, s } from "./dom.js";
import { figure } from "./format.js";

export function roundTicks(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((each) => each >= rough * (1 - 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) + step * 1e-9; k++) ticks.push(k * step + 0);
  return ticks;
}

// How many digits after the point round ticks need.
export function digitsOf(ticks) { return ticks.length < 2 ? 1 : [0, 1, 2, 3, 4, 5].find((digits) => Math.abs(ticks[1] - ticks[0] - Number((ticks[1] - ticks[0]).toFixed(digits))) < 1e-9) ?? 6; }

// The width of a picture in a card as wide as the view, or in one of two beside each other.
export function roomIn(width, most, half = false) {
  const padding = matchMedia("(max-width: 48rem)").matches ? 34 : 50, beside = half && !matchMedia("(max-width: 62rem)").matches;
  return Math.max(Math.min(Math.floor((beside ? (width - 16) / 2 : width) - padding), most), 160);
}

export function scale(low, high, from, to) {
  const span = high > low ? high - low : 1;
  const at = (x) => from + ((x - low) / span) * (to - from);
  at.back = (pixel) => low + ((pixel - from) / (to - from)) * span;
  at.low = low; at.high = high;
  return at;
}

export function classColour(place) { return `var(--class-${place % 7})`; }

// What speaks for a class is drawn in its colour, what speaks against it in that of the other class, if there are two.
export function coloured(node, place, nClasses) {
  node.style.setProperty("--for", classColour(place));
  node.style.setProperty("--against", nClasses === 2 ? classColour(1 - place) : "var(--muted)");
  return node;
}

const DASHES = [null, "6 3", "2 2", "8 3 2 3"];
export function classDashes(place) { return DASHES[Math.floor(place / 7) % 4]; }

// From the eighth class on colours come again, with a hole, then a bar, then a frame.
export function chip(place) { return h("span", { class: `chip again-${Math.floor(place / 7) % 4}`, style: { background: classColour(place), color: classColour(place) }, "aria-hidden": "true" }); }

export function legend(labels, places) {
  return h("ul", { class: "legend" }, labels.map((label, k) => h("li", {}, chip(places ? places[k] : k), named(label, 30))));
}

// A frame with both axes; `draw` gets the scales and adds what is inside.
export function plot({ width, height, x, y, xLabel, yLabel, title, xTicks, yTicks, xFormat = figure, yFormat = figure }, draw) {
  const left = 48, right = 22, top = yLabel ? 24 : 10, bottom = xLabel ? 44 : 26;
  const across = scale(x[0], x[1], left, width - right), up = scale(y[0], y[1], height - bottom, top);
  const xs = xTicks || roundTicks(x[0], x[1], Math.max(Math.floor(width / 80), 3)), ys = yTicks || roundTicks(y[0], y[1], 4);
  const svg = s("svg", { role: "img", "aria-label": title, width, height, viewBox: `0 0 ${width} ${height}` });
  svg.append(s("g", { stroke: "var(--rule)" }, ys.map((tick) => s("line", { x1: left, x2: width - right, y1: up(tick), y2: up(tick) }))));
  svg.append(s("g", {}, ys.map((tick) => s("text", { x: left - 6, y: up(tick) + 4, "text-anchor": "end", class: "muted" }, yFormat(tick)))));
  svg.append(s("g", {}, xs.map((tick) => s("text", { x: across(tick), y: height - bottom + 17, "text-anchor": "middle", class: "muted" }, xFormat(tick)))));
  svg.append(s("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, stroke: "var(--edge)" }));
  if (xLabel) svg.append(s("text", { x: width - right, y: height - 6, "text-anchor": "end", class: "muted" }, xLabel));
  if (yLabel) svg.append(s("text", { x: left, y: top - 10, class: "muted" }, yLabel));
  draw(svg, across, up);
  return svg;
}

export function pathOf(xs, ys) {
  let path = "";
  for (let k = 0; k < xs.length; k++) if (Number.isFinite(ys[k])) path += `${path ? "L" : "M"}${xs[k].toFixed(1)} ${ys[k].toFixed(1)}`;
  return path;
}

// A smooth curve through points that overshoots none of them (Fritsch and Carlson's monotone cubic).
export function smoothPath(xs, ys) {
  const n = xs.length;
  if (n < 3) return pathOf(xs, ys);
  const slopes = Array.from({ length: n - 1 }, (_, k) => (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k] || 1e-9));
  const tangents = slopes.map((slope, k) => (k === 0 ? slope : slopes[k - 1] * slope <= 0 ? 0 : (2 * slopes[k - 1] * slope) / (slopes[k - 1] + slope)));
  tangents.push(slopes[n - 2]);
  let path = `M${xs[0].toFixed(1)} ${ys[0].toFixed(1)}`;
  for (let k = 0; k + 1 < n; k++) {
    const third = (xs[k + 1] - xs[k]) / 3;
    path += `C${(xs[k] + third).toFixed(1)} ${(ys[k] + third * tangents[k]).toFixed(1)} ${(xs[k + 1] - third).toFixed(1)} ${(ys[k + 1] - third * tangents[k + 1]).toFixed(1)} ${xs[k + 1].toFixed(1)} ${ys[k + 1].toFixed(1)}`;
  }
  return path;
}

export function line(xs, ys, place, more = {}) {
  return s("path", { d: pathOf(xs, ys), fill: "none", stroke: classColour(place), "stroke-width": 2, "stroke-dasharray": classDashes(place), ...more });
}

// A list of names with bars; names may be buttons.
export function bars(lines, { most, label, kind = "" }) {
  const largest = most ?? Math.max(...lines.map((each) => each.size), 1e-12);
  return h("ul", { class: `bars ${kind}`, "aria-label": label }, lines.map(({ name, size, text, act, colour, id, ends, more }) => h("li", {},
    act ? h("button", { class: "name", on: { click: act }, id }, named(name, 40)) : h("span", { class: "name" }, colour !== undefined && chip(colour), named(name, 40)),
    h("span", { class: "track" }, h("span", { class: "fill", style: {
      width: `${Math.max(0, Math.min(100, (100 * size) / largest))}%`, background: colour === undefined ? "var(--ink)" : classColour(colour) } }),
      ends ? h("span", { class: "whisker", style: { left: `${(100 * ends[0]) / largest}%`, width: `${(100 * (ends[1] - ends[0])) / largest}%` } }) : null),
    h("span", { class: "value" }, text, more ? h("small", {}, more) : null))));
}
