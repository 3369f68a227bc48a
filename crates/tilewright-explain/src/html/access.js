// The panel of one access: its lanes, execution after execution.

/** A panel that shows an access when it is told to. */
function accessPanel({ explanation, recording }) {
  const body = el("div");
  const panel = el("section", { class: "panel", "aria-labelledby": "lanes", tabindex: -1 }, heading("Lanes of an access", "lanes"), body);

  function show(id) {
    const line = explanation.lines.find((line) => line.accesses.some((access) => access.id === id));
    const access = line?.accesses.find((access) => access.id === id);
    if (!access) {
      body.replaceChildren(el("p", {}, "This kernel accesses no memory."));
      return;
    }
    const patterns = recording.patterns.find((patterns) => patterns.access === id);
    const where = el("p", {}, el("code", {}, access.instruction), ` at ${fileName(line.file)}:${line.line}, PTX line ${access.ptx_line}`, el("br"), el("code", {}, line.text));
    const executions = patterns ? executionView(access, patterns, recording) : [el("p", {}, `The recorded block (${recording.block.join(", ")}) does not execute it.`)];
    body.replaceChildren(where, ...executions);
  }
  return { panel, show };
}

function executionView(access, patterns, recording) {
  const warps = [...new Set(patterns.executions.map(([warp]) => warp))];
  const stage = el("div");
  const picture = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Picture of the lanes" });
  const words = el("p", { class: "faint" });
  const addresses = el("div");
  const details = el("details", { toggle: () => details.open && fill() }, el("summary", {}, "Addresses of the lanes"), addresses);
  const select = el("select", { change: () => run() }, ...warps.map((warp) => el("option", { value: warp }, `warp ${warp}`)));
  let current = null;

  /** Plays the executions of the chosen warp. */
  function run() {
    const executions = patterns.executions.filter(([warp]) => warp === Number(select.value));
    const { controls, seek } = player("Executions of this access", executions.length, (step) => {
      draw(executions[step]);
      const { count: same } = patterns.shapes[executions[step][2]];
      return `execution ${count(step + 1)} of ${count(executions.length)}; ${plural(same, "execution")} of the block like it`;
    });
    stage.replaceChildren(controls);
    seek(0);
  }
  function draw([, , shapeIndex, buffer, base]) {
    const shape = patterns.shapes[shapeIndex];
    const origin = buffer == null ? `the array in ${access.space} memory` : recording.buffers[buffer].name;
    const drawn = access.space === "shared" ? bankPicture(shape, access.bytes_per_lane) : sectorPicture(shape, access.bytes_per_lane, base, origin);
    picture.replaceChildren(drawn.picture);
    words.textContent = drawn.text;
    current = { shape, base };
    if (details.open) fill();
  }
  function fill() {
    addresses.replaceChildren(laneTable(current.shape, current.base));
  }

  run();
  const scope = `Block (${recording.block.join(", ")}), ${plural(patterns.shapes.length, "distinct pattern")}` + (patterns.left_out ? `; ${plural(patterns.left_out, "later execution")} not recorded` : "");
  return [el("p", { class: "row" }, el("label", {}, "Show", select), el("span", { class: "faint" }, scope)), stage, picture, words, details];
}
