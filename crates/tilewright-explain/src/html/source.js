// The source with what each line costs.

/** Whether an access is served in wavefronts, as opposed to sectors. */
const hasBanks = (access) => access.wavefronts != null;

/** What can be shown beside the lines: a value, its text, and its share of the worst, 0 to 1. */
const METRICS = {
  "sectors per request": (line) => perRequest(line, (access) => !hasBanks(access), 8),
  "wavefronts per request": (line) => perRequest(line, hasBanks, 32),
  "inactive lanes": (line) => {
    const share = 1 - activeLanes(line);
    return { text: percent(share), share };
  },
  "warp instructions": (line, totals) => ({ text: count(line.warp_instructions), share: line.warp_instructions / totals.warp_instructions }),
};

/** The mean cost of the line's accesses; the share is logarithmic in how far it is from the ideal. */
function perRequest(line, wanted, worst) {
  const accesses = line.accesses.filter((access) => wanted(access) && access.requests);
  if (!accesses.length) return null;
  const sum = (of) => accesses.map(of).reduce((a, b) => a + b);
  const total = sum((access) => cost(access).total);
  return { text: decimal(total / sum((access) => access.requests)), share: excess(total, sum((access) => cost(access).ideal), worst) };
}

function excess(total, ideal, worst) {
  return ideal ? clamp(Math.log(total / ideal) / Math.log(worst), 0, 1) : 0;
}

/** The sources of a kernel; `choose` is called with the id of an access. */
function sourceView(kernel, { explanation, recording }, choose) {
  const lines = new Map(explanation.lines.map((line) => [`${line.file}:${line.line}`, line]));
  const heats = [];
  const select = el(
    "select",
    { change: () => show(select.value) },
    ...Object.keys(METRICS).map((name) => el("option", {}, name)),
  );
  const titles = [];
  const files = recording.sources.filter(({ name }) => explanation.lines.some((line) => line.file === name));
  const tables = files.map(({ name, text }) => {
    const title = el("th", { scope: "col", class: "heat" });
    titles.push(title);
    const rows = text.replace(/\n$/, "").split("\n").map((code, i) => sourceRow(kernel, name, i + 1, code, lines.get(`${name}:${i + 1}`), heats, choose));
    const head = el("tr", {}, el("th", { scope: "col", class: "line" }, el("abbr", { title: "line" }, "#")), title, el("th", { scope: "col" }, "source"));
    const table = scroll(`Source of ${fileName(name)}`, el("table", { class: "source mono" }, el("thead", {}, head), el("tbody", {}, ...rows)));
    const isBusy = explanation.lines.some((line) => line.file === name && line.accesses.length);
    return el("details", { open: isBusy ? "" : null }, el("summary", {}, fileName(name)), table);
  });

  function show(metric) {
    for (const title of titles) title.textContent = metric;
    for (const { cell, line } of heats) {
      const value = METRICS[metric](line, explanation.totals);
      cell.textContent = value?.text ?? "";
      cell.style.setProperty("--share", value?.share ?? 0);
    }
  }

  const first = Object.keys(METRICS).find((name) => explanation.lines.some((line) => METRICS[name](line, explanation.totals)?.share > 0.05));
  select.value = first ?? "warp instructions";
  show(select.value);
  return el(
    "section",
    { "aria-labelledby": "source" },
    heading("Source", "source"),
    el("p", { class: "row" }, el("label", {}, "Beside each line:", select), el("span", { class: "faint" }, "Choose an access to see its lanes.")),
    ...tables,
  );
}

function sourceRow(kernel, file, number, code, line, heats, choose) {
  const heat = el("td", { class: "heat" });
  if (line) heats.push({ cell: heat, line });
  const chips = (line?.accesses ?? []).map((access) => {
    const { total, ideal, unit } = cost(access);
    const text = access.requests ? `${decimal(total / access.requests)} ${unit}, ideal ${decimal(ideal / access.requests)}` : "not executed";
    const share = excess(total, ideal, hasBanks(access) ? 32 : 8);
    const button = el("button", { class: "chip", "data-access": access.id, "aria-pressed": "false", style: `--share: ${share}`, click: () => choose(access.id) });
    button.append(el("code", {}, access.instruction), ` ${text}`);
    return button;
  });
  return el(
    "tr",
    { id: anchor(kernel, file, number) },
    el("td", { class: "line" }, String(number)),
    heat,
    el("td", { class: "code" }, code, chips.length ? el("div", { class: "chips" }, ...chips) : null),
  );
}
