// What is wrong right now.

import { el, put } from "../dom.js";
import { failure } from "../table.js";
import { moment } from "../time.js";

export function alertCard(ctx) {
  const { words, lang } = ctx;
  const list = el("ul", { class: "plain" });
  const node = el("section", { class: "card" }, el("header", {}, el("h2", {}, words.alerts), el("a", { href: "#/alerts" }, words.toAlerts)), el("div", { role: "status" }, list));
  let asked = false;
  const set = (a) => {
    if (!a) return;
    put(list, a.firing.length === 0 ? el("li", { class: "good" }, words.noAlerts)
      : a.firing.map((f) => el("li", {}, el("span", { class: `tag ${f.severity === "critical" ? "bad" : "warn"}` }, words.severity[f.severity] ?? f.severity),
        ` ${f.summary?.[lang] ?? f.name} `, moment(f.since, lang))));
  };
  return {
    node,
    set(a) {
      set(a);
      if (a || asked) return;
      asked = true; // no stream has told them yet
      ctx.api.get("alerts").then((got) => set(ctx.live.alerts ?? got), (problem) => put(list, el("li", {}, failure(words, problem))));
    },
  };
}
