// The round button that opens and closes the window.

import { button, el, icon } from "./markup.js";

const most = 99; // that the badge counts

export class Launcher {
  node;
  #words;
  #open = false;
  #unread = 0;

  constructor(words, act) {
    this.#words = words;
    this.node = button(act, { className: "launcher" });
  }

  open(is) {
    this.#open = is;
    this.node.setAttribute("aria-expanded", String(is));
    this.#draw();
  }

  // count shows how much is unread.
  count(n) {
    if (n === this.#unread) return;
    this.#unread = n;
    this.#draw();
  }

  #draw() {
    const words = this.#words, n = this.#unread;
    this.node.setAttribute("aria-label", this.#open ? words.close : n > 0 ? words.unread(n) : words.open);
    this.node.replaceChildren(icon(this.#open ? "close" : "chat"));
    if (n > 0) this.node.append(el("span", { className: "badge", textContent: n > most ? `${most}+` : n }));
  }
}
