// Short words about what has just happened. A live region reads them aloud.

import { el } from "./dom.js";

const shownFor = 6000; // ms
const most = 4;

export class Toasts {
  node = el("div", { class: "toasts", role: "status", "aria-live": "polite" });

  // say shows a text for a while; kind is "good", "bad" or nothing.
  say(text, kind = "") {
    const one = el("p", { class: `toast ${kind}` }, text);
    this.node.append(one);
    while (this.node.children.length > most) this.node.firstChild.remove();
    setTimeout(() => one.remove(), shownFor);
  }
}
