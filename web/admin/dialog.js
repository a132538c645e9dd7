// The one dialog through which everything is done: it says first what will be touched,
// asks why, shows how it goes, and what came of it.

import { el, newId, put } from "./dom.js";
import { explain } from "./client.js";
import { blame, field } from "./form.js";

// act asks, and does. what:
//   title     of the dialog, and of the button that does it
//   about     a sentence or two: what will happen, what will not
//   touches   [[label, count], …], or a function that fetches them; shown before anything is done
//   fields    {name: field(…)}: what else is to be said; optional
//   danger    true where it cannot be undone
//   confirm   a word that has to be typed first; optional
//   more      a node below that, such as a difference; wide: true gives it room; optional
//   plain     true: no reason is asked for (the call changes nothing)
//   run       async ({reason, …values}, progress) => [[label, count], …] or text or nothing.
//             progress(done, all, text) moves the bar; all may be 0: nobody knows.
// It returns a promise of what run returned (null: nothing), or of undefined where the
// operator left without it.
export function act(words, what) {
  return new Promise((resolve) => new Act(words, what, resolve).open());
}

class Act {
  constructor(words, what, resolve) {
    this.words = words;
    this.what = what;
    this.resolve = resolve;
    this.fields = { ...(what.fields ?? {}) };
    if (!what.plain) this.fields.reason = field(words.reason, {
      type: "textarea", required: true, hint: words.reasonHint, attributes: { maxlength: 500, name: "reason", rows: 2 },
    });
    if (what.confirm) this.sure = field(words.typeToConfirm(what.confirm), { required: true, attributes: { autocomplete: "off", name: "confirm" } });
    this.touches = el("div", { class: "touches" });
    this.alert = el("p", { class: "alert", role: "alert" });
    this.bar = el("progress", { "aria-label": words.progress });
    this.said = el("p", { class: "soft", role: "status" });
    this.going = el("div", { class: "going", hidden: true }, this.bar, this.said);
    this.yes = el("button", { class: what.danger ? "primary danger" : "primary" }, what.title);
    this.no = el("button", { type: "button", onclick: () => this.node.close() }, words.cancel);
    const id = newId();
    this.form = el("form", { novalidate: true, onsubmit: (e) => { e.preventDefault(); this.do(); } },
      this.touches, Object.values(this.fields).map((f) => f.node), this.sure?.node, this.alert, this.going,
      el("div", { class: "buttons" }, this.no, this.yes));
    this.node = el("dialog", { class: what.wide ? "act wide" : "act", "aria-labelledby": id, oncancel: (e) => { if (this.busy) e.preventDefault(); }, onclose: () => this.left() },
      el("h2", { id }, what.title), what.about && el("p", {}, what.about), what.more, this.form);
  }

  open() {
    document.body.append(this.node);
    this.node.showModal();
    (Object.values(this.fields)[0]?.input ?? this.yes).focus();
    this.count();
  }

  // count says what will be touched. Without it nothing can be done.
  async count() {
    const { touches } = this.what;
    if (!touches) return;
    this.yes.disabled = true;
    put(this.touches, el("p", { class: "soft" }, this.words.counting));
    try {
      const found = typeof touches === "function" ? await touches() : touches;
      put(this.touches, el("h3", {}, this.words.touches), pairs(found));
      this.yes.disabled = false;
    } catch (problem) {
      put(this.touches, el("p", { class: "alert", role: "alert" }, explain(this.words, problem)),
        el("button", { type: "button", onclick: () => this.count() }, this.words.again));
    }
  }

  async do() {
    if (this.busy || this.result !== undefined || !this.complete()) return; // it is done once
    const values = Object.fromEntries(Object.entries(this.fields).map(([name, f]) => [name, f.value()]));
    if (values.reason) values.reason = values.reason.trim();
    this.alert.textContent = "";
    this.work(true);
    try {
      const result = await this.what.run(values, (done, all, text) => this.progress(done, all, text));
      this.result = result ?? null;
      this.work(false);
      this.finish(result);
    } catch (problem) {
      this.work(false);
      blame(problem, this.fields);
      this.alert.textContent = explain(this.words, problem);
      if (!(problem.code)) throw problem;
    }
  }

  // complete asks for what is missing.
  complete() {
    for (const [name, f] of Object.entries(this.fields)) {
      f.fault("");
      if (!f.input.required || f.value().trim() !== "") continue;
      f.fault(name === "reason" ? this.words.reasonNeeded : this.words.needed);
      f.input.focus();
      return false;
    }
    if (this.sure && this.sure.value() !== this.what.confirm) {
      this.sure.fault(this.words.typeToConfirm(this.what.confirm));
      this.sure.input.focus();
      return false;
    }
    return true;
  }

  work(busy) {
    this.busy = busy;
    this.yes.disabled = this.no.disabled = busy;
    this.going.hidden = !busy;
    if (busy) this.progress(0, 0, this.words.working);
  }

  progress(done, all, text) {
    if (all > 0) Object.assign(this.bar, { max: all, value: done });
    else this.bar.removeAttribute("value");
    this.said.textContent = text ?? (all > 0 ? `${done} / ${all}` : this.words.working);
  }

  // finish leaves the dialog open where there is something to read.
  finish(result) {
    if (!Array.isArray(result) && typeof result !== "string") return this.node.close();
    const close = el("button", { type: "button", class: "primary", onclick: () => this.node.close() }, this.words.close);
    this.what.more?.remove();
    put(this.form, el("div", { class: "result", role: "status" }, el("h3", {}, this.words.result),
      Array.isArray(result) ? pairs(result) : el("p", {}, result)), el("div", { class: "buttons" }, close));
    close.focus();
  }

  left() {
    this.node.remove();
    this.resolve(this.result);
  }
}

// pairs lists labels and counts.
export function pairs(list) {
  return el("dl", { class: "pairs" }, list.map(([label, count]) => el("div", {}, el("dt", {}, label), el("dd", {}, count))));
}
