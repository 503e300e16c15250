// One case: edit any value, gaps included; prior and contributions make the posterior, redrawn while typing.

import { bars, chip, classColour, coloured } from "./charts.js";
import { diverging } from "./column.js";
import { card, clear, empty, freshId, h, named, selectOf, short } from "./dom.js";
import { isGap } from "./expression.js";
import { figure, share, shareEnds, shareIn, shownCell, signed, typed, whole } from "./format.js";
import { t } from "./language.js";
import { gapsOf, nextMeasurements } from "./measure.js";
import { contrast } from "./odds.js";
import { pasted } from "./paste.js";
import { emptyRow, labels, readCell, refocus, state, takeRow } from "./state.js";
import { counterfactuals, decide, interval, LEFT_OUT, whenSure } from "./whatif.js";
import { asked, byService } from "./work.js";

const MOST_POSTERIORS = 12, AT_ONCE = 60, MOST_TERMS = 14, AT_ONCE_CELLS = 2000, SHOWN_AS_NOTHING = 0.005;
let later = 0;
let shownFields = AT_ONCE;

export function caseView(go) {
  if (!state.scorer && !state.served) return [title(), byService()];
  const side = h("div", { class: "stack sticky" }), glance = h("div", { class: "glance noprint", "aria-hidden": "true" }), below = h("div", { class: "grid even" }), told = new Map();
  const redraw = () => { const done = draw({ side, glance, below }, told, go, redraw); if (done instanceof Promise) done.catch((error) => clear(side, h("p", { class: "wrong", role: "alert" }, error.message))); };
  const fields = h("div", {}, form(told, redraw, go));
  const page = [title(), pick(go), glance, h("div", { class: "grid case-grid" }, h("div", { class: "card w7" }, fields), h("div", { class: "case-side" }, side), h("div", { class: "w7" }, below))];
  redraw();
  return page;
}

function title() {
  return h("header", { class: "head" }, h("div", {}, h("h1", {}, t("A case")), h("p", {}, t("Change any value, or leave it open: every number follows at once."))));
}

function pick(go) {
  const { rows } = state.model, parts = [];
  if (rows && rows.cells.length) {
    const names = rows.cells.map((_, k) => (rows.truths.length ? t("row {0}: {1}", whole(rows.numbers[k] + 1), short(rows.truths[k], 24)) : t("row {0}", whole(rows.numbers[k] + 1))));
    parts.push(selectOf(t("From the data"), names, rows.numbers.indexOf(state.rowNumber), (k) => { takeRow(k); go("case"); }, { "data-use": "row" }));
  }
  const id = freshId("paste"), said = h("span", { class: "wrong", role: "status" });
  const take = (text) => {
    const found = pasted(text);
    if (found.wrong) { said.textContent = found.wrong; return; }
    for (const [name, cell] of found.cells) state.row.set(name, cell);
    state.truth = state.rowNumber = null;
    refocus();
    go("case");
  };
  // A head and a row are two lines, of which the field would make one.
  const area = h("input", { id, class: "paste", placeholder: t("paste a row of a table here"), on: { change: (event) => take(event.target.value), paste: (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (text.trim().includes("\n")) { event.preventDefault(); take(text); }
  } } });
  parts.push(h("label", { for: id }, t("Paste")), area, h("button", { on: { click: () => { for (const name of emptyRow().keys()) state.row.set(name, null); state.truth = state.rowNumber = null; go("case"); } } }, t("Leave all open")), said);
  return h("div", { class: "row noprint", style: { "margin-bottom": "1rem" } }, parts);
}

function form(told, redraw, go) {
  const wanted = state.filter.trim().toLowerCase();
  const matching = wanted ? state.ranked.filter((column) => column.name.toLowerCase().includes(wanted)) : state.ranked;
  const shown = matching.slice(0, shownFields), id = freshId("filter");
  return [
    state.features.length > 12 ? h("div", { class: "row noprint" }, h("label", { for: id }, t("Find a column")), h("input", { id, type: "search", value: state.filter, on: { change: (event) => { state.filter = event.target.value; go("case"); } } })) : null,
    h("div", { class: "fields" }, shown.map((column) => field(column, told, redraw))),
    matching.length > shown.length ? h("p", {}, h("button", { on: { click: () => { shownFields *= 4; go("case"); } } }, t("Show more of {0} columns", whole(matching.length)))) : null,
    matching.length ? null : empty(t("No column name contains this.")),
  ];
}

