// The first page, without any model: drop a table, see what its columns are and why, choose the target, train.

import { clear, empty, freshId, h, named, selectOf, short } from "./dom.js";
import { figure, shownCell, whole } from "./format.js";
import { reasonText, t } from "./language.js";
import { offered } from "./offered.js";
import { refused } from "./refusals.js";
import { joined, markName } from "./remedies.js";
import { asked, work } from "./work.js";

const KINDS = ["numeric", "nominal", "text", "date", "ignored"];
const MODELS = ["auto", "naive", "evidence", "full", "aode", "tree", "svm"];
const kinds = new Map();
let table = null;
let target = null;
let wantedModel = 0;
// The file that was dropped last, what has been said of how to read it, and what was wrong with it.
let droppedFile = null;
let reading = {};
let trouble = null;
let dropUnlabelled = false;

offered.start = (go) => {
  const box = h("div", { class: "stack" });
  const redraw = () => clear(box, table ? chosen(redraw, go) : drop(redraw));
  redraw();
  return [h("header", { class: "head" }, h("div", {}, h("h1", {}, t("From a table to a model")), h("p", {}, t("Nothing leaves this machine: the table is read by the service that shows this page.")))), box];
};

// Have the service read the file; what is known of the columns is kept where it is the same file, read in another way.
async function readAgain() {
  const query = new URLSearchParams({ name: droppedFile.name.slice(0, 200), reading: JSON.stringify(reading) });
  const found = await asked(`/studio/table?${query}`, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: droppedFile });
  const before = table && target !== null ? table.columns[target].name : null, place = found.columns.findIndex((column) => column.name === before);
  table = found;
  target = place < 0 ? found.target : place;
}

function forget() { table = target = droppedFile = trouble = null; reading = {}; dropUnlabelled = false; kinds.clear(); }

function drop(redraw) {
  const reads = h("p", { class: "note", role: "status" }), id = freshId("file"), said = h("div", { role: "alert" });
  const show = () => clear(said, trouble && h("p", { class: "wrong" }, h("bdi", {}, short(droppedFile.name, 40)), ": ", trouble.found ? offered.refusal(trouble.found) : trouble.message), trouble && refused(trouble.found, (way) => { reading = joined(reading, way.reading); take(); }));
  const take = async () => {
    trouble = null;
    show();
    reads.textContent = t("Reading {0} …", short(droppedFile.name, 40));
    zone.setAttribute("aria-busy", "true");
    try { await readAgain(); redraw(); } catch (error) { trouble = error; show(); }
    reads.textContent = "";
    zone.removeAttribute("aria-busy");
  };
  const begin = (other) => { if (other) { forget(); droppedFile = other; take(); } };
  const zone = h("div", { class: "drop", on: {
    dragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    dragleave: () => zone.classList.remove("over"),
    drop: (event) => { event.preventDefault(); zone.classList.remove("over"); begin(event.dataTransfer.files[0]); },
  } }, h("h2", {}, t("Drop a table here")), h("p", {}, t("CSV of any dialect, TSV, Excel, Parquet, Arrow or JSON lines, packed or not.")), 
  h("input", { id, type: "file", class: "unseen", on: { change: (event) => { begin(event.target.files[0]); event.target.value = ""; } } }), h("label", { for: id, class: "button" }, t("Choose a file")), reads, said,
    h("ol", { class: "steps" }, [t("What each column is taken for, and why"), t("What is to be predicted, and by which model"), t("How good it is, and what it has learned")].map((each) => h("li", {}, each))));
  show();
  return zone;
}

function dialectOf({ format: kind, encoding, delimiter }) {
  if (delimiter === null) return String(kind).slice(0, 20);
  return t("{0}, separated by {1}", String(encoding).toUpperCase(), markName(delimiter));
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
  const given = () => ({ target: names[target], model: MODELS[wantedModel], kinds: Object.fromEntries([...kinds].filter(([name]) => name !== names[target])), drop_unlabelled: dropUnlabelled });
  const mend = (found) => refused(found, async (way) => {
    if (way.dropUnlabelled) dropUnlabelled = true;
    else {
      reading = joined(reading, way.reading);
      try { await readAgain(); } catch (error) { table = null; trouble = error; redraw(); return; }
      redraw();
    }
    document.querySelector("[data-work=train]").click();
  });
  const train = work(t("Train"), "train", () => { location.hash = "#overview"; location.reload(); }, given, mend);
  const notes = [...table.notes.map((note) => reasonText(note)), ...(table.left_out ? [t("{0} lines that cannot be read are left out.", whole(table.left_out))] : [])];
  return [
    h("div", { class: "grid even" }, h("section", { class: "card w7" }, h("h2", {}, named(table.name, 60)), h("p", {}, t("{0} rows, {1} columns, {2}.", whole(table.rows), whole(names.length), dialectOf(table))), notes.length ? h("ul", { class: "odd" }, notes.map((note) => h("li", {}, note))) : null,
      h("div", { class: "row" }, selectOf(t("What is to be predicted?"), names, target ?? names.length - 1, (k) => { target = k; dropUnlabelled = false; again(); }, { "data-use": "target" }), selectOf(t("by"), MODELS.map((each) => t(each)), wantedModel, (k) => { wantedModel = k; }, { "data-use": "model" }), h("button", { on: { click: () => { forget(); redraw(); } } }, t("Another table")))),
      h("section", { class: "card w5" }, h("h2", {}, t("Train and evaluate")), h("p", {}, t("The model learns from all rows; its quality is measured on rows that were held out.")), train)),
    h("section", { class: "card" }, h("h2", {}, t("What the columns are taken for")), h("p", {}, t("Change a kind where you know better.")), h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("column"), t("kind"), t("why"), t("values"), t("gaps"), t("such as")].map((each, k) => h("th", { scope: "col", class: k === 3 || k === 4 ? null : "left" }, each)))), sheet)),
      table.more ? h("p", { class: "note" }, t("… and {0} more", whole(table.more))) : null),
    names.length ? null : empty(t("The table has no columns.")), h("p", { class: "note" }, table.bytes < 1e6 ? t("{0} kB were read.", whole(Math.max(table.bytes / 1e3, 1))) : t("{0} MB were read.", figure(table.bytes / 1e6, 2))),
  ];
}
