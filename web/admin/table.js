// A table that can be sorted, with pages; and the words where there is nothing to show.

import { el, put } from "./dom.js";
import { explain } from "./client.js";

const pageSize = 50;

// Table shows rows. columns: {title, cell(row) → node or text, sort?(row) → number or
// text, number?: true}. options: caption (read aloud, and the name of the scrolled
// region), empty (words for no rows), onMore (fetches the next page from the server; the
// button is there while "more" is true).
export class Table {
  #words;
  #columns;
  #options;
  #rows = [];
  #by = -1;
  #down = false;
  #page = 0;
  #body = el("tbody");
  #heads = [];
  #pages = el("nav", { class: "pages" });

  constructor(words, columns, options) {
    this.#words = words;
    this.#columns = columns;
    this.#options = options;
    const head = columns.map((c, i) => {
      const th = el("th", { scope: "col", class: c.number ? "number" : null },
        c.sort ? el("button", { type: "button", class: "sort", onclick: () => this.#sort(i) }, c.title) : c.title);
      this.#heads.push(th);
      return th;
    });
    this.node = el("div", { class: "table" },
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": options.caption },
        el("table", {}, el("caption", {}, options.caption), el("thead", {}, el("tr", {}, head)), this.#body)),
      this.#pages);
    this.#pages.setAttribute("aria-label", `${words.pages}: ${options.caption}`);
  }

  // set shows these rows; more: the server has further ones.
  set(rows, more = false) {
    this.#rows = rows;
    this.more = more;
    this.#draw();
  }

  #sort(i) {
    this.#down = this.#by === i && !this.#down;
    this.#by = i;
    this.#heads.forEach((th, n) => (n === i ? th.setAttribute("aria-sort", this.#down ? "descending" : "ascending") : th.removeAttribute("aria-sort")));
    this.#page = 0;
    this.#draw();
  }

  #sorted() {
    const key = this.#columns[this.#by]?.sort;
    if (!key) return this.#rows;
    const way = this.#down ? -1 : 1;
    return this.#rows.toSorted((a, b) => way * order(key(a), key(b)));
  }

  #draw() {
    const rows = this.#sorted(), pages = Math.max(1, Math.ceil(rows.length / pageSize));
    this.#page = Math.min(this.#page, pages - 1);
    const shown = rows.slice(this.#page * pageSize, (this.#page + 1) * pageSize);
    put(this.#body, shown.length > 0 ? shown.map((row) => this.#row(row))
      : el("tr", {}, el("td", { colspan: this.#columns.length, class: "empty" }, this.#options.empty ?? this.#words.nothing)));
    const turn = (by) => { this.#page += by; this.#draw(); };
    put(this.#pages,
      pages > 1 && [
        el("button", { type: "button", disabled: this.#page === 0, onclick: () => turn(-1) }, this.#words.previous),
        el("span", { class: "soft" }, this.#words.page(this.#page + 1, pages)),
        el("button", { type: "button", disabled: this.#page === pages - 1, onclick: () => turn(1) }, this.#words.next),
      ],
      this.more && el("button", { type: "button", onclick: this.#options.onMore }, this.#words.more));
  }

  #row(row) {
    return el("tr", {}, this.#columns.map((c) => el("td", { class: c.number ? "number" : null }, c.cell(row))));
  }
}

function order(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "string" ? a.localeCompare(b) : a < b ? -1 : 1;
}

// failure says what went wrong, with a way to try again.
export function failure(words, problem, again) {
  return el("div", { class: "failure", role: "alert" }, el("p", {}, explain(words, problem)),
    again && el("button", { type: "button", onclick: again }, words.again));
}

// loading says that something is on its way.
export function loading(words) { return el("p", { class: "soft loading", role: "status" }, words.loading); }