function field(column, told, redraw) {
  const id = freshId("cell"), now = state.row.get(column.name), does = h("span", { class: "told" }), wrong = h("span", { class: "wrong", hidden: true });
  told.set(column.name, does);
  const take = (text) => {
    const cell = readCell(column, text);
    input.setAttribute("aria-invalid", String(cell === undefined));
    wrong.hidden = cell !== undefined;
    wrong.textContent = cell === undefined ? t("This is not a number.") : "";
    if (cell === undefined) return;
    state.row.set(column.name, cell);
    state.truth = state.rowNumber = null;
    box.classList.toggle("gap", cell === null);
    redraw();
  };
  const shown = isGap(now) ? "" : typeof now === "number" ? typed(now) : String(now), on = { input: (event) => take(event.target.value) };
  const values = column.values || column.outcomes;
  let input, list = null;
  if (column.kind === "text") input = h("textarea", { id, on, value: shown, rows: 5 });
  else if (column.kind === "numeric") input = h("input", { id, on, value: shown, inputmode: "decimal", placeholder: t("open"), autocomplete: "off" });
  else if (values && values.length <= 30 && (isGap(now) || values.some((value) => value === now))) {
    input = h("select", { id, on: { change: (event) => take(event.target.value === "-1" ? null : String(values[Number(event.target.value)])) } },
      h("option", { value: "-1", selected: isGap(now) }, t("open")), values.map((value, k) => h("option", { value: String(k), selected: value === now }, short(shownCell(value), 40))));
  } else {
    const listId = freshId("list");
    list = h("datalist", { id: listId }, (values || []).slice(0, 200).map((value) => h("option", { value: short(String(value), 200) })));
    input = h("input", { id, on, value: shown, list: listId, placeholder: t("open"), autocomplete: "off" });
  }
  const box = h("div", { class: `field${column.kind === "text" ? " wide" : ""}${isGap(now) ? " gap" : ""}` }, h("label", { for: id }, named(column.name, 40), does), input,
    h("button", { class: "quiet", title: t("leave open"), "aria-label": t("leave {0} open", short(column.name, 40)), on: { click: () => { if (input.tagName === "SELECT") input.value = "-1"; else input.value = ""; take(""); } } }, "✕"), list, wrong);
  return box;
}

function explained() { return state.scorer ? state.scorer.explain(state.row) : scored(); }

async function scored() {
  const found = await asked("/studio/score", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ cells: [...state.row] }) });
  return { ...found, posterior: Float64Array.from(found.posterior), joint: found.posterior.map(Math.log), terms: [], start: null };
}

function draw(places, told, go, redraw) {
  const why = explained();
  if (why instanceof Promise) return why.then((found) => drawn(found, places, told, go, redraw));
  return drawn(why, places, told, go, redraw);
}

// Where the form fills the screen, the answer stays in sight above it.
function inShort(posterior, decision, all) {
  return [h("b", {}, decision < 0 ? t("no decision") : named(all[decision], 30)), h("span", {}, shareIn(posterior, Math.max(decision, 0))),
    h("span", { class: "track" }, Array.from(posterior, (p, k) => (p < 0.003 ? null : h("span", { style: { width: `${100 * p}%`, background: classColour(k) } }))))];
}

