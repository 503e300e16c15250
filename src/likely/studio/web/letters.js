// Pictures for a network: draw one, or take one of the data, and see what the network sees in it.

import { bars } from "./charts.js";
import { card, clear, empty, h, short } from "./dom.js";
import { share, whole } from "./format.js";
import { t } from "./language.js";
import { labels, state } from "./state.js";
import { asked, byService } from "./work.js";

const MOST_LETTERS = 8;

export function lettersView() {
  const { shape, range } = state.model.image, [tall, wide] = shape, [low, high] = range, names = state.features.map((column) => column.name);
  const head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Letters")), h("p", {}, t("Draw a picture, or take one from the data: the network says what it sees."))));
  if (!state.served && !state.scorer) return [head, byService()];
  const pixels = new Float64Array(tall * wide).fill(low), seen = h("div", { role: "status" }), pad = h("canvas", { class: "pad", width: wide, height: tall, tabindex: "0", role: "img", "aria-label": t("a picture to draw on") });
  const look = async () => {
    paint(pad, pixels, wide, tall, low, high);
    try {
      const posterior = await seenIn(names.map((name, k) => [name, pixels[Math.floor(k / shape[2])]]));
      const order = posterior.map((_, c) => c).sort((a, b) => posterior[b] - posterior[a]).slice(0, MOST_LETTERS), others = posterior.length - order.length;
      clear(seen, bars(order.map((c) => ({ name: labels()[c], size: posterior[c], colour: c, text: share(posterior[c]) })), { most: 1, label: t("What the network sees") }), others ? h("p", { class: "note" }, t("{0} further classes have {1} together.", whole(others), share(Math.max(0, 1 - order.reduce((sum, c) => sum + posterior[c], 0))))) : null);
    } catch (error) { clear(seen, h("p", { class: "wrong" }, error.message)); }
  };
  const nothing = () => clear(seen, empty(state.model.rows ? t("Nothing is drawn yet. Draw with a mouse or a finger, or choose a picture below.") : t("Nothing is drawn yet. Draw with a mouse or a finger.")));
  let drawing = false;
  const touch = (event) => {
    const box = pad.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * wide - 0.5, y = ((event.clientY - box.top) / box.height) * tall - 0.5, reach = Math.max(wide / 14, 0.8);
    for (let i = 0; i < tall; i++) for (let j = 0; j < wide; j++) {
      const near = Math.exp(-(((i - y) ** 2 + (j - x) ** 2) / (reach * reach)));
      pixels[i * wide + j] = Math.max(pixels[i * wide + j], low + near * (high - low));
    }
    paint(pad, pixels, wide, tall, low, high);
  };
  pad.addEventListener("pointerdown", (event) => { drawing = true; pad.setPointerCapture(event.pointerId); touch(event); });
  pad.addEventListener("pointermove", (event) => { if (drawing) touch(event); });
  pad.addEventListener("pointerup", () => { drawing = false; look(); });
  const take = (cells) => { for (let k = 0; k < pixels.length; k++) pixels[k] = Number(cells[k * shape[2]] ?? low); look(); };
  paint(pad, pixels, wide, tall, low, high);
  nothing();
  return [head, h("div", { class: "grid" }, card("w5", null, null, pad, h("div", { class: "row" }, h("button", { on: { click: () => { pixels.fill(low); paint(pad, pixels, wide, tall, low, high); nothing(); } } }, t("Clear")))), card("w7", t("What the network sees"), null, seen), examples(take, wide, tall, shape[2], low, high))];
}

async function seenIn(cells) {
  if (state.scorer) return Array.from(state.scorer.posterior(new Map(cells)));
  return (await asked("/studio/score", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ cells }) })).posterior;
}

function examples(take, wide, tall, channels, low, high) {
  const { rows } = state.model;
  if (!rows) return null;
  return card("", t("From the data: choose one"), null, h("div", { class: "row" }, rows.cells.slice(0, 40).map((cells, k) => {
    const small = h("canvas", { width: wide, height: tall, style: { width: "3rem", height: "3rem", "image-rendering": "pixelated" } });
    paint(small, cells.filter((_, at) => at % channels === 0), wide, tall, low, high);
    return h("button", { "aria-label": rows.truths.length ? short(rows.truths[k], 20) : t("row {0}", rows.numbers[k] + 1), on: { click: () => take(cells) } }, small);
  })));
}

function paint(canvas, pixels, wide, tall, low, high) {
  const context = canvas.getContext("2d"), image = context.createImageData(wide, tall);
  for (let k = 0; k < wide * tall; k++) {
    const shade = 255 - Math.round((255 * (Number(pixels[k] ?? low) - low)) / (high - low || 1));
    image.data.set([shade, shade, shade, 255], 4 * k);
  }
  context.putImageData(image, 0, 0);
}
