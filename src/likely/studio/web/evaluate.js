// How good the model is: curves, calibration with intervals, figures of each class, what more rows would bring.

import { classColour, classDashes, legend, pathOf, plot, roomIn } from "./charts.js";
import { confusionTable } from "./decisions.js";
import { card, empty, h, named, s } from "./dom.js";
import { decimals, figure, percent, whole } from "./format.js";
import { t } from "./language.js";
import { howWords } from "./overview.js";
import { labels, state } from "./state.js";
import { work } from "./work.js";

const NAMES = { accuracy: "Accuracy", error_rate: "Error rate", log_loss: "Log loss", brier_score: "Brier score", calibration_error: "Calibration error", roc_auc: "Area under ROC", average_precision: "Average precision", precision: "Precision", recall: "Recall", f: "F measure", expected_cost: "Expected cost", coverage: "Coverage" };

export function evaluationView(go, width) {
  const found = state.model.evaluation, all = labels();
  const head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Evaluation")), found ? h("p", {}, howWords(found), " ", found.honest ? "" : t("It may have learned these rows, so the figures may flatter it.")) : null));
  if (!found) return [head, empty(t("This model has not been evaluated yet."), h("p", {}, h("code", {}, "likely studio MODEL --data rows.csv")))];
  const room = roomIn(width, 620, true);
  return [head, h("div", { class: "grid" },
    h("div", { class: "stack w6" }, figures(found), curve(found.roc, all, room, t("ROC: each class against the rest"), t("false alarms"), t("found"), true), calibrationCard(found, room)),
    h("div", { class: "stack w6" }, classTable(found, all), curve(found.precision_recall, all, room, t("Precision and recall"), t("recall"), t("precision"), false),
      card("", t("Confusion"), t("Truths down, decisions across."), confusionTable(lines(found.confusion), all, false)), learning(room, go)))];
}

function lines(array) {
  const [n, m] = array.shape;
  return Array.from({ length: n }, (_, i) => Array.from(array.subarray(i * m, (i + 1) * m)));
}

function figures(found) {
  return card("", t("Figures"), null, h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("measure"), t("value"), t("95% interval")].map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", {}, found.figures.filter((each) => each.value !== null && NAMES[each.name] && !(each.name === "coverage" && each.value === 1)).map((each) => h("tr", {}, h("th", { scope: "row" }, t(NAMES[each.name])), h("td", {}, decimals(each.value)), h("td", { class: "muted" }, each.low === undefined ? "" : `${decimals(each.low)} – ${decimals(each.high)}`)))))));
}

function curve(points, all, room, title, xLabel, yLabel, diagonal) {
  if (!points || !points.length) return null;
  const fewer = points.length < all.length ? h("p", { class: "note" }, t("The {0} most common of {1} classes.", whole(points.length), whole(all.length))) : null;
  return card("", title, null, legend(points.map((each) => all[each.class]), points.map((each) => each.class)), fewer, plot({ width: room, height: 300, x: [0, 1], y: [0, 1], xLabel, yLabel, title }, (svg, across, up) => {
    if (diagonal) svg.append(s("line", { x1: across(0), y1: up(0), x2: across(1), y2: up(1), stroke: "var(--edge)", "stroke-dasharray": "3 4" }));
    for (const each of points) svg.append(s("path", { d: pathOf(Array.from(each.x, across), Array.from(each.y, up)), fill: "none", stroke: classColour(each.class), "stroke-width": 2, "stroke-dasharray": classDashes(each.class) }));
  }));
}

function calibrationCard(found, room) {
  if (!found.calibration.length) return null;
  const largest = Math.max(...found.calibration.map((each) => each.weight));
  return card("", t("Calibration"), t("On the line, a class is as common as its probability says; bars are 95% intervals."), plot({ width: room, height: 300, x: [0, 1], y: [0, 1], xLabel: t("probability given to the chosen class"), yLabel: t("share that was right"), title: t("Calibration"), xFormat: percent, yFormat: percent }, (svg, across, up) => {
    svg.append(s("line", { x1: across(0), y1: up(0), x2: across(1), y2: up(1), stroke: "var(--edge)", "stroke-dasharray": "3 4" }));
    for (const each of found.calibration) {
      svg.append(s("line", { x1: across(each.predicted), x2: across(each.predicted), y1: up(each.from), y2: up(each.to), stroke: "var(--ink)", "stroke-width": 2 }));
      svg.append(s("circle", { cx: across(each.predicted), cy: up(each.observed), r: 3 + 6 * Math.sqrt(each.weight / largest), fill: "var(--ink)" }, s("title", {}, t("{0} rows", whole(each.weight)))));
    }
  }));
}

function classTable(found, all) {
  const shown = found.by_class.slice(0, 40), range = (each, name) => [decimals(each[name]), h("small", {}, `${decimals(each[`${name}_low`], 2)} – ${decimals(each[`${name}_high`], 2)}`)];
  return card("", t("Each class"), null, h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("class"), t("precision"), t("recall"), "F", t("rows")].map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", {}, shown.map((each, c) => h("tr", {}, h("th", { scope: "row" }, named(all[c], 40)), h("td", { class: "value" }, range(each, "precision")), h("td", { class: "value" }, range(each, "recall")), h("td", {}, decimals(each.f)), h("td", {}, whole(each.weight))))))));
}

function learning(room, go) {
  const points = state.model.learning_curve;
  if (!points.length) {
    return card("", t("Learning curve"), t("What the model would have learned from fewer rows, and whether more would help."), state.served ? work(t("Draw it"), "curve", (found) => { state.model.learning_curve = found.curve; go("evaluation"); }) : empty(t("The service draws it: likely studio MODEL --data rows.csv")));
  }
  const xs = points.map((each) => each.rows), ys = points.map((each) => each.log_loss), most = Math.max(...ys) * 1.05;
  return card("", t("Learning curve"), t("Log loss of held-out rows, by the number of rows learned."), plot({ width: room, height: 260, x: [0, Math.max(...xs)], y: [Math.min(...ys, 0), most], xLabel: t("rows learned"), yLabel: t("log loss"), title: t("Learning curve"), xFormat: whole }, (svg, across, up) => {
    svg.append(s("path", { d: pathOf(xs.map(across), ys.map(up)), fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
    points.forEach((each) => svg.append(s("circle", { cx: across(each.rows), cy: up(each.log_loss), r: 4, fill: "var(--ink)" }, s("title", {}, `${whole(each.rows)}: ${figure(each.log_loss, 4)}`))));
  }));
}
