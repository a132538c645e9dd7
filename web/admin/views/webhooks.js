// Webhooks: what is sent to tenants' servers, and endpoints that want no more.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";
import { stateTabs } from "./state_tabs.js";
import { en, zh } from "./webhooks_text.js";

export default { name: "webhooks", title: { en: "Webhooks", zh: "回调" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api } = ctx, state = ctx.query.get("state") ?? "dead";
  const states = stateTabs(words.hookStates, state, (s) => ctx.go(`webhooks?state=${s}`)), off = el("section", {});
  const list = new Listing(ctx, {
    caption: words.webhooks,
    columns: [
      { title: words.type, cell: (h) => words.types[h.type] ?? h.type, sort: (h) => h.type },
      { title: words.tenant, cell: (h) => h.tenant, sort: (h) => h.tenant },
      { title: words.about, cell: (h) => (h.about.startsWith("t_") ? el("a", { class: "code", href: `#/tickets/${encodeURIComponent(h.about)}` }, h.about) : el("code", {}, h.about)) },
      { title: words.endpoint, cell: (h) => h.url || words.ownEndpoint },
      { title: words.tries, cell: (h) => h.tries, sort: (h) => h.tries, number: true },
      { title: words.lastAnswer, cell: (h) => [h.status || "–", h.fault && el("p", { class: "bad" }, h.fault)] },
      { title: words.at, cell: (h) => moment(h.at, lang), sort: (h) => h.at },
      { title: state === "waiting" ? words.nextTry : words.ended, cell: (h) => moment(h.next_at ?? h.done_at, lang) },
      { title: words.actions, cell: (h) => h.state === "dead" && ctx.button(words.replay, {}, () => replay(h)) },
    ],
    fetch: async () => {
      const page = await api.get("webhooks", { state, limit: 100 });
      states.count(page.counts, lang);
      put(off, page.off.length > 0 && [el("h2", {}, words.off), el("p", { class: "soft" }, words.offAbout), el("ul", { class: "plain" }, page.off.map((o) =>
        el("li", {}, `${o.tenant}: ${o.url} `, moment(o.at, lang), " ", ctx.button(words.enable, {}, () => enable(o)))))]);
      return { rows: page.webhooks };
    },
  });
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const replay = (h) => after(ctx.act({
    title: words.replay, about: words.replayAbout, touches: [[words.tenant, h.tenant], [words.about, h.about], [words.tries, whole(h.tries, lang)]],
    run: async ({ reason }) => { const now = await api.post(`${path("webhooks", h.id)}/replay`, { reason }); return [[words.state, words.hookStates[now.state] ?? now.state]]; },
  }));
  const enable = (o) => after(ctx.act({
    title: words.enable, about: words.enableAbout, touches: [[words.tenant, o.tenant], [words.endpoint, o.url]],
    run: async ({ reason }) => { await api.post("webhooks/endpoints/enable", { tenant: o.tenant, url: o.url, reason }); return words.done; },
  }));
  put(root, states.node, off, list.node, el("p", { class: "soft" }, words.newest100));
  list.load();
}
