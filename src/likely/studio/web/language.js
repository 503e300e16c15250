// English and German. English sentences are the keys; {0}, {1} stand for what changes.

import { GERMAN_WORDS } from "./german-words.js";
import { GERMAN } from "./german.js";

let spoken = "en";
export function language() { return spoken; }
export function speak(which) {
  spoken = which === "de" ? "de" : "en";
  document.documentElement.lang = spoken;
}
// A reason in parts, each of which is a key of its own; what the page cannot word stays as it came.
export function reasonText(parts) { return parts.map((part) => (/^\d+\.\d+$/.test(part) && spoken === "de" ? part.replace(".", ",") : t(part))).join("").replace(/[\s:;,]+$/, ""); }

// Names that the package gave, not the user: parts of dates, such as "ordered: weekday", and days of the week.
const given = new Map();
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

export function takeGivenNames(columns) {
  const parts = columns.filter((column) => column.part);
  for (const { name, part: [date, part] } of parts) given.set(name, () => `${date}: ${t(part)}`);
  const foreign = columns.some((column) => !column.part && (column.values || []).some((value) => DAYS.includes(value)));
  if (parts.some((column) => column.part[1] === "weekday") && !foreign) for (const day of DAYS) given.set(day, () => t(day));
}

export function worded(name) { return given.has(name) ? given.get(name)() : name; }

// Sentences of a served page only.
const further = {};
export function takeGerman(sentences) { Object.assign(further, sentences); }

export function t(english, ...facts) {
  const text = spoken === "de" ? GERMAN[english] ?? GERMAN_WORDS[english] ?? further[english] ?? english : english;
  return text.replace(/\{(\d)\}/g, (_, place) => String(facts[Number(place)]));
}
