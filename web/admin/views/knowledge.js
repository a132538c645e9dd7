// Knowledge: the documents that answers rest on.

import { el, put } from "../dom.js";
import { tabs } from "../tabs.js";
import { documents } from "./knowledge_documents.js";
import { oneDocument } from "./knowledge_document.js";
import { draft } from "./knowledge_draft.js";
import { find } from "./knowledge_find.js";
import { revisions } from "./revisions.js";
import { en, zh } from "./knowledge_text.js";

export default { name: "knowledge", title: { en: "Knowledge", zh: "知识库" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api, rest } = ctx, room = el("div", {});
  const parts = { documents: words.documents, draft: words.draft, find: words.find, history: words.history };
  const part = rest[0] in parts ? rest[0] : "documents";
  put(root, tabs("knowledge", parts, part), room);
  if (rest[0] === "document") return oneDocument(room, ctx, rest[1] ?? "");
  if (part === "draft") return draft(room, ctx);
  if (part === "find") return find(room, ctx);
  if (part === "documents") return documents(room, ctx);
  put(room, revisions(ctx, {
    fetch: async () => (await api.get("knowledge/history")).revisions, about: words.rollbackAbout,
    extra: [{ title: words.documents, cell: (r) => new Intl.NumberFormat(lang).format(r.documents), sort: (r) => r.documents, number: true }],
    back: async (revision, reason) => { const now = await api.post("knowledge/rollback", { revision, reason }); return [[words.revision, now.revision], [words.documents, now.documents]]; },
  }));
}
