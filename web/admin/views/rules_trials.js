// What the intents that a draft changes are confused with, as the server found out on
// examples that were held back. It says "pending" until then, and is asked again.

import { el, put } from "../dom.js";

const mostMixes = 3; // that are shown of each kind

export function trials(ctx, draft, signal) {
  const { words, lang } = ctx;
  const node = el("section", { role: "status", hidden: true });
  const share = new Intl.NumberFormat(lang, { style: "percent" });
  const mixes = (text, list) => list.slice(0, mostMixes).map((m) => el("li", {}, text(m.intent, m.count, m.text)));
  const row = (t) => {
    if (t.status !== "ready") return el("li", {}, el("code", {}, t.intent), `: ${words.trialIs[t.status]}`);
    return el("li", {}, el("code", {}, t.intent), `: ${words.trialOf(share.format(t.accuracy), t.right, t.examples, t.drawn, t.others)}`,
      el("ul", {}, mixes(words.trialLost, t.lost), mixes(words.trialWon, t.won)));
  };
  draft.addEventListener("change", () => {
    node.hidden = draft.trials.length === 0;
    const shown = JSON.stringify(draft.trials);
    if (node.dataset.shown === shown) return;
    node.dataset.shown = shown;
    put(node, el("h3", {}, words.trials), el("p", { class: "soft" }, words.trialsAbout), el("ul", { class: "plain" }, draft.trials.map(row)));
  }, { signal });
  return node;
}
