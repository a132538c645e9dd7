// Tenants and their keys.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { secret } from "../secret.js";
import { absolute, moment } from "../time.js";
import { en, zh } from "./tenants_text.js";

export default { name: "tenants", title: { en: "Tenants and keys", zh: "租户与密钥" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api } = ctx;
  const list = new Listing(ctx, {
    caption: words.tenants,
    columns: [
      { title: words.name, cell: (t) => el("a", { href: `#/tickets?tenant=${encodeURIComponent(t.name)}` }, t.name), sort: (t) => t.name },
      { title: words.bestLane, cell: (t) => words.lanes[t.lane] ?? t.lane, sort: (t) => t.lane },
      { title: words.origins, cell: (t) => (t.origins?.length ? el("ul", { class: "plain" }, t.origins.map((o) => el("li", {}, o))) : words.noOrigins) },
      { title: words.added, cell: (t) => moment(t.created_at, lang), sort: (t) => t.created_at },
      { title: words.actions, cell: (t) => el("div", { class: "row" }, ctx.button(words.newKeys, { role: "admin", danger: true }, () => renew(t)), ctx.button(words.newSecret, { role: "admin" }, () => renewHook(t))) },
    ],
    fetch: async () => ({ rows: (await api.get("tenants")).tenants }),
  });
  const shown = (keys) => [
    [words.publishable, secret(words, keys.publishable_key)], [words.secretKey, secret(words, keys.secret_key)],
    [words.identitySecret, secret(words, keys.identity_secret)], [words.once, words.onceAbout],
  ];
  const add = async () => {
    const done = await ctx.act({
      title: words.add, about: words.addAbout,
      fields: {
        name: field(words.name, { required: true, hint: words.nameHint, attributes: { name: "name", maxlength: 32, autocomplete: "off" } }),
        lane: field(words.bestLane, { type: "select", value: "normal", choices: ["high", "normal", "low"].map((l) => [l, words.lanes[l]]), attributes: { name: "lane" } }),
        origins: field(words.origins, { type: "textarea", hint: words.originsHint, attributes: { name: "origins" } }),
      },
      run: async ({ name, lane, origins, reason }) => {
        const all = origins.split(/\s+/).filter(Boolean);
        return shown(await api.post("tenants", { name: name.trim(), lane, reason, ...(all.length > 0 && { origins: all }) }));
      },
    });
    if (done !== undefined) list.load();
  };
  const renew = (t) => ctx.act({
    title: words.newKeys, about: words.newKeysAbout, danger: true, confirm: t.name, touches: [[words.tenant, t.name]],
    run: async ({ reason }) => shown(await api.post(`${path("tenants", t.name)}/keys`, { reason })),
  });
  const renewHook = (t) => ctx.act({
    title: words.newSecret, about: words.newSecretAbout, touches: [[words.tenant, t.name]],
    run: async ({ reason }) => {
      const now = await api.post(`${path("tenants", t.name)}/webhook-secret`, { reason });
      return [[words.hookSecret, secret(words, now.secret)], [words.once, words.onceAbout], ...(now.former_until ? [[words.formerUntil, absolute(now.former_until, lang)]] : [])];
    },
  });
  put(root, el("div", { class: "row tools" }, ctx.button(words.add, { role: "admin" }, add)), list.node);
  list.load();
}
