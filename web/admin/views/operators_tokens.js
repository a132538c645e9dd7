// Tokens, by which programs do what operators may.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { secret } from "../secret.js";
import { moment } from "../time.js";
import { roleField } from "./operators_people.js";

export function tokens(root, ctx) {
  const { words, lang, api } = ctx;
  const list = new Listing(ctx, {
    caption: words.tokens,
    columns: [
      { title: words.name, cell: (t) => t.name, sort: (t) => t.name },
      { title: words.role, cell: (t) => el("span", { class: "tag" }, words.roles[t.role ?? "admin"] ?? t.role), sort: (t) => t.role },
      { title: words.madeBy, cell: (t) => t.actor, sort: (t) => t.actor },
      { title: words.reason, cell: (t) => t.reason },
      { title: words.added, cell: (t) => moment(t.created_at, lang), sort: (t) => t.created_at },
      { title: words.actions, cell: (t) => ctx.button(words.remove, { role: "admin", danger: true }, () => remove(t)) },
    ],
    fetch: async () => ({ rows: (await api.get("tokens")).tokens }),
  });
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const add = () => after(ctx.act({
    title: words.addToken, about: words.addTokenAbout,
    fields: { name: field(words.name, { required: true, hint: words.nameHint, attributes: { name: "name", maxlength: 32, autocomplete: "off" } }), role: roleField(words, "operator") },
    run: async ({ name, role, reason }) => {
      const made = await api.post("tokens", { name: name.trim(), role, reason });
      return [[words.token, secret(words, made.token)], [words.once, words.onceAbout]];
    },
  }));
  const remove = (t) => after(ctx.act({
    title: words.remove, about: words.removeTokenAbout, danger: true, touches: [[words.name, t.name], [words.madeBy, t.actor]],
    run: async ({ reason }) => { await api.delete(path("tokens", t.name), { reason }); return words.done; },
  }));
  put(root, el("div", { class: "row tools" }, ctx.button(words.addToken, { role: "admin" }, add)), list.node);
  list.load();
}
