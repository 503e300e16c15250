// Longer work of the service: started by a button, with its progress; what it found is handed on.

import { clear, empty, h, short } from "./dom.js";
import { whole } from "./format.js";
import { language, t } from "./language.js";
import { state } from "./state.js";

// Why the page does not score a model itself, and what to run instead.
const BY_SERVICE = {
  size: "This model is too large for a page. Open it with the service:",
  words: "This model cuts texts in a way that only Python knows (stems, lemmas, characters, folded accents). Open it with the service:",
  kind: "This model is of a kind that only Python scores. Open it with the service:",
};

export function byService() {
  return empty(t(BY_SERVICE[state.model.scorer.why] || BY_SERVICE.kind), h("p", {}, h("code", {}, `likely studio ${short(state.model.model.name, 40)}`)));
}

// What the service refuses, by its code; a sentence of the library stays in English, below what it is about.
const REFUSED = {
  busy: "The studio is busy; wait until what was begun is done.", "no job": "There is no such work.", "no model": "There is no model here yet: drop a table and train one.",
  "no rows": "The table has no rows.", columns: "The table has more than {0} columns.", "no table": "Drop a table first.", kind: "“{0}” is no kind of a column.",
  "no labels": "There are no rows with labels here: start the studio with --data.", "no column": "The table has no column “{0}”.", empty: "The file is empty.", failed: "The work failed; the log of the service says why.",
};
const ABOUT = {
  file: "The file cannot be read as a table.", schema: "The table does not fit.", settings: "This setting makes no sense here.", data: "The data cannot be learned from.",
};

// A sentence of the library is in English; elsewhere the page says so.
export function librarySays(sentence) { return language() === "en" ? sentence : t("The service says: {0}", sentence); }

export function refusalText({ error, code, facts }) {
  if (REFUSED[code]) return t(REFUSED[code], ...(facts || []).map((fact) => (typeof fact === "number" ? whole(fact) : short(fact, 60))));
  if (ABOUT[code] && language() !== "en") return `${t(ABOUT[code])} ${librarySays(error)}`;
  return error ? librarySays(error) : t("The service did not answer.");
}

export async function asked(address, options) {
  let answer, found;
  try { answer = await fetch(address, options); found = await answer.json(); } catch { throw new Error(t("The service did not answer. Is it still running?")); }
  if (!answer.ok) throw new Error(refusalText(found));
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
    if (found.state === "failed") throw new Error(refusalText(found));
    if (found.state === "done") { clear(box, button); use(found.result); return; }
    if (found.share !== null) bar.value = found.share;
    told.textContent = found.step ? t(found.step) : "";
    await new Promise((ready) => { setTimeout(ready, 250); });
  }
}
