// What can be done with a lane. Each says first how many tickets it touches.

import { el } from "../dom.js";
import { path } from "../client.js";
import { field } from "../form.js";
import { whole } from "../time.js";

const lookEach = 500; // ms
const lookFor = 20_000; // ms; then the card tells the rest

// verbs by the state of the lane in which they make sense.
const verbs = {
  pause: ["open"], resume: ["paused"], drain: ["open", "paused"], undrain: ["draining", "drained"],
  answer: ["open", "paused", "draining"], purge: ["open", "paused", "draining"],
};

export function laneButtons(ctx, lane) {
  const { words } = ctx;
  const buttons = Object.keys(verbs).map((verb) => {
    const button = ctx.button(words.verbs[verb], { danger: verb === "purge" }, () => ask(ctx, lane, verb));
    button.dataset.verb = verb;
    return button;
  });
  return {
    node: el("div", { class: "row" }, buttons),
    set: (l) => { for (const b of buttons) b.hidden = !verbs[b.dataset.verb].includes(l.state); },
  };
}

function ask(ctx, lane, verb) {
  const { words, lang, live } = ctx, n = (value) => whole(value, lang);
  const now = () => live.overview.lanes.find((l) => l.lane === lane);
  const spans = { type: "select", choices: [["", words.noEnd], ...[5, 15, 30, 60, 240].map((m) => [m, words.minutes(m)])], attributes: { name: "minutes" } };
  return ctx.act({
    title: `${words.verbs[verb]}: ${words.lanes[lane]}`, about: words.abouts[verb],
    danger: verb === "purge", confirm: verb === "purge" ? lane : undefined,
    fields: verb === "pause" ? { minutes: field(words.pauseFor, spans) } : {},
    touches: async () => {
      if (!await live.poll()) throw await unreachable(ctx);
      const l = now(), running = l.waiting === undefined ? undefined : l.depth - l.waiting;
      const nodes = new Set([...live.overview.intakes, ...live.overview.dispatchers]).size;
      return [[words.state, words.laneStates[l.state]], [words.ticketsWaiting, n(l.waiting ?? l.depth)], [words.ticketsRunning, n(running)], [words.nodes, n(nodes)]];
    },
    run: async ({ reason, minutes }, progress) => {
      const before = now().depth;
      const until = minutes ? new Date(Date.now() + minutes * 60_000).toISOString() : undefined;
      const answer = await ctx.api.post(`${path("lanes", lane)}/${verb}`, { reason, until });
      await live.poll();
      if (verb === "answer" || verb === "purge") return clearing(ctx, answer, now, progress);
      if (verb === "drain") return drain(ctx, Math.max(before, answer.depth), now, progress);
      return [[words.state, words.laneStates[now().state]], [words.ticketsWaiting, n(now().waiting ?? now().depth)]];
    },
  });
}

// unreachable returns why the overview could not be read.
async function unreachable(ctx) {
  return ctx.api.get("overview").then(() => new Error("it answers again"), (problem) => problem);
}

// follow looks until done says so, or lookFor has passed: the server goes on by itself.
async function follow(ctx, done) {
  for (const end = Date.now() + lookFor; !done() && Date.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, lookEach));
    await ctx.live.poll();
  }
}

async function clearing(ctx, answer, now, progress) {
  const { words } = ctx;
  const newest = () => { const c = now().clearing; return c && c.at === answer.at ? c : answer; };
  await follow(ctx, () => {
    const c = newest();
    progress(c.ended, c.ended + (now().waiting ?? 0), words.clearCounts(c.ended, c.left, c.gone));
    return c.done;
  });
  const c = newest();
  return [[words.ended, c.ended], [words.leftAlone, c.left], [words.gone, c.gone], [words.state, c.done ? words.clearDone : words.clearGoes]];
}

async function drain(ctx, before, now, progress) {
  const { words } = ctx;
  await follow(ctx, () => {
    before = Math.max(before, now().depth); // another node may not have heard of it yet
    progress(before - now().depth, before, words.left(now().depth));
    return now().state !== "draining";
  });
  const l = now();
  return [[words.state, words.laneStates[l.state]], [words.drainedTickets, Math.max(0, before - l.depth)], [words.stillThere, l.depth]];
}