function drawn(why, { side, glance, below }, told, go, redraw) {
  const all = labels(), { decision, risk } = decide(why.posterior), c = state.focus;
  const split = contrast(why, c);
  const sums = new Map();
  why.terms.forEach(({ columns }, place) => { if (columns.length === 1) sums.set(columns[0], (sums.get(columns[0]) ?? 0) + split.shares[place]); });
  for (const [name, place] of told) {
    const size = sums.get(name) ?? 0;
    place.textContent = Math.abs(size) > SHOWN_AS_NOTHING ? signed(size) : "";
    place.className = !place.textContent ? "told" : `told ${size > 0 ? "for" : "against"}`;
    coloured(place, c, all.length);
  }
  for (const place of [side, below]) coloured(place, c, all.length);
  clear(glance, inShort(why.posterior, decision, all));
  clear(side, verdict(why, decision, risk, all, redraw), waterfall(why, split, all, redraw, go));
  const more = () => clear(below, ...texts(), flips(decision, all, go), measure(go));
  clearTimeout(later);
  if (state.features.length * all.length <= AT_ONCE_CELLS) more(); else later = setTimeout(more, 200);
}

function verdict(why, decision, risk, all, redraw) {
  const waits = state.scorer && whenSure(() => { if (state.view === "case") redraw(); });
  const order = all.map((_, k) => k).sort((a, b) => why.posterior[b] - why.posterior[a]).slice(0, MOST_POSTERIORS), ends = state.scorer ? interval(state.row) : null;
  const lines = order.map((k) => ({ name: all[k], size: why.posterior[k], colour: k, text: shareIn(why.posterior, k), ends: ends ? [ends.low[k], ends.high[k]] : null, more: ends ? shareEnds(ends.low[k], ends.high[k]) : null }));
  return h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, t("What the model says")),
    h("p", { class: "verdict" }, h("b", {}, decision < 0 ? t("no decision") : named(all[decision], 40)), h("span", {}, shareIn(why.posterior, Math.max(decision, 0))),
      h("span", { class: "note" }, t("expected cost {0}", risk < 5e-5 ? "≈ 0" : figure(risk, 3)))),
    bars(lines, { most: 1, label: t("What the model says"), kind: "stacked" }),
    order.length < all.length ? h("p", { class: "note" }, t("{0} further classes have {1} together.", whole(all.length - order.length), share(Math.max(0, 1 - order.reduce((sum, k) => sum + why.posterior[k], 0))))) : null,
    h("p", { class: "note" }, sureness(ends, waits)),
    state.truth !== null ? h("p", {}, t("In the data it is “{0}”.", short(state.truth, 40))) : null);
}

function sureness(ends, waits) {
  if (waits) return t("The interval is being computed …");
  if (!ends) return state.model.intervals?.is === LEFT_OUT ? t("There is no interval here: it would make the page too large. Python has it: predict_interval.") : t("There is no interval here: this model has none.");
  if (!state.scorer.bounds && state.model.intervals.is !== "laplace") return `${t("Lines and small figures are 90% intervals, from the rows that were learned.")} ${t("They hold only if columns are independent within each class; otherwise they are too narrow. The evidence model has intervals that hold either way.")}`;
  return state.scorer.bounds ? t("Lines and small figures: Venn–Abers bounds of each class by itself. Shares are then made to add up to 100%.") : t("Lines and small figures are 90% intervals, from the rows that were learned.");
}

function waterfall(why, split, all, redraw, go) {
  const lines = why.terms.map((term, k) => ({ columns: term.columns, name: term.name, size: split.shares[k] })).filter((each) => Math.abs(each.size) > 1e-9);
  lines.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
  const shown = lines.filter((each, k) => k < MOST_TERMS && (k < 2 || Math.abs(each.size) > SHOWN_AS_NOTHING)), left = lines.slice(shown.length);
  const most = Math.max(0.5, Math.abs(split.before ?? 0), ...shown.map((each) => Math.abs(each.size)).filter(Number.isFinite));
  const names = shown.map((each) => ({ size: each.size, node: each.columns.length ? termName(each.columns, each.name) : h("span", {}, t(each.name || "intercept")) }));
  if (split.before !== null) names.unshift({ name: t("prior"), size: split.before });
  if (left.length) names.push({ name: left.length > 1 ? t("{0} further terms", whole(left.length)) : t("one further term"), size: left.reduce((total, each) => total + each.size, 0) });
  return h("section", { class: "card" }, h("h2", {}, t("Why “{0}”?", short(all[state.focus], 30))), h("p", {}, split.before !== null ? t("Prior and contributions add up to the log-odds of the class.") : t("How the log-odds would fall if the cell were open. These do not add up.")),
    h("div", { class: "row noprint" }, selectOf(t("for the class"), all, state.focus, (k) => { state.focus = k; state.focusChosen = true; redraw(); }, { "data-use": "focus" }), chip(state.focus)),
    names.length ? diverging(names, most, "whole") : empty(t("Every value is open, so there is only the prior.")),
    h("p", {}, h("strong", {}, split.before !== null ? t("together {0}, that is {1}", signed(split.after), shareIn(why.posterior, state.focus)) : t("log-odds {0}, that is {1}", signed(split.after), shareIn(why.posterior, state.focus)))));
}

