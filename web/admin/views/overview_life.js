// What came of the messages, what is under way, and what all of it rests on.

import { el, put } from "../dom.js";
import { Chart } from "../chart.js";
import { pairs } from "../dialog.js";
import { whole } from "../time.js";

const routes = ["agent", "rag", "faq", "cache", "template"];

// known puts routes in the order of the ladder; others follow.
function known(given) { return [...routes.filter((r) => given.includes(r)), ...given.filter((r) => !routes.includes(r))]; }

// outcomeCards: answers by route, sockets, promises, dead letters.
export function outcomeCards(ctx) {
  const { words, lang, live } = ctx;
  const n = (value) => whole(value, lang);
  const answers = el("div"), owed = el("div");
  const charts = [
    ["sockets", new Chart(words, { label: words.sockets, format: n })],
    ["promises.broken", new Chart(words, { label: words.broken, format: n })],
    ["dead_letters", new Chart(words, { label: words.dead, format: n })],
  ];
  const lines = el("div", { class: "lines" });
  const byRoute = new Map();
  const chartOf = (route) => {
    if (!byRoute.has(route)) {
      byRoute.set(route, new Chart(words, { label: words.routeOf(words.routes[route] ?? route), format: n }));
      lines.append(byRoute.get(route).node);
    }
    return byRoute.get(route);
  };
  const node = el("div", { class: "cards" },
    el("section", { class: "card", data: { part: "routes" } }, el("header", {}, el("h3", {}, words.answers)), answers, lines),
    el("section", { class: "card", data: { part: "life" } }, el("header", {}, el("h3", {}, words.life)), owed, charts.map(([, c]) => c.node)));
  return {
    node,
    draw() {
      for (const [name, chart] of charts) chart.draw(live.values(name));
      for (const route of known(Object.keys(live.series).filter((name) => name.startsWith("route.")).map((name) => name.slice(6)))) {
        chartOf(route).draw(live.values(`route.${route}`));
      }
    },
    set(o) {
      const told = known(Object.keys(o.routes ?? {}));
      put(answers, told.length > 0 ? pairs(told.map((r) => [words.routes[r] ?? r, n(o.routes[r])])) : el("p", { class: "soft" }, words.unknown));
      put(owed, pairs([
        [words.sockets, n(o.sockets)],
        ...Object.entries(o.promises ?? {}).map(([status, count]) => [words.promises[status] ?? status, n(count)]),
        [words.dead, el("a", { href: "#/dead" }, n(o.dead_letters))],
      ]));
    },
  };
}

// healthCard: nodes, and what the asked one works with.
export function healthCard(ctx) {
  const { words } = ctx;
  const nodes = el("div"), checks = el("ul", { class: "plain" });
  const node = el("section", { class: "card" }, nodes, checks);
  return {
    node,
    set(o) {
      put(nodes, pairs([
        [words.controller, o.controller || words.nobody], [words.dispatchers, o.dispatchers.length], [words.intakes, o.intakes.length],
      ]));
      put(checks, o.checks.map((c) => el("li", {}, el("span", { class: `tag ${c.ok ? "good" : c.required ? "bad" : "warn"}` }, c.ok ? words.ok : words.notOk), ` ${c.name} `,
        el("span", { class: "soft" }, c.state))));
    },
  };
}
