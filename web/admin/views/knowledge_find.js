// What would be found for a question.

import { el, put } from "../dom.js";
import { failure, loading } from "../table.js";
import { documentLink } from "./knowledge_documents.js";
import { asking } from "./asking.js";

export function find(root, ctx) {
  const { words, api } = ctx, out = el("div", {});
  put(root, el("p", { class: "soft" }, words.findAbout), asking(ctx, async (q, lang) => {
    put(out, loading(words));
    try {
      const found = await api.get("knowledge/search", { q, lang });
      put(out, passages(words, found));
    } catch (problem) {
      put(out, failure(words, problem));
    }
  }), out);
}

// passages shows what was found, the best first.
export function passages(words, found) {
  const enough = found.passages.some((p) => p.enough);
  return [
    el("p", { class: enough ? "good" : "warn", role: "status" }, enough ? words.enough(percent(found.threshold)) : words.notEnough(percent(found.threshold))),
    found.passages.map((p) => el("section", { class: "card passage" },
      el("header", {}, el("h3", {}, [p.title, ...p.headings].filter(Boolean).join(" › ")), el("span", { class: `tag ${p.enough ? "good" : "warn"}` }, words.covers(percent(p.covered)))),
      el("p", { class: "soft" }, documentLink(p.name)), el("p", { class: "said" }, p.text))),
  ];
}

export const percent = (part) => `${Math.round(part * 100)} %`;
