// Questions that were not answered: one click makes an entry, or a phrasing, of each.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";
import { entryLink } from "./faq_entries.js";

export function misses(root, ctx) {
  const { words, lang, api } = ctx, n = (v) => whole(v, lang), total = el("p", { class: "soft" });
  const list = new Listing(ctx, {
    caption: words.misses, empty: words.noMisses,
    columns: [
      { title: words.question, cell: (m) => m.text },
      { title: words.language, cell: (m) => words.languages[m.language] ?? m.language, sort: (m) => m.language },
      { title: words.asked, cell: (m) => n(m.count), sort: (m) => m.count, number: true },
      { title: words.offered, cell: (m) => n(m.offered), sort: (m) => m.offered, number: true },
      { title: words.nearest, cell: (m) => (m.nearest ? entryLink(m.nearest) : "–"), sort: (m) => m.nearest },
      { title: words.lastAsked, cell: (m) => moment(m.last_at, lang), sort: (m) => m.last_at },
      { title: words.actions, cell: (m) => el("div", { class: "row" },
        m.nearest && ctx.button(words.addPhrasing, {}, () => enter(m, m.nearest, false)),
        ctx.button(words.makeEntry, {}, () => enter(m, "", true)), ctx.button(words.drop, { danger: true }, () => drop(m))) },
    ],
    fetch: async () => {
      const page = await api.get("faq/misses", { limit: 500 });
      put(total, words.missesAbout(n(page.total)));
      return { rows: page.misses };
    },
  });
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const enter = (m, id, fresh) => after(ctx.act({
    title: fresh ? words.makeEntry : words.addPhrasing, about: fresh ? words.makeEntryAbout : words.addPhrasingAbout, touches: [[words.asked, n(m.count)]],
    fields: {
      entry: field(words.entry, { value: id, required: true, hint: words.idHint, attributes: { name: "entry", maxlength: 100, autocomplete: "off" } }),
      question: field(words.phrasing, { value: m.text, required: true, attributes: { name: "question", maxlength: 500, autocomplete: "off" } }),
      ...(fresh && {
        answer: field(words.answer, { type: "textarea", required: true, hint: words.answerHint, attributes: { name: "answer", rows: 4 } }),
        intent: field(words.intent, { hint: words.intentHint, attributes: { name: "intent", autocomplete: "off" } }),
      }),
    },
    run: async ({ entry, question, answer, intent, reason }) => {
      const body = { entry: entry.trim(), question: question.trim(), reason, ...(fresh && { answers: { [m.language || "zh"]: answer }, ...(intent && { intent }) }) };
      const now = await api.post(`faq/${path("misses", m.key)}/entry`, body);
      return [[words.revision, now.revision], [words.entries, now.entries]];
    },
  }));
  const drop = (m) => after(ctx.act({
    title: words.drop, about: words.dropAbout, danger: true, touches: [[words.question, m.text], [words.asked, n(m.count)]],
    run: async ({ reason }) => { await api.delete(`faq/${path("misses", m.key)}`, { reason }); return words.done; },
  }));
  put(root, total, list.node);
  list.load();
}
