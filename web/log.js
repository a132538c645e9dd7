// The conversation as it is shown: one row a message, in order of seq, and below them
// what is still being worked on.

import { Live } from "./live.js";
import { button, el } from "./markup.js";
import { closeRating, offerRating, showRating } from "./rating.js";
import { Rows } from "./row.js";

const mostRows = 500; // older ones go

export class Log {
  node;
  #list;
  #live;
  #rows;
  #words;
  #actions;
  #own = new Map(); // cmid → row of a message of the customer
  #bySeq = new Map(); // seq → the same
  #waiting = new Set(); // of these, the ones whose event has not come: they stand last
  #phoned = new Set(); // cmids that were sent with a phone number
  #questions = new Map(); // ticket → {text, phoned}, of open ones
  #answers = new Map(); // ticket → row of its answer
  #promises = new Map(); // follow-up → row
  #ended = new Set(); // tickets that a durable event has ended
  #rateable = null; // row of the newest answer

  // actions: cancel(ticket), send(text) → whether it went, phone({ticket, text}),
  // rate(ticket, score, comment)
  constructor(words, locale, actions) {
    this.#words = words;
    this.#actions = actions;
    this.#rows = new Rows(words, locale, actions.send);
    this.#live = new Live(words, this.#rows, {
      cancel: actions.cancel, phone: (ticket) => actions.phone({ ticket, text: this.#questions.get(ticket).text }),
    }, () => this.#follow());
    this.#list = el("div", { className: "list", role: "log", "aria-label": words.log, "aria-live": "off", "aria-relevant": "additions" });
    this.node = el("div", { className: "log", role: "region", tabIndex: 0, "aria-label": words.log }, this.#list, this.#live.node);
    this.#list.append(this.#rows.greeting());
  }

  // loud tells whether what is added now is news: it is read out by a screen reader.
  get loud() { return this.#list.getAttribute("aria-live") !== "off"; }

  // announce lets a screen reader read what is added from now on: history is not news.
  announce(on) { this.#list.setAttribute("aria-live", on ? "polite" : "off"); }

  get empty() { return this.#list.childElementCount <= 1; }

  // rest stops the timers.
  rest() { this.#live.quiet(); }

  // clear empties the log but for the messages that are still to be sent.
  clear(pending) {
    this.#list.replaceChildren(this.#rows.greeting());
    this.#live.clear();
    for (const all of [
      this.#own, this.#bySeq, this.#waiting, this.#phoned, this.#questions, this.#answers, this.#promises, this.#ended,
    ]) all.clear();
    this.#rateable = null;
    for (const p of pending) this.sending(p);
  }

  // sending shows a message of the customer at once, before anybody has accepted it.
  sending({ cmid, text, phone }) {
    if (this.#own.has(cmid)) return;
    const row = this.#rows.own(text, new Date());
    this.#own.set(cmid, row);
    if (phone) this.#phoned.add(cmid);
    this.#rows.mark(row, "sending", this.#words.sending, "clock");
    this.#add(row, null);
    this.#waiting.add(row);
    this.toEnd();
  }

  // accepted marks a message as durable. Its event may have come before.
  accepted({ cmid, ticket, seq }) {
    const row = this.#own.get(cmid);
    const other = this.#bySeq.get(seq);
    if (row && other && other !== row) {
      // The same question twice: the server answers both with one message.
      row.remove();
      this.#waiting.delete(row);
      this.#own.set(cmid, other);
    } else if (row) {
      this.#deliver(row, seq);
    }
    if (!this.#ended.has(ticket)) this.#live.begin(ticket);
  }

  refused({ cmid, code, retryAt }) {
    const row = this.#own.get(cmid);
    if (!row) return;
    const { refused, retry } = this.#words;
    this.#rows.mark(row, retryAt ? "sending" : "refused", retryAt ? refused[code] ?? refused.again : refused.other, "clock");
    if (retryAt) return;
    this.#waiting.delete(row);
    row.querySelector(".meta").append(button(() => {
      if (!this.#actions.send(row.querySelector(".bubble").textContent)) return;
      row.remove();
      this.#own.delete(cmid);
    }, { className: "link", textContent: retry }));
  }

  // event shows a durable event; it returns whether it is something new to read.
  event(e) {
    if (e.who === "customer") {
      this.#ownEvent(e);
      return false;
    }
    if (e.kind === "rating") {
      const row = this.#answers.get(e.ticket);
      if (row) showRating(row, this.#words.rating, e.rating.score);
      return false;
    }
    if (e.status) {
      this.#ended.add(e.ticket);
      this.#questions.delete(e.ticket);
      this.#live.end(e.ticket);
    }
    if (e.kind !== "promise") this.#live.quiet();
    const made = this.#make(e);
    if (!made) return false;
    this.#add(made);
    return e.kind === "message" || e.kind === "promise";
  }

  delta(d) { if (!this.#ended.has(d.ticket)) this.#live.delta(d); }

  queue(q) { this.#live.queue(q, this.#questions.has(q.ticket) && !this.#questions.get(q.ticket).phoned); }

  typing(t) { this.#live.typing(t); }

  // ---- rows

  #make(e) {
    switch (e.kind) {
      case "message": return this.#answer(e);
      case "promise": return this.#promise(e);
      case "owner": return this.#noteOf(this.#words.owner[e.owner]);
      case "status": return e.reason === "human" ? null : this.#noteOf(this.#words.ended[e.status]); // a person answers
    }
    return null;
  }

  #noteOf(text) { return text ? this.#rows.note(text) : null; }

  #answer(e) {
    const row = this.#rows.message(e);
    if (e.who === "bot" && e.status === "answered") {
      closeRating(this.#rateable);
      this.#answers.set(e.ticket, row);
      this.#rateable = row;
      offerRating(row, this.#words.rating, (score, comment) => this.#actions.rate(e.ticket, score, comment));
    }
    return row;
  }

  // promise shows how a promise stands, in place of how it stood before.
  #promise(e) {
    const say = this.#words.promise[e.promise.status];
    const text = typeof say === "function" ? say(this.#rows.clock(new Date(e.promise.due_at))) : say;
    const made = this.#noteOf(text);
    this.#promises.get(e.ticket)?.remove();
    if (made) {
      made.classList.add("promise");
      this.#promises.set(e.ticket, made);
    }
    return made;
  }

  #ownEvent(e) {
    const row = this.#own.get(e.cmid) ?? this.#rows.own(e.text, new Date(e.at));
    if (e.cmid) this.#own.set(e.cmid, row);
    this.#waiting.delete(row);
    this.#add(row);
    this.#deliver(row, e.seq);
    if (this.#ended.has(e.ticket)) return;
    this.#questions.set(e.ticket, { text: e.text, phoned: this.#phoned.has(e.cmid) });
    this.#live.begin(e.ticket);
  }

  #deliver(row, seq) {
    this.#bySeq.set(seq, row);
    this.#rows.mark(row, "accepted", this.#words.accepted, "check");
  }

  // add puts a row at the end, or leaves it there: what waits for its event stands behind.
  #add(row, behind = [...this.#waiting][0] ?? null) {
    const near = this.#near();
    if (!row.isConnected || row.nextElementSibling !== behind) this.#list.insertBefore(row, behind);
    while (this.#list.childElementCount > mostRows) this.#list.firstElementChild.remove();
    if (near) this.toEnd();
  }

  // ---- scrolling

  #follow() { if (this.#near(240)) this.toEnd(); }

  #near(margin = 160) {
    const { scrollHeight, scrollTop, clientHeight } = this.node;
    return scrollHeight - scrollTop - clientHeight < margin;
  }

  toEnd() { this.node.scrollTop = this.node.scrollHeight; }
}
