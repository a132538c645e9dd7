// One document: read it, put another text into the draft, remove it there.

import { path } from "../client.js";
import { showDiff } from "../diff.js";
import { el, put } from "../dom.js";
import { field } from "../form.js";
import { failure, loading } from "../table.js";
import { whole } from "../time.js";

export function oneDocument(root, ctx, name) {
  let left = false;
  const load = async () => {
    try {
      const found = name === "" ? { text: "" } : await ctx.api.get(path("knowledge", name), { draft: true });
      if (!left) write(root, ctx, name, found.text);
    } catch (problem) {
      if (!left) put(root, failure(ctx.words, problem, load));
    }
  };
  put(root, loading(ctx.words));
  load();
  return () => { left = true; };
}

function write(root, ctx, name, before) {
  const { words, lang, api } = ctx;
  const called = field(words.name, { value: name, required: true, hint: words.nameHint, attributes: { name: "name", autocomplete: "off", readonly: name !== "" } });
  const text = field(words.text, { type: "textarea", value: before, required: true, attributes: { name: "text", rows: 22, spellcheck: "false", class: "code" } });
  const size = el("p", { class: "soft", role: "status" });
  const measure = () => { size.textContent = words.bytes(whole(new Blob([text.value()]).size, lang)); };
  text.input.addEventListener("input", measure);
  measure();
  const save = async () => {
    const to = called.value().trim();
    called.fault(to === "" ? words.needed : "");
    text.fault(text.value() === "" ? words.needed : "");
    if (to === "" || text.value() === "") return;
    const done = await ctx.act({
      title: words.putDraft, about: words.putAbout, wide: true, more: showDiff(words, before, text.value()),
      run: async ({ reason }) => { await api.put(path("knowledge", to), { text: text.value(), reason }); return { put: true }; },
    });
    if (done) ctx.go("knowledge/draft");
  };
  const remove = async () => {
    const done = await ctx.act({
      title: words.remove, about: words.removeAbout, danger: true, touches: [[words.name, name]],
      run: async ({ reason }) => { await api.delete(path("knowledge", name), { reason }); return { put: true }; },
    });
    if (done) ctx.go("knowledge/draft");
  };
  const button = ctx.button(words.putDraft, {}, save);
  button.classList.add("primary");
  put(root, name !== "" && el("h2", {}, name), called.node, text.node, size,
    el("div", { class: "row" }, button, name !== "" && ctx.button(words.remove, { danger: true }, remove), el("a", { href: "#/knowledge" }, words.back)));
}
