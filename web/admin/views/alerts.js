// What is wrong, what was, and whether the word gets out.

import { el, put } from "../dom.js";
import { Table, failure, loading } from "../table.js";
import { moment, whole } from "../time.js";
import { en, zh } from "./alerts_text.js";

export default { name: "alerts", title: { en: "Alerts", zh: "告警" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, live, api } = ctx, leaving = new AbortController();
  const said = (both) => (typeof both === "object" && both !== null ? both[lang] : both) ?? "";
  const columns = [
    { title: words.severityTitle, cell: (a) => el("span", { class: `tag ${a.severity === "critical" ? "bad" : "warn"}` }, words.severity[a.severity] ?? a.severity), sort: (a) => a.severity },
    { title: words.what, cell: (a) => [el("strong", {}, said(a.summary) || a.name), " ", el("span", { class: "soft" }, said(a.help))], sort: (a) => a.name },
    { title: words.target, cell: (a) => a.target || "–", sort: (a) => a.target },
    { title: words.measured, cell: (a) => `${whole(a.value, lang)} / ${whole(a.threshold, lang)}`, sort: (a) => a.value, number: true },
    { title: words.since, cell: (a) => moment(a.since, lang), sort: (a) => a.since },
  ];
  const firing = new Table(words, columns, { caption: words.firing, empty: words.none });
  const recent = new Table(words, [...columns, { title: words.ended, cell: (a) => moment(a.ended_at, lang), sort: (a) => a.ended_at }], { caption: words.recent, empty: words.noneEnded });
  const hooks = el("ul", { class: "plain" });
  const test = ctx.button(words.test, {}, () => ctx.act({
    title: words.test, about: words.testAbout,
    run: async ({ reason }) => {
      const sent = await api.post("alerts/test", { reason });
      return [[words.webhooks, sent?.webhooks ?? words.sent]];
    },
  }));
  let shown = false;
  const set = (a) => {
    if (!a) return;
    if (!shown) put(root, el("h2", {}, words.firing), firing.node, el("h2", {}, words.recent), recent.node, el("h2", {}, words.webhooks), hooks, test);
    shown = true;
    firing.set(a.firing);
    recent.set(a.recent);
    const known = a.webhooks ?? [];
    put(hooks, known.length === 0 ? el("li", { class: "soft" }, words.noWebhooks)
      : known.map((h) => el("li", {}, el("span", { class: `tag ${h.fault ? "bad" : "good"}` }, h.fault ? words.faulty : words.fine), ` ${h.id} `, h.fault || "",
        el("span", { class: "soft" }, ` ${words.waiting(h.waiting)} `), moment(h.at, lang))));
  };
  const load = async () => {
    try {
      const a = await api.get("alerts");
      if (!leaving.signal.aborted) set(a);
    } catch (problem) {
      put(root, failure(words, problem, load));
    }
  };
  put(root, loading(words));
  live.addEventListener("alerts", () => set(live.alerts), { signal: leaving.signal });
  load();
  return () => leaving.abort();
}
