// One request of an access: what it moved, drawn lane by lane.

const lineOf = (kernel, access) => kernel.explanation.lines.find((line) => line.accesses.some((a) => a.id === access.id));
const patternsOf = (kernel, access) => kernel.recording.patterns.find((patterns) => patterns.access === access.id);
const accessById = (kernel, id) => kernel.explanation.lines.flatMap((line) => line.accesses).find((access) => access.id === id);
const copiesOf = (kernel, access) => mergedAccesses(lineOf(kernel, access)).find((group) => group.some((a) => a.id === access.id));

/** The access that costs most, by all of its copies; `wanted` narrows the choice. */
function costliest(kernel, wanted = () => true) {
  const groups = kernel.explanation.lines.flatMap(mergedAccesses).filter((group) => patternsOf(kernel, group[0]) && wanted(group[0]));
  const worth = (group) => cost(group).passes;
  return groups.toSorted((a, b) => worth(b) - worth(a))[0]?.[0];
}

/** Where an access stands, in words. */
const placeText = (kernel, access) => {
  const line = lineOf(kernel, access);
  return `${deed(access)}, ${fileName(line.file)}:${line.line}`;
};

/** A view of requests of an access: `draw` shows one. */
function requestView(kernel, access, chooseLane, where = "") {
  const { recording, explanation } = kernel;
  const patterns = patternsOf(kernel, access);
  const said = el("p", { class: "said" });
  const stage = scroll(`Picture of the lanes: ${placeText(kernel, access)}${where}`);
  const more = el("p", { class: "faint" });
  const lane = el("p", { class: "lane-words", "aria-live": "polite" });
  const element = el("div", { class: "request" }, said, hasBanks(access) ? null : legend(), stage, more, lane);
  const source = lineOf(kernel, access);
  let shown = null;

  stage.addEventListener("pointerover", (event) => {
    const lanes = event.target.dataset?.lanes;
    if (lanes) chooseLane(Number(lanes.split(" ")[0]));
  });

  function draw(warp, step) {
    const all = executionsOf(patterns, warp);
    const execution = all[Math.min(step, all.length - 1)];
    if (!execution) {
      stage.replaceChildren();
      said.textContent = `Warp ${warp} does not execute it.`;
      shown = null;
      return;
    }
    const lanes = lanesAt(execution);
    const buffer = execution.buffer == null ? null : recording.buffers[execution.buffer];
    const drawn = drawing(access, lanes, execution.phase);
    drawn.picture.setAttribute("aria-label", drawn.text);
    stage.replaceChildren(drawn.picture);
    said.replaceChildren(...rich(drawn.said), drawn.badge ?? "");
    more.textContent = drawn.hidden ? `${plural(drawn.hidden, "more row")} like these.` : "";
    more.hidden = !drawn.hidden;
    shown = { picture: drawn.picture, lanes, buffer, warp, phase: execution.phase, space: access.space };
  }

  function choose(number) {
    if (!shown) return;
    markLane(shown.picture, number);
    const at = shown.lanes.find((one) => one.lane === number);
    const thread = `threadIdx (${threadOf(explanation.block, shown.warp, number).join(", ")})`;
    if (!at) {
      lane.textContent = number == null ? "Point at a lane, or choose one below, to see what it wants." : `Lane ${number}, ${thread}, is not active.`;
      return;
    }
    const name = access.buffer ?? "memory";
    const term = termOf(source.text, name);
    const what = shown.buffer ? elementText(shown.buffer, at.byte) : wordText(name, term, at.byte);
    const where = at.pass != null && access.space !== "shared" ? `pass ${at.pass + 1}` : access.space === "shared" ? `bank ${(((at.byte + shown.phase) >> 2) & 31)}` : `sector ${count(Math.floor((at.byte + shown.phase) / SECTOR))}`;
    lane.replaceChildren(
      el("strong", {}, `Lane ${number}`), ` is ${thread}. It wants `, el("strong", {}, what),
      ...(term ? [", in the source ", el("code", {}, term)] : []),
      `: bytes ${count(at.byte)} to ${count(at.byte + access.bytes_per_lane - 1)}, ${where}.`,
    );
  }
  return { element, draw, choose, warps: patterns ? warpsOf(patterns) : [], steps: (warp) => executionsOf(patterns, warp).length, lanes: () => shown };
}

/** The picture of a request, and its sentence. */
function drawing(access, lanes, phase) {
  const bytes = access.bytes_per_lane;
  if (hasBanks(access)) {
    const turns = isAtomic(access) ? turnsOf(lanes) : lanes.map(({ pass }) => pass ?? 0);
    const drawn = bankPicture(lanes, bytes, phase, (i) => turns[i], isAtomic(access) ? "turn" : "pass");
    const words = new Set(lanes.map(({ byte }) => byte >> 2)).size;
    const rounds = access.requests / Math.max(1, access.executions);
    const contended = isAtomic(access) && rounds > 1.01 ? ` With the other warps of its block it takes ${decimal(rounds)} rounds.` : "";
    const what = isAtomic(access) ? `${plural(drawn.passes, "turn")}: lanes that meet in a word wait for each other.${contended}` : `${plural(drawn.passes, "pass", "passes")} ${access.space === "shared" ? "over the banks" : "of constant memory, one for each address"}`;
    const said = `${plural(lanes.length, "lane")}, ${plural(words, "word")}: **${what}** `;
    return { ...drawn, said, text: said.replaceAll("*", ""), badge: isAtomic(access) ? null : drawn.passes <= Math.max(1, bytes / WORD) ? badge(true, "no conflict") : badge(false, `${drawn.passes} passes`) };
  }
  const drawn = sectorPicture(lanes, bytes, phase);
  const { asked, share, isGood } = usedOf(lanes, bytes, drawn);
  const said = `${plural(drawn.sectors, "sector")} moved: **${count(drawn.moved)} bytes for ${count(asked)}** `;
  const shared = lanes.length > 1 && drawn.wanted < lanes.length * bytes ? "Lanes share what they want (broadcast). " : "";
  return { ...drawn, said: shared + said, text: (shared + said).replaceAll("*", ""), badge: badge(isGood, `${percent(share)} used`) };
}

