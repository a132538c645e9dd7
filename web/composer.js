// Where the customer writes: the message, and a phone number to be texted at.

import { button, el, icon } from "./markup.js";
import { clean } from "./text.js";

const longest = 10_000; // characters of a message
const warnAt = 500; // of them left
const tallest = 5; // rows of the input
const typingEvery = 3_000; // ms between two signs of typing
const settle = 60; // ms after the end of a composition in which Safari repeats its Enter

export class Composer {
  node;
  phone = ""; // E.164; kept as long as the page, in memory alone
  #words;
  #actions;
  #parts = {};
  #composed = -Infinity; // when an input method ended a composition
  #typed = -Infinity; // when the last sign of typing was given
  #asking = null; // {ticket, text}: the question that is asked again once there is a number

  // actions: send(text) → whether it went, typing(on), again({ticket, text})
  constructor(words, actions) {
    this.#words = words;
    this.#actions = actions;
    this.node = el("div", { className: "composer" }, this.#numberForm(), this.#form());
    this.#showNumber();
  }

  get field() { return this.#parts.field; }

  get draft() { return this.field.value; }

  set draft(text) {
    this.field.value = text;
    this.#grow();
  }

  set disabled(off) { this.#parts.field.disabled = this.#parts.submit.disabled = this.#parts.toggle.disabled = off; }

  // askNumber opens the field for the phone number, for a question that waits.
  askNumber(question) {
    this.#asking = question;
    this.#openNumber(true);
  }

  // ---- the message

  #form() {
    const words = this.#words;
    const field = el("textarea", { rows: 1, maxLength: longest, placeholder: words.placeholder, "aria-label": words.placeholder, enterKeyHint: "send" });
    const submit = el("button", { type: "submit", title: words.send, "aria-label": words.send }, icon("send"));
    const toggle = button(() => {
      this.#asking = null;
      this.#openNumber(this.#parts.number.hidden);
    }, { className: "toggle", title: words.phone.offer, "aria-label": words.phone.offer, "aria-expanded": "false" }, icon("phone"));
    const left = el("p", { className: "left", role: "status", hidden: true });
    const form = el("form", { className: "write" }, toggle, field, submit);
    field.addEventListener("input", () => this.#typing());
    field.addEventListener("compositionend", (e) => { this.#composed = e.timeStamp; });
    field.addEventListener("keydown", (e) => {
      // 229 is an Enter that an input method takes for itself.
      if (e.key !== "Enter" || e.shiftKey || e.isComposing || e.keyCode === 229) return;
      e.preventDefault();
      // Safari ends the composition first and reports its Enter after that.
      if (e.timeStamp - this.#composed >= settle) form.requestSubmit();
    });
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const text = clean(field.value);
      if (!text || !this.#actions.send(text)) return;
      this.draft = "";
      this.#typed = -Infinity;
    });
    Object.assign(this.#parts, { field, submit, toggle, left });
    return el("div", {}, left, form);
  }

  #typing() {
    this.#grow();
    const now = performance.now();
    const on = this.draft !== "";
    if (on ? now - this.#typed < typingEvery : this.#typed === -Infinity) return;
    this.#typed = on ? now : -Infinity;
    this.#actions.typing(on);
  }

  #grow() {
    const { field, left } = this.#parts;
    field.rows = 1;
    const line = parseFloat(getComputedStyle(field).lineHeight);
    field.rows = Math.max(1, Math.min(tallest, Math.floor(field.scrollHeight / line)));
    const room = longest - field.value.length;
    left.hidden = room > warnAt;
    left.textContent = left.hidden ? "" : this.#words.left(room);
  }

  // ---- the phone number

  #numberForm() {
    const words = this.#words.phone;
    const number = el("input", { type: "tel", autocomplete: "tel", inputMode: "tel", maxLength: 32, placeholder: words.example, "aria-label": words.label });
    const hint = el("p", { className: "hint", id: "hint", textContent: words.hint });
    number.setAttribute("aria-describedby", "hint");
    const form = el("form", { className: "number", hidden: true },
      hint, el("div", { className: "line" }, number, el("button", { type: "submit", className: "small", textContent: words.save })));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#take(e164(number.value, this.#words.tag));
    });
    form.addEventListener("keydown", (e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      this.#openNumber(false);
    });
    const shown = el("p", { className: "hint on" });
    Object.assign(this.#parts, { number: form, tel: number, hint, shown });
    return el("div", {}, form, shown);
  }

  #take(phone) {
    const { tel, hint } = this.#parts;
    if (!phone) {
      hint.textContent = this.#words.phone.bad;
      hint.setAttribute("role", "alert");
      tel.setAttribute("aria-invalid", "true");
      tel.focus();
      return;
    }
    this.phone = phone;
    const question = this.#asking;
    this.#openNumber(false);
    this.#showNumber();
    if (question) this.#actions.again(question);
  }

  #openNumber(open) {
    const { number, tel, hint, toggle, field } = this.#parts;
    number.hidden = !open;
    toggle.setAttribute("aria-expanded", String(open));
    hint.textContent = this.#asking ? this.#words.phone.waiting : this.#words.phone.hint;
    hint.removeAttribute("role");
    tel.removeAttribute("aria-invalid");
    if (!open) this.#asking = null;
    (open ? tel : field).focus();
  }

  #showNumber() {
    const { shown, toggle } = this.#parts;
    shown.hidden = this.phone === "";
    toggle.classList.toggle("lit", this.phone !== "");
    const remove = button(() => {
      this.phone = "";
      this.#showNumber();
      this.field.focus();
    }, { className: "link", textContent: this.#words.phone.remove });
    shown.replaceChildren(this.#words.phone.on(this.phone), " ", remove);
  }
}

// e164 reads a number as people write it; without a country code it is of the country that
// the language of the widget is spoken in. "": it cannot be one.
function e164(typed, tag) {
  let number = typed.normalize("NFKC").replace(/[\s().\-–/]/g, "").replace(/^00/, "+");
  if (tag === "zh-CN" && /^1[3-9]\d{9}$/.test(number)) number = `+86${number}`;
  if (tag === "zh-TW" && /^09\d{8}$/.test(number)) number = `+886${number.slice(1)}`;
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : "";
}
