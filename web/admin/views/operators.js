// Operators, and tokens of programs.

import { el, put } from "../dom.js";
import { tabs } from "../tabs.js";
import { people } from "./operators_people.js";
import { tokens } from "./operators_tokens.js";
import { en, zh } from "./operators_text.js";

export default { name: "operators", title: { en: "Operators and tokens", zh: "操作员与令牌" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const part = ctx.rest[0] === "tokens" ? "tokens" : "people", room = el("div", {});
  put(root, tabs("operators", { people: ctx.words.operators, tokens: ctx.words.tokens }, part), room);
  if (part === "tokens") tokens(room, ctx);
  else people(room, ctx);
}
