// Ways out of a refusal that this page has: the same file read in another way, or rows left out.

import { short } from "./dom.js";
import { t } from "./language.js";

const MARK_NAMES = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces" };
export function markName(mark) { return MARK_NAMES[mark] ? t(MARK_NAMES[mark]) : t("“{0}”", mark); }

const ENCODINGS = [["cp1252", "Western Europe"], ["cp1250", "Central Europe"], ["cp1251", "Cyrillic"], ["koi8-r", "Cyrillic"], ["shift_jis", "Japanese"], ["gb18030", "Chinese"], ["euc-kr", "Korean"], ["mac-roman", "Macintosh"], ["utf-16", "Unicode"]];

function way(label, reading) { return { label, reading }; }
function separated(mark) { return way(t("Separated by {0}", markName(mark)), { delimiter: mark }); }
function encoded(but) { return ENCODINGS.filter(([name]) => name !== but).map(([name, where]) => way(`${name.toUpperCase()} (${t(where)})`, { encoding: name })); }
function asText(name) { return way(t("Read “{0}” as text", short(name, 30)), { types: { [name]: "text" } }); }
function asGap(cell) { return way(t("“{0}” is a gap", short(cell, 30)), { na: [cell] }); }
function decimal(mark) { return way(mark === "," ? t("Commas are decimal") : t("Points are decimal"), { decimal: mark }); }
const plainQuotes = () => way(t("Quotes are ordinary characters"), { quote: "" });
const withoutLines = () => way(t("Leave such lines out"), { rejects: "skip" });
const withoutNames = (line) => way(t("Go on without names"), { header: false, skip: line });

// By the kind of a refusal; each is given the line that is meant, then the facts.
const WAYS = {
  "unknown encoding": () => encoded(), encoding: (line, name) => encoded(name), "late byte": () => encoded("utf-16"),
  nul: () => [way(`UTF-16 (${t("Unicode")})`, { encoding: "utf-16" })],
  delimiters: (line, one, other) => [separated(one), separated(other)], spaces: () => [separated(" ")],
  "unusual delimiter": (line, mark) => [separated(mark)], "rare delimiter": (line, mark) => [separated(mark)],
  "mostly bad": () => [",", ";", "\t", "|"].map((mark) => separated(mark)),
  "too short": () => [withoutLines()], "too long": () => [withoutLines()], "endless record": () => [withoutLines()], "blank line": () => [withoutLines()],
  "after quote": () => [way(t("Backslashes escape quotes"), { escape: "\\" }), plainQuotes(), withoutLines()],
  unclosed: () => [plainQuotes(), withoutLines()], "space quote": () => [plainQuotes()],
  swallowed: () => [way(t("That is one cell"), { multiline: true }), plainQuotes(), withoutLines()],
  preamble: (line) => [way(t("Line {0} is the header", line), { skip: line - 1 })],
  "no header": () => [way(t("These are names"), { header: true }), way(t("There are no names"), { header: false })],
  header: () => [way(t("These are names"), { header: true }), way(t("There are no names"), { header: false })],
  comment: (line) => [way(t("Line {0} is the header", line), { header: true }), way(t("It is a comment"), { skip: line })],
  "no names": (line) => [withoutNames(line)], "names twice": (line) => (line ? [withoutNames(line)] : []),
  thousands: (line, name) => [asText(name)], "thousands or decimals": (line, name) => [decimal(","), asText(name)],
  "thousands and decimals": () => [decimal("."), decimal(",")], "two decimals": () => [decimal(","), decimal(".")],
  "not a number": (line, name, cell) => [asText(name), asGap(cell)], "not a whole number": (line, name, cell) => [asText(name), asGap(cell)],
  "not true or false": (line, name) => [asText(name)], "not a date": (line, name) => [asText(name)], "not a time": (line, name) => [asText(name)],
  "cell too large": (line, name, cell) => [asText(name), asGap(cell)], fraction: (line, name) => [way(t("Read “{0}” as numbers", short(name, 30)), { types: { [name]: "number" } })],
  "late cell": (line, name, at, cell) => [asText(name), asGap(cell)], "late text": (line, name) => [asText(name)],
  deep: () => [withoutLines()], "json bytes": () => [withoutLines()], "no json": () => [withoutLines()], "no object": () => [withoutLines()],
  "two objects": () => [withoutLines()], "late key": () => [withoutLines()], "late value": () => [withoutLines()],
  sheets: (line, names) => names.slice(0, 20).map((name) => way(short(name, 30), { sheet: name })),
  "no label": () => [{ label: t("Leave out rows without a target"), dropUnlabelled: true }],
};

export function remediesOf({ code, facts = [], place = {} }) { return WAYS[code] ? WAYS[code](place.line || 0, ...facts) : []; }

// What has been said of a file already, and one answer more.
export function joined(said, more) {
  return { ...said, ...more, ...(more.types ? { types: { ...said.types, ...more.types } } : {}), ...(more.na ? { na: [...(said.na || []), ...more.na] } : {}) };
}
