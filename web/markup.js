// Elements made in code: no HTML text is parsed and no attribute holds a style, so a
// strict Content-Security-Policy has nothing to object to.

// el makes an element. Properties whose name has a dash, and role, are set as attributes.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role" || name.includes("-")) node.setAttribute(name, value);
    else node[name] = name === "textContent" ? plain(value) : value;
  }
  node.append(...children);
  return node;
}

// plain takes out of a text the marks that show what follows in another order than it is
// written: an address or an amount would read as another one.
export function plain(text) { return text?.replace?.(/[\u202A-\u202E\u2066-\u2069]/g, "") ?? text; }

// button makes a button that does act when it is pressed.
export function button(act, properties, ...children) {
  const made = el("button", { type: "button", ...properties }, ...children);
  made.addEventListener("click", act);
  return made;
}

const paths = {
  chat: "M12 3.5c-5 0-9 3.3-9 7.5 0 2.3 1.2 4.3 3.1 5.7-.1 1.3-.6 2.5-1.5 3.5 1.9-.1 3.5-.7 4.8-1.7.8.2 1.7.3 2.6.3 5 0 9-3.4 9-7.8s-4-7.5-9-7.5Z",
  close: "m6 6 12 12M18 6 6 18",
  renew: "M4 12a8 8 0 1 0 2.6-5.9M4 4v4.5h4.5",
  send: "M4 12h15M13 6l6 6-6 6",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  check: "m5 12.5 4.5 4.5L19 7.5",
  phone: "M8 2.5h8a1.5 1.5 0 0 1 1.5 1.5v16a1.5 1.5 0 0 1-1.5 1.5H8A1.5 1.5 0 0 1 6.5 20V4A1.5 1.5 0 0 1 8 2.5ZM11 18.5h2",
  star: "m12 3.5 2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 16.9l-5.2 2.8 1-5.9L3.5 9.7l5.9-.8Z",
};

// icon draws one of the outlines above; it says nothing to a screen reader.
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  const attributes = {
    viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": "2",
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true",
  };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}
