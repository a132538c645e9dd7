// The window of the chat: header, notices, and room for the log and the composer.

import { button, el, icon } from "./markup.js";

export class Panel {
  node;
  #words;
  #actions;
  #parts = {};

  // actions: renew(), close()
  constructor(words, title, log, composer, actions) {
    this.#words = words;
    this.#actions = actions;
    this.node = el("section", { className: "panel", role: "dialog", "aria-label": title, hidden: true },
      this.#header(title), log, this.#question(), this.#notice(), composer,
      el("p", { className: "fine", textContent: words.note }));
    this.node.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.isComposing && e.keyCode !== 229) actions.close();
    });
    this.say("new");
  }

  // say shows how the connection, or the owner, stands.
  say(state, owner = "bot") {
    const words = this.#words;
    const shown = state === "online" ? words.ownerState[owner] ?? words.state.online : words.state[state] ?? "";
    if (this.#parts.status.textContent !== shown) this.#parts.status.textContent = shown;
    this.#parts.ai.hidden = owner === "human";
    Object.assign(this.node.dataset, { state, owner });
  }

  // warn shows a notice; "" takes it away.
  warn(text) {
    const { notice } = this.#parts;
    notice.hidden = text === "";
    notice.textContent = text;
  }

  // askRenew asks whether to give the conversation up.
  askRenew() {
    this.#parts.question.hidden = false;
    this.#parts.keep.focus();
  }

  #header(title) {
    const words = this.#words;
    const status = this.#parts.status = el("span", { className: "status", role: "status" });
    const ai = this.#parts.ai = el("span", { className: "ai", title: words.aiLong, textContent: words.ai });
    return el("header", {},
      el("span", { className: "avatar" }, icon("chat")),
      el("div", { className: "names" }, el("h2", {}, el("span", { className: "title", textContent: title }), ai), status),
      this.#button("renew", words.renew, () => this.#actions.renew()),
      this.#button("close", words.close, () => this.#actions.close()));
  }

  #button(sign, label, act) { return button(act, { title: label, "aria-label": label }, icon(sign)); }

  #question() {
    const words = this.#words;
    const end = (renew) => {
      question.hidden = true;
      this.#actions.renew(renew);
    };
    const begin = button(() => end(true), { className: "small", textContent: words.renewYes });
    const keep = this.#parts.keep = button(() => end(false), { className: "small plain", textContent: words.renewNo });
    const question = this.#parts.question = el("div", { className: "question", role: "alertdialog", "aria-label": words.renewAsk, hidden: true },
      el("p", { textContent: words.renewAsk }), el("div", { className: "line" }, begin, keep));
    question.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      end(false);
    });
    return question;
  }

  #notice() {
    return this.#parts.notice = el("p", { className: "notice", role: "alert", hidden: true });
  }
}
