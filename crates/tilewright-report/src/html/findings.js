// Findings: errors first, then what costs most.

/** As many as are shown at once. */
const SHOWN_FINDINGS = 4;

function findingsView(kernel, index, choose) {
  const { findings } = kernel.explanation;
  const cards = findings.map((finding, i) => card(kernel, finding, kernel.shares[i], choose));
  const [shown, rest] = [cards.slice(0, SHOWN_FINDINGS), cards.slice(SHOWN_FINDINGS)];
  return el(
    "section",
    { "aria-labelledby": `findings-${index}` },
    heading("Findings, what costs most first", `findings-${index}`),
    cards.length ? el("div", { class: "cards" }, ...shown) : el("p", {}, kernel.verdict.tone === "good" ? "None: no errors, and no line moves much for nothing." : "None."),
    rest.length ? folded(plural(rest.length, "more finding"), el("div", { class: "cards" }, ...rest)) : null,
  );
}

function card(kernel, finding, share, choose) {
  const copies = finding.copies > 1 ? ` · ${finding.copies} unrolled copies` : "";
  return el(
    "article",
    { class: `card ${finding.severity}` },
    el("h3", {}, el("span", { class: "severity" }, finding.severity), ` · ${finding.kind.replaceAll("-", " ")}${copies}`),
    share == null ? null : el("p", { class: "cost" }, el("span", { class: "bar-track" }, el("span", { class: "bar bad", style: `width: ${100 * Math.min(1, share)}%` })), el("span", {}, `${percent(share)} of all passes`)),
    el("p", {}, ...rich(finding.message), finding.severity !== "advice" && finding.count > 1 ? ` (${count(finding.count)} times)` : null),
    finding.participants.length ? el("ul", {}, ...finding.participants.map((p) => el("li", {}, ...participant(kernel, p, finding.message, choose)))) : null,
    el("p", {}, el("strong", {}, "Fix: "), ...rich(finding.fix)),
  );
}

/** The access at a PTX line. One instruction may be two, a load and a store: the message of the finding says which is meant. */
function accessAt(kernel, ptxLine, message) {
  const all = kernel.explanation.lines.flatMap((line) => line.accesses).filter((access) => access.ptx_line === ptxLine);
  return all.find((access) => message.startsWith(`${deed(access)}:`)) ?? all[0];
}

/** The access that the first finding is about; the costliest where none is. */
function telling(kernel) {
  for (const { participants, message } of kernel.explanation.findings) {
    const access = participants.map((p) => accessAt(kernel, p.location?.ptx_line, message)).find((one) => one && patternsOf(kernel, one));
    if (access) return access;
  }
  return costliest(kernel);
}

/** Threads, neighbours along x as one: (0..31, 0, 0). */
function threadRows(threads) {
  const runs = [];
  for (const [x, y, z] of threads) {
    const run = runs.at(-1);
    if (run && run.y === y && run.z === z && run.last + 1 === x) run.last = x;
    else runs.push({ x, y, z, last: x });
  }
  return runs.map(({ x, y, z, last }) => `(${x === last ? x : `${x}..${last}`}, ${y}, ${z})`);
}

function participant(kernel, { what, location, block, threads, element, iteration }, message, choose) {
  const parts = [el("code", {}, what)];
  if (element) parts.push(" on ", el("code", {}, element));
  if (location?.file && location.line) {
    const access = accessAt(kernel, location.ptx_line, message);
    const place = `${fileName(location.file)}:${location.line}`;
    parts.push(" at ", access ? el("button", { class: "link", click: (event) => choose(access.id, event.currentTarget) }, `${place}, show lanes`) : place);
  } else if (location) parts.push(` at PTX line ${location.ptx_line}`);
  if (block) parts.push(`, block (${block.join(", ")})`);
  if (threads.length) {
    const rows = threadRows(threads);
    parts.push(`, ${threads.length === 1 ? "thread" : "threads"} ${rows.slice(0, 4).join(" ")}${rows.length > 4 ? ` and ${rows.length - 4} more` : ""}`);
  }
  if (iteration) parts.push(`, iteration ${iteration}`);
  return parts;
}
