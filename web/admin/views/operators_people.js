// Who may log in, and what each may do.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment } from "../time.js";

const roles = ["viewer", "operator", "admin"];

export function roleField(words, value) {
  return field(words.role, { type: "select", value, choices: roles.map((r) => [r, words.roles[r]]), hint: words.roleHint, attributes: { name: "role" } });
}

function passwordField(words, required) {
  return field(words.password, { type: "password", required, hint: required ? words.passwordHint : words.passwordStays, attributes: { name: "password", autocomplete: "new-password" } });
}

export function people(root, ctx) {
  const { words, lang, api } = ctx;
  const list = new Listing(ctx, {
    caption: words.operators,
    columns: [
      { title: words.name, cell: (o) => o.name, sort: (o) => o.name },
      { title: words.role, cell: (o) => el("span", { class: "tag" }, words.roles[o.role] ?? o.role), sort: (o) => o.role },
      { title: words.added, cell: (o) => moment(o.created_at, lang), sort: (o) => o.created_at },
      { title: words.lastLogin, cell: (o) => moment(o.last_login_at, lang), sort: (o) => o.last_login_at },
      { title: words.actions, cell: (o) => el("div", { class: "row" }, ctx.button(words.change, { role: "admin" }, () => change(o)), ctx.button(words.remove, { role: "admin", danger: true }, () => remove(o))) },
    ],
    fetch: async () => ({ rows: (await api.get("operators")).operators }),
  });
  const after = async (doing) => { if (await doing !== undefined) list.load(); };
  const add = () => after(ctx.act({
    title: words.addOperator,
    fields: {
      name: field(words.name, { required: true, hint: words.nameHint, attributes: { name: "name", maxlength: 32, autocomplete: "off" } }),
      role: roleField(words, "viewer"), password: passwordField(words, true),
    },
    run: async (values) => { const o = await api.post("operators", { ...values, name: values.name.trim() }); return [[words.name, o.name], [words.role, words.roles[o.role]]]; },
  }));
  const change = (o) => after(ctx.act({
    title: words.change, about: words.changeAbout, touches: [[words.name, o.name], [words.role, words.roles[o.role]]],
    fields: { role: roleField(words, o.role), password: passwordField(words, false) },
    run: async ({ role, password, reason }) => {
      const now = await api.put(path("operators", o.name), { role, reason, ...(password && { password }) });
      return [[words.name, now.name], [words.role, words.roles[now.role]]];
    },
  }));
  const remove = (o) => after(ctx.act({
    title: words.remove, about: words.removeAbout, danger: true, confirm: o.name, touches: [[words.name, o.name], [words.role, words.roles[o.role]]],
    run: async ({ reason }) => { await api.delete(path("operators", o.name), { reason }); return words.done; },
  }));
  put(root, el("div", { class: "row tools" }, ctx.button(words.addOperator, { role: "admin" }, add), el("button", { type: "button", onclick: own }, words.ownPassword)), list.node);
  list.load();

  function own() {
    return ctx.act({
      title: words.ownPassword, about: words.ownPasswordAbout, plain: true,
      fields: { old: field(words.oldPassword, { type: "password", required: true, attributes: { name: "old", autocomplete: "current-password" } }), password: passwordField(words, true) },
      run: async ({ old, password }) => { await api.post("password", { old, new: password }); await api.get("session").catch(() => {}); },
    });
  }
}
