// The frame around the views: who is logged in, which view is shown, whether what it
// shows is live.

import { el, put } from "./dom.js";
import { bar } from "./bar.js";
import { Client, explain } from "./client.js";
import { language, setLanguage, setTheme, theme } from "./choice.js";
import { act } from "./dialog.js";
import { Live } from "./live.js";
import { login } from "./login.js";
import { failure, loading } from "./table.js";
import { text } from "./text.js";
import { keepTimes, moment } from "./time.js";
import { Toasts } from "./toast.js";

const restAfter = 30_000; // ms
const ranks = ["viewer", "operator", "admin"];

export class Shell {
  #root = el("div", { class: "root" });
  #groups;
  #views;
  #client = new Client();
  #live = new Live(this.#client);
  #toasts = new Toasts();
  #session = null;
  #main = null;
  #bar = null;
  #banner = null;
  #resting = 0;
  #leave = () => {}; // takes down what is shown

  constructor(groups) {
    this.#groups = groups;
    this.#views = new Map(groups.flatMap(([, views]) => views).map((view) => [view.name, view]));
    this.#client.ended = () => { if (this.#session) this.#out(this.#words.ended); };
  }

  get #words() { return text(language()); }

  // start shows the view of the address, or the way in.
  async start() {
    setLanguage(language());
    setTheme(theme());
    put(document.body, this.#root, this.#toasts.node);
    keepTimes();
    addEventListener("hashchange", () => this.#show());
    this.#live.addEventListener("online", () => this.#tell());
    document.addEventListener("visibilitychange", () => this.#rest());
    put(this.#root, el("main", {}, loading(this.#words)));
    await this.#restore();
  }

  // rest ends the stream of a page that nobody sees for a while: a browser opens only a few
  // connections to a server.
  #rest() {
    clearTimeout(this.#resting);
    if (document.hidden) this.#resting = setTimeout(() => this.#live.stop(), restAfter);
    else if (this.#session && !this.#live.open) this.#live.start();
  }

  // restore goes on with the login that the browser's cookie holds.
  async #restore() {
    try {
      this.#enter(await this.#client.get("session"));
    } catch (problem) {
      if (problem.status === 401) return this.#out("");
      put(this.#root, el("main", {}, failure(this.#words, problem, () => this.#restore())));
    }
  }

  #enter(session) {
    this.#leave();
    this.#session = { role: "admin", ...session };
    this.#client.csrf = session.csrf ?? "";
    this.#live.stop();
    this.#live.start();
    this.#draw();
  }

  #out(said) {
    this.#session = null;
    this.#client.csrf = "";
    this.#live.stop();
    this.#leave();
    document.title = "Sluice";
    for (const open of document.querySelectorAll("dialog[open]")) open.remove();
    this.#leave = login(this.#root, {
      words: this.#words, client: this.#client, said, entered: (s) => this.#enter(s), redraw: () => this.#out(said),
    });
  }

  async #logOut() {
    try {
      await this.#client.post("logout");
    } catch (problem) {
      if (problem.status !== 401) return this.#toasts.say(explain(this.#words, problem), "bad");
    }
    this.#out("");
  }

  #draw() {
    const words = this.#words;
    this.#main = el("main", { id: "main", tabindex: -1 });
    this.#banner = el("div", { class: "banner", hidden: true });
    this.#bar = bar(words, language(), this.#groups, {
      actor: this.#session.actor, role: this.#session.role, leave: () => this.#logOut(), redraw: () => this.#draw(),
    });
    const skip = el("a", { class: "skip", href: "#main", onclick: (e) => { e.preventDefault(); this.#main.focus(); } }, words.skip);
    put(this.#root, skip, this.#bar.node, el("div", { class: "page" }, this.#banner, this.#main));
    this.#tell();
    this.#show();
  }

  // tell says whether what is shown is live.
  #tell() {
    if (!this.#banner || !this.#session) return;
    const away = !this.#live.online && this.#live.since !== null;
    this.#banner.hidden = !away;
    put(this.#banner, away && [el("span", { role: "alert" }, this.#words.notLive), " ", moment(this.#live.since, language())]);
  }

  // show mounts the view that the address names: #/name/rest?query.
  #show() {
    if (!this.#session) return;
    const [at, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const [name, ...rest] = at.split("/").map(decoded);
    const view = this.#views.get(name) ?? this.#views.values().next().value;
    this.#leave();
    this.#leave = () => {};
    const lang = language(), title = view.title[lang];
    document.title = `${title} · Sluice`;
    this.#bar.at(view.name);
    const room = el("div", { class: "view", data: { view: view.name } });
    const heading = el("h1", { tabindex: -1 }, title);
    put(this.#main, heading, room);
    if (view.role && !this.#can(view.role)) return put(room, el("p", { class: "failure" }, this.#words.needsRole(this.#words.roles[view.role])));
    this.#leave = view.mount(room, this.#context(view, rest, new URLSearchParams(query))) ?? (() => {});
    heading.focus({ preventScroll: true });
  }

  #can(role) { return ranks.indexOf(this.#session.role) >= ranks.indexOf(role); }

  #context(view, rest, query) {
    const lang = language(), words = { ...this.#words, ...view.words?.[lang] };
    return {
      lang, words, rest, query,
      actor: this.#session.actor,
      api: this.#client,
      live: this.#live,
      can: (role) => this.#can(role),
      go: (hash) => { location.hash = `#/${hash}`; },
      say: (said, kind) => this.#toasts.say(said, kind),
      fail: (problem) => this.#toasts.say(explain(words, problem), "bad"),
      act: (what) => act(words, what),
      button: (label, options, click) => this.#button(label, options, click),
    };
  }

  // button: what somebody's role does not allow is shown, and says so.
  #button(label, { role = "operator", danger = false, disabled = false } = {}, click) {
    const may = this.#can(role);
    return el("button", {
      type: "button", class: danger ? "danger" : null, disabled: disabled || !may, onclick: click,
      title: may ? null : this.#words.needsRole(this.#words.roles[role]),
    }, label);
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
