// The numbers of a kernel: tiles, findings, tables, charts.

function tiles(explanation) {
  const t = explanation.totals;
  const list = [];
  const tile = (name, value, ...notes) => {
    const small = notes.filter(Boolean).map((note) => el("small", {}, note));
    list.push(el("div", { class: "tile" }, el("dt", {}, name), el("dd", {}, value, ...small)));
  };
  if (t.occupancy) {
    const o = t.occupancy;
    const limits = o.limited_by.join(" and ").replaceAll("_", " ");
    tile("Occupancy", percent(o.occupancy), `${o.warps_per_sm} of ${o.max_warps_per_sm} warps; limit: ${limits}`);
  }
  tile("Warp instructions", count(t.warp_instructions), `${percent(activeLanes(t))} of lanes active`);
  for (const [name, traffic] of [["Global loads", t.global_load], ["Global stores", t.global_store]]) {
    if (traffic.requests) tile(name, decimal(traffic.sectors_per_request), "sectors per request", `efficiency ${percent(traffic.efficiency)}`);
  }
  for (const [name, traffic] of [["Shared loads", t.shared_load], ["Shared stores", t.shared_store]]) {
    if (traffic.requests) tile(name, decimal(traffic.wavefronts / traffic.requests), "wavefronts per request", `${plural(traffic.conflicts, "bank conflict")}`);
  }
  if (t.flops) {
    const i = t.arithmetic_intensity;
    const range = [i.per_sector_byte, i.compulsory].filter((x) => x != null).map(decimal).join(" to ");
    tile("FLOP", count(t.flops), range && `${range} per byte, without and with a perfect cache`);
  }
  return el("dl", { class: "tiles" }, ...list);
}

/** Active lanes as a part of all. */
const activeLanes = (row) => (row.warp_instructions ? row.thread_instructions / (32 * row.warp_instructions) : 1);

function findings(kernel, explanation) {
  const cards = explanation.findings.map((finding) =>
    el(
      "article",
      { class: `card ${finding.severity}` },
      el("h3", {}, el("span", { class: "severity" }, finding.severity), ` · ${finding.kind}`),
      el("p", {}, finding.message, finding.severity !== "advice" && finding.count > 1 ? ` (${count(finding.count)} times)` : null),
      finding.participants.length ? el("ul", {}, ...finding.participants.map((p) => el("li", {}, ...participant(kernel, p)))) : null,
      el("p", {}, el("strong", {}, "Fix: "), finding.fix),
    ),
  );
  return el(
    "section",
    { "aria-labelledby": "findings" },
    heading("Findings", "findings"),
    cards.length ? el("div", { class: "cards" }, ...cards) : el("p", {}, "None."),
  );
}

function participant(kernel, { what, location, block, threads }) {
  const parts = [el("code", {}, what)];
  if (location?.file && location.line) {
    parts.push(" at ", el("a", { href: `#${anchor(kernel, location.file, location.line)}` }, `${fileName(location.file)}:${location.line}`));
  } else if (location) parts.push(` at PTX line ${location.ptx_line}`);
  if (block) parts.push(`, block (${block.join(", ")})`);
  if (threads.length) {
    const named = threads.slice(0, 4).map((thread) => `(${thread.join(", ")})`).join(" ");
    parts.push(`, ${threads.length === 1 ? "thread" : "threads"} ${named}${threads.length > 4 ? ` and ${threads.length - 4} more` : ""}`);
  }
  return parts;
}

/** Every memory access, with a button that shows its lanes. */
function accessTable(explanation, choose) {
  const columns = ["Line", "Access", "Requests", "Sectors or wavefronts per request", "Ideal", "Efficiency", "Bank conflicts"];
  const rows = explanation.lines.flatMap((line) =>
    line.accesses.map((access) => {
      const { total, ideal } = cost(access);
      const per = (n) => (access.requests ? decimal(n / access.requests) : "–");
      return el(
        "tr",
        {},
        el("td", {}, `${fileName(line.file)}:${line.line}`),
        el("td", {}, el("button", { class: "chip", style: "--share: 0", click: () => choose(access.id) }, access.instruction)),
        ...[count(access.requests), per(total), per(ideal), access.efficiency == null ? "" : percent(access.efficiency), access.conflicts == null ? "" : count(access.conflicts)].map((text) =>
          el("td", { class: "n" }, text),
        ),
      );
    }),
  );
  const head = el("tr", {}, ...columns.map((name, i) => el("th", { scope: "col", class: i > 1 ? "n" : null }, name)));
  return el(
    "section",
    { "aria-labelledby": "accesses" },
    heading("Memory accesses", "accesses"),
    scroll("Memory accesses", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...rows))),
  );
}

/** What an access takes, and what it would take at best, in the unit of its memory. */
function cost(access) {
  return access.wavefronts == null
    ? { total: access.sectors, ideal: access.ideal_sectors, unit: "sectors" }
    : { total: access.wavefronts, ideal: access.ideal_wavefronts, unit: "wavefronts" };
}

function instructionMix(totals) {
  const mix = Object.entries(totals.instruction_mix).sort(([, a], [, b]) => b - a);
  const most = mix[0]?.[1] ?? 1;
  const row = ([name, n]) =>
    el(
      "tr",
      {},
      el("td", {}, el("code", {}, name)),
      el("td", {}, el("meter", { min: 0, max: most, value: n, "aria-label": `${name}, part of the most frequent` })),
      el("td", { class: "n" }, `${count(n)} (${percent(n / totals.warp_instructions)})`),
    );
  const table = (rows) => el("table", { class: "mix" }, el("tbody", {}, ...rows));
  const rest = mix.slice(10);
  return el(
    "div",
    {},
    el("h3", {}, "Instruction mix, by warps"),
    table(mix.slice(0, 10).map(row)),
    rest.length ? el("details", {}, el("summary", {}, plural(rest.length, "rarer opcode")), table(rest.map(row))) : null,
  );
}

/** Charts were drawn before; they are trusted, as the page itself is. */
function chart(markup) {
  const holder = el("div");
  holder.innerHTML = markup;
  return holder.firstElementChild;
}

function charts({ explanation, occupancy_svg }, roofline_svg) {
  const drawn = [occupancy_svg, roofline_svg].filter(Boolean).map(chart);
  return el("section", { "aria-labelledby": "charts" }, heading("Occupancy, roofline, instructions", "charts"), el("div", { class: "charts" }, ...drawn, instructionMix(explanation.totals)));
}

/** All kernels side by side. */
function comparison(rows, names) {
  const head = el("tr", {}, el("td"), ...names.map((name) => el("th", { scope: "col", class: "n" }, name)));
  const body = rows.map(({ name, values }) => el("tr", {}, el("th", { scope: "row" }, name), ...values.map((value) => el("td", { class: "n" }, value ?? "–"))));
  return el("section", { "aria-label": "Comparison" }, scroll("Comparison", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...body))));
}
