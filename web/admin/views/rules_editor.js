// The document as text, with its lines numbered and its faults beside it.

import { el, newId, put } from "../dom.js";
import { trials } from "./rules_trials.js";

export function editor(ctx, draft, signal) {
  const { words } = ctx, id = newId(), about = newId();
  const numbers = el("pre", { class: "numbers", "aria-hidden": "true" });
  const text = el("textarea", { id, class: "code", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", name: "document",
    "aria-describedby": about, readonly: !ctx.can("admin"), oninput: () => draft.write(ctx.api, text.value), onscroll: () => { numbers.scrollTop = text.scrollTop; } });
  const faults = el("ul", { class: "plain", id: about });
  const node = el("div", {}, el("label", { for: id }, words.document), el("div", { class: "editor" }, numbers, text), el("div", { role: "status" }, faults), trials(ctx, draft, signal));
  let lines = 0;
  const draw = () => {
    if (text.value !== draft.text) text.value = draft.text;
    const now = draft.text.split("\n").length, bad = draft.faults.map((f) => f.line).join();
    if (lines !== `${now} ${bad}`) {
      lines = `${now} ${bad}`;
      const faulty = new Set(draft.faults.map((f) => f.line));
      put(numbers, Array.from({ length: now }, (_, i) => el("span", { class: faulty.has(i + 1) ? "fault" : null }, `${i + 1}\n`)));
    }
    text.setAttribute("aria-invalid", String(draft.faults.length > 0));
    put(faults, draft.faults.length === 0 ? el("li", { class: "good" }, words.valid)
      : draft.faults.map((f) => el("li", {}, el("button", { type: "button", class: "link", onclick: () => go(f) }, words.line(f.line, f.column)), ` ${f.field}: ${f.detail}`)));
  };
  // go puts the cursor where a fault is.
  const go = ({ line, column = 1 }) => {
    const at = draft.text.split("\n").slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column - 1;
    text.focus();
    text.setSelectionRange(at, at);
    text.scrollTop = Math.max(0, (line - 8) * parseFloat(getComputedStyle(text).lineHeight));
  };
  draft.addEventListener("change", draw, { signal });
  return { node, show: draw };
}
