// The lanes, and what can be done with each.

import { el, put } from "../dom.js";
import { Chart } from "../chart.js";
import { pairs } from "../dialog.js";
import { Keyed } from "../keyed.js";
import { loading } from "../table.js";
import { moment, span, whole } from "../time.js";
import { laneTag } from "./lane.js";
import { laneButtons } from "./lane_actions.js";
import { en, zh } from "./lanes_text.js";

export default { name: "lanes", title: { en: "Lanes", zh: "通道" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { live } = ctx, leaving = new AbortController();
  const node = el("div", { class: "cards" }), cards = [];
  const keyed = new Keyed(node, (l) => l.lane, (l) => {
    const card = laneCard(ctx, l.lane);
    cards.push(card);
    return card;
  });
  put(root, loading(ctx.words));
  const history = () => cards.forEach((c) => c.draw());
  const draw = () => {
    if (!live.overview) return;
    const first = !node.isConnected;
    keyed.set(live.overview.lanes);
    if (!first) return;
    put(root, node);
    history();
    if (ctx.rest[0]) node.querySelector(`[data-lane="${CSS.escape(ctx.rest[0])}"]`)?.scrollIntoView({ block: "center" });
  };
  live.addEventListener("state", draw, { signal: leaving.signal });
  live.addEventListener("history", history, { signal: leaving.signal });
  draw();
  return () => leaving.abort();
}

function laneCard(ctx, lane) {
  const { words, lang, live } = ctx, n = (value) => whole(value, lang);
  const state = el("span"), order = el("p", { class: "soft" }), numbers = el("div"), drain = el("div"), clearing = el("div");
  const depth = new Chart(words, { label: words.depth, format: n });
  const buttons = laneButtons(ctx, lane);
  const node = el("section", { class: "card", data: { lane } },
    el("header", {}, el("h2", {}, words.lanes[lane]), state), order, numbers, depth.node, drain, clearing, buttons.node);
  return {
    node,
    draw: () => depth.draw(live.values(`lane.${lane}.depth`)),
    set(l) {
      put(state, laneTag(words, l));
      put(order, l.actor && [`${l.actor}: ${l.reason} `, moment(l.since, lang), l.until && [` ${words.until} `, moment(l.until, lang)]]);
      put(numbers, pairs([
        [words.depthOfBound, `${n(l.depth)} / ${n(l.bound)}`], [words.waiting, n(l.waiting)], [words.oldest, span(l.depth > 0 ? l.oldest_ms : null)],
        [words.unconfirmed, l.unconfirmed.length === 0 ? words.all : l.unconfirmed.join(", ")],
      ]));
      put(drain, draining(ctx, l));
      put(clearing, l.clearing && cleared(ctx, l.clearing));
      buttons.set(l);
    },
  };
}

// draining shows how far a drain has come: from the deepest since it began, to nothing.
function draining(ctx, l) {
  const { words, live } = ctx;
  if (l.state === "drained") return el("p", { class: "good" }, words.drainDone);
  if (l.state !== "draining") return null;
  const steps = Math.ceil((Date.now() - new Date(l.since)) / 10_000) + 1;
  const from = Math.max(l.depth, ...live.values(`lane.${l.lane}.depth`).slice(-steps).filter((v) => v !== null));
  return el("div", {}, el("progress", { max: Math.max(1, from), value: from - l.depth, "aria-label": words.drainProgress }), el("p", { class: "soft" }, words.left(l.depth)));
}

function cleared(ctx, c) {
  const { words, lang } = ctx;
  return el("p", { class: "soft" }, `${words.ways[c.way]} (${c.actor}: ${c.reason}) `, moment(c.at, lang), `: ${words.clearCounts(c.ended, c.left, c.gone)} `,
    c.done ? words.clearDone : words.clearGoes);
}
