// What happened to a ticket, as a line of time.

import { el } from "./dom.js";
import { absolute, moment, span } from "./time.js";
import { ticketLink } from "./views/ticket.js";

const bad = new Set(["failed", "dead letter", "cancelled", "lesser"]);

// story lists the steps: [{at, what, …}]. words needs those of views/ticket_text.js.
export function story(ctx, steps) {
  const { words, lang } = ctx;
  return el("ol", { class: "story" }, steps.map((s) => el("li", { class: bad.has(s.what) ? "bad" : s.what === "answered" ? "good" : null },
    el("strong", {}, words.steps[s.what] ?? s.what), " ", moment(s.at, lang), " ", el("span", { class: "soft" }, absolute(s.at, lang)),
    el("p", {}, details(words, s).map((d) => el("span", { class: "detail" }, d))))));
}

function details(words, s) {
  const all = [];
  if (s.route) all.push(words.routes[s.route] ?? s.route);
  if (s.vendor) all.push(`${words.vendor} ${s.vendor}${s.model ? ` (${s.model})` : ""}`);
  if (s.tool) all.push(`${words.tool} ${s.tool}`);
  if (s.outcome) all.push(s.outcome);
  if (s.ms) all.push(span(s.ms));
  if (s.attempt) all.push(words.attempt(s.attempt));
  if (s.why) all.push(words.reasons[s.why] ?? s.why);
  if (s.ticket) all.push(ticketLink(s.ticket));
  return all;
}
