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
const plural = (n, word, words = `${word}s`) => `${count(n)} ${n === 1 ? word : words}`;
const extent = (sizes) => sizes.slice(0, 1 + sizes.findLastIndex((n, i) => i === 0 || n > 1)).map(count).join(" × ");
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** 1,234,567 bytes as 1.23 MB. */
function bytesText(n) {
  const unit = ["bytes", "KB", "MB", "GB"].findIndex((_, i) => n < 1000 ** (i + 1));
  return unit <= 0 ? `${count(n)} bytes` : `${decimal(n / 1000 ** unit)} ${["bytes", "KB", "MB", "GB"][unit]}`;
}

/** A sentence in which `code` and **what matters most** are marked. */
function rich(text) {
  return text.split(/(`[^`]*`|\*\*[^*]*\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    return part.startsWith("**") ? el("strong", {}, part.slice(2, -2)) : part;
  });
}

/** Lanes of a mask, ascending. */
function lanesOf(mask) {
  const lanes = [];
  for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) lanes.push(lane);
  return lanes;
}

const heading = (text, id) => el("h2", { id }, text);
/** What may be wider than the page scrolls by itself, and says so where it does. */
const scroll = (label, ...children) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
const folded = (title, ...children) => el("details", { class: "fold" }, el("summary", {}, title), ...children);

let labels = 0;
/** A control with its name, and the value beside it. */
function slider(name, { min, max, value, step = 1, show = count, input }) {
  const id = `slider-${++labels}`;
  const out = el("output", { for: id });
  const control = el("input", { id, type: "range", min, max, step, value, input: () => set(Number(control.value), true) });
  function set(next, tell) {
    control.value = next;
    out.textContent = show(Number(control.value));
    control.setAttribute("aria-valuetext", out.textContent);
    if (tell) input(Number(control.value));
  }
  set(value, false);
  return { element: el("div", { class: "slider" }, el("label", { for: id }, name), control, out), set, value: () => Number(control.value) };
}
