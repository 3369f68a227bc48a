// Everything else, folded: numbers, tables, charts.

/** Active lanes as a part of all. */
const activeLanes = (row) => (row.warp_instructions ? row.thread_instructions / (32 * row.warp_instructions) : 1);

function tiles({ explanation }) {
  const t = explanation.totals;
  const list = [];
  const tile = (name, value, unit, note) => list.push(el("div", { class: "tile" }, el("dt", {}, name), el("dd", {}, value, unit ? el("small", {}, unit) : null, note ? el("small", {}, note) : null)));
  if (t.occupancy) tile("Occupancy", percent(t.occupancy.occupancy), `${t.occupancy.warps_per_sm} of ${t.occupancy.max_warps_per_sm} warps; limit: ${t.occupancy.limited_by.join(", ").replaceAll("_", " ")}`);
  tile("Warp instructions", count(t.warp_instructions), `${percent(activeLanes(t))} of lanes active`, t.barriers ? plural(t.barriers, "barrier") : null);
  for (const [name, traffic] of [["Global loads", t.global_load], ["Global stores", t.global_store]]) {
    if (traffic.requests) tile(name, decimal(traffic.sectors / traffic.requests), "sectors per request", `${percent(traffic.efficiency)} of the moved bytes used`);
  }
  for (const [name, traffic] of [["Shared loads", t.shared_load], ["Shared stores", t.shared_store]]) {
    if (traffic.requests) tile(name, decimal(traffic.wavefronts / traffic.requests), "passes per request", plural(traffic.conflicts, "bank conflict"));
  }
  if (t.flops) {
    const i = t.arithmetic_intensity;
    const between = [i.flop_per_sector_byte, i.flop_per_compulsory_byte].filter((x) => x != null).map(decimal).join(" to ");
    tile("FLOP", count(t.flops), between && `${between} per byte, without and with a perfect cache`);
  }
  return el("dl", { class: "tiles" }, ...list);
}

/** Every memory access, copies together. */
function accessTable(kernel, choose) {
  const columns = ["Line", "Access", "Requests", "Each takes", "Would do", "Passes"];
  const rows = kernel.explanation.lines.flatMap((line) => mergedAccesses(line).map((group) => {
    const { total, ideal, requests, unit, passes } = cost(group);
    const per = (n) => (requests ? `${decimal(n / requests)} ${unit}` : "–");
    const button = el("button", { class: "link", click: (event) => choose(group[0].id, event.currentTarget) }, `${group.length > 1 ? `${group.length} × ` : ""}${deed(group[0])}`);
    const cells = [count(requests), per(total), total < ideal ? "broadcast" : per(ideal), count(passes)];
    return el("tr", {}, el("td", {}, `${fileName(line.file)}:${line.line}`), el("td", {}, button), ...cells.map((text) => el("td", { class: "n" }, text)));
  }));
  const head = el("tr", {}, ...columns.map((name, i) => el("th", { scope: "col", class: i > 1 ? "n" : null }, name)));
  return scroll("Memory accesses", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

function instructionMix(totals) {
  const mix = Object.entries(totals.instruction_mix).sort(([, a], [, b]) => b - a);
  const most = mix[0]?.[1] ?? 1;
  const row = ([name, n]) => el(
    "tr",
    {},
    el("th", { scope: "row" }, el("code", {}, name)),
    el("td", {}, el("meter", { min: 0, max: most, value: n, "aria-label": `${name}, part of the most frequent` })),
    el("td", { class: "n" }, `${count(n)} (${percent(n / totals.warp_instructions)})`),
  );
  const table = (rows) => el("table", { class: "mix" }, el("tbody", {}, ...rows));
  const rest = mix.slice(10);
  return el("div", {}, el("h3", {}, "Instruction mix, by warps"), table(mix.slice(0, 10).map(row)), rest.length ? folded(plural(rest.length, "rarer opcode"), table(rest.map(row))) : null);
}

/** Charts were drawn before; they are trusted, as the page itself is. */
function chart(markup) {
  const holder = el("div");
  holder.innerHTML = markup;
  return holder.firstElementChild;
}

function charts({ explanation, occupancy_svg, timeline_svg }, roofline_svg) {
  const drawn = [occupancy_svg, roofline_svg, timeline_svg].filter(Boolean).map(chart);
  return el("div", { class: "charts" }, ...drawn, instructionMix(explanation.totals));
}

/** All kernels side by side. */
function comparisonTable(rows, names) {
  const head = el("tr", {}, el("td"), ...names.map((name) => el("th", { scope: "col", class: "n" }, name)));
  const body = rows.map(({ name, values }) => el("tr", {}, el("th", { scope: "row" }, name), ...values.map((value) => el("td", { class: "n" }, value ?? "–"))));
  return scroll("Comparison", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...body)));
}
