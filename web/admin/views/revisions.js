// The stored revisions of something, and the way back to one.

import { Listing } from "../listing.js";
import { moment, whole } from "../time.js";

// revisions lists them. options: fetch() → [{revision, at, actor, reason, from?}], current()
// → the newest one's number, back(revision, reason) → [[label, count], …], about, extra
// (further columns).
export function revisions(ctx, options) {
  const { words, lang } = ctx;
  const list = new Listing(ctx, {
    caption: words.history, empty: words.noRevisions,
    columns: [
      { title: words.revision, cell: (r) => r.revision, sort: (r) => r.revision, number: true },
      { title: words.at, cell: (r) => moment(r.at, lang), sort: (r) => r.at },
      { title: words.who, cell: (r) => r.actor, sort: (r) => r.actor },
      { title: words.reason, cell: (r) => (r.from ? `${r.reason} (${words.fromRevision(r.from)})` : r.reason) },
      ...(options.extra ?? []),
      { title: words.size, cell: (r) => whole(r.size, lang), sort: (r) => r.size, number: true },
      { title: words.actions, cell: (r) => (r === list.rows[0] ? words.newest : ctx.button(words.rollback, {}, () => back(r))) },
    ],
    fetch: async () => ({ rows: await options.fetch() }),
  });
  const back = async (r) => {
    const done = await ctx.act({
      title: `${words.rollback} ${r.revision}`, about: options.about,
      touches: [[words.revision, r.revision], [words.who, r.actor], [words.reason, r.reason]],
      run: ({ reason }) => options.back(r.revision, reason),
    });
    if (done !== undefined) list.load();
  };
  list.load();
  return list.node;
}
