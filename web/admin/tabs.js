// The parts of a view, each with an address of its own: #/view/part.

import { el } from "./dom.js";

// tabs makes links to the parts; the first one is at the view's own address. labels: {part: text}.
export function tabs(view, labels, current) {
  return el("nav", { class: "row tabs", "aria-label": labels[current] }, Object.entries(labels).map(([part, label], i) =>
    el("a", { href: i === 0 ? `#/${view}` : `#/${view}/${part}`, "aria-current": part === current ? "page" : null }, label)));
}
