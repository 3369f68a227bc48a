// Two kernels beside each other: what differs in the source, one request of each on one scale, and what the whole launches move.

function comparisonView(kernels) {
  const first = telling(kernels[0]);
  const columns = kernels.map((kernel, i) => column(kernel, i, first));
  let lane = recalled("lane", 0);
  const chooseLane = (number) => {
    lane = number;
    remember("lane", lane);
    control.set(lane);
    columns.forEach((one) => one.choose(lane));
  };
  const control = slider("Lane", { min: 0, max: 31, value: lane, input: chooseLane });
  const steps = () => Math.max(...columns.map((one) => one.steps()));
  const holder = el("div");
  function run(step) {
    const controls = player("Requests of warp 0, in both kernels", steps(), (now) => {
      remember("step", now);
      columns.forEach((one) => { one.draw(now); one.choose(lane); });
      return `request ${count(now + 1)} of ${count(steps())}`;
    }, step);
    holder.replaceChildren(controls.controls);
  }
  columns.forEach((one) => one.connect(chooseLane, () => run(0)));
  run(recalled("step", 0));
  return el(
    "section",
    { "aria-labelledby": "beside" },
    el("h2", { id: "beside", class: "quiet" }, "One request of each, on one scale"),
    el("div", { class: "pair" }, ...columns.map(({ element }) => element)),
    el("div", { class: "row controls" }, control.element, holder),
    el("div", { class: "pair" }, ...bars(kernels)),
  );
}

/** One kernel of the comparison. */
function column(kernel, index, first) {
  const name = kernel.explanation.kernel;
  const key = `access${index}`;
  const like = (access) => (access.space === "shared") === (first?.space === "shared");
  const same = (access) => like(access) && access.operation === first?.operation;
  const chosen = accessById(kernel, recalled(key, -1)) ?? (index === 0 ? first : costliest(kernel, same)) ?? costliest(kernel, like) ?? costliest(kernel);
  const groups = kernel.explanation.lines.flatMap(mergedAccesses).filter((group) => patternsOf(kernel, group[0])?.runs.length);
  const select = el("select", {}, ...groups.map((group) => el("option", { value: group[0].id, selected: group[0].id === chosen?.id ? "" : null }, placeText(kernel, group[0]))));
  const place = el("div");
  let request = null;
  let chooseLane = () => {};
  function show(id) {
    const access = accessById(kernel, id);
    if (!access) {
      place.replaceChildren(el("p", {}, "It accesses no memory."));
      return;
    }
    request = requestView(kernel, access, (lane) => chooseLane(lane), ", compared");
    place.replaceChildren(request.element);
  }
  show(chosen?.id);
  return {
    element: el("article", { "aria-label": name }, el("h3", {}, name), differingLines(kernel, index), groups.length ? el("label", { class: "choice" }, "Warp 0, one ", select) : null, place),
    draw: (step) => request?.draw(request.warps[0] ?? 0, step),
    choose: (lane) => request?.choose(lane),
    steps: () => (request ? request.steps(request.warps[0] ?? 0) : 1),
    connect(onLane, rerun) {
      chooseLane = onLane;
      select.addEventListener("change", () => {
        show(Number(select.value));
        remember(key, Number(select.value));
        rerun();
      });
    },
  };
}

/** More differing lines than these are another kernel, and no comparison. */
const MOST_LINES = 6;

/** The lines of the source that the other kernel has not, with the words that differ marked. */
function differingLines(kernel, index) {
  const [mine, other] = [kernel, data.kernels[1 - index]].map(codeLines);
  const [own, theirs] = [mine.filter((line) => !other.includes(line)), other.filter((line) => !mine.includes(line))];
  if (!own.length || own.length > MOST_LINES || theirs.length > MOST_LINES) return null;
  const marked = own.map((line, i) => el("div", {}, ...(own.length === theirs.length ? markedWords(line, theirs[i]) : [line])));
  return el("pre", { class: "differs", "aria-label": `Lines of ${kernel.explanation.kernel} that differ` }, ...marked);
}

/** The lines of the kernel's own file that are code, without what only names it. */
function codeLines(kernel) {
  const { explanation, sources } = kernel;
  const text = sources.find(({ name }) => name === ownFile(kernel))?.text ?? "";
  const lines = text.split("\n").map((line) => line.trim());
  const entry = lines.findIndex((line) => line.includes(`${explanation.entry}(`));
  const body = lines.slice(lines.findIndex((line, i) => i >= entry && line.startsWith("{")) + 1);
  return body.filter((line) => /\w/.test(line) && !line.startsWith("//"));
}

/** A line, with what another does not have marked. */
function markedWords(line, other) {
  const split = (text) => text.split(/(\W)/).filter(Boolean);
  const [a, b] = [split(line), split(other)];
  const common = a.map(() => b.map(() => 0));
  const at = (i, j) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) common[i][j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const out = [];
  for (let i = 0, j = 0; i < a.length; ) {
    if (j < b.length && a[i] === b[j]) { out.push(a[i]); i++; j++; }
    else if (j < b.length && at(i, j + 1) >= at(i + 1, j)) j++;
    else { out.push(el("mark", {}, a[i])); i++; }
  }
  return out;
}

/** What the launches move, and what was measured, each on one scale. */
function bars(kernels) {
  const chart = (title, values, text, isMoreBetter) => {
    const most = Math.max(...values);
    const best = isMoreBetter ? most : Math.min(...values);
    if (!(most > 0)) return null;
    const rows = kernels.map(({ explanation }, i) => el(
      "div",
      { class: "bar-row" },
      el("span", { class: "bar-name" }, explanation.kernel),
      el("span", { class: "bar-track" }, el("span", { class: `bar ${values[i] === best ? "good" : "bad"}`, style: `width: ${(100 * values[i]) / (most || 1)}%` })),
      el("span", { class: "bar-value" }, text(values[i])),
    ));
    return el("figure", { class: "bars" }, el("figcaption", {}, title), ...rows);
  };
  const measured = kernels.map((kernel) => kernel.measured);
  const bounds = kernels.map(({ explanation }) => explanation.bound);
  const isOneWork = bounds.every((bound) => bound && bound.work.name === bounds[0].work.name);
  return [
    isOneWork ? chart(`Cycles for each ${eachWork(bounds[0])}, at least`, bounds.map((b) => b.cycles_per_work), decimal, false) : null,
    chart("Bytes moved between SM and cache", kernels.map((k) => k.moved_bytes), bytesText, false),
    chart("Passes: to the cache and over the banks", kernels.map((k) => k.passes), count, false),
    measured.every(Boolean) ? chart(`Measured, ${measured[0].gpu}, n = ${measured[0].n} (BENCHMARKS.md)`, measured.map((m) => m.flop_per_second / 1e12), (x) => `${decimal(x)} TFLOP/s`, true) : null,
  ].filter(Boolean);
}
