// The valve: the load level, and an operator's hand on it.

import { el, put } from "../dom.js";
import { field } from "../form.js";
import { Table, failure, loading } from "../table.js";
import { absolute, moment } from "../time.js";
import { causeIn } from "./cause.js";
import { levelTag } from "./level.js";
import { en, zh } from "./valve_text.js";

export default { name: "valve", title: { en: "Valve", zh: "降级阀" }, words: { en, zh }, mount };

const spans = [5, 15, 30, 60, 240, 720]; // minutes

function mount(root, ctx) {
  const { words, lang, live, api } = ctx, leaving = new AbortController();
  const now = el("div"), history = new Table(words, [
    { title: words.at, cell: (c) => moment(c.at, lang), sort: (c) => c.at },
    { title: words.lane, cell: (c) => words.lanes[c.lane] ?? c.lane, sort: (c) => c.lane },
    { title: words.from, cell: (c) => `${c.from} → ${c.to}`, sort: (c) => c.to, number: true },
    { title: words.cause, cell: (c) => causeIn(words, lang, c.cause), sort: (c) => c.cause },
  ], { caption: words.history });
  const force = ctx.button(words.force, {}, () => steer(ctx, load));
  const lift = ctx.button(words.lift, {}, () => end(ctx, load));
  put(root, el("section", { class: "card" }, now, el("div", { class: "row" }, force, lift)),
    el("h2", {}, words.meaning), meanings(words), el("h2", {}, words.history), history.node);
  put(now, loading(words));

  async function load() {
    try {
      const v = await api.get("valve");
      if (leaving.signal.aborted) return;
      lift.hidden = !v.force;
      put(now,
        el("p", {}, v.force ? [levelTag(words, v.force.level), ` ${words.forced} ${absolute(v.force.until, lang)}, `, moment(v.force.until, lang)] : words.measured),
        el("p", {}, ["high", "normal", "low"].filter((lane) => lane in (v.levels ?? {})).map((lane) => [`${words.lanes[lane]} `, levelTag(words, v.levels[lane]), " "])));
    } catch (problem) {
      put(now, failure(words, problem, load));
    }
  }

  let level = null;
  const draw = () => {
    history.set((live.overview?.level_changes ?? []).toReversed());
    const seen = JSON.stringify(live.overview?.levels);
    if (level !== null && seen !== level) load();
    level = seen;
  };
  live.addEventListener("state", draw, { signal: leaving.signal });
  draw();
  load();
  return () => leaving.abort();
}

function meanings(words) {
  return el("ol", { class: "plain levels" }, words.meanings.map((text, level) => el("li", {}, levelTag(words, level), ` ${text}`)));
}

async function touched(ctx) {
  const { words, live } = ctx;
  await live.poll();
  const lanes = (live.overview?.lanes ?? []).filter((l) => ["high", "normal", "low"].includes(l.lane));
  return [[words.levelNow, live.overview?.level ?? "–"], ...lanes.map((l) => [words.waitingIn(words.lanes[l.lane]), l.waiting ?? l.depth])];
}

function steer(ctx, then) {
  const { words } = ctx;
  const fields = {
    level: field(words.level, { type: "select", value: "2", choices: [0, 1, 2, 3].map((n) => [n, `${n}: ${words.meanings[n]}`]), attributes: { name: "level" } }),
    minutes: field(words.forHowLong, { type: "select", value: "30", choices: spans.map((m) => [m, words.minutes(m)]), attributes: { name: "minutes" } }),
  };
  return ctx.act({
    title: words.force, about: words.forceAbout, fields, touches: () => touched(ctx),
    run: async ({ level, minutes, reason }) => {
      const until = new Date(Date.now() + minutes * 60_000).toISOString();
      const stored = await ctx.api.put("valve", { force: { level: Number(level), until }, reason });
      await inForce(ctx, then, (v) => v.force?.level === Number(level));
      return [[words.revision, stored.revision], [words.level, level], [words.until, absolute(until, ctx.lang)]];
    },
  });
}

function end(ctx, then) {
  const { words } = ctx;
  return ctx.act({
    title: words.lift, about: words.liftAbout, touches: () => touched(ctx),
    run: async ({ reason }) => {
      const stored = await ctx.api.put("valve", { force: null, reason });
      await inForce(ctx, then, (v) => v.force === null);
      return [[words.revision, stored.revision]];
    },
  });
}

// inForce waits until the node has heard of it: a second at most, as a rule.
async function inForce(ctx, then, is) {
  for (let tries = 0; tries < 10 && !is(await ctx.api.get("valve")); tries++) await new Promise((r) => setTimeout(r, 250));
  await ctx.live.poll();
  await then();
}
