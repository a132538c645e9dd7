// Search: what is looked for is in the address, so that it can be gone back to and sent on.

import { asQuery } from "../client.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment, span } from "../time.js";
import { bulkButtons } from "./tickets_bulk.js";
import { ticketLink, ticketTag, why } from "./ticket.js";

const names = ["id", "session", "tenant", "state", "route", "lane", "reason", "from", "to"];

export function search(root, ctx) {
  const { words, lang, query, api } = ctx;
  const filter = Object.fromEntries(names.map((n) => [n, query.get(n)]).filter(([, v]) => v));
  const partial = el("p", { class: "warn", role: "status" });
  const list = new Listing(ctx, {
    caption: words.tickets,
    columns: [
      { title: words.ticket, cell: (t) => ticketLink(t.ticket_id) },
      { title: words.tenant, cell: (t) => t.tenant, sort: (t) => t.tenant },
      { title: words.message, cell: (t) => t.message },
      { title: words.lane, cell: (t) => words.lanes[t.lane] ?? t.lane, sort: (t) => t.lane },
      { title: words.state, cell: (t) => [ticketTag(words, t.status), t.reason && el("p", { class: "soft" }, why(words, t.reason))], sort: (t) => t.status },
      { title: words.route, cell: (t) => (t.route ? words.routes[t.route] ?? t.route : "–"), sort: (t) => t.route },
      { title: words.accepted, cell: (t) => moment(t.accepted_at, lang), sort: (t) => t.accepted_at },
      { title: words.waited, cell: (t) => span(t.queued_ms), sort: (t) => t.queued_ms, number: true },
    ],
    fetch: async (after) => {
      const page = await api.get("tickets", { ...filter, limit: 50, after });
      put(partial, page.partial && words.partial);
      return { rows: page.tickets, next: page.next };
    },
  });
  put(root, form(ctx, filter, () => list.load()), partial, el("div", { class: "row tools" }, bulkButtons(ctx, filter),
    ctx.can("operator") && !filter.id && el("a", { href: `/admin/api/tickets.csv${asQuery(filter)}`, download: "tickets.csv" }, words.csv)), list.node);
  list.load();
}

function form(ctx, filter, again) {
  const { words } = ctx;
  const any = (labels) => ({ type: "select", choices: [["", words.any], ...Object.entries(labels)] });
  const options = {
    state: any(words.ticketStates), route: any(words.routes), lane: any(words.lanes), reason: any(words.reasons),
    from: { type: "datetime-local" }, to: { type: "datetime-local" },
  };
  const fields = Object.fromEntries(names.map((name) => [name, field(words.filters[name], {
    ...options[name], value: name === "from" || name === "to" ? local(filter[name]) : filter[name] ?? "", attributes: { name, autocomplete: "off" },
  })]));
  const submit = (e) => {
    e.preventDefault();
    const wish = Object.fromEntries(names.map((n) => [n, fields[n].value().trim()]));
    for (const n of ["from", "to"]) if (wish[n]) wish[n] = new Date(wish[n]).toISOString();
    const next = `tickets${asQuery(wish)}`;
    if (location.hash === `#/${next}`) again();
    else ctx.go(next);
  };
  return el("form", { class: "filters", role: "search", onsubmit: submit }, Object.values(fields).map((f) => f.node),
    el("button", { class: "primary" }, words.search), el("button", { type: "button", onclick: () => ctx.go("tickets") }, words.clear));
}

// local writes an instant as a field for local times takes it.
function local(at) {
  if (!at || Number.isNaN(Date.parse(at))) return "";
  const d = new Date(at);
  return new Date(d - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
