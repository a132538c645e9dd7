// How everything stands, and how it was in the last hour.

import { el, put } from "../dom.js";
import { loading } from "../table.js";
import { alertCard } from "./overview_alerts.js";
import { healthCard, outcomeCards } from "./overview_life.js";
import { laneCards } from "./overview_lanes.js";
import { levelCard } from "./overview_level.js";
import { vendorCards } from "./overview_vendors.js";
import { en, zh } from "./overview_text.js";

export default { name: "overview", title: { en: "Overview", zh: "总览" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const { words, live } = ctx, leaving = new AbortController();
  const level = levelCard(ctx), alerts = alertCard(ctx), lanes = laneCards(ctx), vendors = vendorCards(ctx);
  const outcome = outcomeCards(ctx), health = healthCard(ctx);
  const parts = [
    el("div", { class: "cards wide" }, level.node, alerts.node),
    el("h2", {}, words.lanesTitle), lanes.node,
    el("h2", {}, words.vendorsTitle), vendors.node,
    el("h2", {}, words.outcomeTitle), outcome.node,
    el("h2", {}, words.healthTitle), health.node,
  ];
  let shown = false;
  const draw = () => {
    if (!live.overview) return;
    for (const part of [level, lanes, vendors, outcome, health]) part.set(live.overview);
    if (shown) return;
    shown = true;
    put(root, parts);
    draught();
  };
  const draught = () => { for (const part of [level, lanes, vendors, outcome]) part.draw(); };
  put(root, loading(words));
  for (const [event, then] of [["state", draw], ["history", draught], ["alerts", () => alerts.set(live.alerts)]]) {
    live.addEventListener(event, then, { signal: leaving.signal });
  }
  draw();
  alerts.set(live.alerts);
  return () => leaving.abort();
}
