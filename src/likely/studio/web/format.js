// Numbers with the right digits, in the reader's language.

import { language, t, worded } from "./language.js";

const MADE = new Map();
function format(options) {
  const key = language() + JSON.stringify(options);
  if (!MADE.has(key)) {
    const made = new Intl.NumberFormat(language() === "de" ? "de-DE" : "en-GB", options);
    MADE.set(key, { format: (number) => made.format(number).replaceAll("-", "−") }); // a minus is as wide as a plus
  }
  return MADE.get(key);
}
// Years and other numbers of four digits are not cut into groups.
const LONG_ONES = { useGrouping: "min2" };

export function whole(number) { return format({ maximumFractionDigits: 0 }).format(number); }
// As people write it: 2.5 × 10⁻¹⁰.
function powered(number, digits) {
  const [mantissa, exponent] = number.toExponential(digits - 1).split("e");
  const raised = [...exponent.replace("+", "")].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  return `${format({ maximumFractionDigits: digits - 1 }).format(Number(mantissa))} × 10${raised}`;
}
export function figure(number, digits = 3) {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  if (size === 0) return format({}).format(0); // never "−0"
  if (size >= 1e7 || size < 1e-4) return powered(number, digits);
  return format({ ...LONG_ONES, maximumSignificantDigits: Math.max(digits, size >= 1 ? Math.floor(Math.log10(size)) + 1 : digits) }).format(number);
}
// A measure beside others of its kind: all have the same digits after the point.
export function decimals(number, digits = 3) {
  if (number === null || number === undefined || !Number.isFinite(number)) return figure(number, digits);
  return number !== 0 && Math.abs(number) < 0.5 * 10 ** -digits ? figure(number, 2) : format({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(number);
}
export function signed(number, digits = 2) {
  if (!Number.isFinite(number)) return number > 0 ? "+∞" : "−∞";
  return format({ minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "exceptZero" }).format(number);
}
// A share as a percentage: never "100 %" or "0 %" for what is less or more than that.
export function share(p) {
  if (p === null || p === undefined || Number.isNaN(p)) return "–";
  const written = (x, digits) => format({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(x);
  if (p > 0.9995 && p < 1) return p > 1 - 1e-5 ? `> ${written(0.99999, 3)}` : p > 0.99995 ? written(p, 3) : written(p, 2);
  if (p < 0.0005 && p > 0) return p < 1e-5 ? `< ${written(0.00001, 3)}` : written(p, 3);
  return written(p, 1);
}
// The share of a class: one that is rounded to 1 beside others that are not 0 is not certain.
export function shareIn(posterior, k) { return share(posterior[k] === 1 && posterior.some((p, c) => c !== k && p > 0) ? 1 - 1e-12 : posterior[k]); }
// Two ends of a share, which is never certain; one of them where both are written alike.
export function shareEnds(low, high) {
  const [from, to] = [low, high].map((end) => share(Math.min(Math.max(end, 1e-12), 1 - 1e-12)).replace(" ", "\u00a0"));
  return from === to ? from : `${from} – ${to}`;
}
// A share along an axis that goes to certainty: all its nines, or zeros.
export function exactly(p) { return format({ style: "percent", maximumFractionDigits: 7 }).format(p); }
// A share along an axis, where round numbers need no digits.
export function percent(p) { return format({ style: "percent", maximumFractionDigits: 1 }).format(p); }
export function asDate(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? String(text) : new Intl.DateTimeFormat(language() === "de" ? "de-DE" : "en-GB",
    { dateStyle: "medium", timeStyle: "short" }).format(date);
}
// A number as it stands in a field, where it may be changed: with the reader's decimal sign, and nothing else.
export function typed(number) {
  const plain = String(Number(number.toPrecision(9)));
  return language() === "de" ? plain.replace(".", ",") : plain;
}
// A cell as a person reads it.
export function shownCell(cell) {
  return typeof cell === "number" ? figure(cell, 6) : typeof cell === "boolean" ? (cell ? t("true") : t("false")) : cell === null || cell === undefined ? "–" : String(worded(cell));
}
