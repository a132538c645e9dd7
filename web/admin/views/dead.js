// Dead letters: tickets that could not be answered as they should have been.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";
import { story } from "../story.js";
import { each } from "./each.js";
import { ticketLink, why } from "./ticket.js";
import * as shared from "./ticket_text.js";
import * as own from "./dead_text.js";

export default {
  name: "dead-letters", title: { en: "Dead letters", zh: "死信" },
  words: { en: { ...shared.en, ...own.en }, zh: { ...shared.zh, ...own.zh } }, mount,
};

function mount(root, ctx) {
  const { words, lang, api } = ctx, total = el("p", { class: "soft" });
  const list = new Listing(ctx, {
    caption: words.deadLetters, empty: words.none,
    columns: [
      { title: words.ticket, cell: (l) => ticketLink(l.id) },
      { title: words.tenant, cell: (l) => l.tenant, sort: (l) => l.tenant },
      { title: words.message, cell: (l) => l.message },
      { title: words.lane, cell: (l) => words.lanes[l.lane] ?? l.lane, sort: (l) => l.lane },
      { title: words.reason, cell: (l) => why(words, l.reason), sort: (l) => l.reason },
      { title: words.attempts, cell: (l) => l.attempts, sort: (l) => l.attempts, number: true },
      { title: words.at, cell: (l) => moment(l.at, lang), sort: (l) => l.at },
      { title: words.story, cell: (l) => el("details", {}, el("summary", {}, words.show), story(ctx, l.story)) },
      { title: words.actions, cell: (l) => el("div", { class: "row" }, ctx.button(words.requeue, {}, () => requeue(l)), ctx.button(words.remove, { danger: true }, () => remove(l))) },
    ],
    fetch: async (before) => {
      const page = await api.get("dead-letters", { before });
      put(total, words.total(whole(page.total, lang)));
      return { rows: page.letters, next: page.next };
    },
  });
  const about = (l) => [[words.ticket, l.id], [words.tenant, l.tenant]];
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const requeue = (l) => after(ctx.act({
    title: words.requeue, about: words.requeueLetter, touches: about(l),
    run: async ({ reason }) => [[words.newTicket, ticketLink((await send(l, reason)).ticket_id)]],
  }));
  const remove = (l) => after(ctx.act({
    title: words.remove, about: words.removeLetter, danger: true, touches: about(l),
    run: async ({ reason }) => { await drop(l, reason); return [[words.removed, 1]]; },
  }));
  const send = (l, reason) => api.post(`${path("dead-letters", l.id)}/requeue`, { reason });
  const drop = (l, reason) => api.delete(path("dead-letters", l.id), { reason });
  const all = (title, about, danger, one) => {
    const rows = [...list.rows];
    return after(ctx.act({
      title, about, danger, touches: [[words.shownLetters, rows.length]],
      run: ({ reason }, progress) => each(words, rows, (l) => one(l, reason), progress),
    }));
  };
  put(root, total, el("div", { class: "row tools" },
    ctx.button(words.requeueShown, {}, () => all(words.requeueShown, words.requeueLetter, false, send)),
    ctx.button(words.removeShown, { danger: true }, () => all(words.removeShown, words.removeLetter, true, drop)),
    el("button", { type: "button", onclick: () => list.load() }, words.refresh)), list.node);
  list.load();
}
