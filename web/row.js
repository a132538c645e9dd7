// One message, or one note, of the conversation as it is shown.

import { button, el, icon } from "./markup.js";
import { sanitise } from "./sanitise.js";
import { repliesIn } from "./text.js";

const mostChoices = 5; // buttons of one message

// shown is what a message says: its HTML, or where there is none or the page lets none be
// made, its text.
function shown({ html, text }) {
  try { if (html) return sanitise(html); } catch { /* its text */ }
  return el("p", { textContent: text });
}

export class Rows {
  #words;
  #choose;
  #today;
  #day;

  // choose(text) sends what a button says.
  constructor(words, locale, choose) {
    this.#words = words;
    this.#choose = choose;
    const time = { hour: "2-digit", minute: "2-digit" };
    this.#today = new Intl.DateTimeFormat(locale, time);
    this.#day = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", ...time });
  }

  // clock writes the time of an instant, with the day unless that is today.
  clock(at) { return (at.toDateString() === new Date().toDateString() ? this.#today : this.#day).format(at); }

  greeting() {
    const bubble = el("div", { className: "bubble", textContent: this.#words.greeting });
    return el("div", { className: "row bot greeting" }, this.author("bot"), bubble);
  }

  own(text, at) {
    return el("div", { className: "row own" },
      el("span", { className: "hidden", textContent: `${this.#words.you}: ` }),
      el("div", { className: "bubble", textContent: text }),
      el("div", { className: "meta" }, el("time", { textContent: this.clock(at) }), el("span", { className: "mark", "aria-live": "off" })));
  }

  // mark says how a message of the customer stands. Only a failure is announced.
  mark(row, state, text, sign) {
    row.dataset.state = state;
    const mark = row.querySelector(".mark");
    mark.setAttribute("aria-live", state === "refused" ? "polite" : "off");
    // The words of a message that went well are for screen readers alone.
    mark.replaceChildren(icon(sign), el("span", { className: state === "accepted" ? "hidden" : "", textContent: text }));
    row.querySelector(".meta .link")?.remove();
  }

  // message is one of the bot, of a person or of the house.
  message(e) {
    const bubble = el("div", { className: "bubble" });
    if (e.locale) bubble.lang = e.locale;
    bubble.append(shown(e));
    const who = ["bot", "human"].includes(e.who) ? e.who : "system";
    const row = el("div", { className: `row ${who}` }, bubble);
    if (e.choices?.length) {
      bubble.querySelector("ol")?.remove();
      row.append(this.#buttons(this.#words.choices, e.locale, e.choices.map((c) => c.text)));
    } else if (e.asks) {
      const { yes, no } = repliesIn(e.locale, this.#words);
      row.append(this.#buttons(this.#words.confirm, e.locale, [yes, no]));
    }
    row.append(el("div", { className: "meta" }, el("time", { textContent: this.clock(new Date(e.at)) })));
    if (who !== "system") row.prepend(this.author(who));
    return row;
  }

  note(text) { return el("div", { className: "row note", textContent: text }); }

  // author is the label of a message; every one that a machine wrote says so.
  author(who) {
    const words = this.#words;
    const label = who === "bot" ? [el("span", { className: "ai", title: words.aiLong, textContent: words.ai })] : [];
    return el("div", { className: "author" }, ...label, words[who]);
  }

  #buttons(label, lang, texts) {
    const group = el("div", { className: "choices", role: "group", "aria-label": label });
    for (const text of texts.slice(0, mostChoices)) {
      group.append(button(() => {
        if (!this.#choose(text)) return;
        for (const other of group.children) other.disabled = true;
      }, { textContent: text, lang: lang ?? "" }));
    }
    return group;
  }
}
