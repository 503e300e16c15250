// Elements of HTML and SVG. Children that are no elements become text, so a name from data stays a name.

import { t, worded } from "./language.js";

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (name === "style") for (const [property, set] of Object.entries(value)) element.style.setProperty(property, set);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "selected" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

export function h(name, attributes, ...children) { return filled(document.createElement(name), attributes, children); }
export function s(name, attributes, ...children) { return filled(document.createElementNS(SVG, name), attributes, children); }

// A name for one line: printable, cut in its middle where it is too long.
export function short(text, longest = 60) {
  const plain = String(worded(text)).slice(0, 4000).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\s]+/gu, " ").trim() || t("(empty)");
  const letters = [...plain];
  if (letters.length <= longest) return plain;
  const tail = Math.floor(longest / 3);
  return `${letters.slice(0, longest - 1 - tail).join("").trimEnd()}…${letters.slice(-tail).join("").trimStart()}`;
}

// The same as an element that keeps its own direction; the whole of it (or much of it) is told on hovering.
export function named(text, longest = 60) {
  const shown = short(text, longest);
  return h("bdi", { title: shown === String(worded(text)) ? null : short(text, 300) }, shown);
}

export function clear(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function card(width, title, note, ...children) {
  return h("section", { class: `card ${width}` }, title && h("h2", {}, title), note && h("p", {}, note), ...children);
}

export function empty(...children) { return h("div", { class: "empty" }, ...children.map((child) => (child instanceof Node ? child : h("p", {}, child)))); }

let lastId = 0;
export function freshId(what) { lastId += 1; return `${what}-${lastId}`; }

export function selectOf(label, options, chosen, act, more = {}) {
  const id = freshId("select");
  const select = h("select", { id, on: { change: (event) => act(Number(event.target.value)) }, ...more },
    options.map((text, k) => h("option", { value: String(k), selected: k === chosen }, short(text, 50))));
  return h("span", { class: "pair" }, h("label", { for: id }, label), select);
}
