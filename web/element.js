// The element sluice-chat: it joins the parts to one connection.

import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Launcher } from "./launcher.js";
import { Log } from "./log.js";
import { Panel } from "./panel.js";
import { newStore, subject } from "./store.js";
import { ownSheet, sheet } from "./style.js";
import { words } from "./text.js";

// name is the tag; options are its attributes, each as data-….
export const name = "sluice-chat";
export const options = ["key", "server", "locale", "reply", "title", "identity", "theme", "accent", "side", "open"];
const remaking = new Set(["data-key", "data-server", "data-locale", "data-reply", "data-title"]);

export class SluiceChat extends HTMLElement {
  static observedAttributes = options.map((option) => `data-${option}`);

  #root = this.attachShadow({ mode: "closed" });
  #own = null; // sheet with what the page has chosen
  #words;
  #log;
  #composer;
  #panel;
  #launcher;
  #connection = null;
  #leaving = null; // ends the listeners on the page
  #remake = false; // what is shown is to be made anew, in a moment
  #state = "new";
  #owner = "bot";
  #news = []; // seqs of what the customer may not have read, at most 100

  connectedCallback() {
    if (!this.#own) {
      this.#own = ownSheet();
      this.#root.adoptedStyleSheets = [sheet(), this.#own];
    }
    if (!this.#connection) this.#make("open" in this.dataset);
    this.#dress();
    this.#watch();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#log.rest();
    this.#connection.stop();
  }

  attributeChangedCallback(attribute, before, after) {
    if (!this.#connection) return;
    if (attribute === "data-open") return this.#show(after !== null);
    if (before === after) return;
    if (attribute === "data-identity" && subject(before) === subject(after)) return this.#connection.introduce(after);
    if (attribute === "data-identity" || remaking.has(attribute)) return this.#makeAnew();
    this.#dress();
  }

  // erase ends the conversation in this browser.
  erase() { this.#connection?.erase(); }

  // ---- making

  // makeAnew changes the language, the customer, the tenant: several at once count as one.
  #makeAnew() {
    if (this.#remake) return;
    this.#remake = true;
    queueMicrotask(() => {
      this.#remake = false;
      if (!this.isConnected) return;
      const open = this.#isOpen, draft = this.#composer.draft;
      this.#connection.stop();
      this.#log.rest();
      this.#root.replaceChildren();
      this.#news = [];
      this.#owner = "bot";
      this.#state = "new";
      this.#make(open);
      this.#composer.draft = draft;
      if (this.#connection.known) this.#connection.start();
    });
  }

  #make(open) {
    const locale = this.dataset.locale || navigator.language || "en";
    this.lang = locale;
    this.#words = words(locale);
    this.#log = new Log(this.#words, locale, {
      cancel: (ticket) => this.#connection.cancel(ticket),
      send: (text) => this.#send(text),
      phone: (question) => this.#composer.askNumber(question),
      rate: (ticket, score, comment) => this.#connection.rate(ticket, score, comment),
    });
    this.#composer = new Composer(this.#words, {
      send: (text) => this.#send(text),
      typing: (on) => this.#connection.typing(on),
      again: ({ ticket, text }) => {
        this.#connection.cancel(ticket);
        this.#send(text);
      },
    });
    this.#panel = new Panel(this.#words, this.dataset.title || this.#words.title, this.#log.node, this.#composer.node, {
      close: () => this.#show(false, true), renew: (sure) => this.#renew(sure),
    });
    this.#launcher = new Launcher(this.#words, () => this.#show(!this.#isOpen, true));
    this.#root.append(this.#panel.node, this.#launcher.node);
    this.#connect(this.dataset.reply || locale);
    this.#show(open);
  }

  #connect(locale) {
    const { key = "", identity, server } = this.dataset;
    const url = new URL("/v1/chat", server || import.meta.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#connection = new Connection({
      url: url.href, key, identity, locale, store: newStore(key, subject(identity)),
      on: (event, detail) => this.#hear(event, detail),
    });
    for (const p of this.#connection.pending) this.#log.sending(p);
  }

  // dress applies colours, and the room that a phone's keyboard leaves.
  #dress() {
    const { accent } = this.dataset;
    const rules = [];
    if (accent && CSS.supports("color", accent)) rules.push(`--sluice-accent: ${accent}`);
    const view = window.visualViewport;
    if (view && view.height < innerHeight - 1) rules.push(`--view: ${view.height}px`, `--view-top: ${view.offsetTop}px`);
    this.#own.replaceSync(`:host { ${rules.join("; ")} }`);
  }

  #watch() {
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      this.#connection.wake();
      this.#read();
    }, { signal });
    for (const event of ["online", "pageshow"]) addEventListener(event, () => this.#connection.wake(), { signal });
    window.visualViewport?.addEventListener("resize", () => this.#dress(), { signal });
    // A page view that asks nothing costs the server nothing: the socket is opened with
    // the panel, or to hear the rest of a conversation.
    if (this.#isOpen || this.#connection.known) this.#connection.start();
  }

  // ---- connection

  #hear(event, detail) {
    switch (event) {
      case "state": return this.#stateIs(detail);
      case "welcome": return this.#log.announce(false);
      case "caught":
        this.#read();
        return this.#log.announce(true);
      case "reset": return this.#reset();
      case "event": return this.#event(detail);
      case "ack": return this.#log.accepted(detail);
      case "refused": return this.#log.refused(detail);
      case "problem": return this.#panel.warn(this.#words.problem[detail.code] ?? this.#words.problem.other);
      case "read": return this.#badge();
      case "delta": return this.#log.delta(detail);
      case "queue": return this.#log.queue(detail);
      case "typing": return this.#log.typing(detail);
    }
  }

  #stateIs({ state, code }) {
    const { stopped } = this.#words;
    this.#state = state;
    this.#panel.say(state, this.#owner);
    const ended = state === "stopped";
    this.#panel.warn(ended ? stopped[code] ?? stopped.other : "");
    this.#composer.disabled = ended;
  }

  #reset() {
    this.#news = [];
    this.#owner = "bot";
    this.#panel.say(this.#state);
    this.#log.clear(this.#connection.pending);
    this.#badge();
  }

  #event(e) {
    if (e.kind === "owner") {
      this.#owner = e.owner;
      this.#panel.say(this.#state, e.owner);
    }
    if (this.#log.event(e)) this.#news = [...this.#news, e.seq].slice(-100);
    this.#panel.warn("");
    this.#read();
    this.#badge();
  }

  // What stands on an open panel of a page in front counts as read.
  #read() { if (this.#isOpen && !document.hidden) this.#connection.read(); }

  #badge() {
    this.#news = this.#news.filter((seq) => seq > this.#connection.seen);
    this.#launcher.count(this.#isOpen ? 0 : this.#news.length);
  }

  #send(text) {
    const { phone } = this.#composer;
    const cmid = this.#connection.send(text, phone);
    this.#panel.warn(cmid ? "" : this.#words.refused.many);
    if (cmid) this.#log.sending({ cmid, text, phone });
    return cmid !== "";
  }

  // renew begins a new conversation, once the customer is sure.
  #renew(sure) {
    if (sure === undefined && !this.#log.empty) return this.#panel.askRenew();
    if (sure !== false) this.#connection.forget();
    this.#composer.field.focus();
  }

  // ---- window

  get #isOpen() { return !this.#panel.node.hidden; }

  #show(open, focus = false) {
    this.#panel.node.hidden = !open;
    this.#launcher.open(open);
    if (open) {
      this.#connection.start();
      this.#log.toEnd();
      this.#read();
    }
    this.#badge();
    if (focus) (open ? this.#composer.field : this.#launcher.node).focus();
  }
}
