// The admin page. How to add a view:
//
// 1. views/NAME.js:  export default { name, title: {en, zh}, words: {en, zh}, role?, mount(root, ctx) }
//    name is in the address (#/name/rest?query); role ("viewer" if left out) is what one
//    must be to see it. mount fills root and returns what takes it down again: timers,
//    listeners (give ctx.live listeners an AbortController's signal). The heading is there.
// 2. views/NAME_text.js holds its words, "export const en = {…}" and "export const zh =
//    {…}": the same keys in the same order, one a line (a test compares them).
// 3. views.js lists it.
//
// ctx: words (the frame's and the view's), lang, rest and query (of the address), actor,
//   api     client.js: get(path, query), post(path, body), put, delete; throws a Problem
//   live    live.js: overview, alerts, values(series), events "state", "history", "alerts"; poll()
//   act     dialog.js: every change goes through it: says what it touches, asks why
//   button(label, {role, danger, disabled}, click): of a change; role defaults to operator
//   can(role), go(hash), say(text, "good" or "bad"), fail(problem)
//
// Parts: dom.js (el, put: text only, never markup), table.js (Table, failure, loading),
//   form.js (field), chart.js (Chart), time.js (moment, span, whole), client.js (path,
//   asQuery, explain). Styles: admin.css; classes card, cards, pairs, soft, alert, tag, row.

import { Shell } from "./shell.js";
import { groups } from "./views.js";

new Shell(groups).start();
