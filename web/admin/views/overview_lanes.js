// A card for each lane.

import { el, put } from "../dom.js";
import { Chart } from "../chart.js";
import { pairs } from "../dialog.js";
import { Keyed } from "../keyed.js";
import { span, whole } from "../time.js";
import { laneTag } from "./lane.js";

export function laneCards(ctx) {
  const node = el("div", { class: "cards narrow" });
  const cards = [];
  const keyed = new Keyed(node, (l) => l.lane, (l) => {
    const card = laneCard(ctx, l.lane);
    cards.push(card);
    return card;
  });
  return { node, set: (o) => keyed.set(o.lanes), draw: () => cards.forEach((c) => c.draw()) };
}

function laneCard(ctx, lane) {
  const { words, lang, live } = ctx;
  const state = el("span"), numbers = el("div");
  const depth = new Chart(words, { label: words.depth, format: (n) => whole(n, lang) });
  const wait = new Chart(words, { label: words.waitP95, format: span, least: 1000 });
  const node = el("section", { class: "card", data: { lane } },
    el("header", {}, el("h3", {}, el("a", { href: `#/lanes/${lane}` }, words.lanes[lane])), state), numbers, depth.node, wait.node);
  return {
    node,
    draw() {
      depth.draw(live.values(`lane.${lane}.depth`));
      wait.draw(live.values(`lane.${lane}.wait_p95_ms`));
    },
    set(l) {
      put(state, laneTag(words, l));
      put(numbers, pairs([
        [words.depthOfBound, `${whole(l.depth, lang)} / ${whole(l.bound, lang)}`],
        [words.waiting, whole(l.waiting, lang)],
        [words.oldest, span(l.depth > 0 ? l.oldest_ms : null)],
        [words.waits, `${span(l.wait_p50_ms)} / ${span(l.wait_p95_ms)}`],
        [words.inOut, `${whole(l.in_per_minute, lang)} / ${whole(l.out_per_minute, lang)}`],
        [words.refused, whole(l.refused_per_minute, lang)],
      ]));
    },
  };
}
