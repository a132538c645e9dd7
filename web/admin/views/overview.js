// How everything stands, and how it was in the last hour.

import { el, put } from "../dom.js";
import { loading } from "../table.js";
import { en, zh } from "./overview_text.js";

export default { name: "overview", title: { en: "Overview", zh: "总览" }, words: { en, zh }, mount };

function mount(root, ctx) {
  const leaving = new AbortController();
  const draw = () => {
    const o = ctx.live.overview;
    put(root, o ? el("p", {}, String(o.level)) : loading(ctx.words));
  };
  ctx.live.addEventListener("state", draw, { signal: leaving.signal });
  draw();
  return () => leaving.abort();
}
