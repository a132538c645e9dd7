// Parts that stay while what they show changes: nobody's focus is lost by an update.

import { put } from "./dom.js";

// Keyed keeps one part for each item. key(item) names it, make(item) → {node, set(item)}.
export class Keyed {
  #node;
  #key;
  #make;
  #parts = new Map();

  constructor(node, key, make) {
    this.#node = node;
    this.#key = key;
    this.#make = make;
  }

  // set shows these items, in their order.
  set(items) {
    const before = [...this.#parts.keys()].join("\n"), next = new Map();
    for (const item of items) {
      const key = this.#key(item);
      const part = this.#parts.get(key) ?? this.#make(item);
      next.set(key, part);
      part.set(item);
    }
    this.#parts = next;
    if ([...next.keys()].join("\n") !== before) put(this.#node, [...next.values()].map((p) => p.node));
  }
}
