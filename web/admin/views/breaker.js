// A vendor's breaker: how it stands, when it tries again, and a hand on it.

import { el } from "../dom.js";
import { path } from "../client.js";
import { moment, whole } from "../time.js";

const kinds = { closed: "good", "half-open": "warn", open: "bad" };

// breakerLine says how the breaker stands, with a countdown where one runs.
export function breakerLine(ctx, v) {
  const { words, lang } = ctx, state = v.now?.breaker;
  const until = v.breaker_until ?? v.now?.breaker_until;
  return [
    el("span", { class: `tag ${kinds[state] ?? ""}` }, words.breakers[state] ?? words.unknown),
    state === "open" && (until ? el("span", { class: "soft" }, words.probe, " ", moment(until, lang)) : el("span", { class: "soft" }, words.byHand)),
    v.now?.paused_until && el("span", { class: "soft" }, words.pausedUntil, " ", moment(v.now.paused_until, lang)),
  ];
}

// breakerButtons hold it open, and close it.
export function breakerButtons(ctx, name) {
  const { words, lang, live } = ctx;
  const turn = (verb, title, about) => ctx.act({
    title, about, danger: verb === "open",
    touches: async () => {
      await live.poll();
      const v = live.overview?.vendors.find((one) => one.name === name);
      const waiting = Object.values(v?.waiters ?? {}).reduce((sum, n) => sum + n, 0);
      return [[words.vendor, name], [words.callsNow, whole(v?.now?.in_use, lang)], [words.permitsLeft, verb === "open" ? 0 : whole(v?.limit, lang)], [words.waiters, waiting]];
    },
    run: async ({ reason }) => {
      await ctx.api.post(`${path("vendors", name)}/breaker/${verb}`, { reason });
      await live.poll();
      ctx.say(`${name}: ${title}`, "good");
    },
  });
  const open = ctx.button(words.holdOpen, { danger: true }, () => turn("open", words.holdOpen, words.holdOpenAbout));
  const close = ctx.button(words.closeBreaker, {}, () => turn("close", words.closeBreaker, words.closeAbout));
  return {
    node: el("div", { class: "row" }, open, close),
    set(v) { open.hidden = v.now?.breaker === "open" && !v.breaker_until; },
  };
}
