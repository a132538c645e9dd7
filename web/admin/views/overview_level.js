// The load level: how high, since when, why, and how it went.

import { el, put } from "../dom.js";
import { Chart } from "../chart.js";
import { moment } from "../time.js";
import { causeIn } from "./cause.js";
import { levelTag } from "./level.js";

export function levelCard(ctx) {
  const { words, lang } = ctx;
  const now = el("p", { class: "now" }), by = el("dl", { class: "pairs" });
  const chart = new Chart(words, { label: words.level, least: 3 });
  const history = el("ul", { class: "plain" });
  const node = el("section", { class: "card" }, el("header", {}, el("h2", {}, words.level), el("a", { href: "#/valve" }, words.toValve)),
    now, by, chart.node, el("details", {}, el("summary", {}, words.changes), history));
  return {
    node,
    draw: () => chart.draw(ctx.live.values("level")),
    set(o) {
      const changes = (o.level_changes ?? []).toReversed(), last = changes[0];
      put(now, levelTag(words, o.level), " ", last ? [`${causeIn(words, lang, last.cause)}, `, moment(last.at, lang)] : words.noChanges);
      put(by, ["high", "normal", "low"].filter((lane) => lane in (o.levels ?? {})).map((lane) => el("div", {}, el("dt", {}, words.lanes[lane]), el("dd", {}, o.levels[lane]))));
      put(history, changes.length === 0 ? el("li", { class: "soft" }, words.noChanges)
        : changes.slice(0, 20).map((c) => el("li", {}, moment(c.at, lang), ` ${words.lanes[c.lane] ?? c.lane}: ${c.from} → ${c.to} `, el("span", { class: "soft" }, causeIn(words, lang, c.cause)))));
    },
  };
}
