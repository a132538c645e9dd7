// How a load level is shown.

import { el } from "../dom.js";

export function levelTag(words, level) {
  return el("span", { class: `tag ${["good", "warn", "bad", "bad"][level] ?? ""}` }, words.levelIs(level));
}
