// One action on all tickets that match a filter. The server works it off; the page counts
// first, and shows how far it is.

import { path } from "../client.js";
import { pairs } from "../dialog.js";
import { el, put } from "../dom.js";
import { Listing, absent } from "../listing.js";
import { loading } from "../table.js";
import { moment, whole } from "../time.js";
import { ticketLink } from "./ticket.js";

const lookEach = 1000; // ms

// bulkButtons begin an action on what the search looks for.
export function bulkButtons(ctx, filter) {
  const { words } = ctx, none = Object.keys(filter).length === 0 || Boolean(filter.id);
  return [
    ctx.button(words.requeueAll, { disabled: none }, () => begin(ctx, filter, "requeue")),
    ctx.button(words.cancelAll, { danger: true, disabled: none }, () => begin(ctx, filter, "cancel")),
    Object.keys(filter).length === 0 && el("span", { class: "soft" }, words.filterFirst),
  ];
}

async function begin(ctx, filter, action) {
  const { words, lang, api } = ctx;
  const done = await ctx.act({
    title: action === "requeue" ? words.requeueAll : words.cancelAll, about: words.bulkAbouts[action], danger: action === "cancel",
    touches: async () => {
      const counted = await api.post("bulk", { filter, action, dry_run: true, reason: "dry run" });
      return [[words.matched, whole(counted.matched, lang)], ...said(words, filter)];
    },
    run: async ({ reason }) => ({ id: (await api.post("bulk", { filter, action, reason })).id }),
  });
  if (done?.id) ctx.go(`tickets/bulk/${encodeURIComponent(done.id)}`);
}

function said(words, filter) { return Object.entries(filter ?? {}).map(([name, value]) => [words.filters[name] ?? name, value]); }

function stateTag(words, state) {
  return el("span", { class: `tag ${{ done: "good", failed: "bad", stopped: "warn" }[state] ?? ""}` }, words.bulkStates[state] ?? state);
}

// operations lists those that run, and the last that have ended.
export function operations(root, ctx) {
  const { words, lang, api } = ctx, n = (v) => whole(v, lang);
  const list = new Listing(ctx, {
    caption: words.bulks,
    columns: [
      { title: words.bulk, cell: (b) => el("a", { href: `#/tickets/bulk/${encodeURIComponent(b.id)}` }, words.bulkActions[b.action] ?? b.action) },
      { title: words.state, cell: (b) => stateTag(words, b.state), sort: (b) => b.state },
      { title: words.matched, cell: (b) => n(b.matched), sort: (b) => b.matched, number: true },
      { title: words.bulkDone, cell: (b) => n(b.done), sort: (b) => b.done, number: true },
      { title: words.skippedTickets, cell: (b) => n(b.skipped), sort: (b) => b.skipped, number: true },
      { title: words.failedTickets, cell: (b) => n(b.failed), sort: (b) => b.failed, number: true },
      { title: words.who, cell: (b) => b.actor, sort: (b) => b.actor },
      { title: words.reason, cell: (b) => b.reason },
      { title: words.at, cell: (b) => moment(b.at, lang), sort: (b) => b.at },
    ],
    fetch: async () => ({ rows: (await api.get("bulk")).bulk }),
  });
  put(root, list.node);
  list.load();
}

// operation follows one until it has ended.
export function operation(root, ctx, id) {
  const { words, lang, api } = ctx, n = (v) => whole(v, lang);
  const bar = el("progress", { "aria-label": words.progress }), numbers = el("div"), head = el("header"), faults = el("div");
  const stop = ctx.button(words.stop, { danger: true }, async () => {
    await ctx.act({ title: words.stop, about: words.stopAbout, run: async ({ reason }) => { show(await api.post(`${path("bulk", id)}/stop`, { reason })); } });
  });
  const waits = el("p", { class: "warn", role: "status" });
  let timer, left = false;
  const show = (b) => {
    if (left) return;
    const running = b.state === "running";
    put(head, el("h2", {}, words.bulkActions[b.action] ?? b.action), stateTag(words, b.state));
    Object.assign(bar, { max: Math.max(1, b.matched), value: running ? Math.min(b.matched, b.done + b.skipped + b.failed) : Math.max(1, b.matched) });
    put(numbers, pairs([
      [words.matched, n(b.matched)], [words.bulkDone, n(b.done)], [words.skippedTickets, n(b.skipped)], [words.failedTickets, n(b.failed)],
      [words.who, b.actor], [words.reason, b.reason], [words.began, moment(b.at, lang)], [words.ended, moment(b.ended_at, lang)], ...said(words, b.filter),
    ]));
    put(waits, running && b.waits && words.waits(words.problem[b.waits] ?? b.waits));
    put(faults, b.errors.length > 0 && [el("h3", {}, words.faults), el("ul", { class: "plain" }, b.errors.map((f) => el("li", {}, ticketLink(f.ticket), ` ${words.problem[f.code] ?? f.code}`)))]);
    stop.hidden = !running;
    if (!bar.isConnected) put(root, el("section", { class: "card" }, head, bar, numbers, waits, faults, el("div", { class: "row" }, stop)));
    if (!running) clearTimeout(timer);
    return running;
  };
  const look = async () => {
    try {
      if (!show(await api.get(path("bulk", id)))) return;
    } catch (problem) {
      if (!left && (!bar.isConnected || problem.status === 404)) return put(root, absent(words, problem, look));
    }
    if (!left) timer = setTimeout(look, lookEach);
  };
  put(root, loading(words));
  look();
  return () => { left = true; clearTimeout(timer); };
}
