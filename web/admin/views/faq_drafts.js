// Phrasings that a vendor has drafted: nothing of them answers before somebody accepts it.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { absent } from "../listing.js";
import { loading } from "../table.js";
import { moment } from "../time.js";
import { entryLink } from "./faq_entries.js";

export function drafts(root, ctx) {
  const { words, api } = ctx, node = el("div", { class: "cards wide" });
  const load = async () => {
    try {
      const all = (await api.get("faq/drafts")).drafts;
      put(node, all.length === 0 ? el("p", { class: "empty" }, words.noDrafts) : all.map((d) => card(ctx, d, load)));
    } catch (problem) {
      put(node, absent(words, problem, load));
    }
  };
  put(node, loading(words));
  put(root, el("p", { class: "soft" }, words.draftsAbout), el("div", { class: "row tools" }, el("button", { type: "button", onclick: load }, words.refresh)), node);
  load();
}

function card(ctx, d, load) {
  const { words, lang, api } = ctx, boxes = [];
  const after = async (doing) => { if (await doing !== undefined) load(); };
  const box = (language, text) => {
    const input = el("input", { type: "checkbox" });
    input.checked = true;
    boxes.push({ language, text, input });
    return el("li", {}, el("label", {}, input, " ", text));
  };
  const lists = Object.entries(d.phrasings ?? {}).map(([language, all]) =>
    [el("h3", {}, words.languages[language] ?? language), el("ul", { class: "plain" }, all.map((text) => box(language, text)))]);
  const accept = () => {
    const chosen = boxes.filter((b) => b.input.checked), phrasings = {};
    for (const b of chosen) (phrasings[b.language] ??= []).push(b.text);
    return after(ctx.act({
      title: words.accept, about: words.acceptAbout, touches: [[words.entry, d.entry], [words.phrasings, chosen.length], [words.droppedToo, boxes.length - chosen.length]],
      run: async ({ reason }) => { const now = await api.post(`${path("faq", d.entry)}/accept`, { phrasings, reason }); return [[words.revision, now.revision], [words.entries, now.entries]]; },
    }));
  };
  const drop = () => after(ctx.act({
    title: words.dropDraft, about: words.dropDraftAbout, danger: true, touches: [[words.entry, d.entry], [words.phrasings, boxes.length]],
    run: async ({ reason }) => { await api.delete(`${path("faq", d.entry)}/draft`, { reason }); return words.done; },
  }));
  return el("section", { class: "card" },
    el("header", {}, el("h2", {}, entryLink(d.entry)), el("span", { class: `tag ${{ ready: "good", failed: "bad" }[d.state] ?? ""}` }, words.draftStates[d.state] ?? d.state)),
    el("p", { class: "soft" }, `${d.actor} `, moment(d.at, lang)), lists,
    el("div", { class: "row" }, boxes.length > 0 && ctx.button(words.accept, {}, accept), ctx.button(words.dropDraft, { danger: true }, drop)));
}
