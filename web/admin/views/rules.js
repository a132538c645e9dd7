// The rules: as a form and as text, checked while one types, with a look at the
// difference before they are saved.

import { el, put } from "../dom.js";
import { failure, loading } from "../table.js";
import { moment } from "../time.js";
import { Draft } from "./rules_draft.js";
import { editor } from "./rules_editor.js";
import { form } from "./rules_form.js";
import { history } from "./rules_history.js";
import { conflict, save } from "./rules_save.js";
import { en, zh } from "./rules_text.js";

export default { name: "rules", title: { en: "Rules", zh: "规则" }, words: { en, zh }, mount };

// What is not saved outlives the view: another language, another view, an ended login.
const draft = new Draft();

function mount(root, ctx) {
  const { words, lang } = ctx, leaving = new AbortController();
  const about = el("p", { class: "soft" }), stale = el("div", { class: "stale", role: "status" });
  const parts = { form: form(ctx, draft, leaving.signal), text: editor(ctx, draft, leaving.signal), history: history(ctx, draft, () => draft.load(ctx.api)) };
  const tabs = Object.keys(parts).map((name) => el("button", { type: "button", data: { part: name }, onclick: () => turn(name) }, words.parts[name]));
  const saveButton = ctx.button(words.save, { role: "admin" }, () => save(ctx, draft));
  saveButton.classList.add("primary");
  const drop = el("button", { type: "button", onclick: () => draft.reset() }, words.drop);
  const turn = (name) => {
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.part === name));
    for (const [part, p] of Object.entries(parts)) p.node.hidden = part !== name;
    parts[name].show?.();
  };
  const draw = () => {
    if (!draft.base) return;
    if (!about.isConnected) put(root, about, stale, el("div", { class: "row tabs" }, tabs, saveButton, drop), Object.values(parts).map((p) => p.node));
    const b = draft.base;
    put(about, `${words.revision} ${b.revision}, ${b.actor}: ${b.reason} `, moment(b.at, lang));
    saveButton.disabled = !ctx.can("admin") || !draft.changed || draft.faults.length > 0;
    drop.hidden = !draft.changed;
    put(stale, draft.stale && [el("p", { class: "warn" }, words.stale(draft.newest)), draft.changed
      ? el("button", { type: "button", onclick: () => conflict(ctx, draft) }, words.compare)
      : el("button", { type: "button", onclick: () => load() }, words.takeNewest)]);
  };
  const load = async () => {
    try {
      await draft.load(ctx.api);
      parts.history.load();
    } catch (problem) {
      if (!draft.base) put(root, failure(words, problem, load));
      else ctx.fail(problem);
    }
  };
  draft.addEventListener("change", draw, { signal: leaving.signal });
  put(root, loading(words));
  turn(["form", "text", "history"].includes(ctx.rest[0]) ? ctx.rest[0] : "form");
  if (draft.base && draft.changed) {
    draw();
    draft.check(ctx.api);
    parts.history.load();
  } else load();
  const watch = setInterval(() => draft.check(ctx.api), 5000);
  return () => { leaving.abort(); clearInterval(watch); };
}
