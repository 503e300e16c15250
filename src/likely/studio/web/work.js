// Longer work of the service: started by a button, with its progress; what it found is handed on.

import { clear, empty, h, short } from "./dom.js";
import { percent, whole } from "./format.js";
import { language, t } from "./language.js";
import { offered } from "./offered.js";
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

// A sentence of the library is in English; elsewhere the page says so.
export function librarySays(sentence) { return language() === "en" ? sentence : t("The service says: {0}", sentence); }

export async function asked(address, options) {
  let answer, found;
  try { answer = await fetch(address, options); found = await answer.json(); } catch { throw new Error(t("The service did not answer. Is it still running?")); }
  if (!answer.ok) throw refusedBecause(found);
  return found;
}

function refusedBecause(found) { return Object.assign(new Error(offered.refusal(found)), { found }); }
function sent(content) { return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content) }; }

// What goes on, by the name of the step.
const DOING = {
  reading: (done) => (done ? t("Reading rows: {0}", whole(done)) : t("Reading the table")),
  learning: (done) => (done ? t("Counting rows: {0}", whole(done)) : t("Counting")),
  fitting: () => t("Learning"),
  growing: () => t("growing trees"),
  fold: (done, total) => t("Evaluating: fold {0} of {1}", whole(Math.min(done + 1, total)), whole(total)),
  judging: () => t("Evaluating on rows held out"),
  drawing: () => t("Drawing the page"),
  comparing: (done, total) => (total ? t("Comparing: model {0} of {1}", whole(Math.min(done + 1, total)), whole(total)) : t("Comparing")),
  curve: () => t("Learning from more and more rows"),
};
DOING.split = DOING.judging;
DOING.row = DOING.judging;

function stepText({ step, done, total }) {
  if (DOING[step]) return DOING[step](done, total);
  return total ? t("Step {0} of {1}: {2}", whole(done + 1), whole(total), t(step)) : t(step || "Waiting");
}

// Work that goes on, by its kind: where it is shown may be drawn anew meanwhile.
const going = new Map();

// A button that begins work; `mend` makes what is offered where it is refused.
export function work(label, kind, use, given = () => ({}), mend = () => null) {
  const box = h("div", {});
  const button = h("button", { class: "main", "data-work": kind, on: { click: () => run(kind, { box, button, use, mend }, given()) } }, label);
  const already = going.get(kind);
  if (already) { Object.assign(already, { box, button, use, mend }); showBar(already); } else clear(box, button);
  return box;
}

function showBar(at) {
  at.bar = h("progress", { max: "1", "aria-label": t("Progress") });
  at.told = h("span", { class: "note", role: "status" });
  at.stop = h("button", { "data-stop": "", disabled: at.isStopping, on: { click: () => stop(at) } }, t("Stop"));
  clear(at.box, at.bar, h("div", { class: "row working" }, at.told, at.stop));
  if (at.found) tell(at, at.found);
}

function tell(at, found) {
  at.found = found;
  if (found.share !== null) at.bar.value = found.share; else at.bar.removeAttribute("value");
  const text = at.isStopping ? t("Stopping when this step is done …") : found.share === null ? stepText(found) : `${stepText(found)} · ${percent(Math.floor(100 * found.share) / 100)}`;
  if (at.told.textContent !== text) at.told.textContent = text;
}

async function stop(at) {
  at.isStopping = at.stop.disabled = true;
  if (at.found) tell(at, at.found);
  try { await asked(`/studio/jobs/${at.job}/stop`, sent({})); } catch { /* it is over, or nobody answers: the next question will tell */ }
}

async function run(kind, place, given) {
  const at = { ...place, isStopping: false };
  going.set(kind, at);
  showBar(at);
  let said = null;
  try {
    at.job = (await asked(`/studio/${kind}`, sent(given))).job;
    for (;;) {
      const found = await asked(`/studio/jobs/${at.job}`);
      if (found.state === "failed") throw refusedBecause(found);
      if (found.state === "done") { going.delete(kind); clear(at.box, at.button); at.use(found.result); return; }
      if (found.state === "stopped") { said = h("p", { class: "note", role: "status" }, t("Stopped; nothing has changed.")); break; }
      tell(at, found);
      await new Promise((ready) => { setTimeout(ready, 250); });
    }
  } catch (error) { said = h("div", { role: "alert" }, h("p", { class: "wrong" }, error.message), at.mend(error.found)); }
  going.delete(kind);
  clear(at.box, said, at.button);
  at.button.focus();
}
