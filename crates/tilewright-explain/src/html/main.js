// The page: a header, and one kernel at a time.

const data = JSON.parse(document.getElementById("data").textContent);
const names = data.kernels.map(({ explanation }) => explanation.kernel);

function header(chosen) {
  const { explanation, level } = data.kernels[chosen];
  const e = explanation;
  const entry = e.entry === e.kernel ? null : `entry ${e.entry}`;
  const dynamic = e.dynamic_shared_memory ? `${count(e.dynamic_shared_memory)} bytes of dynamic shared memory` : null;
  const facts = [entry, `${extent(e.grid)} blocks of ${extent(e.block)} threads`, dynamic, e.gpu && `for ${e.gpu}`];
  const tabs = names.map((name, i) => el("button", { "aria-pressed": String(i === chosen), click: () => open(i) }, name));
  return [
    names.length > 1 ? el("nav", { class: "row", "aria-label": "Kernels", style: "margin-top: 1rem" }, ...tabs) : null,
    el("h1", {}, e.kernel),
    el("p", {}, facts.filter(Boolean).join(" · ")),
    el("p", { class: "faint" }, level),
    ...e.notes.map((note) => el("p", { class: "faint" }, note)),
    e.printed ? el("details", {}, el("summary", {}, "What the kernel printed"), el("pre", {}, e.printed)) : null,
  ].filter(Boolean);
}

/** Shows a kernel. */
function open(index) {
  const kernel = data.kernels[index];
  const { panel, show } = accessPanel(kernel);
  const main = document.getElementById("main");
  const mark = (id) => {
    for (const chip of main.querySelectorAll("[data-access]")) {
      const isChosen = Number(chip.dataset.access) === id;
      chip.setAttribute("aria-pressed", String(isChosen));
      chip.closest("tr").classList.toggle("chosen", isChosen);
    }
  };
  const choose = (id) => {
    show(id);
    mark(id);
    // Where the panel is not beside the source, it has to be brought there.
    panel.scrollIntoView({ block: "nearest" });
    panel.focus({ preventScroll: true });
  };
  document.getElementById("top").replaceChildren(...header(index));
  main.replaceChildren(
    ...[
      names.length > 1 ? comparison(data.comparison, names) : null,
      tiles(kernel.explanation),
      findings(index, kernel.explanation),
      el("div", { class: "split" }, sourceView(index, kernel, choose), panel),
      matrixView(kernel),
      accessTable(kernel.explanation, choose),
      charts(kernel, data.roofline_svg),
      el("footer", { class: "faint" }, "Made by tilewright explain."),
    ].filter(Boolean),
  );
  // The access that is farthest from its ideal is the one to look at first.
  const accesses = kernel.explanation.lines.flatMap((line) => line.accesses);
  const worst = accesses.toSorted((a, b) => far(b) - far(a))[0];
  show(worst?.id);
  mark(worst?.id);
}

/** How many times its ideal an access takes. */
function far(access) {
  const { total, ideal } = cost(access);
  return ideal ? total / ideal : 0;
}

open(0);
