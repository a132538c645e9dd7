// Tickets: search, what is done with all that match, and each ticket's story.

import { el, put } from "../dom.js";
import { tabs } from "../tabs.js";
import { operation, operations } from "./tickets_bulk.js";
import { one } from "./tickets_one.js";
import { search } from "./tickets_search.js";
import * as shared from "./ticket_text.js";
import * as own from "./tickets_text.js";

export default {
  name: "tickets", title: { en: "Tickets", zh: "工单" },
  words: { en: { ...shared.en, ...own.en }, zh: { ...shared.zh, ...own.zh } }, mount,
};

function mount(root, ctx) {
  const { words, rest } = ctx, room = el("div", {});
  const part = rest[0] === "bulk" ? "bulk" : "search";
  put(root, tabs("tickets", { search: words.search, bulk: words.bulks }, part), room);
  if (part === "bulk") return rest[1] ? operation(room, ctx, rest[1]) : operations(room, ctx);
  return rest[0] ? one(room, ctx, rest[0]) : search(room, ctx);
}
