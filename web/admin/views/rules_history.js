// The stored revisions, and the way back to one.

import { el, put } from "../dom.js";
import { showDiff } from "../diff.js";
import { Table, failure, loading } from "../table.js";
import { moment, whole } from "../time.js";

export function history(ctx, draft, changed) {
  const { words, lang, api } = ctx, node = el("div", {});
  const table = new Table(words, [
    { title: words.revision, cell: (r) => r.revision, sort: (r) => r.revision, number: true },
    { title: words.at, cell: (r) => moment(r.at, lang), sort: (r) => r.at },
    { title: words.who, cell: (r) => r.actor, sort: (r) => r.actor },
    { title: words.reason, cell: (r) => (r.from ? `${r.reason} (${words.from(r.from)})` : r.reason) },
    { title: words.bytes, cell: (r) => whole(r.size, lang), sort: (r) => r.size, number: true },
    { title: words.actions, cell: (r) => (r.revision === draft.newest ? words.current : ctx.button(words.rollback, { role: "admin" }, () => rollback(r))) },
  ], { caption: words.parts.history });

  const load = async () => {
    try {
      table.set((await api.get("rules/history")).revisions);
      put(node, table.node);
    } catch (problem) {
      put(node, failure(words, problem, load));
    }
  };

  const rollback = async (r) => {
    let old, now;
    try {
      [old, now] = await Promise.all([api.get("rules", { revision: r.revision }), api.get("rules")]);
    } catch (problem) {
      return ctx.fail(problem);
    }
    const done = await ctx.act({
      title: `${words.rollback} ${r.revision}`, wide: true, about: words.rollbackAbout, more: showDiff(words, now.document, old.document),
      run: async ({ reason }) => [[words.revision, (await api.post("rules/rollback", { revision: r.revision, reason })).revision]],
    });
    if (done !== undefined) await changed().then(load, ctx.fail);
  };
  put(node, loading(words));
  return { node, load, show: load };
}
