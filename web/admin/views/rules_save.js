// Saving a draft, and what to do where somebody else has saved meanwhile.

import { el } from "../dom.js";
import { act } from "../dialog.js";
import { showDiff } from "../diff.js";

// save shows the difference, asks why, and stores.
export async function save(ctx, draft) {
  const { words, api } = ctx, { base, text } = draft;
  const done = await act(words, {
    title: words.saveTitle, wide: true, about: words.saveAbout, more: showDiff(words, base.document, text),
    run: async ({ reason }) => {
      try {
        const stored = await api.put("rules", { document: text, reason, revision: base.revision });
        draft.take({ document: text, ...stored });
        return [[words.revision, stored.revision]];
      } catch (problem) {
        if (problem.code !== "revision_conflict") throw problem;
        return { conflict: true }; // nothing was stored: both are shown
      }
    },
  });
  if (done?.conflict) await conflict(ctx, draft);
  if (done) draft.check(api);
}

// conflict shows what somebody else saved beside what is not saved yet.
export async function conflict(ctx, draft) {
  const { words, api } = ctx;
  let theirs;
  try {
    theirs = await api.get("rules");
  } catch (problem) {
    return ctx.fail(problem);
  }
  const base = draft.base.document;
  const choice = await choose(words, [
    el("section", {}, el("h3", {}, words.theirs(theirs.revision, theirs.actor)), el("p", { class: "soft" }, theirs.reason), showDiff(words, base, theirs.document)),
    el("section", {}, el("h3", {}, words.mine), showDiff(words, base, draft.text)),
  ]);
  if (choice === "theirs") draft.take(theirs);
  if (choice === "mine") draft.take(theirs, true); // the next look before saving shows what it would undo
  if (choice) draft.check(api);
  if (choice === "mine") ctx.say(words.onTop(theirs.revision));
}

function choose(words, both) {
  return new Promise((resolve) => {
    const button = (choice, label, kind) => el("button", { type: "button", class: kind, onclick: () => { resolve(choice); node.close(); } }, label);
    const node = el("dialog", { class: "wide", "aria-label": words.conflict, onclose: () => { resolve(""); node.remove(); } },
      el("h2", {}, words.conflict), el("p", {}, words.conflictAbout), el("div", { class: "both" }, both),
      el("div", { class: "buttons" }, button("", words.cancel), button("theirs", words.takeTheirs), button("mine", words.keepMine, "primary")));
    document.body.append(node);
    node.showModal();
  });
}
