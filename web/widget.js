// The chat widget, loaded by one script tag:
//
//   <script type="module" src="https://chat.example/widget.js" data-key="pk_…" async></script>
//
// The same module gives a page boot, update and shutdown:
//
//   const chat = await import("https://chat.example/widget.js");
//
// Attributes of the tag and of the element, which are also the options of boot and update,
// stand in docs/widget.md.

import { SluiceChat, name, options } from "./element.js";

if (!customElements.get(name)) customElements.define(name, SluiceChat);

// boot shows the widget; one that is there already gets the options.
export function boot(given = {}) {
  const there = document.querySelector(name);
  if (there) return update(given);
  const chat = document.createElement(name);
  assign(chat, given);
  document.body.append(chat);
}

// update changes options of the widget: null takes one back.
export function update(given) {
  const there = document.querySelector(name);
  if (there) assign(there, given);
}

// shutdown takes the widget away, and all that it holds. With forget, as when the visitor
// logs out, nothing of the conversation stays in the browser.
export function shutdown({ forget = false } = {}) {
  const there = document.querySelector(name);
  if (forget) there?.erase();
  there?.remove();
}

function assign(chat, given) {
  for (const option of options) {
    if (!(option in given)) continue;
    if (given[option] == null || given[option] === false) delete chat.dataset[option];
    else chat.dataset[option] = given[option] === true ? "" : given[option];
  }
}

// A page that wants the element elsewhere places <sluice-chat data-key="…"> itself.
const tag = [...document.scripts].find((script) => script.src === import.meta.url && script.dataset.key);
if (tag && !document.querySelector(name)) boot(tag.dataset);
