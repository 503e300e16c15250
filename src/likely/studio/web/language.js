// English and German. English sentences are the keys; {0}, {1} stand for what changes.

import { GERMAN } from "./german.js";

let spoken = "en";
export function language() { return spoken; }
export function speak(which) {
  spoken = which === "de" ? "de" : "en";
  document.documentElement.lang = spoken;
}
export function t(english, ...given) {
  const text = spoken === "de" ? GERMAN[english] ?? english : english;
  return text.replace(/\{(\d)\}/g, (_, place) => String(given[Number(place)]));
}
