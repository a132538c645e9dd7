// The numbers that are changed most, as fields. Each goes into the text at once; the rest
// of the text stays as it is.

import { el, put } from "../dom.js";
import { field } from "../form.js";

const typing = 300; // ms without another key before a number is written into the text

// groups of paths, by their beginning.
const groups = [
  ["lanes", /^lanes\./], ["valve", /^valve\./], ["intake", /^intake\./], ["rest", /^(?!lanes\.|valve\.|intake\.)/],
];

export function form(ctx, draft, signal) {
  const { words } = ctx, node = el("div", {}), fields = new Map();
  const make = () => {
    const paths = Object.keys(draft.numbers).sort(order);
    put(node, el("p", { class: "soft" }, words.formAbout), groups.map(([name, is]) => el("section", {}, el("h2", {}, words.groupsOf[name]),
      el("div", { class: "fields" }, paths.filter((p) => is.test(p)).map((path) => one(path).node)))));
  };
  const one = (path) => {
    const f = field(label(words, path), { value: draft.numbers[path], attributes: { name: path, readonly: !ctx.can("admin"), inputmode: "text", autocomplete: "off", spellcheck: "false" } });
    let timer = 0;
    f.input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => write(path, f), typing); });
    f.input.addEventListener("change", () => { clearTimeout(timer); write(path, f); });
    fields.set(path, f);
    return f;
  };
  const write = async (path, f) => {
    if (f.value().trim() === draft.numbers[path]) return f.fault("");
    try {
      const faults = await draft.put(ctx.api, { [path]: f.value().trim() });
      f.fault(faults.map((one) => (one.field === path ? one.detail : `${one.field}: ${one.detail}`)).join("; "));
    } catch (problem) {
      f.fault(problem.message);
      ctx.fail(problem);
    }
  };
  const draw = () => {
    const known = Object.keys(draft.numbers);
    if (known.length === 0) return;
    if (fields.size !== known.length) make();
    for (const [path, f] of fields) {
      if (document.activeElement !== f.input && f.input.getAttribute("aria-invalid") !== "true") f.input.value = draft.numbers[path];
      f.node.classList.toggle("faulty", draft.faults.some((one) => one.field === path));
    }
  };
  draft.addEventListener("change", draw, { signal });
  return { node, show: draw };
}

const lanes = ["high", "normal", "low", "deferred", "batch"];

// order puts lanes by rank, all else by name.
function order(a, b) {
  const rank = (p) => lanes.indexOf(p.split(".")[1]);
  return rank(a) - rank(b) || a.localeCompare(b);
}

// label says a path in words where there are some.
function label(words, path) {
  const [head, middle, leaf] = path.split(".");
  if (head === "lanes") return `${words.lanes[middle]}: ${words.fieldsOf[leaf]}`;
  const level = /^levels\[(\d)\]$/.exec(middle);
  if (level) return `${words.levelIs(Number(level[1]) + 1)}: ${words.fieldsOf[leaf]}`;
  return words.fieldsOf[path] ?? path;
}
