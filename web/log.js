// The conversation as it is shown: one row a message, and one live row for each ticket
// that is still being worked on.

import { el, icon } from "./markup.js";
import { sanitise } from "./sanitise.js";

const mostChoices = 5; // buttons of one message

export class Log {
  node;
  #words;
  #cancel;
  #again;
  #choose;
  #own = new Map(); // cmid → row of a message of the customer
  #bySeq = new Map(); // seq → row
  #live = new Map(); // ticket → what is being written
  #ended = new Set(); // tickets that a durable event has ended
  #clock;

  // actions: cancel(ticket), again(text), choose(text)
  constructor(words, locale, { cancel, again, choose }) {
    this.#words = words;
    this.#cancel = cancel;
    this.#again = again;
    this.#choose = choose;
    this.#clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
    this.node = el("div", {
      className: "log", role: "log", tabIndex: 0, "aria-label": words.log, "aria-live": "off", "aria-relevant": "additions",
    });
    this.#greet();
  }

  // announce lets a screen reader read what is added from now on: history is not news.
  announce(on) { this.node.setAttribute("aria-live", on ? "polite" : "off"); }

  // clear empties the log but for the messages that are still to be sent.
  clear(pending) {
    this.node.replaceChildren();
    for (const map of [this.#own, this.#bySeq, this.#live, this.#ended]) map.clear();
    this.#greet();
    for (const { cmid, text } of pending) this.sending(cmid, text);
  }

  // sending shows a message of the customer at once, before anybody has accepted it.
  sending(cmid, text) {
    if (this.#own.has(cmid)) return;
    const row = this.#ownRow(text, new Date());
    this.#own.set(cmid, row);
    this.#mark(row, "sending", this.#words.sending, "clock");
    this.#add(row, true);
  }

  // accepted marks a message as durable. Its event may have come before.
  accepted({ cmid, ticket, seq }) {
    const row = this.#own.get(cmid);
    const other = this.#bySeq.get(seq);
    if (row && other && other !== row) {
      // The same question twice: the server answers both with one message.
      row.remove();
      this.#own.set(cmid, other);
    } else if (row) {
      this.#deliver(row, seq);
    }
    if (!this.#ended.has(ticket)) this.#liveRow(ticket);
  }

  refused({ cmid, code, retryAt }) {
    const row = this.#own.get(cmid);
    if (!row) return;
    const words = this.#words;
    const text = (retryAt && words.refused[code]) || words.refused.other;
    this.#mark(row, retryAt ? "sending" : "refused", text, "clock");
    if (retryAt) return;
    const again = el("button", { type: "button", className: "link", textContent: words.retry });
    again.addEventListener("click", () => {
      row.remove();
      this.#own.delete(cmid);
      this.#again(row.querySelector(".bubble").textContent);
    });
    row.querySelector(".meta").append(again);
  }

  // event shows a durable event; it returns whether it is something new to read.
  event(e) {
    if (e.who === "customer") {
      this.#ownEvent(e);
      return false;
    }
    const live = this.#live.get(e.ticket);
    const made = e.kind === "message" ? this.#otherRow(e) : this.#statusRow(e);
    if (e.status) {
      this.#ended.add(e.ticket);
      this.#live.delete(e.ticket);
    }
    if (!made) {
      live?.row.remove();
      return false;
    }
    this.#bySeq.set(e.seq, made);
    // Added anew, so that the finished answer is announced, once.
    if (live && e.status) live.row.replaceWith(made);
    else this.#add(made, false);
    this.#follow(made);
    return true;
  }

  // delta adds a piece of an answer in the making, as plain text.
  delta({ ticket, attempt, i, text }) {
    if (this.#ended.has(ticket)) return;
    const live = this.#liveRow(ticket);
    if (attempt < live.attempt) return;
    if (attempt > live.attempt) Object.assign(live, { attempt, next: 0, text: "" });
    // After a gap the rest would make no sense; the whole answer comes as an event.
    if (i !== live.next) return;
    live.next++;
    live.text += text;
    live.row.classList.toggle("writing", live.text !== "");
    live.said.textContent = live.text;
    this.#follow(live.row);
  }

  queue({ ticket, position, eta_ms: eta }) {
    const live = this.#live.get(ticket);
    if (!live || live.text) return;
    const parts = [this.#words.position(position)];
    if (eta >= 1000) parts.push(this.#words.eta(Math.round(eta / 1000)));
    live.place.textContent = parts.join(" · ");
  }

  // ---- rows

  #greet() {
    this.node.append(el("div", { className: "row bot greeting" }, el("div", { className: "bubble", textContent: this.#words.greeting })));
  }

  #ownEvent(e) {
    const row = this.#own.get(e.cmid) ?? this.#ownRow(e.text, new Date(e.at));
    if (e.cmid) this.#own.set(e.cmid, row);
    if (!row.isConnected) this.#add(row, false);
    this.#deliver(row, e.seq);
    this.#liveRow(e.ticket);
  }

  #deliver(row, seq) {
    this.#bySeq.set(seq, row);
    this.#mark(row, "accepted", this.#words.accepted, "check");
  }

  #ownRow(text, at) {
    return el("div", { className: "row own" },
      el("span", { className: "hidden", textContent: `${this.#words.you}: ` }),
      el("div", { className: "bubble", textContent: text }),
      el("div", { className: "meta" }, el("time", { textContent: this.#clock.format(at) }), el("span", { className: "mark" })));
  }

  #mark(row, state, text, sign) {
    row.dataset.state = state;
    const mark = row.querySelector(".mark");
    // The words of a message that went well are for screen readers alone.
    mark.replaceChildren(icon(sign), el("span", { className: state === "accepted" ? "hidden" : "", textContent: text }));
    row.querySelector(".meta .link")?.remove();
  }

  #otherRow(e) {
    const bubble = el("div", { className: "bubble" });
    if (e.locale) bubble.lang = e.locale;
    if (e.html) bubble.append(sanitise(e.html));
    else bubble.append(el("p", { textContent: e.text }));
    const choices = e.choices?.length ? [this.#choices(bubble, e.choices)] : [];
    const row = el("div", { className: `row ${e.who}` }, bubble, ...choices,
      el("div", { className: "meta" }, el("time", { textContent: this.#clock.format(new Date(e.at)) })));
    if (e.who === "bot") row.prepend(this.#author());
    return row;
  }

  // choices are the questions that a message offers, as buttons in place of its list.
  #choices(bubble, all) {
    bubble.querySelector("ol")?.remove();
    const group = el("div", { className: "choices", role: "group", "aria-label": this.#words.choices, lang: bubble.lang });
    for (const { text } of all.slice(0, mostChoices)) {
      const button = el("button", { type: "button", textContent: text });
      button.addEventListener("click", () => {
        for (const other of group.children) other.disabled = true;
        this.#choose(text);
      });
      group.append(button);
    }
    return group;
  }

  #statusRow(e) {
    const text = this.#words.ended[e.status];
    return text ? el("div", { className: "row note", textContent: text }) : null;
  }

  // author is the label that every message written by a machine carries.
  #author() {
    return el("div", { className: "author" },
      el("span", { className: "ai", title: this.#words.aiLong, textContent: this.#words.ai }), this.#words.bot);
  }

  #liveRow(ticket) {
    if (this.#live.has(ticket)) return this.#live.get(ticket);
    const said = el("div", { className: "said" });
    const place = el("span", { className: "place", textContent: this.#words.thinking });
    const dots = el("span", { className: "dots" }, el("i"), el("i"), el("i"));
    const stop = el("button", { type: "button", className: "link", textContent: this.#words.stop });
    stop.addEventListener("click", () => this.#cancel(ticket));
    // Hidden from screen readers: they hear the finished answer instead of each piece.
    const shown = el("div", { className: "bubble", "aria-hidden": "true" }, said, el("div", { className: "wait" }, dots, place));
    const row = el("div", { className: "row bot live" }, this.#author(), shown, el("div", { className: "meta" }, stop));
    const live = { row, said, place, attempt: 0, next: 0, text: "" };
    this.#live.set(ticket, live);
    this.#add(row, false);
    return live;
  }

  // ---- scrolling

  #add(row, always) {
    const near = this.#near();
    this.node.append(row);
    if (always || near) this.#toEnd();
  }

  #follow(row) { if (row === this.node.lastElementChild && this.#near(240)) this.#toEnd(); }

  #near(margin = 96) {
    const { scrollHeight, scrollTop, clientHeight } = this.node;
    return scrollHeight - scrollTop - clientHeight < margin;
  }

  #toEnd() { this.node.scrollTop = this.node.scrollHeight; }
}