/** Bytes that lanes ask for, as a part of those that move: what the verdict and the numbers call used. Good is what moves hardly more than it must. */
function usedOf(lanes, bytes, { sectors, moved }) {
  const asked = lanes.length * bytes;
  return { asked, share: Math.min(1, asked / moved), isGood: sectors <= 1.05 * Math.ceil(asked / SECTOR) };
}

const badge = (isGood, text) => el("span", { class: `badge ${isGood ? "good" : "bad"}` }, text);

/** The panel beside the source: one access, its requests, its lanes. */
function accessPanel(kernel, index) {
  const body = el("div");
  const said = el("p", { class: "faint", "aria-live": "polite" });
  const panel = el("section", { class: "panel", "aria-labelledby": `lanes-${index}` }, heading("One request, lane by lane", `lanes-${index}`), said, body);

  function show(id, back) {
    const access = accessById(kernel, id);
    remember("access", access && id);
    if (!access) {
      body.replaceChildren(el("p", {}, "This kernel accesses no memory."));
      return;
    }
    const line = lineOf(kernel, access);
    said.replaceChildren(el("code", {}, access.instruction), ` · ${placeText(kernel, access)}`);
    const copies = copiesOf(kernel, access);
    const parts = [];
    if (copies.length > 1) parts.push(copyChoice(copies, id));
    parts.push(...requests(access));
    if (back) parts.push(el("p", {}, el("button", { class: "back", click: () => back.focus() }, `Back to line ${line.line}`)));
    body.replaceChildren(...parts);
  }
  function copyChoice(copies, id) {
    const select = el("select", { change: () => show(Number(select.value)) }, ...copies.map((a, i) => el("option", { value: a.id, selected: a.id === id ? "" : null }, `${i + 1} of ${copies.length}`)));
    return el("p", { class: "row" }, el("label", {}, "Unrolled copy", select));
  }
  function requests(access) {
    const patterns = patternsOf(kernel, access);
    if (!patterns?.runs.length) return [el("p", {}, `The recorded block (${kernel.recording.block.join(", ")}) does not execute it.`)];
    let lane = recalled("lane", 0);
    const setLane = (number) => { lane = number; remember("lane", lane); control.set(lane); request.choose(lane); };
    const request = requestView(kernel, access, setLane);
    const control = slider("Lane", { min: 0, max: 31, value: lane, input: setLane });
    const warps = request.warps;
    const select = el("select", { change: () => run(0) }, ...warps.map((warp) => el("option", { value: warp, selected: warp === recalled("warp", 0) ? "" : null }, `warp ${warp}`)));
    const holder = el("div");
    function run(first) {
      const warp = Number(select.value);
      remember("warp", warp);
      const steps = request.steps(warp);
      holder.replaceChildren(player("Requests of this warp", steps, (step) => {
        remember("step", step);
        request.draw(warp, step);
        request.choose(lane);
        return `${count(step + 1)} of ${count(steps)}`;
      }, first).controls);
    }
    run(recalled("step", 0));
    const addresses = folded("Addresses of the lanes");
    addresses.addEventListener("toggle", () => addresses.open && addresses.replaceChildren(addresses.firstChild, laneTable(request.lanes())));
    const left = patterns.left_out ? el("p", { class: "faint" }, `${plural(patterns.left_out, "later request")} not recorded.`) : null;
    return [request.element, el("div", { class: "row controls" }, control.element, warps.length > 1 ? el("label", {}, "Of", select) : null), holder, left, addresses].filter(Boolean);
  }
  return { panel, show };
}

/** The same in words: a row for each lane. */
function laneTable(shown) {
  if (!shown) return el("p", {}, "Nothing is shown.");
  const columns = {
    shared: [["Bank", ({ at }) => (at >> 2) & 31], ["Pass", ({ pass }) => pass + 1]],
    constant: [["Pass", ({ pass }) => pass + 1]],
  }[shown.space] ?? [["Sector", ({ at }) => Math.floor(at / SECTOR)]];
  const rows = shown.lanes.map(({ lane, byte, pass }) => {
    const served = columns.map(([, value]) => value({ at: byte + shown.phase, pass }));
    return el("tr", {}, ...[lane, byte, ...served].map((n) => el("td", { class: "n" }, count(n))));
  });
  const names = ["Lane", "Byte", ...columns.map(([name]) => name)];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col", class: "n" }, name)));
  return scroll("Lanes", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}
