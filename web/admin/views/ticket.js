// How tickets are named and marked in every list.

import { el } from "../dom.js";

const kinds = { answered: "good", failed: "bad", cancelled: "warn" };

export function ticketLink(id) {
  return id ? el("a", { class: "code", href: `#/tickets/${encodeURIComponent(id)}` }, id) : "–";
}

export function ticketTag(words, state) {
  return el("span", { class: `tag ${kinds[state] ?? ""}` }, words.ticketStates[state] ?? state);
}

// why says the reason of an end.
export function why(words, reason) { return reason ? (words.reasons[reason] ?? reason) : ""; }
