// One ticket with its whole story.

import { path } from "../client.js";
import { pairs } from "../dialog.js";
import { el, put } from "../dom.js";
import { failure, loading } from "../table.js";
import { moment, span, whole } from "../time.js";
import { story } from "../story.js";
import { ticketLink, ticketTag, why } from "./ticket.js";

const open = new Set(["queued", "running"]);

export function one(root, ctx, id) {
  const { words, api } = ctx;
  let left = false;
  const load = async () => {
    try {
      const found = await api.get(path("tickets", id));
      if (!left) draw(root, ctx, id, found, load);
    } catch (problem) {
      if (!left) put(root, failure(words, problem, load));
    }
  };
  put(root, loading(words));
  load();
  return () => { left = true; };
}

function draw(root, ctx, id, found, load) {
  const { words, lang } = ctx, t = found.ticket, n = (v) => whole(v, lang);
  const facts = [
    [words.tenant, found.tenant], [words.session, el("a", { class: "code", href: `#/tickets?tenant=${encodeURIComponent(found.tenant)}&session=${encodeURIComponent(t.session_id)}` }, t.session_id)],
    [words.lane, words.lanes[t.lane] ?? t.lane], [words.intent, t.intent || "–"], [words.route, t.route ? words.routes[t.route] ?? t.route : "–"],
    [words.level, n(t.level)], [words.attempts, n(t.attempts)], [words.accepted, moment(t.accepted_at, lang)], [words.ended, moment(t.ended_at, lang)],
    [words.waited, span(t.queued_ms)], [words.handled, span(t.handled_ms)], t.vendor && [words.vendor, `${t.vendor} ${t.model ?? ""}`],
    t.usage && [words.tokens, `${n(t.usage.prompt_tokens)} / ${n(t.usage.completion_tokens)}`],
    t.retry_of && [words.retryOf, ticketLink(t.retry_of)], t.parent && [words.parent, ticketLink(t.parent)], t.follow_up && [words.followUp, ticketLink(t.follow_up)],
    t.batch_id && [words.batch, `${t.batch_id}, ${t.line}`], t.promise && [words.promise, t.promise.status], found.read !== undefined && [words.read, found.read ? words.yes : words.no],
    t.rating && [words.rating, `${t.rating.score} / 5`],
  ].filter(Boolean);
  put(root,
    el("section", { class: "card" }, el("header", {}, el("h2", { class: "code" }, id), ticketTag(words, t.status)),
      t.reason && el("p", { class: "soft" }, why(words, t.reason)), pairs(facts), el("div", { class: "row" }, buttons(ctx, id, t, load))),
    el("h2", {}, words.message), el("p", { class: "said" }, t.message),
    t.reply && [el("h2", {}, words.reply), el("p", { class: "said" }, t.reply.text)],
    t.rating?.comment && [el("h2", {}, words.comment), el("p", { class: "said" }, t.rating.comment)],
    el("h2", {}, words.story), story(ctx, found.story), found.skipped > 0 && el("p", { class: "soft" }, words.skipped(found.skipped)));
}

function buttons(ctx, id, t, load) {
  const { words, api } = ctx, touches = [[words.ticket, id], [words.state, words.ticketStates[t.status] ?? t.status]];
  const again = el("button", { type: "button", onclick: load }, words.refresh);
  if (open.has(t.status)) {
    return [ctx.button(words.cancelTicket, { danger: true }, async () => {
      const done = await ctx.act({
        title: words.cancelTicket, about: words.cancelAbout, danger: true, touches,
        run: async ({ reason }) => { const now = await api.post(`${path("tickets", id)}/cancel`, { reason }); return [[words.state, words.ticketStates[now.status] ?? now.status]]; },
      });
      if (done !== undefined) load();
    }), again];
  }
  return [ctx.button(words.requeue, {}, async () => {
    const done = await ctx.act({
      title: words.requeue, about: words.requeueAbout, touches,
      run: async ({ reason }) => { const next = await api.post(`${path("tickets", id)}/requeue`, { reason }); return [[words.newTicket, ticketLink(next.ticket_id)]]; },
    });
    if (done !== undefined) load();
  }), again];
}
