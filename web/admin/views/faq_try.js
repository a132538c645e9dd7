// A question tried out: which rung would answer it at each level, and why.

import { el, put } from "../dom.js";
import { pairs } from "../dialog.js";
import { failure, loading } from "../table.js";
import { asking } from "./asking.js";
import { entryLink } from "./faq_entries.js";
import { passages, percent } from "./knowledge_find.js";

export function trial(root, ctx) {
  const { words, api } = ctx, out = el("div", {});
  const ask = async (q, lang) => {
    put(out, loading(words));
    // Either may have nothing to answer from: the other still tells its part.
    const [faq, found] = await Promise.all([api.get("faq/try", { q, lang }), api.get("knowledge/search", { q, lang })].map((p) => p.catch((problem) => ({ problem }))));
    if (faq.problem && found.problem) return put(out, failure(words, faq.problem, () => ask(q, lang)));
    const enough = !found.problem && found.passages.some((p) => p.enough);
    put(out, rungs(ctx, faq, found, enough), el("h2", {}, words.faqSays), faq.problem ? failure(words, faq.problem) : match(words, faq),
      el("h2", {}, words.knowledgeSays), found.problem ? failure(words, found.problem) : passages(words, found));
  };
  const first = ctx.query.get("q") ?? "";
  put(root, el("p", { class: "soft" }, words.tryAbout), asking(ctx, ask, first), out);
  if (first !== "") ask(first, "");
}

// rungs says how the question would be answered at each load level, were it not urgent.
function rungs(ctx, faq, found, enough) {
  const { words, live } = ctx, level = live.overview?.level;
  const part = found.problem ? undefined : percent(found.threshold);
  const byFAQ = !faq.problem && faq.tier !== "pass";
  const rows = [
    [0, words.routes.agent, words.because.level0],
    enough ? [1, words.routes.rag, words.because.covered(part)] : [1, words.lightAgent, part ? words.because.notCovered(part) : words.because.noKnowledge],
    byFAQ ? [2, words.routes.faq, faq.tier === "answer" ? (faq.known ? words.because.known : words.because.certain(percent(faq.certainty))) : words.because.offer(percent(faq.certainty))]
      : [2, words.routes.template, faq.problem ? words.because.noFAQ : words.because.uncertain(percent(faq.certainty))],
    [3, words.routes.template, words.because.level3],
  ];
  return el("section", { class: "card" }, el("h2", {}, words.whichRung), el("ol", { class: "plain rungs" }, rows.map(([l, rung, why]) =>
    el("li", { class: l === level ? "here" : null }, el("strong", {}, `${words.levelIs(l)}: ${rung}`), l === level && [" ", el("span", { class: "tag good" }, words.now)], el("p", { class: "soft" }, why)))),
    el("p", { class: "soft" }, words.rungsAbout));
}

function match(words, m) {
  return el("section", { class: "card" },
    el("header", {}, el("h3", {}, words.tiers[m.tier] ?? m.tier), el("span", { class: `tag ${{ answer: "good", offer: "warn" }[m.tier] ?? ""}` }, percent(m.certainty))),
    pairs([[words.nearest, m.entry ? entryLink(m.entry) : "–"], [words.knownPhrasing, m.known ? words.yes : words.no], [words.revision, m.revision]]),
    m.answer && el("p", { class: "said" }, m.answer),
    m.nearest.length > 0 && [el("h3", {}, words.offers), el("ul", { class: "plain" }, m.nearest.map((o) => el("li", {}, entryLink(o.id), ` ${o.text}`)))]);
}
