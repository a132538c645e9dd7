// What is published, and whether it is answered from.

import { pairs } from "../dialog.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { asQuery } from "../client.js";
import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";

export const documentLink = (name) => el("a", { href: `#/knowledge/document/${encodeURIComponent(name)}` }, name);

export function documents(root, ctx) {
  const { words, lang, api } = ctx, n = (v) => whole(v, lang), state = el("div", {});
  const list = new Listing(ctx, {
    caption: words.documents, empty: words.noDocuments,
    columns: [
      { title: words.name, cell: (d) => documentLink(d.name), sort: (d) => d.name },
      { title: words.size, cell: (d) => n(d.size), sort: (d) => d.size, number: true },
      { title: words.origin, cell: (d) => words.origins[d.origin ?? "operators"] ?? d.origin, sort: (d) => d.origin ?? "" },
    ],
    fetch: async (after) => {
      const k = await api.get("knowledge", { after, limit: 500 });
      put(state, pairs([
        [words.published, k.revision === 0 ? words.nothingYet : `${words.revision} ${k.revision}, ${k.actor}`], [words.at, moment(k.revision && k.at, lang)],
        [words.documents, n(k.documents)], [words.inForce, k.in_force.revision === 0 ? words.nothingYet : `${words.revision} ${k.in_force.revision}`],
        [words.draft, k.changes === 0 ? words.noChanges : el("a", { href: "#/knowledge/draft" }, words.changes(k.changes))],
      ]), k.in_force.fault && el("p", { class: "alert", role: "alert" }, `${words.notInForce} ${k.in_force.fault}`));
      return { rows: k.published, next: k.next };
    },
  });
  put(root, el("section", { class: "card" }, state, el("div", { class: "row" },
    ctx.button(words.newDocument, {}, () => ctx.go("knowledge/document")), ctx.button(words.importFiles, {}, () => take(ctx, list)))), el("h2", {}, words.published), list.node);
  list.load();
}

async function take(ctx, list) {
  const { words, api } = ctx;
  const files = field(words.files, { type: "file", required: true, hint: words.filesHint, attributes: { name: "files", multiple: true, accept: ".md,.txt,.csv" } });
  const done = await ctx.act({
    title: words.importFiles, about: words.importAbout, fields: { files },
    run: async ({ reason }) => {
      const form = new FormData();
      for (const f of files.input.files) form.append("files", f, f.name);
      return [[words.inDraft, (await api.post(`knowledge/import${asQuery({ reason })}`, form)).documents]];
    },
  });
  if (done !== undefined) list.load();
}
