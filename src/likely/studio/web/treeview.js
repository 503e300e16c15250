// A tree: zoom, move, fold; the way of the case is marked.

import { classColour, legend } from "./charts.js";
import { clear, h, s, short } from "./dom.js";
import { figure, share, shownCell, whole } from "./format.js";
import { t } from "./language.js";
import { labels, state } from "./state.js";

const BOX = 168, TALL = 54, GAP = 22, LEVEL = 104, AT_FIRST = 3, PAPER = 680, READABLE = 0.8, HIGHEST = 640, MAIN_WAY = 0.3;
const folded = new Map();
let zoom = null;

export function treeView(go, width) {
  let all = 1, high = 0;
  const told = state.rules, box = h("div", { class: "pan", tabindex: "0", role: "application", "aria-label": t("The tree. Plus and minus zoom, arrow keys move.") }), root = s("svg", { width: "100%", height: "100%" }), layer = s("g", {});
  const place = () => layer.setAttribute("transform", `translate(${zoom.x} ${zoom.y}) scale(${zoom.k})`);
  const scaleBy = (factor, x = 300, y = 200) => { const k = Math.min(Math.max(zoom.k * factor, 0.15), 3); zoom = { k, x: x - ((x - zoom.x) * k) / zoom.k, y: y - ((y - zoom.y) * k) / zoom.k }; place(); };
  const redraw = () => { const { parts, wide, tall, middle } = drawnTree(told, redraw, width); clear(layer, parts); all = wide;
    if (!zoom) { const k = Math.min(1, Math.max(READABLE, (width - 40) / wide)); zoom = { k, x: k * wide <= width ? (width - k * wide) / 2 : Math.min(20, Math.max(width / 2 - k * middle, width - 20 - k * wide)), y: 20 }; high = 0; }
    high = Math.max(high, Math.min(zoom.k * tall + 40, HIGHEST)); box.style.setProperty("height", `${Math.round(high)}px`); place(); };
  // On paper nothing can be moved: all that is unfolded has to be there.
  window.onbeforeprint = () => { if (box.isConnected) { zoom = { k: Math.min(1, PAPER / all), x: 4, y: 20 }; place(); } };
  window.onafterprint = () => { if (box.isConnected) { zoom = null; redraw(); } };
  let from = null;
  box.addEventListener("pointerdown", (event) => { if (!event.target.closest(".node")) { from = [event.clientX - zoom.x, event.clientY - zoom.y]; box.setPointerCapture(event.pointerId); } });
  box.addEventListener("pointermove", (event) => { if (from) { zoom = { ...zoom, x: event.clientX - from[0], y: event.clientY - from[1] }; place(); } });
  box.addEventListener("pointerup", () => { from = null; });
  box.addEventListener("wheel", (event) => { event.preventDefault(); const frame = box.getBoundingClientRect(); scaleBy(event.deltaY < 0 ? 1.15 : 0.87, event.clientX - frame.left, event.clientY - frame.top); }, { passive: false });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (event.target === box && step) { zoom = { ...zoom, x: zoom.x + step[0], y: zoom.y + step[1] }; place(); event.preventDefault(); }
    if (event.key === "+") scaleBy(1.2);
    if (event.key === "-") scaleBy(0.83);
  });
  root.append(layer);
  box.append(root);
  redraw();
  const depth = (n) => { folded.clear(); folded.set("depth", n); zoom = null; redraw(); };
  return [h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Tree")), h("p", {}, t("{0} nodes. The way of the case is marked; boxes fold and unfold.", whole(told.column.length))))),
    h("div", { class: "row noprint" }, h("button", { on: { click: () => scaleBy(1.25) }, "aria-label": t("Zoom in") }, "+"), h("button", { on: { click: () => scaleBy(0.8) }, "aria-label": t("Zoom out") }, "−"), h("button", { on: { click: () => { zoom = null; redraw(); } } }, t("Back to the root")), h("button", { on: { click: () => depth(2) } }, t("Fold")), h("button", { on: { click: () => depth(99) } }, t("Unfold all")), h("button", { on: { click: () => go("case") } }, t("Change the case"))),
    legend(labels().slice(0, 7)), box];
}

