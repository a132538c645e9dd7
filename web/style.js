// The widget's look. A constructed style sheet needs no 'unsafe-inline' and does not
// leak into the page.

import { conversation } from "./style_log.js";

const dark = `
  --ground: #12191d; --sunk: #0d1316; --line: #2a383f; --text: #e6eef1; --soft: #9db0b9;
  --bot: #1d282e; --good: #4ade80; --warn: #fbbf24; --bad: #f87171; --bad-ground: #b91c1c;
  --shade: 0 1px 2px rgb(0 0 0 / .4), 0 16px 48px rgb(0 0 0 / .55);
  --least: .8; --greatest: 1;
`;

const css = `
:host {
  --accent: var(--sluice-accent, #0e7490);
  --on-accent: #fff; --against: #000; --accent-2: var(--sluice-accent-2, #155e75); --ink: var(--accent); --least: 0; --greatest: .51;
  --ground: #fff; --sunk: #f4f7f8; --line: #dfe7ea; --text: #16232a; --soft: #55656e;
  --bot: #eef3f5; --good: #15803d; --warn: #b45309; --bad: #c81e1e; --bad-ground: #c81e1e;
  --edge: color-mix(in oklab, var(--soft) 45%, var(--line)); --tint: color-mix(in oklab, var(--ink) 12%, var(--ground));
  --shade: 0 1px 2px rgb(15 35 45 / .06), 0 12px 40px rgb(15 35 45 / .18);
  /* Important, because the page's own rules for this element, "*" among them, win otherwise. */
  all: initial !important; color-scheme: light dark !important;
  position: fixed !important; inset-block-end: 20px !important; inset-inline-end: 20px !important; z-index: 2147483000 !important;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "PingFang SC", "PingFang TC", "Microsoft YaHei", sans-serif !important;
  color: var(--text) !important;
}
:host([hidden]) { display: none !important; }
:host([data-side=start]) { inset-inline: 20px auto !important; }
:host([data-theme=light]) { color-scheme: light !important; }
:host([data-theme=dark]) { color-scheme: dark !important; ${dark} }
@media (prefers-color-scheme: dark) { :host(:not([data-theme=light])) { ${dark} } }
/* Text on any accent is white or black, whichever reads better; accents in text are as dark, or as light, as they must be. */
@supports (color: color(from red xyz x y z)) {
  :host {
    --on-accent: oklch(from color(from var(--accent) xyz 0 calc((.179 - y) * 999) 0) clamp(0, l, 1) 0 0);
    --against: oklch(from color(from var(--accent) xyz 0 calc((y - .179) * 999) 0) clamp(0, l, 1) 0 0);
    --accent-2: var(--sluice-accent-2, color-mix(in oklab, oklch(from var(--accent) l calc(c * 1.4) calc(h + 36)), var(--against) 8%));
    --ink: oklch(from var(--accent) clamp(var(--least), l, var(--greatest)) c h);
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button, textarea, input { font: inherit; color: inherit; }
button { border: 0; background: none; padding: 0; cursor: pointer; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
svg { inline-size: 20px; block-size: 20px; display: block; flex: none; }
.hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.link { color: var(--ink); font-size: 12.5px; font-weight: 600; border-radius: 4px; padding: 3px 1px; }
.link:hover { text-decoration: underline; }
.small { padding: 5px 14px; border-radius: 999px; font-size: 13.5px; font-weight: 600; color: var(--on-accent); background: var(--accent); transition: filter .15s ease; }
.small:hover { filter: brightness(1.1); }
.small.plain { color: var(--text); background: none; box-shadow: inset 0 0 0 1px var(--line); }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }

.launcher {
  position: relative; display: grid; place-items: center; margin-inline-start: auto;
  inline-size: 58px; block-size: 58px; border-radius: 50%; color: var(--on-accent);
  background: linear-gradient(135deg, var(--accent), var(--accent-2)); box-shadow: var(--shade);
  transition: transform .18s ease, filter .18s ease;
}
:host([data-side=start]) .launcher { margin-inline: 0 auto; }
.launcher:hover { transform: translateY(-2px); filter: brightness(1.06); }
.launcher:focus-visible { outline-offset: 3px; }
.launcher svg { inline-size: 26px; block-size: 26px; }
.badge {
  position: absolute; inset-block-start: -3px; inset-inline-end: -3px; min-inline-size: 22px; padding: 0 6px;
  border: 2px solid var(--ground); border-radius: 999px; background: #d0163f; color: #fff; font-size: 12px; font-weight: 600;
}

.panel {
  display: flex; flex-direction: column; overflow: hidden; margin-block-end: 14px;
  inline-size: min(384px, calc(100vw - 40px)); block-size: min(620px, calc(100dvh - 112px));
  border: 1px solid var(--line); border-radius: 20px; background: var(--ground); box-shadow: var(--shade);
  transform-origin: 100% 100%; animation: rise .22s cubic-bezier(.2, .8, .3, 1);
}
header {
  display: flex; align-items: center; gap: 10px; padding: 14px 12px 14px 16px; color: var(--on-accent);
  background: linear-gradient(120deg, var(--accent), var(--accent-2));
}
header button { display: grid; place-items: center; inline-size: 36px; block-size: 36px; border-radius: 10px; }
header button:hover { background: color-mix(in oklab, var(--on-accent) 16%, transparent); }
header button:focus-visible { outline-color: var(--on-accent); outline-offset: -2px; }
.avatar { display: grid; place-items: center; flex: none; inline-size: 40px; block-size: 40px; border-radius: 13px; background: color-mix(in oklab, var(--on-accent) 16%, transparent); }
.names { flex: 1; min-inline-size: 0; }
h2 { display: flex; align-items: center; gap: 8px; margin: 0; font-size: 16px; font-weight: 650; line-height: 1.3; }
.title { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.status { display: inline-flex; align-items: center; gap: 6px; font-size: 12.5px; }
.status::before { content: ""; inline-size: 8px; block-size: 8px; border-radius: 50%; background: #fbbf24; }
[data-state=online] .status::before { background: #4ade80; box-shadow: 0 0 0 3px rgb(74 222 128 / .25); }
[data-state=stopped] .status::before { background: #f87171; }
[data-state=new] .status { visibility: hidden; }
[data-state=connecting] .status::before, [data-state=waiting] .status::before { animation: pulse 1s ease-in-out infinite alternate; }
.ai {
  flex: none; padding: 1px 6px; border-radius: 6px; font-size: 10.5px; font-weight: 700; letter-spacing: .04em; line-height: 1.5;
  color: var(--ink); box-shadow: inset 0 0 0 1px color-mix(in oklab, var(--ink) 45%, transparent);
}
header .ai { color: inherit; box-shadow: inset 0 0 0 1px color-mix(in oklab, var(--on-accent) 55%, transparent); }
${conversation}
.notice, .question { margin: 0; padding: 9px 16px; font-size: 13.5px; border-block-start: 1px solid var(--line); }
.notice { color: var(--bad); background: color-mix(in oklab, var(--bad) 8%, var(--ground)); }
.question p { margin: 0 0 8px; }
.composer { padding: 8px 12px 6px; border-block-start: 1px solid var(--line); }
.write { display: flex; align-items: flex-end; gap: 4px; padding: 5px; border: 1px solid var(--edge); border-radius: 22px; background: var(--ground); transition: border-color .15s ease, box-shadow .15s ease; }
.write:focus-within { border-color: var(--ink); box-shadow: 0 0 0 3px color-mix(in oklab, var(--ink) 22%, transparent); }
textarea { flex: 1; min-inline-size: 0; resize: none; border: 0; background: none; padding: 5px 2px; line-height: 24px; }
.write textarea { outline: 0; }
::placeholder { color: var(--soft); opacity: 1; }
.write button { flex: none; display: grid; place-items: center; inline-size: 34px; block-size: 34px; border-radius: 50%; transition: filter .15s ease; }
.write [type=submit] { color: var(--on-accent); background: var(--accent); }
.write [type=submit]:hover { filter: brightness(1.12); }
.toggle { color: var(--soft); }
.toggle:hover, .toggle.lit { color: var(--ink); background: var(--bot); }
.write :disabled { opacity: .5; cursor: not-allowed; }
.number { padding: 2px 4px 10px; }
.number input { flex: 1; min-inline-size: 0; padding: 6px 12px; border: 1px solid var(--edge); border-radius: 999px; background: var(--ground); }
.number input[aria-invalid] { border-color: var(--bad); }
.hint, .left, .fine { margin: 0; font-size: 12px; color: var(--soft); }
.hint, .left { padding: 0 4px 6px; }
.hint[role=alert] { color: var(--bad); }
.fine { padding: 0 16px 10px; padding-block-end: max(10px, env(safe-area-inset-bottom)); text-align: center; font-size: 11.5px; }

@media (max-width: 480px), (max-height: 420px) {
  .panel { position: fixed; inset: var(--view-top, 0) 0 auto; inline-size: 100vw; block-size: var(--view, 100dvh); margin: 0; border: 0; border-radius: 0; }
  .panel:not([hidden]) + .launcher { display: none; }
  textarea, input { font-size: 16px; } /* a smaller one makes iOS zoom the page */
  header { padding-block-start: max(14px, env(safe-area-inset-top)); }
}
@media (max-height: 420px) { header { padding-block: 6px; } .fine { display: none; } }
@media (forced-colors: active) { .bubble, .launcher, .small, .choices button { border: 1px solid; } }
@keyframes rise { from { opacity: 0; transform: translateY(14px) scale(.97); } }
@keyframes appear { from { opacity: 0; transform: translateY(6px); } }
@keyframes pulse { to { opacity: .35; } }
@keyframes bounce { 0%, 60%, 100% { transform: none; opacity: .5; } 30% { transform: translateY(-4px); opacity: 1; } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important; transition: none !important; } }
`;

// sheet returns the style sheet, made anew: a sheet belongs to the document it is made in.
export function sheet() {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

// ownSheet returns an empty sheet for what one widget alone is told.
export function ownSheet() { return new CSSStyleSheet(); }
