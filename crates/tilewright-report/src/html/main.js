// The page: a verdict, the picture that argues for it, then everything else.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.kernels.map(({ explanation }) => explanation.kernel);

/** Words, each with its meaning, where they are first used. */
const wordList = () => el("dl", { class: "words" }, ...data.words.map(([word, meaning]) => el("div", {}, el("dt", {}, word), el("dd", {}, meaning))));

function header() {
  const { verdict } = data;
  return [
    el("h1", {}, names.join(" → ")),
    el("p", { class: `verdict ${verdict.tone}` }, ...rich(verdict.headline)),
    wordList(),
    el("p", { class: "why" }, ...verdict.details.flatMap((detail) => [...rich(detail), " "])),
    el("p", { class: "facts" }, ...facts(data.kernels), " ", viewLink()),
  ];
}

/** How the kernels were launched; what is the same for all is said once. */
function facts(kernels) {
  const of = ({ explanation: e }) => [
    `${extent(e.grid)} ${e.grid.every((n) => n === 1) ? "block" : "blocks"} of ${extent(e.block)} threads`,
    e.dynamic_shared_memory_bytes ? `${count(e.dynamic_shared_memory_bytes)} bytes of dynamic shared memory` : null,
    e.gpu && `for ${e.gpu}`,
  ].filter(Boolean).join(" · ");
  const texts = kernels.map(of);
  const isSame = texts.every((text) => text === texts[0]);
  return [isSame ? texts[0] : texts.map((text, i) => `${names[i]}: ${text}`).join("; "), "."];
}

/** One kernel: its findings, its source with a panel beside it, its arrays, and more. */
function kernelView(index) {
  const kernel = data.kernels[index];
  const { explanation } = kernel;
  const { panel, show } = accessPanel(kernel, index);
  const article = el("article", { class: "kernel", "aria-label": explanation.kernel });
  const mark = (id) => {
    for (const chip of article.querySelectorAll("[data-accesses]")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.accesses.split(" ").includes(String(id))));
    }
  };
  // The focus stays where it is, so that Tab goes on from there; the panel says aloud what it shows.
  const choose = (id, origin) => {
    for (const key of ["step", "warp"]) remember(key, null);
    if (!section.contains(origin)) revealLine(section, lineOf(kernel, accessById(kernel, id)));
    side.lanes();
    show(id, origin);
    mark(id);
    if (panel.getBoundingClientRect().top > innerHeight - 120 || panel.getBoundingClientRect().bottom < 120) panel.scrollIntoView({ block: "nearest" });
  };
  const { section, ptx } = sourceView(kernel, index, choose);
  const side = sidePanels(panel, ptx);
  const race = explanation.findings[kernel.race];
  const first = accessById(kernel, recalled("access", -1)) ?? telling(kernel);
  const facts = [explanation.entry === explanation.kernel ? null : `Entry ${explanation.name}.`, kernel.level, ...explanation.notes].filter(Boolean);
  article.append(...[
    names.length > 1 ? heading(`${explanation.kernel}, in detail`, `detail-${index}`) : null,
    resultsView(kernel, index),
    warningsView(kernel, index),
    race ? raceView(kernel, race) : null,
    el("div", { class: "split" }, section, side.element),
    boundView(kernel, index),
    findingsView(kernel, index, choose),
    matrixView(kernel, index),
    names.length > 1 ? null : exploreView(kernel, first),
    folded("All accesses, in a table", accessTable(kernel, choose)),
    folded("Totals, occupancy, roofline and instructions", tiles(kernel), charts(kernel, data.roofline_svg)),
    folded("How it was run, and what was counted", ...facts.map((text) => el("p", {}, text)), explanation.printed ? el("pre", {}, explanation.printed) : ""),
  ].filter(Boolean));
  show(first?.id);
  mark(first?.id);
  const chosen = first && lineOf(kernel, first);
  if (chosen) revealLine(section, chosen);
  article.reveal = () => chosen && revealLine(section, chosen);
  return article;
}

/** Opens the source of a line, and scrolls it, and not the page, to the line. */
function revealLine(section, { file, line }) {
  const source = [...section.querySelectorAll("details")].find((one) => one.dataset.file === file);
  if (source) source.open = true;
  const box = source?.querySelector(".source-box");
  const row = box?.querySelector(`[data-line="${line}"]`);
  if (row) box.scrollTop = row.offsetTop - box.clientHeight / 3;
}

/** What stands beside the source: lanes or PTX. */
function sidePanels(panel, ptx) {
  if (!ptx) return { element: el("div", { class: "side" }, panel), lanes() {} };
  const choices = [["Lanes", panel], ["PTX", ptx]];
  const buttons = choices.map(([name, shown]) => el("button", { "aria-pressed": "false", click: () => open(shown) }, name));
  function open(wanted) {
    choices.forEach(([, shown], i) => {
      shown.hidden = shown !== wanted;
      buttons[i].setAttribute("aria-pressed", String(shown === wanted));
    });
    remember("side", wanted === ptx ? 1 : null);
  }
  const element = el("div", { class: "side" }, el("div", { class: "tabs", role: "group", "aria-label": "Beside the source" }, ...buttons), panel, ptx);
  open(recalled("side", 0) ? ptx : panel);
  return { element, lanes: () => open(panel) };
}

/** Kernels one at a time. A kernel that was shown is kept, and so are the place on the page and the focus. */
function tabs() {
  const views = new Map();
  let shown = 0;
  const place = el("div");
  const buttons = names.map((name, i) => el("button", { "aria-pressed": "false", click: () => open(i) }, name));
  const viewOf = (index) => views.get(index) ?? views.set(index, kernelView(index)).get(index);
  function open(index) {
    const y = scrollY;
    if (views.size) for (const key of ["access", "warp", "step"]) remember(key, null);
    remember("kernel", index || null);
    place.replaceChildren(viewOf(index));
    shown = index;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
    viewOf(index).reveal();
    scrollTo({ top: y });
  }
  // On paper there is nothing to switch with.
  addEventListener("beforeprint", () => place.replaceChildren(...names.map((_, i) => viewOf(i))));
  addEventListener("afterprint", () => place.replaceChildren(viewOf(shown)));
  const start = clamp(recalled("kernel", 0), 0, names.length - 1);
  const element = el("section", { "aria-label": "Each kernel" }, names.length > 1 ? el("nav", { class: "tabs kernels", "aria-label": "Kernels" }, "Look into ", ...buttons) : null, place);
  return { element, start: () => open(start) };
}

document.body.classList.toggle("compares", names.length > 1);
document.getElementById("top").replaceChildren(...header());
const kernels = tabs();
document.getElementById("main").replaceChildren(
  ...[
    names.length > 1 ? comparisonView(data.kernels.slice(0, 2)) : null,
    kernels.element,
    names.length > 1 ? exploreView(data.kernels[0], telling(data.kernels[0])) : null,
    names.length > 1 ? folded("All numbers, side by side", comparisonTable(data.comparison, names)) : null,
    el("footer", { class: "faint" }, "Made by tilewright explain. Counts are of PTX instructions, executed without a GPU; times are bounds and predictions that follow from them."),
  ].filter(Boolean),
);
kernels.start();
