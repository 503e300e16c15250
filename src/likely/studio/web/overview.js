// What was learned, how good it is, which columns tell most, what looks odd.

import { bars, legend } from "./charts.js";
import { card, empty, h, named, short } from "./dom.js";
import { asDate, decimals, figure, share, signed, whole } from "./format.js";
import { reasonText, t } from "./language.js";
import { labels, state } from "./state.js";

export function overview(go) {
  const { model } = state, told = model.model;
  const isOdd = model.suspicions.length > 0;
  return [
    h("header", { class: "head" }, h("div", {}, h("h1", {}, told.target ? t("Predicts “{0}”", short(told.target, 60)) : t("Predicts a class")),
      h("p", {}, t("{0}, learned from {1} rows", t(told.title), whole(told.rows)),
        told.sources.length ? [" ", t("of"), " ", named(told.sources.slice(0, 3).join(", "), 80)] : null)),
      facts(model), state.served ? h("a", { class: "button noprint", href: "/studio/model", download: true, id: "download" }, t("Download the model")) : null),
    h("div", { class: "grid" }, quality(model, go), h("div", { class: "stack w7" }, isOdd ? odd(model, go) : null, model.image ? null : columns(go), isOdd ? null : odd(model, go)), h("div", { class: "stack w5" }, classes(model), about(model))),
  ];
}

function facts(model) {
  const each = [[whole(model.model.rows), t("rows learned")], [whole(model.classes.length), t("classes")], [whole(model.n_columns), t("columns")]];
  if (model.pairs.length) each.push([whole(model.pairs.length), t("interactions")]);
  if (state.rules.form === "tree") each.push([whole(state.rules.column.length), t("nodes")]);
  if (state.rules.form === "svm") each.push([whole(state.rules.support), t("support vectors")]);
  return h("div", { class: "facts" }, each.map(([number, what]) => h("div", { class: "fact" }, h("b", {}, number), h("span", {}, what))));
}

const SHOWN = [["accuracy", "Accuracy", share], ["log_loss", "Log loss", decimals], ["roc_auc", "Area under ROC", decimals], ["calibration_error", "Calibration error", decimals]];

function quality(model, go) {
  const found = model.evaluation;
  if (!found) {
    return card("", t("How good is it?"), null, empty(t("This model has not been evaluated yet."),
      h("p", {}, h("code", {}, "likely studio MODEL --data rows.csv"))));
  }
  const byName = new Map(found.figures.map((each) => [each.name, each]));
  const guesses = guessesOf(found);
  return card("", t("How good is it?"), `${howWords(found)} ${found.honest ? "" : t("It may have learned these rows, so the figures may flatter it.")}`,
    h("div", { class: "facts measured" }, SHOWN.filter(([name]) => byName.has(name)).map(([name, label, form]) => measured(byName.get(name), t(label), form, guesses[name]))),
    h("div", { class: "row" }, h("button", { on: { click: () => go("evaluation") } }, t("Look closer")), h("span", { class: "note legend-guess" }, h("span", { class: "guess", "aria-hidden": "true" }), t("Yellow: the baseline, which looks at no column and knows how common each class is."))));
}

// What they reach who look at no column: they know how common each class is, and name the most common one.
function guessesOf({ confusion }) {
  const [n, m] = confusion.shape, rows = Array.from({ length: n }, (_, c) => confusion.subarray(c * m, (c + 1) * m).reduce((a, b) => a + b, 0)), all = rows.reduce((a, b) => a + b, 0) || 1;
  return { accuracy: Math.max(...rows) / all, log_loss: rows.reduce((sum, own) => (own > 0 ? sum - (own / all) * Math.log(own / all) : sum), 0), roc_auc: 0.5 };
}

// A figure, where it lies with its interval, and what guessing would reach.
function measured({ name, value, low, high }, label, form, guess) {
  const most = name === "accuracy" || name === "roc_auc" ? 1 : Math.max(1.15 * Math.max(value, high ?? 0, guess ?? 0), 0.2), at = (number) => `${Math.min((100 * number) / most, 100)}%`;
  return h("div", { class: "fact" }, h("b", {}, form(value)), h("span", {}, label), low !== undefined ? h("small", {}, t("{0} to {1}", form(low), form(high))) : null,
    h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "fill", style: { width: at(value) } }),
      low !== undefined ? h("span", { class: "whisker", style: { left: at(low), width: `${(100 * (high - low)) / most}%` } }) : null, guess !== undefined ? h("span", { class: "guess", style: { left: at(guess) } }) : null),
    h("small", {}, guess === undefined ? t("less is better") : t("baseline: {0}", form(guess)), name === "log_loss" ? ` · ${t("less is better")}` : ""));
}

