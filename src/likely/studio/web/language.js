// English and German. English sentences are the keys; {0}, {1} stand for what changes.

import { GERMAN } from "./german.js";

let spoken = "en";
export function language() { return spoken; }
export function speak(which) {
  spoken = which === "de" ? "de" : "en";
  document.documentElement.lang = spoken;
}
// A reason in parts, each of which is a key of its own; what the page cannot word stays as it came.
export function reasonText(parts) { return parts.map((part) => t(part)).join("").replace(/[\s:;,]+$/, ""); }

export function t(english, ...given) {
  const text = spoken === "de" ? GERMAN[english] ?? english : english;
  return text.replace(/\{(\d)\}/g, (_, place) => String(given[Number(place)]));
}
