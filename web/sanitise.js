// The second lock on what the server has sanitised already: a new tree is built out of
// known elements, and nothing is ever assigned to innerHTML.

import { plain } from "./markup.js";

const named = (names) => new Set(names.split(" "));
const keep = named("P BR STRONG EM UL OL LI CODE PRE");
const rename = { B: "STRONG", I: "EM" };
const heading = /^H[1-6]$/;
// With all they hold; elements that hold nothing vanish as every unknown one.
const discard = named("SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME OBJECT SVG MATH BUTTON SELECT TEXTAREA TITLE");
const schemes = named("http: https: mailto: tel:");
const deepest = 32;

// A page that requires Trusted Types lets the parser have what this policy made. What is
// parsed is inert and copied below: nothing of it enters the page.
let policy;

// sanitise returns a fragment with the allowed part of an HTML text. Unknown elements give
// way to their children, dangerous ones vanish with all they hold. It throws where the page
// lets no HTML be parsed.
export function sanitise(html) {
  policy ??= window.trustedTypes?.createPolicy("sluice-chat", { createHTML: String });
  const parsed = new DOMParser().parseFromString(policy?.createHTML(html) ?? html, "text/html");
  const out = document.createDocumentFragment();
  copyChildren(parsed.body, out, 0);
  return out;
}

function copyChildren(from, to, depth) {
  if (depth > deepest) return;
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.append(plain(node.data));
    else if (node.nodeType === Node.ELEMENT_NODE) copyElement(node, to, depth);
  }
}

function copyElement(node, to, depth) {
  // A form first: its inputs may stand in for any of its properties, its name included.
  if (node instanceof HTMLFormElement) return;
  const name = node.nodeName.toUpperCase();
  if (discard.has(name)) return;
  const made = make(name, node);
  if (made) to.append(made);
  let inner = made ?? to;
  if (heading.test(name)) {
    inner = document.createElement("strong");
    made.append(inner);
  }
  copyChildren(node, inner, depth + 1);
}

function make(name, node) {
  if (heading.test(name)) return document.createElement("p");
  if (name === "A") return link(node.getAttribute("href"));
  const known = rename[name] ?? name;
  return keep.has(known) ? document.createElement(known) : null;
}

function link(href) {
  let url;
  try { url = new URL(href ?? ""); } catch { return null; }
  if (!schemes.has(url.protocol)) return null;
  const a = document.createElement("a");
  a.href = url.href;
  a.target = "_blank";
  a.rel = "noopener noreferrer nofollow";
  return a;
}