function termName(columns, more) {
  const cells = columns.map((name) => { const cell = state.row.get(name); return isGap(cell) ? t("open") : short(shownCell(cell), 18); });
  return h("span", {}, named(columns.map((name) => short(name, 24)).join(" × "), 50), more ? ` ${t(more)}` : "", h("span", { class: "note" }, ` ${cells.join(", ")}`));
}

function texts() {
  if (!state.scorer) return [];
  return state.features.filter((column) => column.kind === "text" && !isGap(state.row.get(column.name))).slice(0, 4).map((column) => {
    const found = state.scorer.words(state.row, column.name);
    if (!found) return null;
    const c = state.focus, k = state.model.classes.length, parts = [];
    const weigh = (add) => { let total = 0; add.forEach((log, place) => { if (place !== c) total += log; }); return add[c] - total / Math.max(k - 1, 1); };
    const most = Math.max(0.3, ...found.words.map((each) => Math.abs(weigh(each.add))).filter(Number.isFinite));
    let at = 0;
    for (const each of [...found.words].sort((a, b) => a.start - b.start)) {
      if (each.start < at) continue;
      const size = weigh(each.add);
      parts.push(found.text.slice(at, each.start), h("mark", { class: size >= 0 ? "for" : "against", title: signed(size), style: { "--much": String(Math.min(1, Math.abs(size) / most)) } }, found.text.slice(each.start, each.end)));
      at = each.end;
    }
    parts.push(found.text.slice(at));
    return card("", t("Words of {0}", short(column.name, 40)), t("Solid underlines speak for “{0}”, dotted ones against it.", short(labels()[c], 30)), h("div", { class: "words", tabindex: "0", dir: "auto" }, parts.slice(0, 4000)));
  });
}

function flips(decision, all, go) {
  if (!state.scorer) return null;
  const found = counterfactuals(state.row);
  const list = found.length ? h("ul", { class: "odd" }, found.map(({ changes }) => h("li", {}, changes.map((each, k) => [k ? `, ${t("and")} ` : "", h("strong", {}, named(each.column.name, 40)), " → ", named(shownCell(each.value), 30)]), ": ",
    h("strong", {}, changes[changes.length - 1].decision < 0 ? t("no decision") : named(all[changes[changes.length - 1].decision], 40)), " ",
    h("button", { class: "quiet", on: { click: () => { for (const each of changes) state.row.set(each.column.name, each.value); refocus(); go("case"); } } }, t("Try"))))) : empty(t("No change of a few cells leads to another decision."));
  return card("w6", t("What would change the decision"), t("The smallest changes of single cells that do."), list);
}

function measure(go) {
  if (!state.scorer) return null;
  const found = nextMeasurements(state.row).filter((each) => each.bits > 1e-6).slice(0, 6);
  const list = found.length ? h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("column")), h("th", { scope: "col" }, t("bits")), h("th", { scope: "col" }, t("saves")))),
    h("tbody", {}, found.map((each) => h("tr", {}, h("th", { scope: "row" }, named(each.column.name, 40)), h("td", {}, figure(each.bits, 2)), h("td", {}, figure(each.saving, 2)))))) : empty(!gapsOf(state.row).length ? t("Every value is known. Leave one open to see what it would tell.") : t("What the open values may be is not known, or none of them would tell anything."));
  return card("w6", t("What to measure next"), t("What an open value is expected to tell, and to save in costs."), list);
}
