// What customers think of answers.

import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment } from "../time.js";
import { ticketLink } from "./ticket.js";
import { en, zh } from "./ratings_text.js";

export default { name: "ratings", title: { en: "Ratings", zh: "评价" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api, query } = ctx;
  const tenant = field(words.tenantName, { value: query.get("tenant") ?? "", attributes: { name: "tenant", autocomplete: "off" } });
  const list = new Listing(ctx, {
    caption: words.ratings,
    columns: [
      { title: words.score, cell: (r) => el("span", { class: `tag ${r.score >= 4 ? "good" : r.score <= 2 ? "bad" : ""}` }, `${r.score} / 5`), sort: (r) => r.score },
      { title: words.comment, cell: (r) => r.comment ?? "–" },
      { title: words.tenant, cell: (r) => r.tenant, sort: (r) => r.tenant },
      { title: words.ticket, cell: (r) => ticketLink(r.ticket_id) },
      { title: words.route, cell: (r) => (r.route ? words.routes[r.route] ?? r.route : "–"), sort: (r) => r.route },
      { title: words.intent, cell: (r) => r.intent ?? "–", sort: (r) => r.intent },
      { title: words.at, cell: (r) => moment(r.at, lang), sort: (r) => r.at },
    ],
    fetch: async (before) => {
      const page = await api.get("ratings", { tenant: query.get("tenant"), before });
      return { rows: page.ratings, next: page.next };
    },
  });
  const submit = (e) => { e.preventDefault(); ctx.go(tenant.value() ? `ratings?tenant=${encodeURIComponent(tenant.value())}` : "ratings"); };
  put(root, el("form", { class: "filters", role: "search", onsubmit: submit }, tenant.node, el("button", { class: "primary" }, words.search)), list.node);
  list.load();
}
