// The states of a list, each with how many there are.

import { el } from "../dom.js";
import { whole } from "../time.js";

// stateTabs makes a button for each state; go is called with the one that is pressed.
// count writes the numbers into them.
export function stateTabs(labels, current, go) {
  const counts = {};
  const buttons = Object.entries(labels).map(([state, label]) => {
    counts[state] = el("span", { class: "count" });
    return el("button", { type: "button", "aria-pressed": String(state === current), onclick: () => go(state) }, label, " ", counts[state]);
  });
  return {
    node: el("div", { class: "row tabs" }, buttons),
    count(numbers, lang) { for (const [state, node] of Object.entries(counts)) node.textContent = whole(numbers?.[state] ?? 0, lang); },
  };
}
