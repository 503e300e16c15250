// The first page, without any model: drop a table, see what its columns are and why, choose the target, train.

import { clear, empty, freshId, h, named, selectOf, short } from "./dom.js";
import { figure, shownCell, whole } from "./format.js";
import { reasonText, t } from "./language.js";
import { asked, work } from "./work.js";

const KINDS = ["numeric", "nominal", "text", "date", "ignored"];
const MODELS = ["auto", "naive", "evidence", "full", "aode", "tree", "svm"];
let table = null;
let target = null;
let wantedModel = 0;
const kinds = new Map();

export function startView(go) {
  const box = h("div", { class: "stack" });
  const redraw = () => clear(box, table ? chosen(redraw, go) : drop(redraw));
  redraw();
  return [h("header", { class: "head" }, h("div", {}, h("h1", {}, t("From a table to a model")), h("p", {}, t("Nothing leaves this machine: the table is read by the service that shows this page.")))), box];
}

function drop(redraw) {
  const said = h("p", { class: "wrong", role: "alert" }), reads = h("p", { class: "note", role: "status" }), id = freshId("file");
  const take = async (file) => {
    if (!file) return;
    said.textContent = "";
    reads.textContent = t("Reading {0} …", short(file.name, 40));
    zone.setAttribute("aria-busy", "true");
    try {
      table = await asked(`/studio/table?name=${encodeURIComponent(file.name.slice(0, 200))}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file });
      target = table.target;
      kinds.clear();
      redraw();
    } catch (error) { said.textContent = error.message; }
    reads.textContent = "";
    zone.removeAttribute("aria-busy");
  };
  const zone = h("div", { class: "drop", on: {
    dragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    dragleave: () => zone.classList.remove("over"),
    drop: (event) => { event.preventDefault(); zone.classList.remove("over"); take(event.dataTransfer.files[0]); },
  } }, h("h2", {}, t("Drop a table here")), h("p", {}, t("CSV of any dialect, TSV, Parquet, Arrow or JSON lines, packed or not.")), h("label", { for: id }, t("or choose a file")),
  h("input", { id, type: "file", on: { change: (event) => take(event.target.files[0]) } }), reads, said);
  return zone;
}

const MARKS = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces" };

function dialectOf({ format: kind, encoding, delimiter }) {
  if (delimiter === null) return String(kind).slice(0, 20);
  return t("{0}, separated by {1}", String(encoding).toUpperCase(), MARKS[delimiter] ? t(MARKS[delimiter]) : t("“{0}”", delimiter));
}

function chosen(redraw, go) {
  const names = table.columns.map((column) => column.name), again = () => clear(sheet, lines());
  const sheet = h("tbody", {});
  const lines = () => table.columns.map((column) => {
    const own = kinds.get(column.name) || column.kind, is = column.name === names[target];
    return h("tr", {}, h("th", { scope: "row" }, is ? h("mark", {}, named(column.name, 40)) : named(column.name, 40)),
      h("td", { class: "left" }, is ? t("target") : h("select", { "aria-label": t("kind of {0}", column.name.slice(0, 60)), "data-kind": column.name.slice(0, 60), on: { change: (event) => { const kind = KINDS[Number(event.target.value)]; if (kind === column.kind) kinds.delete(column.name); else kinds.set(column.name, kind); } } }, KINDS.map((kind, k) => h("option", { value: String(k), selected: kind === own }, t(kind))))),
      h("td", { class: "left" }, h("span", { class: "note" }, is ? "" : reasonText(column.why))), h("td", {}, column.levels === null ? "" : whole(column.levels)), h("td", {}, column.gaps === null ? "" : whole(column.gaps)),
      h("td", { class: "left" }, named(column.examples.map(shownCell).join(", "), 50)));
  });
  again();
  const train = work(t("Train"), "train", () => { location.hash = "#overview"; location.reload(); }, () => ({ target: names[target], model: MODELS[wantedModel], kinds: Object.fromEntries([...kinds].filter(([name]) => name !== names[target])) }));
  return [
    h("section", { class: "card" }, h("h2", {}, named(table.name, 60)), h("p", {}, t("{0} rows, {1} columns, {2}.", whole(table.rows), whole(names.length), dialectOf(table))), table.notes.length ? h("ul", { class: "odd" }, table.notes.map((note) => h("li", {}, reasonText(note)))) : null,
      h("div", { class: "row" }, selectOf(t("What is to be predicted?"), names, target ?? names.length - 1, (k) => { target = k; again(); }, { "data-use": "target" }), selectOf(t("by"), MODELS.map((each) => t(each)), wantedModel, (k) => { wantedModel = k; }, { "data-use": "model" }), h("button", { on: { click: () => { table = null; redraw(); } } }, t("Another table")))),
    h("section", { class: "card" }, h("h2", {}, t("What the columns are taken for")), h("p", {}, t("Change a kind where you know better.")), h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("column"), t("kind"), t("why"), t("values"), t("gaps"), t("such as")].map((each, k) => h("th", { scope: "col", class: k === 3 || k === 4 ? null : "left" }, each)))), sheet)),
      table.more ? h("p", { class: "note" }, t("… and {0} more", whole(table.more))) : null),
    h("section", { class: "card" }, h("h2", {}, t("Train and evaluate")), h("p", {}, t("The model learns from all rows; its quality is measured on rows that were held out.")), train),
    names.length ? null : empty(t("The table has no columns.")), h("p", { class: "note" }, table.bytes < 1e6 ? t("{0} kB were read.", whole(table.bytes / 1e3)) : t("{0} MB were read.", figure(table.bytes / 1e6, 2))),
  ];
}
