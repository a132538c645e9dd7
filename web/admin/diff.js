// What is different between two texts, line by line.

import { el } from "./dom.js";

const around = 3; // lines that are shown on each side of a change
const mostCells = 4_000_000; // of the table of common lines; beyond it a part counts as replaced

// diff returns [[kind, line], …]; kind is " ", "-" or "+".
export function diff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines) => lines.map((line) => [" ", line]);
  return [...same(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(end > 0 ? a.slice(-end) : [])];
}

// middle finds the longest common lines of two parts.
function middle(a, b) {
  if (a.length === 0 || b.length === 0 || a.length * b.length > mostCells) return [...a.map((l) => ["-", l]), ...b.map((l) => ["+", l])];
  const width = b.length + 1, common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const all = [];
  let i = 0, j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) all.push([" ", a[i++]]) && j++;
    else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) all.push(["-", a[i++]]);
    else all.push(["+", b[j++]]);
  }
  return [...all, ...a.slice(i).map((l) => ["-", l]), ...b.slice(j).map((l) => ["+", l])];
}

// showDiff draws the changes with the lines around them.
export function showDiff(words, before, after) {
  const all = diff(before, after), near = new Uint8Array(all.length);
  all.forEach(([kind], i) => { if (kind !== " ") near.fill(1, Math.max(0, i - around), i + around + 1); });
  const lines = [];
  let left = 0, gap = true;
  all.forEach(([kind, line], i) => {
    if (kind !== "+") left++;
    if (!near[i]) { gap = true; return; }
    if (gap) lines.push(el("span", { class: "at" }, `${words.line(Math.max(1, left))}\n`));
    gap = false;
    lines.push(el("span", { class: { "-": "out", "+": "in", " ": "" }[kind] }, `${kind} ${line}\n`));
  });
  const count = (kind) => all.filter(([k]) => k === kind).length;
  return el("div", { class: "diff" }, el("p", {}, words.diffCounts(count("+"), count("-"))),
    lines.length > 0 && el("pre", { tabindex: 0, role: "region", "aria-label": words.diffTitle }, lines));
}
