// A small line over the last hour: an axis with its greatest value, the last value beside
// it, and the same in words for who does not see it.

import { el, put, svg } from "./dom.js";

const width = 240, height = 48;

// Chart draws one series. options: label, format (a number → text), bound (a line across;
// optional), least (the axis reaches at least so far; defaults to 1).
export class Chart {
  #words;
  #options;
  #axis = el("span", { class: "axis" });
  #last = el("strong", {});
  #drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" });

  constructor(words, options) {
    this.#words = words;
    this.#options = { format: String, least: 1, ...options };
    this.node = el("figure", { class: "chart" },
      el("figcaption", {}, el("span", {}, options.label), this.#last),
      el("div", { class: "plot" }, this.#axis, this.#drawing));
  }

  // draw shows values, oldest first, null where nobody knows; bound replaces the one of
  // the options.
  draw(values, bound = this.#options.bound) {
    const { format, label, least } = this.#options;
    const known = values.filter((v) => v !== null && v !== undefined);
    const top = Math.max(least, ...known, bound ?? 0);
    const now = values.at(-1);
    this.#last.textContent = now === null || now === undefined ? "–" : format(now);
    this.#axis.textContent = format(top);
    const y = (v) => (height - 2 - (v / top) * (height - 4)).toFixed(1);
    const x = (i) => (values.length > 1 ? (i / (values.length - 1)) * width : width).toFixed(1);
    put(this.#drawing,
      bound ? svg("line", { class: "bound", x1: 0, x2: width, y1: y(bound), y2: y(bound) }) : null,
      svg("path", { class: "line", d: line(values, x, y) }));
    this.#drawing.setAttribute("aria-label", known.length === 0 ? `${label}: ${this.#words.unknown}`
      : this.#words.chart(label, this.#last.textContent, format(Math.min(...known)), format(Math.max(...known))));
  }
}

// line moves on after a gap; a value between two gaps is a short stroke.
function line(values, x, y) {
  let path = "", drawn = false;
  values.forEach((v, i) => {
    const is = v !== null && v !== undefined;
    if (is) path += drawn ? `L${x(i)} ${y(v)}` : `M${x(i)} ${y(v)}h.1`;
    drawn = is;
  });
  return path;
}
