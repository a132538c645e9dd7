// A card for each vendor: its permits, who holds and awaits them, its breaker and a hand on it.

import { el, put } from "../dom.js";
import { Chart } from "../chart.js";
import { pairs } from "../dialog.js";
import { Keyed } from "../keyed.js";
import { span, whole } from "../time.js";
import { breakerLine, breakerButtons } from "./breaker.js";

export function vendorCards(ctx) {
  const node = el("div", { class: "cards" });
  const cards = [];
  const keyed = new Keyed(node, (v) => v.name, (v) => {
    const card = vendorCard(ctx, v.name);
    cards.push(card);
    return card;
  });
  return { node, set: (o) => keyed.set(o.vendors), draw: () => cards.forEach((c) => c.draw()) };
}

function vendorCard(ctx, name) {
  const { words, lang, live } = ctx;
  const breaker = el("div", { class: "row" }), numbers = el("div"), crowd = el("ul", { class: "plain" });
  const use = new Chart(words, { label: words.inUse, format: (n) => whole(n, lang) });
  const took = new Chart(words, { label: words.tookP95, format: span, least: 1000 });
  const buttons = breakerButtons(ctx, name);
  const node = el("section", { class: "card", data: { vendor: name } },
    el("header", {}, el("h3", {}, el("a", { href: "#/vendors" }, name)), breaker),
    numbers, use.node, took.node,
    el("details", {}, el("summary", {}, words.crowd), crowd), buttons.node);
  return {
    node,
    draw() {
      use.draw(live.values(`vendor.${name}.in_use`), live.values(`vendor.${name}.limit`).at(-1) ?? 0);
      took.draw(live.values(`vendor.${name}.p95_ms`));
    },
    set(v) {
      const n = (value) => whole(value, lang), waiters = Object.entries(v.waiters ?? {}).filter(([, count]) => count > 0);
      put(breaker, breakerLine(ctx, v));
      put(numbers, pairs([
        [words.permits, `${n(v.now?.in_use)} / ${n(v.now?.limit)}`],
        [words.baseElastic, `${n(v.base)} + ${n(v.elastic_permits)}`],
        [words.waiters, waiters.length > 0 ? waiters.map(([lane, count]) => `${words.lanes[lane] ?? lane} ${count}`).join(", ") : v.waiters ? 0 : "–"],
        [words.tokens, v.tokens_limit ? `${n(v.tokens_used)} / ${n(v.tokens_limit)}` : n(v.tokens_used)],
        [words.took, `${span(v.p50_ms)} / ${span(v.p95_ms)}`],
        [words.throttled, n(v.throttled_hour)],
      ]));
      const holders = v.crowd ?? [];
      put(crowd, holders.length === 0 ? el("li", { class: "soft" }, words.noCrowd)
        : holders.map((c) => el("li", {}, `${c.tenant || words.unsaid}, ${words.lanes[c.lane] ?? c.lane}: ${c.in_use}`)));
      buttons.set(v);
    },
  };
}
