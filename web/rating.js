// The rating of an answer: five stars and a comment, sent once. The durable event shows
// it in every tab, and after a reload.

import { button, el, icon } from "./markup.js";
import { clean } from "./text.js";

const most = 5; // stars
const longest = 1000; // characters of a comment

// offerRating adds "rate this answer" to a row; send(score, comment) is called at most once.
export function offerRating(row, words, send) {
  const open = button(() => {
    open.remove();
    const form = ratingForm(words, (score, comment) => {
      form.replaceWith(stars(words, score));
      send(score, comment);
    });
    row.append(form);
    form.querySelector("input").focus();
    form.scrollIntoView({ block: "nearest" });
  }, { className: "link rate", textContent: words.ask });
  row.querySelector(".meta").append(open);
}

// closeRating takes the offer back; a form that is being filled in stays.
export function closeRating(row) { row?.querySelector(".rate")?.remove(); }

// showRating shows what was given.
export function showRating(row, words, score) {
  row.querySelectorAll(".rate, .rating, .rated").forEach((node) => node.remove());
  row.append(stars(words, score));
}

function ratingForm(words, send) {
  const name = `score-${Math.random()}`;
  const comment = el("textarea", { rows: 1, maxLength: longest, placeholder: words.comment, "aria-label": words.comment });
  const submit = el("button", { type: "submit", className: "small", textContent: words.send });
  const more = el("div", { className: "more", hidden: true }, comment, submit);
  const all = el("div", { className: "stars" });
  for (let n = 1; n <= most; n++) {
    const input = el("input", { type: "radio", name, value: n, "aria-label": words.stars(n) });
    all.append(el("label", {}, input, icon("star")));
  }
  const score = () => Number(all.querySelector("input:checked")?.value ?? 0);
  all.addEventListener("change", () => {
    [...all.children].forEach((label, i) => label.classList.toggle("lit", i < score()));
    more.hidden = false;
    more.scrollIntoView({ block: "nearest" });
  });
  const form = el("form", { className: "rating" },
    el("fieldset", {}, el("legend", { textContent: words.label }), all), more);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    if (score() > 0) send(score(), clean(comment.value));
  });
  return form;
}

function stars(words, score) {
  const all = Array.from({ length: most }, (_, i) => {
    const star = icon("star");
    if (i < score) star.classList.add("lit");
    return star;
  });
  return el("div", { className: "rated" }, ...all,
    el("span", { className: "hidden", textContent: `${words.stars(score)}. ` }), words.thanks);
}
