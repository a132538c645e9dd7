// The look of the conversation, a part of the widget's style sheet.

export const conversation = `
.log { flex: 1; min-block-size: 72px; overflow-y: auto; overscroll-behavior: contain; padding: 16px 14px 10px; background: var(--sunk); scrollbar-width: thin; }
.log:focus-visible { outline-offset: -2px; }
.list, .making { display: flex; flex-direction: column; gap: 12px; }
.making:not(:empty) { margin-block-start: 12px; }
.row { display: flex; flex-direction: column; gap: 4px; max-inline-size: 86%; animation: appear .2s ease; }
.row > * { max-inline-size: 100%; }
.row.bot, .row.human { align-self: flex-start; align-items: flex-start; }
.row.own { align-self: flex-end; align-items: flex-end; }
.row.note, .row.system { align-self: center; align-items: center; text-align: center; font-size: 13px; color: var(--soft); }
.row.promise { padding: 5px 14px; border-radius: 999px; color: var(--text); background: var(--bot); }
.row.typing { align-self: flex-start; }
.bubble { padding: 9px 13px; border-radius: 16px; overflow-wrap: anywhere; }
.bubble, .bubble * { unicode-bidi: plaintext; }
.bot .bubble, .human .bubble { background: var(--ground); border: 1px solid var(--line); border-start-start-radius: 5px; }
.own .bubble { white-space: pre-wrap; color: var(--on-accent); border-end-end-radius: 5px; background: var(--accent); }
.system .bubble { color: var(--text); background: var(--bot); }
.own[data-state=sending] .bubble { opacity: .8; }
.own[data-state=refused] .bubble { color: #fff; background: var(--bad-ground); }
.author { display: inline-flex; align-items: center; gap: 6px; font-size: 12.5px; color: var(--soft); padding-inline-start: 2px; }
.meta { display: flex; flex-wrap: wrap; align-items: center; gap: 0 10px; min-block-size: 18px; padding-inline: 3px; font-size: 12px; color: var(--soft); }
.own .meta { gap: 5px; }
.mark { display: inline-flex; align-items: center; gap: 4px; }
.mark svg { inline-size: 13px; block-size: 13px; }
[data-state=accepted] .mark { color: var(--good); }
[data-state=refused] .mark { color: var(--bad); }

.choices { display: flex; flex-direction: column; align-items: flex-start; gap: 6px; }
.choices button {
  padding: 6px 13px; border: 1px solid var(--ink); border-radius: 18px; color: var(--ink); text-align: start;
  overflow-wrap: anywhere; background: var(--ground); transition: background .15s ease;
}
.choices button:hover:enabled { background: var(--tint); }
.choices button:disabled { opacity: .55; cursor: default; }

.bubble p, .bubble ul, .bubble ol, .bubble pre { margin: 0 0 .55em; }
.bubble > :last-child { margin-block-end: 0; }
.bubble p { white-space: pre-line; }
.bubble ul, .bubble ol { padding-inline-start: 1.35em; }
.bubble a { color: var(--ink); text-underline-offset: 2px; }
.bubble code { padding: .08em .35em; border-radius: 5px; background: var(--bot); font: .9em ui-monospace, Menlo, Consolas, monospace; }
.bubble pre { padding: 9px 11px; border-radius: 10px; background: var(--bot); overflow-x: auto; overflow-wrap: normal; }
.bubble pre code { padding: 0; background: none; }
.said { white-space: pre-wrap; }
.said:not(:empty)::after {
  content: ""; display: inline-block; inline-size: 7px; block-size: 1em; margin-inline-start: 3px; vertical-align: -.12em;
  border-radius: 2px; background: var(--ink); animation: pulse .6s ease-in-out infinite alternate;
}
.wait { display: flex; align-items: center; gap: 9px; font-size: 13.5px; color: var(--soft); }
.writing .wait { display: none; }
.dots { display: inline-flex; gap: 4px; }
.dots i { inline-size: 6px; block-size: 6px; border-radius: 50%; background: var(--ink); animation: bounce 1.1s ease-in-out infinite; }
.dots i:nth-child(2) { animation-delay: .15s; }
.dots i:nth-child(3) { animation-delay: .3s; }

.rating { inline-size: 260px; padding: 10px 12px; border: 1px solid var(--line); border-radius: 14px; background: var(--ground); }
.rating fieldset { margin: 0; padding: 0; border: 0; }
.rating legend { padding: 0; font-size: 13px; color: var(--soft); }
.stars, .rated { display: flex; align-items: center; gap: 2px; }
.stars { margin-block-start: 4px; }
.stars label { padding: 3px; border-radius: 8px; color: var(--soft); cursor: pointer; }
.stars label:hover, .stars label:has(:focus-visible) { background: var(--bot); }
.stars label:has(:focus-visible) { outline: 2px solid var(--ink); }
.stars input { position: absolute; opacity: 0; pointer-events: none; }
.stars svg { inline-size: 24px; block-size: 24px; }
.stars .lit, .rated .lit { color: var(--warn); }
.stars .lit path, .rated .lit path { fill: currentColor; }
.rated { gap: 3px; padding-inline: 3px; font-size: 12.5px; color: var(--soft); }
.rated svg { inline-size: 14px; block-size: 14px; }
.more { display: flex; flex-direction: column; align-items: flex-start; gap: 8px; margin-block-start: 8px; }
.more textarea { inline-size: 100%; padding: 5px 10px; border: 1px solid var(--edge); border-radius: 10px; }
`;
