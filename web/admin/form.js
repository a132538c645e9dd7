// Fields with their labels, hints and faults.

import { el, newId } from "./dom.js";

// field makes a labelled input. options: type (text, number, textarea, select, checkbox,
// datetime-local, password, …), value, hint, required, choices of a select as
// [value, label], and attributes for the input itself. It returns {node, input, value(),
// fault(text)}: a fault stands below the input and is read with it.
export function field(label, options = {}) {
  const { type = "text", value = "", hint, required, choices = [], attributes = {} } = options;
  const id = newId(), about = `${id}-about`;
  const common = { id, required, "aria-describedby": about, ...attributes };
  const input = type === "textarea" ? el("textarea", { rows: 3, ...common, value })
    : type === "select" ? el("select", common, choices.map(([v, text]) => el("option", { value: v }, text)))
    : el("input", { type, ...common, value: type === "checkbox" ? undefined : value });
  if (type === "select") input.value = value;
  if (type === "checkbox") input.checked = Boolean(value);
  const note = el("p", { class: "hint", id: about }, hint ?? "");
  const text = el("label", { for: id }, label);
  const node = el("div", { class: `field ${type}` }, type === "checkbox" ? [input, text] : [text, input], note);
  return {
    node, input,
    value: () => (type === "checkbox" ? input.checked : input.value),
    fault(said) {
      note.textContent = said || (hint ?? "");
      note.classList.toggle("fault", Boolean(said));
      input.setAttribute("aria-invalid", String(Boolean(said)));
    },
  };
}

// blame writes the faults of a problem below the fields that they name; fields is
// {name: field}. It returns whether every fault found its field.
export function blame(problem, fields) {
  for (const f of Object.values(fields)) f.fault("");
  let all = (problem.faults ?? []).length > 0;
  for (const fault of problem.faults ?? []) {
    const hit = fields[fault.field];
    if (hit) hit.fault(fault.detail);
    else all = false;
  }
  return all;
}
