// The FAQ: entries, what it missed, drafted phrasings, and a question tried out.

import { el, put } from "../dom.js";
import { tabs } from "../tabs.js";
import { drafts } from "./faq_drafts.js";
import { entries } from "./faq_entries.js";
import { entry } from "./faq_entry.js";
import { misses } from "./faq_misses.js";
import { trial } from "./faq_try.js";
import { revisions } from "./revisions.js";
import { en, zh } from "./faq_text.js";

export default { name: "faq", title: { en: "FAQ", zh: "常见问题" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, api, rest } = ctx, room = el("div", {});
  const parts = { entries: words.entries, misses: words.misses, drafts: words.drafts, try: words.tryIt, history: words.history };
  const part = rest[0] in parts ? rest[0] : "entries";
  put(root, tabs("faq", parts, part), room);
  if (rest[0] === "entry") return entry(room, ctx, rest[1] ?? "");
  if (part === "history") {
    return void put(room, revisions(ctx, {
      fetch: async () => (await api.get("faq/history")).revisions, about: words.rollbackAbout,
      back: async (revision, reason) => { const now = await api.post("faq/rollback", { revision, reason }); return [[words.revision, now.revision], [words.entries, now.entries]]; },
    }));
  }
  return { entries, misses, drafts, try: trial }[part](room, ctx);
}
