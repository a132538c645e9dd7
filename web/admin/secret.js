// A secret that the server tells this once.

import { el } from "./dom.js";

// secret shows it, with a way to copy it where the browser has one.
export function secret(words, value) {
  const copy = el("button", {
    type: "button", class: "link",
    onclick: () => navigator.clipboard.writeText(value).then(() => { copy.textContent = words.copied; }, () => copy.remove()),
  }, words.copy);
  return el("span", { class: "secret" }, el("code", {}, value), navigator.clipboard && [" ", copy]);
}