export function howWords(found) {
  return t("{0} rows of {1}, {2}.", whole(found.rows), short(found.data || t("the data"), 40), reasonText(found.how));
}

function classes(model) {
  const all = labels();
  const lines = model.classes.map((each, place) => ({ name: all[place], size: each.prior ?? 0, colour: place,
    text: each.rows === null || each.rows === undefined ? share(each.prior) : `${share(each.prior)} · ${whole(each.rows)}` }));
  const shown = [...lines].sort((a, b) => b.size - a.size).slice(0, 12);
  if (model.classes.every((each) => each.prior === null)) return card("", t("Classes"), null, legend(all.slice(0, 30)), all.length > 30 ? h("p", { class: "note" }, t("… and {0} more", whole(all.length - 30))) : null);
  return card("", t("Classes"), t("How common each class is before any column is looked at."), bars(shown, { most: Math.max(...shown.map((each) => each.size)) < 0.25 ? undefined : 1, label: t("Classes") }),
    lines.length > 12 ? h("p", { class: "note" }, t("… and {0} more", whole(lines.length - 12))) : null);
}

function columns(go) {
  const best = state.ranked.filter((column) => column.bits !== undefined).slice(0, 12);
  if (!best.length) {
    const all = state.features.slice(0, 12).map((column) => h("li", {}, h("button", { class: "name", on: { click: () => go("column", state.model.columns.indexOf(column)) } }, named(column.name, 40)), h("span", { class: "note" }, t(column.kind))));
    return card("", t("Columns"), t("What they tell is not known without rows whose class is known."), h("ul", { class: "bars listed", "aria-label": t("Columns") }, all),
      state.features.length > 12 ? h("p", { class: "note" }, t("… and {0} more", whole(state.features.length - 12))) : null);
  }
  const lines = best.map((column) => ({ name: column.name, size: column.bits, text: t("{0} bits", column.bits > 0 && column.bits < 0.0005 ? `< ${decimals(0.001)}` : decimals(column.bits)),
    more: column.kind === "text" ? t("best word") : null, act: () => go("column", state.model.columns.indexOf(column)) }));
  return card("", t("Which columns tell most"), `${t("What each alone tells about the class, in bits.")} ${state.model.counted_in === "data" ? t("Taken from the data, because this kind of model keeps no counts.") : ""}`, bars(lines, { label: t("Which columns tell most") }));
}

const ODD = {
  leak: (each) => t("knows {0} of the class all by itself. Does it hold what is to be predicted, or was it filled in afterwards?", share(each.share)),
  gaps: (each) => t("has informative gaps: they are {0} of the rows in one class and {1} in another.", share(Math.min(...each.shares)), share(Math.max(...each.shares))),
  identifier: (each) => t("identifies rows: {0} of its values are different. Leave it out.", share(each.share)),
  drift: (each) => (each.moved === undefined
    ? t("has drifted: the data hold other values than those that were learned ({0} bits apart).", figure(each.bits, 2))
    : t("has drifted: its mean has moved by {0} deviations.", signed(each.moved, 1))),
};

function odd(model, go) {
  const found = model.suspicions;
  const list = found.length ? h("ul", { class: "odd" }, found.map((each) => h("li", {}, h("strong", {}, named(each.column, 50)), " ", ODD[each.kind](each), " ",
    h("button", { class: "quiet", on: { click: () => go("column", model.columns.findIndex((column) => column.name === each.column)) } }, t("Look"))))) : h("p", {}, t("Nothing looks odd."));
  return card("", t("What looks odd"), t("Columns that know too much or identify rows, informative gaps, data that have drifted."), list);
}

function about(model) {
  const told = model.model, lines = [[t("Model"), told.kind], [t("File"), told.name], [t("Created"), told.created ? asDate(told.created) : "–"],
    [t("Sources"), told.sources.join(", ") || "–"], [t("Settings"), told.settings], ["likely", model.likely]];
  return card("", t("About"), null, h("dl", { class: "plain" }, lines.map(([name, value]) => [h("dt", {}, name), h("dd", {}, named(value, 160))])));
}
