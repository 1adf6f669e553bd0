// Elements by hand. Every text becomes a text node and nothing is ever parsed as HTML, so that a task or a skill with
// markup in its name stays a name.

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

const build = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, children);
  return element;
};

const fill = (element, children) => {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
};

export const replace = (element, ...children) => {
  element.replaceChildren();
  fill(element, children);
  return element;
};

// What the server says in a clause, as a sentence.
export const sentence = (text) => (text ? `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");

export const overline = (words) => h("p", { class: "overline" }, words);

export const tile = (value, words, { own = false } = {}) =>
  h("div", { class: own ? "tile own" : "tile" }, h("b", {}, value), h("span", {}, words));

export const facts = (pairs) => h(
  "dl", { class: "facts" },
  pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
);

// A name that may break after its separators, where a line is too short for it.
export const breakable = (name) => name.split(/(?<=[_\-./+:@])/).flatMap((part, index) => (index ? [h("wbr"), part] : [part]));

export const section = (title, ...children) => h("section", {}, h("h2", {}, title), children);

// Words for those who do not see the page: what a live change means.
export const announce = (words) => { document.getElementById("announcer").textContent = words; };

// Draws anew whenever the place has another width.
export const responsive = (draw, attributes = {}) => {
  const place = h("div", { class: "plot", ...attributes });
  let drawnAt = 0;
  const redraw = () => {
    const width = Math.floor(place.clientWidth);
    if (width < 40) return;
    drawnAt = width;
    place.replaceChildren(draw(width));
  };
  new ResizeObserver(() => { if (Math.floor(place.clientWidth) !== drawnAt) redraw(); }).observe(place);
  place.redraw = redraw;
  return place;
};
