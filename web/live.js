// What is in the making: one row for each ticket that is worked on, and who is writing.
// It stands below the log and is no part of it, so that a screen reader hears each answer
// once, when it is finished.

import { button, el, plain } from "./markup.js";

const longestTyping = 6_000; // ms that a sign of typing holds, whatever it says

export class Live {
  node = el("div", { className: "making" });
  #words;
  #rows;
  #actions;
  #moved;
  #all = new Map(); // ticket → what is being written
  #writer = null; // {row, timer} of somebody who is typing

  // actions: cancel(ticket), phone(ticket) or null; moved is told after each change.
  constructor(words, rows, actions, moved) {
    this.#words = words;
    this.#rows = rows;
    this.#actions = actions;
    this.#moved = moved;
  }

  get size() { return this.#all.size; }

  clear() {
    this.quiet();
    this.#all.clear();
    this.node.replaceChildren();
  }

  begin(ticket) {
    if (this.#all.has(ticket)) return this.#all.get(ticket);
    const words = this.#words;
    const said = el("div", { className: "said" });
    const place = el("span", { className: "place", textContent: words.thinking });
    const dots = el("span", { className: "dots" }, el("i"), el("i"), el("i"));
    const text = button(() => this.#actions.phone(ticket), { className: "link", textContent: words.phone.offer });
    const stop = button(() => this.#actions.cancel(ticket), { className: "link", textContent: words.stop });
    text.hidden = true;
    // Hidden from screen readers: they hear the finished answer instead of each piece.
    const shown = el("div", { className: "bubble", "aria-hidden": "true" }, said, el("div", { className: "wait" }, dots, place));
    const row = el("div", { className: "row bot live" }, this.#rows.author("bot"), shown, el("div", { className: "meta" }, stop, text));
    const live = { row, said, place, text, attempt: 0, next: 0, all: "" };
    this.#all.set(ticket, live);
    this.node.insertBefore(row, this.#writer?.row ?? null);
    this.#moved();
    return live;
  }

  end(ticket) {
    this.#all.get(ticket)?.row.remove();
    this.#all.delete(ticket);
  }

  // delta adds a piece of an answer, as plain text.
  delta({ ticket, attempt, i, text }) {
    const live = this.begin(ticket);
    if (attempt < live.attempt) return;
    if (attempt > live.attempt) Object.assign(live, { attempt, next: 0, all: "" });
    // After a gap the rest would make no sense; the whole answer comes as an event.
    if (i !== live.next) return;
    live.next++;
    live.all += text;
    live.row.classList.toggle("writing", live.all !== "");
    live.text.hidden = true;
    live.said.textContent = plain(unmarked(live.all));
    this.#moved();
  }

  queue({ ticket, position, eta_ms: eta }, mayText) {
    const live = this.#all.get(ticket);
    if (!live || live.all) return;
    const parts = [this.#words.position(position)];
    if (eta >= 1000) parts.push(this.#words.eta(Math.round(eta / 1000)));
    live.place.textContent = parts.join(" · ");
    live.text.hidden = !mayText;
  }

  // typing shows that a person writes, for as long as the sign of it holds. Of the bot the
  // row of its ticket says so.
  typing({ who, ttl_ms: ttl }) {
    if (who === "customer" || (who === "bot" && this.size > 0)) return;
    this.quiet();
    if (!(ttl > 0)) return;
    const author = this.#rows.author(who === "bot" ? "bot" : "human");
    const row = el("div", { className: "row typing" }, el("div", { className: "wait" },
      el("span", { className: "dots" }, el("i"), el("i"), el("i")), author, this.#words.typing));
    this.#writer = { row, timer: setTimeout(() => this.quiet(), Math.min(ttl, longestTyping)) };
    this.node.append(row);
    this.#moved();
  }

  quiet() {
    clearTimeout(this.#writer?.timer);
    this.#writer?.row.remove();
    this.#writer = null;
  }
}

// unmarked hides the signs of Markdown in a text that is not finished.
function unmarked(text) {
  return text.replace(/\*\*|`+/g, "").replace(/^#{1,6} /gm, "").replace(/^( *)[-*] /gm, "$1• ");
}
