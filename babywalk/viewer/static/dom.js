// Elements of the page. All text goes through text nodes, so that data are never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// An HTML element: attributes, event handlers as "onclick", and children that are nodes or texts.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// An SVG element, likewise.
export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

// A labelled <select>; options are [value, label].
export function chooser(label, options, value, onchange) {
  const select = element("select", { onchange: () => onchange(select.value) });
  for (const [key, name] of options) select.append(element("option", { value: key, text: name }));
  select.value = value;
  return element("label", { class: "field" }, element("span", { text: label }), select);
}

export function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

// A sentence in place of content: what is loading, missing or wrong.
export function notice(text, kind = "") {
  return element("p", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status", text });
}
