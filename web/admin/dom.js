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
  node.replaceChildren(...children.flat(Infinity).filter(there));
  return node;
}

const there = (child) => child !== null && child !== undefined && child !== false;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (!there(value)) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(there));
  return node;
}

let last = 0;

// newId returns an id that no other element of this page has.
export function newId() {
  last += 1;
  return `e${last}`;
}
