// The studio's beginning: unpack the document, make the scorer, show the view that the address names.

import { caseView } from "./case.js";
import { columnView } from "./column.js";
import { comparisonView } from "./compare.js";
import { decisionsView } from "./decisions.js";
import { clear, empty, h, named } from "./dom.js";
import { evaluationView } from "./evaluate.js";
import { language, speak, t } from "./language.js";
import { lettersView } from "./letters.js";
import { nextMeasurements } from "./measure.js";
import { nomogramView } from "./nomogram.js";
import { offered } from "./offered.js";
import { overview } from "./overview.js";
import { planes, planeView } from "./plane.js";
import { scorerOf } from "./scorer.js";
import { begin, state, takeNumbered } from "./state.js";
import { contrast } from "./odds.js";
import { treeView } from "./treeview.js";
import { unpack } from "./unpack.js";
import { counterfactuals, decide, interval } from "./whatif.js";

const VIEWS = [
  { name: "overview", label: "Overview", show: overview },
  { name: "letters", label: "Letters", show: lettersView, when: () => state.model.image },
  { name: "column", label: "Columns", show: columnView, when: () => !state.model.image },
  { name: "case", label: "Case", show: caseView, when: () => !state.model.image },
  { name: "nomogram", label: "Nomogram", show: nomogramView, when: () => state.scorer && !state.model.image },
  { name: "decisions", label: "Decisions", show: decisionsView },
  { name: "evaluation", label: "Evaluation", show: evaluationView },
  { name: "comparison", label: "Comparison", show: comparisonView },
  { name: "tree", label: "Tree", show: treeView, when: () => state.rules.form === "tree" },
  { name: "plane", label: "Plane", show: planeView, when: () => planes().length > 1 && state.scorer && !state.model.image },
  { name: "start", label: "New model", show: (go) => offered.start(go), when: () => offered.start !== null },
];

const main = h("main", { id: "main", tabindex: "-1" });

function views() { return VIEWS.filter((view) => (state.model ? !view.when || view.when() : view.name === "start")); }

function go(view, place) {
  const address = `#${view}${place === undefined ? "" : `/${place}`}`;
  if (location.hash !== address) history.pushState(null, "", address);
  route();
}

function route() {
  const [view, place] = location.hash.slice(1).split("/");
  const known = views();
  const found = known.find((each) => each.name === view) || known[0];
  const moved = state.view !== found.name;
  state.view = found.name;
  if (found.name === "column" && place !== undefined) state.column = Number(place) || 0;
  if (found.name === "case" && place !== undefined) takeNumbered(Number(place));
  show(found, moved);
}

function show(found, moved) {
  const focused = document.activeElement && document.activeElement.getAttribute("data-use");
  clear(frame.querySelector("nav"), links());
  const width = main.clientWidth || 1000;
  let content;
  try { content = found.show(go, width - 2 * parseFloat(getComputedStyle(main).paddingLeft || 0)); }
  catch (error) { content = [empty(t("This view could not be drawn: {0}", String(error.message)))]; console.error(error); }
  clear(main, content);
  document.title = `${t(found.label)} · likely`;
  if (moved) { window.scrollTo(0, 0); main.focus({ preventScroll: true }); }
  else if (focused) main.querySelector(`[data-use="${focused}"]`)?.focus();
}

function links() {
  return views().map((view) => h("a", { href: `#${view.name}`, "aria-current": view.name === state.view ? "page" : null }, t(view.label)));
}

function setTheme(which) {
  if (which) document.documentElement.dataset.theme = which; else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("likely-theme", which); } catch { /* a page on a disk may not remember */ }
}

function isDark() {
  return document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function tools() {
  return [
    h("button", { class: "quiet", id: "language", lang: language() === "de" ? "en" : "de", on: { click: () => { speak(language() === "de" ? "en" : "de"); remember("likely-language", language()); build(); } } }, language() === "de" ? "English" : "Deutsch"),
    h("button", { class: "quiet", id: "theme", on: { click: () => { setTheme(isDark() ? "light" : "dark"); build(); } } }, isDark() ? t("Light") : t("Dark")),
    h("button", { class: "quiet", id: "print", on: { click: () => window.print() } }, t("Print")),
  ];
}

function remember(key, value) { try { localStorage.setItem(key, value); } catch { /* a page on a disk may not remember */ } }
function remembered(key) { try { return localStorage.getItem(key); } catch { return null; } }

let frame;
function build() {
  const told = state.model && state.model.model;
  frame = h("div", { class: "frame" }, h("header", { class: "side" }, h("a", { class: "mark", href: "#overview" }, "likely"),
    told ? h("p", { class: "what" }, h("strong", {}, named(told.name, 22)), t(told.title)) : null,
    h("nav", { "aria-label": t("Views") }, links()), h("div", { class: "tools noprint" }, tools())), main);
  clear(document.getElementById("studio"), h("a", { class: "skip", href: "#main", on: { click: (event) => { event.preventDefault(); main.focus(); } } }, t("To the content")), frame);
  route();
}

async function start() {
  const root = document.getElementById("studio");
  speak(remembered("likely-language") || (navigator.language || "en").slice(0, 2));
  setTheme(remembered("likely-theme") || "");
  const content = document.getElementById("document").textContent;
  const model = content ? await unpack(content) : null;
  begin(model, model ? scorerOf(model.scorer, model.classes.length) : null, root.dataset.served === "yes");
  const { scorer } = state;
  window.likely = { model, scorer, state, unpack, decide, nextMeasurements, counterfactuals, interval: (row) => interval(row, true), posterior: (row) => Array.from(scorer.posterior(new Map(row))), explain: (row) => scorer.explain(new Map(row)), contrast: (row, target) => contrast(scorer.explain(new Map(row)), target) };
  if (model || state.served) build();
  addEventListener("hashchange", route);
  // A file that nobody takes would be opened by the browser, instead of the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => { if ([...(event.dataTransfer?.types || [])].includes("Files")) event.preventDefault(); });
  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { if (state.model && state.view !== "case") route(); }, 150); });
}

start();
