// The entries, and what they may be expected to do.

import { path } from "../client.js";
import { pairs } from "../dialog.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { whole } from "../time.js";
import { percent } from "./knowledge_find.js";

export const entryLink = (id) => el("a", { href: `#/faq/entry/${encodeURIComponent(id)}` }, id);

export function entries(root, ctx) {
  const { words, lang, api } = ctx, n = (v) => whole(v, lang), state = el("div", {});
  const phrasings = (e, language) => e.questions[language]?.length ?? 0;
  const list = new Listing(ctx, {
    caption: words.entries,
    columns: [
      { title: words.entry, cell: (e) => [entryLink(e.id), e.thin && el("p", {}, el("span", { class: "tag warn", title: words.thinAbout }, words.thin))], sort: (e) => e.id },
      { title: words.intent, cell: (e) => e.intent ?? "–", sort: (e) => e.intent },
      { title: words.inChinese, cell: (e) => n(phrasings(e, "zh")), sort: (e) => phrasings(e, "zh"), number: true },
      { title: words.inEnglish, cell: (e) => n(phrasings(e, "en")), sort: (e) => phrasings(e, "en"), number: true },
      { title: words.answer, cell: (e) => e.answers[lang] ?? Object.values(e.answers)[0] },
      { title: words.from, cell: (e) => (e.own ? words.own : words.shipped), sort: (e) => e.own },
      { title: words.actions, cell: (e) => el("div", { class: "row" }, ctx.button(words.wantDraft, {}, () => want(e)), ctx.button(words.remove, { danger: true }, () => remove(e))) },
    ],
    fetch: async (after) => {
      const page = await api.get("faq", { after, limit: 200 }), c = page.calibration;
      put(state, pairs([
        [words.revision, n(page.revision)], [words.entries, n(page.total)],
        ...(c ? [[words.learnt, c.learnt ? words.revisionIs(c.revision) : words.onlyKnown], [words.answered, percent(c.answered)], [words.wrong, percent(c.wrong)],
          [words.answerFrom, c.answer_from > 1 ? words.onlyKnown : percent(c.answer_from)], [words.thinEntries, n(c.thin.length)]] : [[words.learnt, words.notLearnt]]),
      ]), el("p", { class: "soft" }, words.calibrationAbout));
      return { rows: page.entries, next: page.next };
    },
  });
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const remove = (e) => after(ctx.act({
    title: words.remove, about: e.own ? words.removeAbout : words.removeShipped, danger: true,
    touches: [[words.entry, e.id], [words.inChinese, phrasings(e, "zh")], [words.inEnglish, phrasings(e, "en")]],
    run: async ({ reason }) => { const now = await api.delete(path("faq", e.id), { reason }); return [[words.revision, now.revision], [words.entries, now.entries]]; },
  }));
  const want = (e) => ctx.act({
    title: words.wantDraft, about: words.wantDraftAbout, touches: [[words.entry, e.id], [words.calls, Object.keys(e.questions).length]],
    run: async ({ reason }) => { await api.post(`${path("faq", e.id)}/draft`, { reason }); return words.draftWanted; },
  });
  const take = () => after(importEntries(ctx));
  put(root, el("section", { class: "card" }, state, el("div", { class: "row" }, ctx.button(words.newEntry, {}, () => ctx.go("faq/entry")), ctx.button(words.importEntries, {}, take))),
    el("h2", {}, words.entries), list.node);
  list.load();
}

function importEntries(ctx) {
  const { words, api } = ctx;
  const file = field(words.file, { type: "file", required: true, hint: words.fileHint, attributes: { name: "file", accept: ".yaml,.yml,.csv" } });
  return ctx.act({
    title: words.importEntries, about: words.importAbout,
    fields: { file, mode: field(words.mode, { type: "select", choices: [["merge", words.merge], ["replace", words.replace]], attributes: { name: "mode" } }) },
    run: async ({ mode, reason }) => {
      const f = file.input.files[0];
      const now = await api.post("faq/import", { document: await f.text(), format: f.name.toLowerCase().endsWith(".csv") ? "csv" : "yaml", mode, reason });
      return [[words.revision, now.revision], [words.entries, now.entries]];
    },
  });
}
