// The vendors: their numbers, their breakers.

import { el, put } from "../dom.js";
import { path } from "../client.js";
import { pairs } from "../dialog.js";
import { field } from "../form.js";
import { Keyed } from "../keyed.js";
import { loading } from "../table.js";
import { span, whole } from "../time.js";
import { breakerButtons, breakerLine } from "./breaker.js";
import { en, zh } from "./vendors_text.js";

export default { name: "vendors", title: { en: "Vendors", zh: "供应商" }, words: { en, zh }, mount };

// numbers that may be changed by themselves, and the step of their fields.
const numbers = { quota: 1, headroom: "any", elastic: "any", qps: 1, tokens_per_minute: 1 };

function mount(root, ctx) {
  const { live } = ctx, leaving = new AbortController(), node = el("div", { class: "cards" });
  const keyed = new Keyed(node, (v) => v.name, (v) => vendorCard(ctx, v.name));
  put(root, loading(ctx.words));
  const draw = () => {
    if (!live.overview) return;
    keyed.set(live.overview.vendors);
    if (!node.isConnected) put(root, node);
  };
  live.addEventListener("state", draw, { signal: leaving.signal });
  draw();
  return () => leaving.abort();
}

function vendorCard(ctx, name) {
  const { words, lang } = ctx, n = (value) => whole(value, lang);
  const breaker = el("div", { class: "row" }), figures = el("div"), buttons = breakerButtons(ctx, name);
  let now = null;
  const node = el("section", { class: "card", data: { vendor: name } }, el("header", {}, el("h2", {}, name), breaker), figures,
    el("div", { class: "row" }, ctx.button(words.numbers, { role: "admin" }, () => change(ctx, now)), buttons.node));
  return {
    node,
    set(v) {
      now = v;
      put(breaker, breakerLine(ctx, v));
      put(figures, pairs([
        [words.permits, `${n(v.now?.in_use)} / ${n(v.now?.limit)}`], [words.quotaShort, n(v.quota)], [words.headroomShort, n(v.headroom)], [words.elasticShort, n(v.elastic)],
        [words.qpsShort, n(v.qps)], [words.tpmShort, n(v.tokens_per_minute)], [words.took, `${span(v.p50_ms)} / ${span(v.p95_ms)}`], [words.throttled, n(v.throttled_hour)],
      ]));
      buttons.set(v);
    },
  };
}

// change asks for numbers and sends those that are others.
function change(ctx, v) {
  const { words } = ctx;
  const labels = { quota: words.quota, headroom: words.headroom, elastic: words.elastic, qps: words.qps, tokens_per_minute: words.tpm };
  const fields = Object.fromEntries(Object.entries(numbers).map(([name, step]) => [name,
    field(labels[name], { type: "number", value: v[name], required: true, attributes: { name, min: 0, step } })]));
  return ctx.act({
    title: `${words.numbers}: ${v.name}`, about: words.numbersAbout, fields,
    touches: [[words.permitsNow, v.limit], [words.callsNow, v.now?.in_use ?? "–"]],
    run: async ({ reason, ...values }) => {
      const changed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]).filter(([name, value]) => value !== v[name]));
      if (Object.keys(changed).length === 0) return words.noChange;
      const stored = await ctx.api.put(path("vendors", v.name), { ...changed, reason });
      await ctx.live.poll();
      return [[words.revision, stored.revision], [words.permitsThen, permits(changed, v)]];
    },
  });
}

// permits: quota × headroom, rounded down, as the rules say.
function permits(changed, v) {
  const { quota, headroom } = { ...v, ...changed };
  return Math.max(1, Math.floor(quota * headroom + 1e-9));
}
