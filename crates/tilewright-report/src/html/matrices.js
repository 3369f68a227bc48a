// The arrays, and what of them a request of a warp wants and moves, turn after turn of the loop.

/** Pixels of the longer side of a picture. */
const MOST_PIXELS = 512;
/** More rows of a vector than these are left out. */
const MOST_VECTOR_ROWS = 96;

/** From the least to the most: a later one covers an earlier one. */
const UNTOUCHED = 0, EARLIER = 1, MOVED = 2, WANTED = 3, CHOSEN = 4;

/** How elements become cells. A vector is drawn as the lines of memory that the block touches, four sectors each. */
function raster(buffer, touches) {
  const lineElements = Math.max(1, LINE / buffer.element_bytes);
  const isVector = buffer.rows === 1 || buffer.columns === 1;
  const length = buffer.rows * buffer.columns;
  const bases = touches.map(({ base }) => Math.floor(base / buffer.element_bytes / lineElements));
  const firstLine = isVector ? Math.max(0, Math.min(...bases)) : 0;
  const rows = isVector ? Math.min(MOST_VECTOR_ROWS, Math.ceil(length / lineElements) - firstLine) : buffer.rows;
  const columns = isVector ? Math.min(lineElements, length) : buffer.columns;
  const step = Math.max(1, Math.ceil(Math.max(rows, columns) / MOST_PIXELS));
  const [width, height] = [Math.ceil(columns / step), Math.ceil(rows / step)];
  /** The cell of an element; -1 for padding and for what lies outside. */
  function cell(index) {
    const [i, j] = isVector ? [Math.floor(index / lineElements) - firstLine, index % lineElements] : placeOf(buffer, index);
    return i < 0 || j < 0 || i >= rows || j >= columns ? -1 : Math.floor(i / step) * width + Math.floor(j / step);
  }
  const scale = Math.max(1, Math.floor(MOST_PIXELS / Math.max(width, height)));
  return { width, height, step, isVector, cell, scale: Math.min(scale, 14), firstLine, lineElements };
}

function matrixView(kernel, index) {
  const { explanation, recording } = kernel;
  const accesses = new Map(explanation.lines.flatMap((line) => line.accesses).map((access) => [access.id, access]));
  const touches = recording.patterns.flatMap((patterns) =>
    warpsOf(patterns).flatMap((warp) => executionsOf(patterns, warp))
      .filter(({ buffer }) => buffer != null)
      .map((execution) => ({ ...execution, access: accesses.get(patterns.access) })),
  ).filter(({ access }) => access);
  if (!touches.length) return null;
  const rounds = 1 + touches.reduce((most, { round }) => Math.max(most, round), 0);
  const warps = [...new Set(touches.map(({ warp }) => warp))].sort((a, b) => a - b);
  const used = [...new Set(touches.map(({ buffer }) => buffer))].sort((a, b) => a - b);
  const canvases = used.map((number) => matrixCanvas(recording.buffers[number], touches.filter(({ buffer }) => buffer === number)));
  let [warp, lane, step] = [warps[0], recalled("lane", 0), 0];
  const draw = () => canvases.forEach((canvas) => canvas.draw(step, warp, lane));
  const laneControl = slider("Lane", { min: 0, max: 31, value: lane, input: (n) => { lane = n; remember("lane", n); draw(); } });
  const select = el("select", { change: () => { warp = Number(select.value); draw(); } }, ...warps.map((n) => el("option", { value: n }, `warp ${n}`)));
  const controls = player("Turns of the loop", rounds, (round) => {
    step = round;
    draw();
    return `turn ${count(round + 1)} of ${count(rounds)}`;
  }, busiestTurn(touches.filter((touch) => touch.warp === warp)));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const names = used.map((number) => recording.buffers[number].name);
  const isProduct = ["A", "B", "C"].every((name) => names.includes(name));
  const keys = [["earlier", "the block, so far"], ["wanted", "wanted now by the warp"], ["moved", "moved for nothing"], ["chosen", "the lane"]];
  return el(
    "section",
    { "aria-labelledby": `matrices-${index}` },
    heading("The same on the matrices, turn after turn", `matrices-${index}`),
    el("p", { class: "faint" }, `Block (${recording.block.join(", ")}). A turn of the loop ends when a warp comes to an access again.`),
    el("p", { class: "legend" }, ...keys.flatMap(([key, text]) => [el("span", { class: `key cell-${key}`, "aria-hidden": "true" }), text])),
    el("div", { class: "row controls" }, laneControl.element, warps.length > 1 ? el("label", {}, "Of", select) : null, controls.controls),
    el("div", { class: isProduct ? "matrices product" : "matrices" }, ...canvases.map(({ figure }) => figure)),
  );
}

