// Longer work of the service: started by a button, with its progress; what it found is handed on.

import { clear, h } from "./dom.js";
import { t } from "./language.js";

export async function asked(address, options) {
  const answer = await fetch(address, options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || t("The service did not answer."));
  return found;
}

export function work(label, kind, use, given = () => ({})) {
  const box = h("div", { role: "status" });
  const button = h("button", { class: "main", "data-work": kind, on: { click: () => run(box, kind, given(), use, button).catch((error) => say(box, button, error)) } }, label);
  clear(box, button);
  return box;
}

function say(box, button, error) { clear(box, h("p", { class: "wrong" }, error.message), button); button.disabled = false; }

async function run(box, kind, given, use, button) {
  const bar = h("progress", { max: "1", "aria-label": t("Progress") }), told = h("p", { class: "note" });
  clear(box, bar, told);
  const { job } = await asked(`/studio/${kind}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(given) });
  for (;;) {
    const found = await asked(`/studio/jobs/${job}`);
    if (found.state === "failed") throw new Error(found.error);
    if (found.state === "done") { clear(box, button); use(found.result); return; }
    if (found.share !== null) bar.value = found.share;
    told.textContent = found.step ? t(found.step) : "";
    await new Promise((ready) => { setTimeout(ready, 250); });
  }
}
