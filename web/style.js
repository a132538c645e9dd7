// The widget's look. A constructed style sheet needs no 'unsafe-inline' and does not
// leak into the page.

const css = `
:host {
  --accent: var(--sluice-accent, #0e7490);
  --accent-2: color-mix(in oklab, var(--accent), #4f46e5 45%);
  --on-accent: #fff; --link: var(--accent);
  --ground: #fff; --sunk: #f4f7f8; --line: #e3e9ec; --text: #16232a; --soft: #5c6d76;
  --bot: #eef3f5; --good: #16a34a; --warn: #d97706; --bad: #dc2626;
  --shade: 0 1px 2px rgb(15 35 45 / .06), 0 12px 40px rgb(15 35 45 / .18);
  /* Important, because the page's own rules for this element, "*" among them, win otherwise. */
  all: initial !important; color-scheme: light dark !important;
  position: fixed !important; inset-block-end: 20px !important; inset-inline-end: 20px !important; z-index: 2147483000 !important;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans SC", "WenQuanYi Micro Hei", sans-serif !important;
  color: var(--text) !important;
}
:host([hidden]) { display: none !important; }
@media (prefers-color-scheme: dark) {
  :host {
    --ground: #12191d; --sunk: #0d1316; --line: #26333a; --text: #e6eef1; --soft: #93a5ae;
    --link: color-mix(in oklab, var(--accent), #fff 42%); --bot: #1d282e; --good: #4ade80; --warn: #fbbf24; --bad: #f87171;
    --shade: 0 1px 2px rgb(0 0 0 / .4), 0 16px 48px rgb(0 0 0 / .55);
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
button, textarea { font: inherit; color: inherit; }
button { border: 0; background: none; padding: 0; cursor: pointer; }
button:focus-visible, textarea:focus-visible, .log:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { inline-size: 20px; block-size: 20px; display: block; }
.hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.launcher {
  position: relative; display: grid; place-items: center; margin-inline-start: auto;
  inline-size: 58px; block-size: 58px; border-radius: 50%; color: var(--on-accent);
  background: linear-gradient(135deg, var(--accent), var(--accent-2)); box-shadow: var(--shade);
  transition: transform .18s ease, filter .18s ease;
}
.launcher:hover { transform: translateY(-2px); filter: brightness(1.06); }
.launcher:active { transform: scale(.96); }
.launcher svg { inline-size: 26px; block-size: 26px; }
.badge {
  position: absolute; inset-block-start: -3px; inset-inline-end: -3px; min-inline-size: 22px; padding: 0 6px;
  border: 2px solid var(--ground); border-radius: 999px; background: #e11d48; color: #fff; font-size: 12px; font-weight: 600;
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
header button { display: grid; place-items: center; inline-size: 34px; block-size: 34px; border-radius: 10px; opacity: .85; }
header button:hover { background: rgb(255 255 255 / .16); opacity: 1; }
header button:focus-visible { outline-color: #fff; outline-offset: -2px; }
.avatar { display: grid; place-items: center; inline-size: 40px; block-size: 40px; border-radius: 13px; background: rgb(255 255 255 / .18); }
.names { flex: 1; min-inline-size: 0; }
h2 { display: flex; align-items: center; gap: 8px; margin: 0; font-size: 16px; font-weight: 650; line-height: 1.3; }
.status { display: inline-flex; align-items: center; gap: 6px; font-size: 12.5px; opacity: .92; }
.status::before { content: ""; inline-size: 8px; block-size: 8px; border-radius: 50%; background: #fbbf24; }
[data-state=online] .status::before { background: #4ade80; box-shadow: 0 0 0 3px rgb(74 222 128 / .25); }
[data-state=stopped] .status::before { background: #f87171; }
[data-state=connecting] .status::before, [data-state=waiting] .status::before { animation: pulse 1s ease-in-out infinite alternate; }
.ai {
  padding: 1px 6px; border-radius: 6px; font-size: 10.5px; font-weight: 700; letter-spacing: .04em; line-height: 1.5;
  color: var(--link); background: color-mix(in oklab, var(--link) 15%, transparent);
}
header .ai { color: #fff; background: rgb(255 255 255 / .22); }

.log {
  flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 16px 14px 8px; background: var(--sunk);
  display: flex; flex-direction: column; gap: 12px; scrollbar-width: thin;
}
.log:focus-visible { outline-offset: -2px; }
.row { display: flex; flex-direction: column; gap: 4px; max-inline-size: 86%; animation: appear .2s ease; }
.row > * { max-inline-size: 100%; }
.row.bot, .row.human { align-self: flex-start; align-items: flex-start; }
.row.own { align-self: flex-end; align-items: flex-end; }
.row.note, .row.system { align-self: center; align-items: center; text-align: center; font-size: 13px; color: var(--soft); }
.bubble { padding: 9px 13px; border-radius: 16px; overflow-wrap: anywhere; }
.bot .bubble, .human .bubble { background: var(--ground); border: 1px solid var(--line); border-start-start-radius: 5px; }
.own .bubble {
  white-space: pre-wrap; color: var(--on-accent); border-end-end-radius: 5px;
  background: linear-gradient(135deg, var(--accent), color-mix(in oklab, var(--accent), var(--accent-2) 55%));
  transition: opacity .2s ease;
}
.system .bubble { background: var(--bot); }
.own[data-state=sending] .bubble { opacity: .66; }
.own[data-state=refused] .bubble { background: var(--bad); }
.author { display: flex; align-items: center; gap: 6px; font-size: 12px; color: var(--soft); padding-inline-start: 2px; }
.meta { display: flex; align-items: center; gap: 5px; min-block-size: 16px; padding-inline: 3px; font-size: 11.5px; color: var(--soft); }
.mark { display: inline-flex; align-items: center; gap: 4px; }
.mark svg { inline-size: 13px; block-size: 13px; }
[data-state=accepted] .mark { color: var(--good); }
[data-state=refused] .mark { color: var(--bad); }
.link { color: var(--link); font-size: 12px; font-weight: 600; border-radius: 4px; }
.link:hover { text-decoration: underline; }

.choices { display: flex; flex-direction: column; align-items: flex-start; gap: 6px; }
.choices button {
  padding: 6px 13px; border: 1px solid var(--accent); border-radius: 999px; color: var(--link); text-align: start;
  overflow-wrap: anywhere; background: var(--ground); transition: background .15s ease;
}
.choices button:hover:enabled { background: color-mix(in oklab, var(--accent) 12%, var(--ground)); }
.choices button:disabled { opacity: .5; cursor: default; }

.bubble p, .bubble ul, .bubble ol, .bubble pre { margin: 0 0 .55em; }
.bubble > :last-child { margin-block-end: 0; }
.bubble p { white-space: pre-line; }
.bubble ul, .bubble ol { padding-inline-start: 1.35em; }
.bubble a { color: var(--link); }
.bubble code { padding: .08em .35em; border-radius: 5px; background: var(--bot); font: .9em ui-monospace, Menlo, Consolas, monospace; }
.bubble pre { padding: 9px 11px; border-radius: 10px; background: var(--bot); overflow-x: auto; overflow-wrap: normal; }
.bubble pre code { padding: 0; background: none; }
.said { white-space: pre-wrap; }
.said:not(:empty)::after {
  content: ""; display: inline-block; inline-size: 7px; block-size: 1em; margin-inline-start: 3px; vertical-align: -.12em;
  border-radius: 2px; background: var(--accent); animation: pulse .6s ease-in-out infinite alternate;
}
.wait { display: flex; align-items: center; gap: 9px; font-size: 13.5px; color: var(--soft); }
.writing .wait { display: none; }
.dots { display: inline-flex; gap: 4px; }
.dots i { inline-size: 6px; block-size: 6px; border-radius: 50%; background: var(--accent); animation: bounce 1.1s ease-in-out infinite; }
.dots i:nth-child(2) { animation-delay: .15s; }
.dots i:nth-child(3) { animation-delay: .3s; }

.notice { margin: 0; padding: 9px 16px; font-size: 13px; color: var(--bad); background: color-mix(in oklab, var(--bad) 10%, var(--ground)); }
form { display: flex; align-items: flex-end; gap: 8px; margin: 10px 12px 6px; padding: 5px 5px 5px 14px; border: 1px solid var(--line); border-radius: 22px; background: var(--ground); transition: border-color .15s ease, box-shadow .15s ease; }
form:focus-within { border-color: var(--accent); box-shadow: 0 0 0 3px color-mix(in oklab, var(--accent) 18%, transparent); }
textarea { flex: 1; min-inline-size: 0; resize: none; border: 0; outline: 0 !important; background: none; padding: 5px 0; line-height: 24px; }
textarea::placeholder { color: var(--soft); opacity: 1; }
form button { flex: none; display: grid; place-items: center; inline-size: 34px; block-size: 34px; border-radius: 50%; color: var(--on-accent); background: var(--accent); transition: filter .15s ease; }
form button:hover { filter: brightness(1.12); }
form :disabled { opacity: .5; cursor: not-allowed; }
.fine { margin: 0; padding: 0 16px 10px; text-align: center; font-size: 11px; color: var(--soft); }

@media (max-width: 480px) {
  .panel { position: fixed; inset: 0; inline-size: 100vw; block-size: 100dvh; margin: 0; border: 0; border-radius: 0; }
  .panel:not([hidden]) + .launcher { display: none; }
}
@keyframes rise { from { opacity: 0; transform: translateY(14px) scale(.97); } }
@keyframes appear { from { opacity: 0; transform: translateY(6px); } }
@keyframes pulse { to { opacity: .35; } }
@keyframes bounce { 0%, 60%, 100% { transform: none; opacity: .5; } 30% { transform: translateY(-4px); opacity: 1; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
`;

// sheet returns the style sheet, made anew: a sheet belongs to the document it is made in.
export function sheet() {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}
