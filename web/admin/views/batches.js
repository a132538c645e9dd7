// The newest batches.

import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Listing } from "../listing.js";
import { moment, span, whole } from "../time.js";
import { en, zh } from "./batches_text.js";

export default { name: "batches", title: { en: "Batches", zh: "批次" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, lang, api, query } = ctx, n = (v) => whole(v, lang);
  const status = field(words.state, { type: "select", choices: [["", words.any], ...Object.entries(words.batchStates)], value: query.get("status") ?? "", attributes: { name: "status" } });
  status.input.addEventListener("change", () => ctx.go(status.value() ? `batches?status=${status.value()}` : "batches"));
  const list = new Listing(ctx, {
    caption: words.batches,
    columns: [
      { title: words.batch, cell: (b) => el("code", {}, b.batch_id) },
      { title: words.tenant, cell: (b) => b.tenant, sort: (b) => b.tenant },
      { title: words.state, cell: (b) => el("span", { class: `tag ${{ completed: "good", expired: "bad", cancelled: "warn" }[b.status] ?? ""}` }, words.batchStates[b.status] ?? b.status), sort: (b) => b.status },
      { title: words.progress, cell: (b) => el("progress", { max: Math.max(1, b.total), value: b.answered + b.failed + b.cancelled, "aria-label": words.progress }), sort: (b) => (b.answered + b.failed + b.cancelled) / b.total },
      { title: words.lines, cell: (b) => n(b.total), sort: (b) => b.total, number: true },
      { title: words.waiting, cell: (b) => n(b.queued + b.running), sort: (b) => b.queued + b.running, number: true },
      { title: words.answered, cell: (b) => n(b.answered), sort: (b) => b.answered, number: true },
      { title: words.failed, cell: (b) => n(b.failed), sort: (b) => b.failed, number: true },
      { title: words.cancelled, cell: (b) => n(b.cancelled), sort: (b) => b.cancelled, number: true },
      { title: words.eta, cell: (b) => (b.status === "in_progress" ? span(b.eta_ms) : "–"), sort: (b) => b.eta_ms },
      { title: words.made, cell: (b) => moment(b.created_at, lang), sort: (b) => b.created_at },
      { title: words.expires, cell: (b) => moment(b.completed_at ?? b.expires_at, lang) },
    ],
    fetch: async () => ({ rows: (await api.get("batches", { status: query.get("status"), limit: 100 })).batches }),
  });
  put(root, el("div", { class: "filters" }, status.node, el("button", { type: "button", onclick: () => list.load() }, words.refresh)), list.node);
  list.load();
}
