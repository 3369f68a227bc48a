// The source with what each line costs, and the PTX that it became beside it.

/** The passes of a line; its bar is measured by the costliest line of all kernels of the page, so that bars can be compared. */
const passesOfLine = (line) => sum(mergedAccesses(line), (group) => cost(group).passes);
const mostPasses = () => Math.max(1, ...data.kernels.flatMap(({ explanation }) => explanation.lines.map(passesOfLine)));

/** The sources of a kernel; `choose` is called with the id of an access and the chip. */
function sourceView(kernel, index, choose) {
  const { explanation, sources } = kernel;
  const lines = new Map(explanation.lines.map((line) => [`${line.file}:${line.line}`, line]));
  const most = mostPasses();
  const files = sources.filter(({ name }) => explanation.lines.some((line) => line.file === name));
  const busy = ownFile(kernel);
  // Otherwise the file of the access that is shown is opened.
  const hasAccesses = explanation.lines.some((line) => line.accesses.length);
  const ptx = ptxView(kernel);
  const tables = files.map(({ name, text }) => {
    const rows = text.replace(/\n$/, "").split("\n").map((code, i) => sourceRow(name, i + 1, code, lines.get(`${name}:${i + 1}`), most, choose, ptx));
    const head = el("tr", {}, el("th", { scope: "col", class: "line" }, el("abbr", { title: "line" }, "#")), el("th", { scope: "col", class: "heat" }, "passes"), el("th", { scope: "col" }, "source"));
    const table = el("div", { class: "source-box", tabindex: 0, role: "region", "aria-label": `Source of ${fileName(name)}` }, el("table", { class: "source mono" }, el("thead", {}, head), el("tbody", {}, ...rows)));
    return el("details", { class: "fold", "data-file": name, open: name === busy && !hasAccesses ? "" : null }, el("summary", {}, fileName(name)), table);
  });
  const section = el(
    "section",
    { "aria-labelledby": `source-${index}` },
    heading("Source, and where the passes go", `source-${index}`),
    el("p", { class: "faint" }, "A pass moves up to 128 bytes between SM and cache, or serves the banks of shared memory once. Bars of all kernels have one scale. Choose an access to see its lanes; point at a line to see its PTX."),
    ...tables,
  );
  return { section, ptx: ptx.element };
}

function sourceRow(file, number, code, line, most, choose, ptx) {
  const passes = line ? passesOfLine(line) : 0;
  const heat = el("td", { class: "heat" }, passes ? el("span", {}, count(passes)) : null, passes ? el("span", { class: "heat-bar", style: `width: ${(100 * passes) / most}%` }) : null);
  const chips = line ? mergedAccesses(line).map((group) => chip(group, choose)) : [];
  const row = el(
    "tr",
    { class: line ? "executed" : null, "data-line": number },
    el("td", { class: "line" }, String(number)),
    heat,
    el("td", { class: "code" }, code, chips.length ? el("div", { class: "chips" }, ...chips) : null),
  );
  if (line) {
    row.addEventListener("pointerenter", () => ptx.mark(file, number));
    row.addEventListener("focusin", () => ptx.mark(file, number));
  }
  return row;
}

/** An access of a line, with all of its copies. */
function chip(group, choose) {
  const { total, ideal } = cost(group);
  const isBad = total > 1.05 * ideal || costText(group).includes("rounds");
  const copies = group.length > 1 ? `${group.length} × ` : "";
  const isLoop = group[0].instruction.endsWith(" (load)") ? ", its loads" : "";
  const button = el("button", { class: `chip ${isBad ? "bad" : ""}`, "data-accesses": group.map((a) => a.id).join(" "), "aria-pressed": "false", click: () => choose(group[0].id, button) });
  button.append(el("strong", {}, copies + deed(group[0]) + isLoop), ` ${costText(group)}`);
  return button;
}

/** The PTX that was executed, each instruction under the line that it comes from. */
function ptxView(kernel) {
  const list = el("ol", { class: "ptx mono" });
  const box = el("div", { class: "source-box", tabindex: 0, role: "region", "aria-label": "PTX" }, list);
  const rows = kernel.instructions.map((instruction) => el(
    "li",
    {},
    el("span", { class: "line" }, String(instruction.ptx_line)),
    el("span", { class: "ptx-line" }, `${fileName(instruction.file)}:${instruction.line}`),
    el("span", { class: "ptx-code" }, instruction.text),
    el("span", { class: "ptx-count" }, `${count(instruction.executions)}`),
  ));
  list.append(...rows);
  const element = el("section", { class: "panel", "aria-label": "PTX" }, heading("The PTX that was executed"), el("p", { class: "faint" }, "PTX line, source line, instruction, executions by warps."), box);
  function mark(file, line) {
    let first = null;
    kernel.instructions.forEach((instruction, i) => {
      const isMarked = instruction.file === file && instruction.line === line;
      rows[i].classList.toggle("marked", isMarked);
      if (isMarked) first ??= rows[i];
    });
    if (first && element.checkVisibility()) box.scrollTop = first.offsetTop - box.offsetTop - 40;
  }
  return { element: rows.length ? element : null, mark };
}
