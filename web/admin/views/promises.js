// Promises of a full answer, and the text messages that keep them.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { Listing } from "../listing.js";
import { tabs } from "../tabs.js";
import { moment, whole } from "../time.js";
import { stateTabs } from "./state_tabs.js";
import { ticketLink, why } from "./ticket.js";
import * as shared from "./ticket_text.js";
import * as own from "./promises_text.js";

export default {
  name: "promises", title: { en: "SMS and promises", zh: "短信与承诺" },
  words: { en: { ...shared.en, ...own.en }, zh: { ...shared.zh, ...own.zh } }, mount,
};

const good = new Set(["delivered", "met"]), bad = new Set(["broken", "failed"]), again = new Set(["failed", "unknown"]);

const tag = (said, state) => el("span", { class: `tag ${good.has(state) ? "good" : bad.has(state) ? "bad" : ""}` }, said[state] ?? state);

function mount(root, ctx) {
  const part = ctx.rest[0] === "sms" ? "sms" : "promises", room = el("div", {});
  put(root, tabs("promises", { promises: ctx.words.promises, sms: ctx.words.sms }, part), room);
  if (part === "sms") outbox(room, ctx);
  else promises(room, ctx);
}

function promises(root, ctx) {
  const { words, lang, api } = ctx, status = ctx.query.get("status") ?? "broken";
  const states = stateTabs(words.promiseStates, status, (s) => ctx.go(`promises?status=${s}`));
  const list = new Listing(ctx, {
    caption: words.promises,
    columns: [
      { title: words.code, cell: (p) => el("code", {}, p.code) },
      { title: words.tenant, cell: (p) => p.tenant, sort: (p) => p.tenant },
      { title: words.promised, cell: (p) => ticketLink(p.parent) },
      { title: words.followUp, cell: (p) => ticketLink(p.ticket_id) },
      { title: words.state, cell: (p) => [tag(words.promiseStates, p.status), p.reason && el("p", { class: "soft" }, why(words, p.reason))] },
      { title: words.made, cell: (p) => moment(p.made_at, lang), sort: (p) => p.made_at },
      { title: words.due, cell: (p) => moment(p.due_at, lang), sort: (p) => p.due_at },
      { title: words.since, cell: (p) => moment(p.at, lang), sort: (p) => p.at },
    ],
    fetch: async () => {
      const page = await api.get("promises", { status, limit: 100 });
      states.count(page.counts, lang);
      return { rows: page.promises };
    },
  });
  put(root, states.node, list.node, el("p", { class: "soft" }, words.newest100));
  list.load();
}

function outbox(root, ctx) {
  const { words, lang, api } = ctx, total = el("p", { class: "soft" });
  const list = new Listing(ctx, {
    caption: words.sms,
    columns: [
      { title: words.ticket, cell: (n) => ticketLink(n.ticket_id) },
      { title: words.tenant, cell: (n) => n.tenant, sort: (n) => n.tenant },
      { title: words.to, cell: (n) => n.to },
      { title: words.state, cell: (n) => state(ctx, n), sort: (n) => n.state },
      { title: words.text, cell: (n) => [n.text ? el("p", { class: "said" }, n.text) : el("p", { class: "soft" }, words.notWritten), n.provider === "outbox" && el("p", { class: "soft" }, words.wouldHave)] },
      { title: words.tries, cell: (n) => whole(n.tries ?? 0, lang), sort: (n) => n.tries ?? 0, number: true },
      { title: words.due, cell: (n) => moment(n.until ?? n.due_at, lang), sort: (n) => n.due_at },
      { title: words.actions, cell: (n) => again.has(n.state) && ctx.button(words.sendAgain, {}, () => send(n)) },
    ],
    fetch: async (before) => {
      const page = await api.get("sms", { before });
      put(total, words.total(whole(page.total, lang)));
      return { rows: page.notices, next: page.next };
    },
  });
  const send = async (n) => {
    const done = await ctx.act({
      title: words.sendAgain, about: words.sendAgainAbout, touches: [[words.to, n.to], [words.state, words.smsStates[n.state] ?? n.state], [words.tries, n.tries ?? 0]],
      run: async ({ reason }) => { const now = await api.post(`${path("sms", n.ticket_id)}/retry`, { reason }); return [[words.state, words.smsStates[now.state] ?? now.state]]; },
    });
    if (done !== undefined) list.load();
  };
  put(root, total, el("div", { class: "row tools" }, el("button", { type: "button", onclick: () => list.load() }, words.refresh)), list.node);
  list.load();
}

function state(ctx, n) {
  const { words, lang } = ctx;
  return [
    tag(words.smsStates, n.state), " ", moment(n.since, lang), n.fault && el("p", { class: "bad" }, words.faults[n.fault] ?? n.fault),
    n.receipts?.length > 0 && el("details", {}, el("summary", {}, words.receipts(n.receipts.length)),
      el("ul", { class: "plain" }, n.receipts.map((r) => el("li", {}, moment(r.at, lang), ` ${r.status} ${r.code ?? ""}`)))),
  ];
}
