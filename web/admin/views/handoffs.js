// Sessions that were handed to people: take one, write, give it back.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment } from "../time.js";
import { ticketLink } from "./ticket.js";
import { en, zh } from "./handoffs_text.js";

export default { name: "handoffs", title: { en: "Handoffs", zh: "转人工" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api, actor } = ctx;
  const list = new Listing(ctx, {
    caption: words.handoffs,
    columns: [
      { title: words.ticket, cell: (h) => ticketLink(h.ticket_id) },
      { title: words.tenant, cell: (h) => h.tenant, sort: (h) => h.tenant },
      { title: words.session, cell: (h) => el("code", {}, h.session_id) },
      { title: words.cause, cell: (h) => words.causes[h.cause] ?? h.cause ?? "–", sort: (h) => h.cause },
      { title: words.intent, cell: (h) => h.intent, sort: (h) => h.intent },
      { title: words.owner, cell: (h) => [el("span", { class: `tag ${h.owner === "queue" ? "warn" : ""}` }, words.owners[h.owner] ?? h.owner), h.human && ` ${h.human}`], sort: (h) => h.owner },
      { title: words.at, cell: (h) => moment(h.at, lang), sort: (h) => h.at },
      { title: words.actions, cell: (h) => el("div", { class: "row" }, verbs(h)) },
    ],
    fetch: async (before) => {
      const page = await api.get("handoffs", { before });
      return { rows: page.handoffs, next: page.next };
    },
  });
  const verbs = (h) => (h.owner !== "human" ? ctx.button(words.take, {}, () => take(h))
    : [h.human === actor && ctx.button(words.write, {}, () => write(h)), ctx.button(words.release, {}, () => release(h))]);
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const touches = (h) => [[words.tenant, h.tenant], [words.session, h.session_id], [words.owner, `${words.owners[h.owner] ?? h.owner} ${h.human ?? ""}`]];
  const turn = (h, verb, about) => after(ctx.act({
    title: words[verb], about, touches: touches(h),
    run: async ({ reason }) => {
      const now = await api.post(`${path("handoffs", h.ticket_id)}/${verb}`, { reason });
      return [[words.owner, `${words.owners[now.owner] ?? now.owner} ${now.human ?? ""}`]];
    },
  }));
  const take = (h) => turn(h, "take", words.takeAbout);
  const release = (h) => turn(h, "release", words.releaseAbout);
  const write = (h) => {
    const cmid = crypto.randomUUID?.() ?? String(Date.now()); // a second try is the same message
    return after(ctx.act({
      title: words.write, about: words.writeAbout, plain: true, touches: touches(h),
      fields: { text: field(words.message, { type: "textarea", required: true, attributes: { maxlength: 10000, name: "text", rows: 5 } }) },
      run: async ({ text }) => [[words.place, (await api.post(`${path("sessions", h.tenant, h.session_id)}/messages`, { text, cmid })).seq]],
    }));
  };
  put(root, el("div", { class: "row tools" }, el("button", { type: "button", onclick: () => list.load() }, words.refresh)), list.node);
  list.load();
}
