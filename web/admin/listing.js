// A list that the server gives page by page.

import { el, put } from "./dom.js";
import { Table, failure, loading } from "./table.js";

const most = 2000; // rows that are kept; whoever wants older ones narrows the search

// Listing shows a table, what is missing, or what went wrong. options: columns, caption
// and empty as in Table; fetch(next) → {rows, next}, where next is undefined at the first
// page and after the last one.
export class Listing {
  node = el("div", {});
  rows = [];
  #words;
  #options;
  #table;
  #next;
  #turn = 0; // of the newest load: an older one's answer is dropped

  constructor(ctx, options) {
    this.#words = ctx.words;
    this.#options = options;
    this.#table = new Table(ctx.words, options.columns, { caption: options.caption, empty: options.empty, onMore: () => this.#fetch(this.#next) });
  }

  // load shows the first page anew.
  load() {
    if (this.rows.length === 0) put(this.node, loading(this.#words));
    return this.#fetch(undefined);
  }

  async #fetch(from) {
    const turn = ++this.#turn;
    try {
      const page = await this.#options.fetch(from);
      if (turn !== this.#turn) return;
      this.rows = from === undefined ? page.rows : [...this.rows, ...page.rows];
      this.#next = page.next || undefined;
      this.#table.set(this.rows, this.#next !== undefined && this.rows.length < most);
      if (!this.#table.node.isConnected || this.node.firstChild !== this.#table.node) put(this.node, this.#table.node);
    } catch (problem) {
      if (turn === this.#turn) put(this.node, absent(this.#words, problem, () => this.load()));
    }
  }
}

// absent says what went wrong; a server that does not know the call has no such list.
export function absent(words, problem, again) {
  if (problem.status === 404 || problem.status === 405) return el("p", { class: "empty" }, words.absent);
  return failure(words, problem, again);
}
