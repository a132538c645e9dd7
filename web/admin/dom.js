// Makes elements. Whatever is written into them is text and never markup: names, messages
// and rules come from others.

// el makes an element. Attributes: a function is a listener ("onclick"), true a bare
// attribute; null, undefined and false are left out; "data" is an object of data-….
// Children: nodes, texts, numbers, lists of them; null, undefined and false are left out.
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// svg makes an element of a drawing.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// put replaces what is in an element.
export function put(node, ...children) {
  node.replaceChildren(...shown(children));
  return node;
}

const there = (child) => child !== null && child !== undefined && child !== false;

const shown = (children) => children.flat(Infinity).filter(there).map(plain);

// plain takes out of a text the marks that show what follows in another order than it is
// written. What stands in a field to be edited keeps them.
function plain(child) {
  return typeof child === "string" ? child.replace(/[\u202A-\u202E\u2066-\u2069]/g, "") : child;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (!there(value)) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : plain(value));
  }
  node.append(...shown(children));
  return node;
}

let last = 0;

// newId returns an id that no other element of this page has.
export function newId() {
  last += 1;
  return `e${last}`;
}
