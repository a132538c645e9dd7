// The chat widget, loaded by one script tag:
//
//   <script type="module" src="https://chat.example/widget.js" data-key="pk_…" async></script>
//
// Further attributes: data-locale (zh, en; else the browser's), data-open (opens the
// panel), data-identity (a signed JWT of the visitor), data-title. The colour is a
// custom property of the page: sluice-chat { --sluice-accent: #0f766e; }

import { Connection } from "./connection.js";
import { Log } from "./log.js";
import { el, icon } from "./markup.js";
import { newStore } from "./store.js";
import { sheet } from "./style.js";
import { words } from "./text.js";

const longest = 10_000; // characters of a message
const tallest = 5; // rows of the input
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g; // what a message may not hold; pasted by accident

class SluiceChat extends HTMLElement {
  #root = this.attachShadow({ mode: "closed" });
  #words;
  #log;
  #connection;
  #parts = {};
  #unread = 0;
  #leaving = null; // ends the listeners on the page

  connectedCallback() {
    if (this.#connection) return this.#watch();
    const locale = this.dataset.locale || navigator.language || "en";
    this.#words = words(locale);
    this.lang = locale;
    this.#root.adoptedStyleSheets = [sheet()];
    this.#log = new Log(this.#words, locale, {
      cancel: (ticket) => this.#connection.cancel(ticket),
      again: (text) => this.#send(text),
      choose: (text) => this.#send(text),
    });
    this.#root.append(this.#panel(), this.#launcher());
    this.#connect(locale);
    this.#show("open" in this.dataset);
    this.#watch();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#connection.stop();
  }

  // ---- connection

  #connect(locale) {
    const url = new URL("/v1/chat", this.dataset.server || import.meta.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#connection = new Connection({
      url: url.href, key: this.dataset.key, identity: this.dataset.identity, locale,
      store: newStore(this.dataset.key), on: (name, detail) => this.#hear(name, detail),
    });
    for (const { cmid, text } of this.#connection.pending) this.#log.sending(cmid, text);
  }

  #watch() {
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      this.#connection.wake();
      this.#read();
    }, { signal });
    for (const name of ["online", "pageshow"]) addEventListener(name, () => this.#connection.wake(), { signal });
    // A page view that asks nothing costs the server nothing: the socket is opened with
    // the panel, or to hear the rest of a conversation.
    if (this.#isOpen || this.#connection.known) this.#connection.start();
  }

  #hear(name, detail) {
    switch (name) {
      case "state": return this.#state(detail);
      case "welcome": return this.#log.announce(false);
      case "caught":
        this.#read();
        return this.#log.announce(true);
      case "reset": return this.#log.clear(this.#connection.pending);
      case "event": return this.#event(detail);
      case "ack": return this.#log.accepted(detail);
      case "refused": return this.#log.refused(detail);
      case "delta": return this.#log.delta(detail);
      case "queue": return this.#log.queue(detail);
    }
  }

  #state({ state, code }) {
    const { status, notice, field, submit } = this.#parts;
    status.textContent = this.#words.state[state];
    this.#root.firstElementChild.dataset.state = state;
    const stopped = state === "stopped" && code;
    notice.hidden = !stopped;
    if (stopped) notice.textContent = this.#words.stopped[code] ?? this.#words.stopped.other;
    field.disabled = submit.disabled = Boolean(stopped);
  }

  #event(e) {
    const news = this.#log.event(e);
    this.#read();
    if (!news || this.#isOpen || this.#log.node.getAttribute("aria-live") === "off") return;
    this.#unread++;
    this.#badge();
  }

  // What stands on an open panel of a page in front counts as read.
  #read() { if (this.#isOpen && !document.hidden) this.#connection.read(); }

  // ---- panel

  get #isOpen() { return !this.#root.firstElementChild.hidden; }

  #show(open, focus = false) {
    const { launcher, field } = this.#parts;
    this.#root.firstElementChild.hidden = !open;
    launcher.setAttribute("aria-expanded", String(open));
    launcher.setAttribute("aria-label", open ? this.#words.close : this.#words.open);
    launcher.replaceChildren(icon(open ? "close" : "chat"));
    if (open) {
      this.#unread = 0;
      this.#connection.start();
      this.#read();
    }
    this.#badge();
    if (focus) (open ? field : launcher).focus();
  }

  #badge() {
    const { launcher } = this.#parts;
    launcher.querySelector(".badge")?.remove();
    if (this.#unread > 0) launcher.append(el("span", { className: "badge", textContent: Math.min(this.#unread, 99) }));
  }

  #launcher() {
    const launcher = el("button", { type: "button", className: "launcher", "aria-expanded": "false" });
    launcher.addEventListener("click", () => this.#show(!this.#isOpen, true));
    this.#parts.launcher = launcher;
    return launcher;
  }

  #panel() {
    const title = this.dataset.title || this.#words.title;
    const panel = el("section", { className: "panel", role: "dialog", "aria-label": title, hidden: true },
      this.#header(title), this.#log.node, this.#notice(), this.#form(),
      el("p", { className: "fine", textContent: this.#words.note }));
    panel.addEventListener("keydown", (e) => { if (e.key === "Escape" && !e.isComposing) this.#show(false, true); });
    return panel;
  }

  #header(title) {
    const status = this.#parts.status = el("span", { className: "status", role: "status" });
    const button = (sign, label, act) => {
      const made = el("button", { type: "button", title: label, "aria-label": label }, icon(sign));
      made.addEventListener("click", act);
      return made;
    };
    return el("header", {},
      el("span", { className: "avatar" }, icon("chat")),
      el("div", { className: "names" },
        el("h2", {}, title, el("span", { className: "ai", title: this.#words.aiLong, textContent: this.#words.ai })), status),
      button("renew", this.#words.renew, () => this.#connection.forget()),
      button("close", this.#words.close, () => this.#show(false, true)));
  }

  #notice() {
    return this.#parts.notice = el("p", { className: "notice", role: "alert", hidden: true });
  }

  #form() {
    const words = this.#words;
    const field = el("textarea", { rows: 1, maxLength: longest, placeholder: words.placeholder, "aria-label": words.placeholder });
    const submit = el("button", { type: "submit", title: words.send, "aria-label": words.send }, icon("send"));
    const form = el("form", {}, field, submit);
    field.addEventListener("input", () => this.#grow());
    field.addEventListener("keydown", (e) => {
      // 229 is an Enter that an input method takes for itself; Safari reports it only so.
      if (e.key !== "Enter" || e.shiftKey || e.isComposing || e.keyCode === 229) return;
      e.preventDefault();
      form.requestSubmit();
    });
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const text = field.value.replace(/\r\n?/g, "\n").replace(controls, "").trim();
      if (!text) return;
      field.value = "";
      this.#grow();
      this.#send(text);
    });
    Object.assign(this.#parts, { field, submit });
    return form;
  }

  #send(text) { this.#log.sending(this.#connection.send(text), text); }

  #grow() {
    const { field } = this.#parts;
    field.rows = 1;
    const line = parseFloat(getComputedStyle(field).lineHeight);
    field.rows = Math.max(1, Math.min(tallest, Math.floor(field.scrollHeight / line)));
  }
}

if (!customElements.get("sluice-chat")) customElements.define("sluice-chat", SluiceChat);

// A page that wants the element elsewhere places <sluice-chat data-key="…"> itself.
const tag = [...document.scripts].find((script) => script.src === import.meta.url && script.dataset.key);
if (tag && !document.querySelector("sluice-chat")) {
  const chat = document.createElement("sluice-chat");
  Object.assign(chat.dataset, tag.dataset);
  document.body.append(chat);
}
