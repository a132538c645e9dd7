// What the next publication changes.

import { path } from "../client.js";
import { showDiff } from "../diff.js";
import { el, put } from "../dom.js";
import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";
import { documentLink } from "./knowledge_documents.js";

export function draft(root, ctx) {
  const { words, lang, api } = ctx;
  let changes = 0;
  const list = new Listing(ctx, {
    caption: words.draft, empty: words.noChanges,
    columns: [
      { title: words.name, cell: (d) => (d.change === "removed" ? d.name : documentLink(d.name)), sort: (d) => d.name },
      { title: words.change, cell: (d) => el("span", { class: `tag ${{ added: "good", removed: "bad" }[d.change] ?? "warn"}` }, words.changeKinds[d.change] ?? d.change), sort: (d) => d.change },
      { title: words.size, cell: (d) => whole(d.size ?? 0, lang), sort: (d) => d.size, number: true },
      { title: words.who, cell: (d) => d.actor, sort: (d) => d.actor },
      { title: words.at, cell: (d) => moment(d.at, lang), sort: (d) => d.at },
      { title: words.actions, cell: (d) => el("button", { type: "button", onclick: () => compare(d) }, words.diffTitle) },
    ],
    fetch: async () => {
      const k = await api.get("knowledge", { limit: 1 });
      changes = k.changes;
      button.disabled = changes === 0 || !ctx.can("operator");
      return { rows: k.draft };
    },
  });
  const publish = async () => {
    const done = await ctx.act({
      title: words.publish, about: words.publishAbout,
      touches: async () => { const k = await api.get("knowledge", { limit: 1 }); return ["added", "changed", "removed"].map((c) => [words.changeKinds[c], k.draft.filter((d) => d.change === c).length]); },
      run: async ({ reason }) => { const now = await api.post("knowledge/publish", { reason }); return [[words.revision, now.revision], [words.documents, now.documents]]; },
    });
    if (done !== undefined) list.load();
  };
  const compare = async (d) => {
    const out = el("div", { class: "card" });
    try {
      const text = async (query) => (await api.get(path("knowledge", d.name), query)).text;
      const [before, after] = await Promise.all([d.change === "added" ? "" : text({}), d.change === "removed" ? "" : text({ draft: true })]);
      put(out, el("h3", {}, d.name), showDiff(words, before, after));
      put(shown, out);
      out.scrollIntoView({ block: "nearest" });
    } catch (problem) {
      ctx.fail(problem);
    }
  };
  const button = ctx.button(words.publish, { disabled: true }, publish), shown = el("div", {});
  button.classList.add("primary");
  put(root, el("p", { class: "soft" }, words.draftAbout), el("div", { class: "row tools" }, button), list.node, shown);
  list.load();
}
