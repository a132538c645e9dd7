// Who changed what, when and why.

import { asQuery } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { absolute, moment } from "../time.js";
import { en, zh } from "./audit_text.js";

export default { name: "audit", title: { en: "Audit", zh: "审计" }, words: { en, zh }, mount };

const names = ["actor", "action", "target"];

function mount(root, ctx) {
  const { words, lang, api, query } = ctx;
  const filter = Object.fromEntries(names.map((n) => [n, query.get(n)]).filter(([, v]) => v));
  const fields = Object.fromEntries(names.map((name) => [name, field(words.filters[name], { value: filter[name] ?? "", hint: name === "action" ? words.actionHint : "", attributes: { name, autocomplete: "off" } })]));
  const list = new Listing(ctx, {
    caption: words.audit,
    columns: [
      { title: words.number, cell: (e) => e.seq, sort: (e) => e.seq, number: true },
      { title: words.at, cell: (e) => [moment(e.at, lang), el("p", { class: "soft" }, absolute(e.at, lang))], sort: (e) => e.at },
      { title: words.who, cell: (e) => e.actor, sort: (e) => e.actor },
      { title: words.action, cell: (e) => el("code", {}, e.action), sort: (e) => e.action },
      { title: words.target, cell: (e) => e.target ?? "–", sort: (e) => e.target },
      { title: words.reason, cell: (e) => e.reason },
      { title: words.change, cell: (e) => change(words, e) },
    ],
    fetch: async (before) => {
      const page = await api.get("audit", { ...filter, before });
      return { rows: page.entries, next: page.next };
    },
  });
  const submit = (e) => {
    e.preventDefault();
    ctx.go(`audit${asQuery(Object.fromEntries(names.map((n) => [n, fields[n].value().trim()])))}`);
  };
  put(root, el("form", { class: "filters", role: "search", onsubmit: submit }, names.map((n) => fields[n].node), el("button", { class: "primary" }, words.search)),
    el("div", { class: "row tools" }, el("a", { href: `/admin/api/audit.csv${asQuery(filter)}`, download: "audit.csv" }, words.csv),
      el("button", { type: "button", onclick: () => list.load() }, words.refresh)), list.node);
  list.load();
}

function change(words, e) {
  const sides = [[words.before, e.before], [words.after, e.after]].filter(([, v]) => v !== undefined && v !== null);
  return [
    e.result && el("p", {}, e.result),
    sides.length > 0 && el("details", {}, el("summary", {}, words.show), sides.map(([label, value]) =>
      [el("strong", {}, label), el("pre", { class: "said" }, typeof value === "string" ? value : JSON.stringify(value, null, 2))])),
  ];
}
