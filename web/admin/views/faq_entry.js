// One entry: its phrasings and answers in both languages.

import { path } from "../client.js";
import { el, put } from "../dom.js";
import { blame, field } from "../form.js";
import { failure, loading } from "../table.js";

const languages = ["zh", "en"];
const advised = 5; // phrasings of a language; with fewer an entry is hardly found

const lines = (text) => [...new Set(text.split("\n").map((l) => l.trim()).filter(Boolean))];

export function entry(root, ctx, id) {
  let left = false;
  const load = async () => {
    try {
      const found = id === "" ? { questions: {}, answers: {} } : await read(ctx.api, id);
      if (!left) write(root, ctx, id, found);
    } catch (problem) {
      if (!left) put(root, failure(ctx.words, problem, load));
    }
  };
  put(root, loading(ctx.words));
  load();
  return () => { left = true; };
}

// read finds one entry in the list, which is by id.
async function read(api, id) {
  for (let after; ;) {
    const page = await api.get("faq", { after, limit: 500 });
    const found = page.entries.find((e) => e.id === id);
    if (found) return found;
    if (!page.next) throw Object.assign(new Error(id), { code: "not_found", status: 404, faults: [] });
    after = page.next;
  }
}

function write(root, ctx, id, e) {
  const { words, api } = ctx;
  const fields = {
    id: field(words.entry, { value: id, required: true, hint: words.idHint, attributes: { name: "id", maxlength: 100, autocomplete: "off", readonly: id !== "" } }),
    intent: field(words.intent, { value: e.intent ?? "", hint: words.intentHint, attributes: { name: "intent", autocomplete: "off" } }),
    priority: field(words.priority, { type: "number", value: e.priority ?? 0, hint: words.priorityHint, attributes: { name: "priority" } }),
  };
  const sides = Object.fromEntries(languages.map((l) => [l, side(words, l, e)]));
  const save = async () => {
    const name = fields.id.value().trim();
    fields.id.fault(name === "" ? words.needed : "");
    if (name === "") return;
    const body = { intent: fields.intent.value().trim(), priority: Number(fields.priority.value()), questions: {}, answers: {} };
    for (const l of languages) {
      const all = lines(sides[l].questions.value()), answer = sides[l].answer.value().trim();
      if (all.length > 0) body.questions[l] = all;
      if (answer !== "") body.answers[l] = answer;
    }
    const count = (l) => `${e.questions[l]?.length ?? 0} → ${body.questions[l]?.length ?? 0}`;
    const done = await ctx.act({
      title: words.saveEntry, about: words.saveAbout, touches: [[words.entry, name], [words.inChinese, count("zh")], [words.inEnglish, count("en")]],
      run: async ({ reason }) => {
        try {
          const now = await api.put(path("faq", name), { ...body, reason });
          return [[words.revision, now.revision], [words.entries, now.entries]];
        } catch (problem) {
          blame(problem, fields);
          throw problem;
        }
      },
    });
    if (done !== undefined) ctx.go("faq");
  };
  const button = ctx.button(words.saveEntry, {}, save);
  button.classList.add("primary");
  put(root, id !== "" && el("h2", {}, id), el("div", { class: "fields" }, Object.values(fields).map((f) => f.node)),
    el("div", { class: "both" }, languages.map((l) => sides[l].node)), el("div", { class: "row" }, button, el("a", { href: "#/faq" }, words.back)));
}

// side is one language of an entry; it says where phrasings are few.
function side(words, language, e) {
  const questions = field(words.phrasings, { type: "textarea", value: (e.questions[language] ?? []).join("\n"), hint: words.phrasingsHint, attributes: { name: `questions.${language}`, rows: 10 } });
  const answer = field(words.answer, { type: "textarea", value: e.answers[language] ?? "", hint: words.answerHint, attributes: { name: `answers.${language}`, rows: 8 } });
  const count = el("p", { role: "status" });
  const tell = () => {
    const n = lines(questions.value()).length;
    count.className = n > 0 && n < advised ? "warn" : "soft";
    count.textContent = n > 0 && n < advised ? words.few(n) : words.many(n);
  };
  questions.input.addEventListener("input", tell);
  tell();
  return { questions, answer, node: el("section", {}, el("h2", {}, words.languages[language]), questions.node, count, answer.node) };
}
