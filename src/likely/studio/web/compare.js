// All kinds of model on the same folds: who is best, and what is only noise.

import { plot, roomIn } from "./charts.js";
import { card, empty, h, named, s, short } from "./dom.js";
import { decimals } from "./format.js";
import { reasonText, t } from "./language.js";
import { state } from "./state.js";
import { librarySays, work } from "./work.js";

export function comparisonView(go, width) {
  const found = state.model.comparison;
  const head = h("header", { class: "head" }, h("div", {}, h("h1", {}, t("Comparison")), h("p", {}, t("Every kind of model, on the same folds. A difference within the noise does not count."))));
  if (!found) return [head, state.served && state.model.rows ? card("", t("Compare"), t("Each model is trained on the folds of your rows; that takes a while."), work(t("Compare models"), "compare", (got) => { state.model.comparison = got.comparison; go("comparison"); })) : empty(t("Open the studio with rows whose class is known:"), h("p", {}, h("code", {}, "likely studio MODEL --data rows.csv")))];
  const lines = found.lines.filter((each) => !each.reason), failed = found.lines.filter((each) => each.reason);
  const room = roomIn(width, 900), high = Math.max(...lines.map((each) => each.high ?? 0), 1e-6), low = Math.min(...lines.map((each) => each.low ?? 0), 0);
  const names = (each) => String(each.classifier ?? each.index ?? each.name);
  return [head, h("div", { class: "grid" }, card("", t("Leaderboard"), `${reasonText(found.how)}. ${t("The simplest that is as good as the best: {0}.", short(t(found.simplest), 30))}`,
    h("div", { class: "scroll", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, [t("model"), t("error"), t("log loss"), t("log loss worse than the best by"), t("fit in s")].map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", {}, lines.map((each) => h("tr", {}, h("th", { scope: "row" }, names(each) === found.simplest ? h("mark", {}, named(t(names(each)), 30)) : named(t(names(each)), 30)), h("td", {}, decimals(each.error)), h("td", {}, decimals(each.log_loss)), h("td", {}, names(each) === found.best ? t("the best") : `${decimals(each.difference)} (${decimals(each.low)} – ${decimals(each.high)})${each.within_noise ? ` ${t("noise")}` : ""}`), h("td", {}, decimals(each.fit_seconds))))))),
    plot({ width: room, height: 40 * lines.length + 50, x: [low, high], y: [0, lines.length], yTicks: [], title: t("Leaderboard"), xLabel: t("log loss worse than the best by (95% interval)") }, (svg, across) => {
      svg.append(s("line", { x1: across(0), x2: across(0), y1: 0, y2: 40 * lines.length, stroke: "var(--ink)" }));
      lines.forEach((each, k) => {
        const y = 22 + 40 * k, isSimplest = names(each) === found.simplest, colour = isSimplest || each.within_noise ? "var(--ink)" : "var(--muted)", from = across(each.low), aside = from - across(0) < 4 ? 8 : 0;
        svg.append(s("line", { x1: across(each.low), x2: across(each.high), y1: y, y2: y, stroke: colour, "stroke-width": 3 }), s("circle", { cx: across(each.difference), cy: y, r: 6, fill: isSimplest ? "var(--accent)" : colour, stroke: colour, "stroke-width": 2 }), s("text", { x: Math.min(from + aside, room - 8 * short(t(names(each)), 30).length), y: y - 10, class: "halo" }, short(t(names(each)), 30)));
      });
    }), failed.length ? h("p", { class: "note" }, failed.map((each) => `${short(t(names(each)), 30)}: ${librarySays(each.reason)}`).join(" · ")) : null))];
}
