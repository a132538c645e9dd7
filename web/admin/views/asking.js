// A question that is tried out: no ticket is made of it.

import { el } from "../dom.js";
import { field } from "../form.js";

// asking makes the form; ask(question, language) is called, where language may be empty.
export function asking(ctx, ask, first = "") {
  const { words } = ctx;
  const question = field(words.question, { required: true, value: first, attributes: { name: "q", maxlength: 10000, autocomplete: "off" } });
  const lang = field(words.ofLanguage, { type: "select", choices: [["", words.byScript], ["zh", "中文"], ["en", "English"]], attributes: { name: "lang" } });
  const submit = (e) => {
    e.preventDefault();
    const said = question.value().trim();
    question.fault(said === "" ? words.needed : "");
    if (said !== "") ask(said, lang.value());
  };
  return el("form", { class: "asking", role: "search", novalidate: true, onsubmit: submit }, question.node, lang.node, el("button", { class: "primary" }, words.tryIt));
}
