// Making elements, and writing numbers.

/** An element. Attributes that are functions are listeners; those that are false or null are left out. */
function make(namespace, tag, attributes, children) {
  const element = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

const el = (tag, attributes = {}, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes = {}, ...children) => make("http://www.w3.org/2000/svg", tag, attributes, children);

const count = (n) => n.toLocaleString("en");
const decimal = (x) => x.toLocaleString("en", { maximumFractionDigits: 2 });
const percent = (x) => `${(100 * x).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const extent = (sizes) => sizes.slice(0, 1 + sizes.findLastIndex((n, i) => i === 0 || n > 1)).map(count).join(" × ");
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** Lanes of a mask, ascending. */
const lanesOf = (mask) => Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (mask >>> lane) & 1);

/** The place of a line in the page. */
const anchor = (kernel, file, line) => `k${kernel}-${encodeURIComponent(fileName(file))}-${line}`;

const heading = (text, id) => el("h2", { id }, text);
const scroll = (label, ...children) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
