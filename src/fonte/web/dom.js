// Elements out of values. Text only ever becomes text: nothing here or elsewhere parses markup.

const OVERRIDES = /[\u202A-\u202E\u2066-\u2069]/g;

/** A name or a label as it can be trusted by eye: characters that turn the reading order around stand as their codes. */
export function plain(text) {
  return String(text ?? "").replace(OVERRIDES, (one) => `[U+${one.codePointAt(0).toString(16).toUpperCase()}]`);
}

/**
 * An element. Properties: `class`, `on…` a listener, `data` an object, true and false for attributes without a value.
 * Children: elements, texts, nothing, or lists of them.
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return made;
}

/** A button that is no form's. */
export function button(name, onclick, properties = {}) {
  return el("button", { type: "button", onclick, ...properties }, name);
}

/** What stands in a node from now on. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

/** A name, apart from the direction of what stands around it. */
export function name(text, properties = {}) {
  return el("bdi", properties, plain(text));
}

const said = document.getElementById("said");

/** Tell it to whoever listens rather than looks. */
export function say(text) {
  said.textContent = "";
  requestAnimationFrame(() => { said.textContent = text; });
}
