// The demo page: one language at a time, and examples that name this very server.

const asked = new URLSearchParams(location.search).get("lang") ?? navigator.language;
const lang = /^zh\b/i.test(asked) ? "zh" : "en";
document.documentElement.lang = lang === "zh" ? "zh-CN" : "en"; // the page's own words are in no other form
document.documentElement.dataset.lang = lang;

for (const link of document.querySelectorAll("a.pill")) {
  if (link.hreflang === lang) link.setAttribute("aria-current", "true");
}
for (const node of document.querySelectorAll("[data-origin]")) node.textContent = location.origin;

// This module runs before the widget's, which reads its tag when it starts.
const tag = document.querySelector("script[data-key]");
if (tag) tag.dataset.locale = new URLSearchParams(location.search).get("locale") ?? (/^zh(-[a-z0-9]{1,8})+$/i.test(asked) ? asked : document.documentElement.lang);
