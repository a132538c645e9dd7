// The bar with the names of the views, and what an operator chooses for this browser.

import { el } from "./dom.js";
import { language, languages, setLanguage, setTheme, theme, themes } from "./choice.js";

// choices lets one choose language and theme; redraw is called after another language.
export function choices(words, redraw) {
  const lang = el("select", { "aria-label": words.language, onchange: () => { setLanguage(lang.value); redraw(); } },
    Object.entries(languages).map(([code, name]) => el("option", { value: code }, name)));
  lang.value = language();
  const look = el("select", { "aria-label": words.theme, onchange: () => setTheme(look.value) },
    themes.map((name) => el("option", { value: name }, words.themes[name])));
  look.value = theme();
  return [lang, look];
}

// bar makes the navigation. groups: [[name, views], …]. It returns {node, at(name)}.
export function bar(words, lang, groups, { actor, role, leave, redraw }) {
  const links = new Map();
  const list = groups.map(([group, views]) => el("section", {},
    el("h2", {}, words.groups[group]),
    el("ul", {}, views.map((view) => {
      const link = el("a", { href: `#/${view.name}` }, view.title[lang]);
      links.set(view.name, link);
      return el("li", {}, link);
    }))));
  const menu = el("button", { type: "button", class: "menu", "aria-expanded": "false", "aria-controls": "menu", onclick: () => open(menu.getAttribute("aria-expanded") === "false") }, words.menu);
  const nav = el("nav", { id: "menu", "aria-label": words.menu }, list,
    el("div", { class: "who" },
      el("p", {}, el("strong", {}, actor), " ", el("span", { class: "soft" }, words.roles[role])),
      el("div", { class: "choices" }, choices(words, redraw)),
      el("button", { type: "button", class: "leave", onclick: leave }, words.logOut)));
  const node = el("header", { class: "bar" },
    el("div", { class: "brand" }, el("a", { href: "#/overview" }, el("img", { src: "/logo.svg", alt: "", width: 28, height: 28 }), " Sluice"), menu), nav);
  const open = (is) => {
    menu.setAttribute("aria-expanded", String(is));
    node.classList.toggle("open", is);
  };
  node.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
    open(false);
    menu.focus();
  });
  return {
    node,
    at(name) {
      open(false);
      for (const [n, link] of links) (n === name ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current"));
    },
  };
}