function laidOut(told, way, depth) {
  const places = new Map();
  let right = 0, count = 0, tall = TALL;
  const lay = (node, level) => {
    count += 1;
    const inner = told.column[node] >= 0, open = inner && count < 1500 && (folded.get(node) ?? (level < depth || ((way.get(node) ?? 0) > MAIN_WAY && folded.get("depth") === undefined)));
    let x;
    if (open) {
      const xs = [];
      for (let child = told.first[node]; child < told.first[node] + told.children[node]; child++) xs.push(lay(child, level + 1));
      x = (xs[0] + xs[xs.length - 1]) / 2;
    } else { x = right; right += BOX + GAP; }
    tall = Math.max(tall, level * LEVEL + TALL);
    places.set(node, { x, y: level * LEVEL, open, inner });
    return x;
  };
  lay(0, 0);
  return { places, wide: right, tall };
}

// Until somebody folds: the way of the case, and beside it as many levels as can be read.
function drawnTree(told, redraw, width) {
  const way = new Map(state.bare.inner.path(state.row).map((each) => [each.node, each.share])), wish = folded.get("depth");
  let depth = wish ?? AT_FIRST;
  while (wish === undefined && depth > 1 && laidOut(told, way, depth).wide * READABLE > width - 40) depth -= 1;
  const { places, wide, tall } = laidOut(told, way, depth), parts = [];
  for (const [node, { x, y, open }] of places) {
    if (!open) continue;
    for (let branch = 0; branch < told.children[node]; branch++) {
      const child = told.first[node] + branch, at = places.get(child), on = way.has(child);
      parts.push(s("path", { d: `M${x + BOX / 2} ${y + TALL}C${x + BOX / 2} ${y + TALL + 30} ${at.x + BOX / 2} ${at.y - 30} ${at.x + BOX / 2} ${at.y}`, fill: "none", stroke: on ? "var(--accent)" : "var(--edge)", "stroke-width": on ? 6 : 1.5 }),
        s("text", { x: at.x + BOX / 2, y: at.y - 8, "text-anchor": "middle", class: on ? "halo" : "muted halo" }, short(outcomeOf(told, node, branch), 24)));
    }
  }
  for (const [node, at] of [...places].sort((a, b) => a[0] - b[0])) parts.push(box(told, node, at, way.get(node), redraw));
  const along = [...places].filter(([node]) => (way.get(node) ?? 0) > MAIN_WAY).map(([, at]) => at.x);
  return { parts, wide, tall, middle: (Math.min(...along) + Math.max(...along) + BOX) / 2 };
}

// A word of a text is a feature of its own, named by the package.
function featureName(feature) { return feature.word ? t("{0} has “{1}”", ...feature.word) : feature.name; }

function outcomeOf(told, node, branch) {
  const feature = told.features[told.column[node]];
  if (!feature.levels) return branch ? `≥ ${figure(told.threshold[node], 4)}` : `< ${figure(told.threshold[node], 4)}`;
  if (feature.word) return told.branches[told.values[node] + 1] === branch ? t("yes") : t("no");
  return feature.levels.filter((_, k) => told.branches[told.values[node] + k] === branch).map(shownCell).join(", ") || "–";
}

function box(told, node, { x, y, open, inner }, way, redraw) {
  const k = state.model.classes.length, size = told.sizes[node], feature = inner ? told.features[told.column[node]] : null, all = labels();
  const inset = inner ? 1 : 16;
  let best = 0, at = x + inset;
  for (let c = 1; c < k; c++) if (told.counts[node * k + c] > told.counts[node * k + best]) best = c;
  const group = s("g", { class: "node", role: inner ? "button" : "img", tabindex: inner ? "0" : null, "aria-expanded": inner ? String(open) : null, "aria-label": inner ? short(featureName(feature), 60) : `${short(all[best], 40)}, ${whole(size)}` });
  group.append(s("rect", { x, y, width: BOX, height: TALL, rx: inner ? 6 : 20, fill: "var(--card)", stroke: way ? "var(--ink)" : "var(--edge)", "stroke-width": way ? 2.5 : 1 }));
  group.append(s("text", { x: x + BOX / 2, y: y + 20, "text-anchor": "middle", "font-weight": 600 }, short(inner ? featureName(feature) : all[best], 20)), s("text", { x: x + BOX / 2, y: y + 37, "text-anchor": "middle", class: "muted" }, `${whole(size)}${way && way < 0.999 ? ` · ${share(way)}` : ""}${inner && !open ? " ▸" : ""}`));
  for (let c = 0; c < k; c++) {
    const wide = (told.counts[node * k + c] / (size || 1)) * (BOX - 2 * inset);
    if (wide > 0.3) group.append(s("rect", { x: at, y: y + TALL - 9, width: wide, height: 6, fill: classColour(c) }));
    at += wide;
  }
  const turn = () => { folded.set(node, !open); redraw(); };
  if (inner) { group.addEventListener("click", turn); group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); turn(); } }); }
  return group;
}