/** The first turn in which most arrays are touched. */
function busiestTurn(touches) {
  const arrays = new Map();
  for (const { round, buffer } of touches) arrays.set(round, (arrays.get(round) ?? new Set()).add(buffer));
  const most = Math.max(0, ...[...arrays.values()].map(({ size }) => size));
  return Math.min(...[...arrays].filter(([, set]) => set.size === most).map(([round]) => round));
}

/** The picture of one array. */
function matrixCanvas(buffer, touches) {
  const { width, height, step, isVector, cell, scale, firstLine, lineElements } = raster(buffer, touches);
  const canvas = el("canvas", { width: width * scale, height: height * scale, role: "img", style: `aspect-ratio: ${width} / ${height}; width: ${Math.min(100, 0.2 * width * scale)}%` });
  const said = el("span", { class: "faint" });
  const size = isVector ? plural(buffer.rows * buffer.columns, "element") : `${count(buffer.rows)} × ${count(buffer.columns)}`;
  const from = firstLine ? `, from element ${count(firstLine * lineElements)}` : "";
  const scaleText = [isVector ? `a row is a line of ${LINE} bytes${from}` : null, step > 1 ? `a cell is ${step} × ${step}` : null].filter(Boolean).join(", ");
  const caption = el("figcaption", {}, el("strong", {}, buffer.name), ` ${buffer.dtype}, ${size}${scaleText ? ` (${scaleText})` : ""}`, el("br"), said);

  function draw(round, warp, lane) {
    const levels = new Uint8Array(width * height);
    const mark = (byte, bytes, level) => {
      const [first, last] = [Math.floor(byte / buffer.element_bytes), Math.floor((byte + bytes - 1) / buffer.element_bytes)];
      for (let element = first; element <= last; element++) {
        const at = cell(element);
        if (at >= 0) levels[at] = Math.max(levels[at], level);
      }
    };
    let [moved, wanted] = [0, 0];
    for (const touch of touches) {
      if (touch.round > round) continue;
      const bytes = touch.access.bytes_per_lane;
      if (touch.round < round || touch.warp !== warp) {
        for (const offset of touch.shape.offsets) mark(touch.base + offset, bytes, EARLIER);
        continue;
      }
      const lanes = lanesAt(touch);
      const request = sectorsOf(lanes, bytes, touch.phase);
      [moved, wanted] = [moved + SECTOR * request.sectors.length, wanted + request.wanted];
      for (const sector of request.sectors) mark(sector * SECTOR - touch.phase, SECTOR, MOVED);
      for (const one of lanes) mark(one.byte, bytes, one.lane === lane ? CHOSEN : WANTED);
    }
    paint(canvas, levels, width, scale);
    said.textContent = moved ? `this turn: ${count(moved)} bytes moved for ${count(wanted)}` : "not touched by this warp in this turn";
    canvas.setAttribute("aria-label", `${buffer.name}, ${said.textContent}`);
  }
  return { figure: el("figure", { class: `of-${buffer.name}` }, canvas, caption), draw };
}

function paint(canvas, levels, width, scale) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const context = canvas.getContext("2d");
  context.fillStyle = colour("--cell-untouched");
  context.fillRect(0, 0, canvas.width, canvas.height);
  const fills = { [EARLIER]: colour("--cell-earlier"), [WANTED]: colour("--wanted"), [CHOSEN]: colour("--cell-chosen") };
  const hatchInk = colour("--hatch");
  let chosen = null;
  levels.forEach((level, i) => {
    if (level === UNTOUCHED) return;
    const [x, y] = [(i % width) * scale, Math.floor(i / width) * scale];
    if (level === MOVED) {
      // Every other diagonal, so that it is told from the fills by its pattern.
      context.fillStyle = hatchInk;
      const dot = Math.max(1, Math.floor(scale / 3));
      for (let dy = 0; dy < scale; dy += dot) for (let dx = 0; dx < scale; dx += dot) if (((x + dx) / dot + (y + dy) / dot) % 3 < 1) context.fillRect(x + dx, y + dy, dot, dot);
      return;
    }
    context.fillStyle = fills[level];
    context.fillRect(x, y, scale, scale);
    if (level === CHOSEN) chosen ??= [x + scale / 2, y + scale / 2];
  });
  if (!chosen) return;
  // A ring, because the element itself may be a pixel.
  for (const [ink, line] of [["--sector", 5], ["--cell-chosen", 2.5]]) {
    context.strokeStyle = colour(ink);
    context.lineWidth = line;
    context.beginPath();
    context.arc(...chosen, Math.max(7, scale), 0, 2 * Math.PI);
    context.stroke();
  }
}
