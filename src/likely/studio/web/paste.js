// A pasted row: cells in the order of the columns, or "name: value" pairs, or JSON; or a head and a row of a table.

import { t } from "./language.js";
import { readCell, state } from "./state.js";

function cut(text) {
  const mark = ["\t", ";", ","].find((each) => text.includes(each));
  if (!mark) return [text];
  const cells = [];
  let cell = "", quoted = false;
  for (let k = 0; k < text.length; k++) {
    const letter = text[k];
    if (letter === '"') { if (quoted && text[k + 1] === '"') { cell += '"'; k++; } else quoted = !quoted; }
    else if (letter === mark && !quoted) { cells.push(cell); cell = ""; }
    else cell += letter;
  }
  return [...cells, cell].map((each) => each.trim());
}

function read(pairs) {
  const cells = [];
  for (const [name, text] of pairs) {
    const column = state.byName.get(name);
    if (!column || column.kind === "ignored") continue;
    const cell = readCell(column, text === null || text === undefined ? "" : String(text));
    if (cell === undefined) return { wrong: t("“{0}” is not a number.", String(text).slice(0, 30)) };
    cells.push([name, cell]);
  }
  return cells.length ? { cells } : { wrong: t("None of these names is a column of the model.") };
}

export function pasted(given) {
  const text = given.trim();
  if (!text) return { wrong: t("There is nothing to read.") };
  if (text.startsWith("{")) {
    try { return read(Object.entries(JSON.parse(text))); } catch { return { wrong: t("This is no JSON object.") }; }
  }
  const lines = text.split(/\r?\n/).filter(Boolean);
  if (lines.length === 2 && cut(lines[0]).some((name) => state.byName.has(name))) {
    const cells = cut(lines[1]);
    return read(cut(lines[0]).map((name, k) => [name, cells[k] ?? ""]));
  }
  const cells = cut(lines[0]), names = state.features.map((column) => column.name);
  if (cells.length === names.length) return read(names.map((name, k) => [name, cells[k]]));
  return { wrong: t("The row has {0} cells, the model reads {1} columns.", cells.length, names.length) };
}
