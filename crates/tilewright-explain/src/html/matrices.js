// Which elements of the matrices a thread, its warp and its block touch, turn after turn of the loop.

const MOST_PIXELS = 512;
const VECTOR_WIDTH = 64;

/** From the least to the most: a later one covers an earlier one. */
const LEVELS = ["untouched", "block-past", "block-now", "warp-past", "warp-now", "thread-past", "thread-now"];
const LEGEND = { "block-now": "block", "warp-now": "warp", "thread-now": "thread" };

/** How elements become pixels: large matrices are drawn smaller, vectors are broken into rows. */
function raster(buffer) {
  const isVector = buffer.rows === 1 || buffer.columns === 1;
  const length = buffer.rows * buffer.columns;
  const rows = isVector ? Math.ceil(length / VECTOR_WIDTH) : buffer.rows;
  const columns = isVector ? Math.min(VECTOR_WIDTH, length) : buffer.columns;
  const step = Math.max(1, Math.ceil(Math.max(rows, columns) / MOST_PIXELS));
  const byRows = buffer.row_stride >= buffer.column_stride;
  const [major, minor] = byRows ? [buffer.row_stride, buffer.column_stride] : [buffer.column_stride, buffer.row_stride];
  /** The pixel of an element; -1 for padding and for what lies outside. */
  function pixel(index) {
    let [i, j] = [Math.floor(index / major), Math.floor((index % major) / minor)];
    if (!byRows) [i, j] = [j, i];
    if (isVector) {
      const k = buffer.rows === 1 ? j + i * buffer.columns : i;
      [i, j] = [Math.floor(k / VECTOR_WIDTH), k % VECTOR_WIDTH];
    }
    return i < 0 || j < 0 || i >= rows || j >= columns ? -1 : Math.floor(i / step) * width + Math.floor(j / step);
  }
  const width = Math.ceil(columns / step);
  const height = Math.ceil(rows / step);
  return { width, height, step, isVector, pixel };
}

function matrixView({ explanation, recording }) {
  const accesses = new Map(explanation.lines.flatMap((line) => line.accesses).map((access) => [access.id, access]));
  const touches = recording.patterns.flatMap((patterns) =>
    patterns.executions.filter((execution) => execution[3] != null).map(([warp, round, shape, buffer, base]) => ({
      warp, round, buffer, base, shape: patterns.shapes[shape], bytes: accesses.get(patterns.access).bytes_per_lane,
    })),
  );
  if (!touches.length) return null;
  const rounds = 1 + touches.reduce((most, { round }) => Math.max(most, round), 0);
  const threads = explanation.block.reduce((a, b) => a * b);
  const used = [...new Set(touches.map(({ buffer }) => buffer))].sort((a, b) => a - b);
  const canvases = used.map((index) => matrixCanvas(recording.buffers[index], touches.filter(({ buffer }) => buffer === index)));

  const thread = el("input", { type: "number", min: 0, max: threads - 1, value: 0, input: () => controls.seek(step) });
  const name = el("output", { class: "faint" });
  let step = 0;
  const controls = player("Turns of the loop", rounds, (round) => {
    step = round;
    const t = clamp(Math.floor(Number(thread.value)) || 0, 0, threads - 1);
    const [x, y] = explanation.block;
    name.textContent = `(${t % x}, ${Math.floor(t / x) % y}, ${Math.floor(t / (x * y))}), lane ${t % 32} of warp ${Math.floor(t / 32)}`;
    for (const canvas of canvases) canvas.draw(round, Math.floor(t / 32), t % 32);
    return `turn ${count(round + 1)} of ${count(rounds)}`;
  });
  controls.seek(0);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => controls.seek(step));

  const legend = Object.entries(LEGEND).flatMap(([level, who]) => [
    el("span", { class: "swatch", style: `background: rgb(var(--${level}))` }),
    el("span", {}, who),
    el("span", { class: "swatch", style: `background: rgb(var(--${level.replace("now", "past")}))` }),
    el("span", { class: "faint" }, "earlier"),
  ]);
  return el(
    "section",
    { "aria-labelledby": "matrices" },
    heading("Elements that are touched over the loop", "matrices"),
    el("p", { class: "faint" }, `Global memory accesses of block (${recording.block.join(", ")}). A turn ends when a warp comes to an access again.`),
    el("p", { class: "row" }, el("label", {}, "Thread", thread), name),
    el("p", { class: "row" }, ...legend),
    controls.controls,
    el("div", { class: "matrices" }, ...canvases.map(({ figure }) => figure)),
  );
}

/** The picture of one matrix. */
function matrixCanvas(buffer, touches) {
  const { width, height, step, isVector, pixel } = raster(buffer);
  const canvas = el("canvas", { width, height, role: "img", style: `aspect-ratio: ${width} / ${height}` });
  const said = el("span");
  const size = isVector ? plural(buffer.rows * buffer.columns, "element") : `${count(buffer.rows)} × ${count(buffer.columns)}`;
  const scale = [isVector ? `${VECTOR_WIDTH} a row` : null, step > 1 ? `a pixel is ${step} × ${step}` : null].filter(Boolean).join(", ");
  const caption = el("figcaption", {}, el("strong", {}, buffer.name), ` ${buffer.dtype}, ${size}${scale ? ` (${scale})` : ""}`, el("br"), said);
  said.className = "faint";

  function draw(round, warp, lane) {
    const levels = new Uint8Array(width * height);
    for (const touch of touches) {
      if (touch.round > round) continue;
      const age = touch.round === round ? 1 : 0;
      lanesOf(touch.shape.active).forEach((other, i) => {
        const who = touch.warp !== warp ? 1 : other !== lane ? 3 : 5;
        const first = Math.floor((touch.base + touch.shape.offsets[i]) / buffer.element_bytes);
        const last = Math.floor((touch.base + touch.shape.offsets[i] + touch.bytes - 1) / buffer.element_bytes);
        for (let element = first; element <= last; element++) {
          const at = pixel(element);
          if (at >= 0) levels[at] = Math.max(levels[at], who + age);
        }
      });
    }
    paint(canvas, levels);
    const now = [6, 4, 2].map((level) => levels.reduce((n, value) => n + (value >= level && value % 2 === 0), 0));
    const what = step > 1 ? "pixel" : "element";
    said.textContent = `this turn: thread ${plural(now[0], what)}, warp ${count(now[1])}, block ${count(now[2])}`;
    canvas.setAttribute("aria-label", `${buffer.name}, ${said.textContent}`);
  }
  return { figure: el("figure", {}, canvas, caption), draw };
}

function paint(canvas, levels) {
  const style = getComputedStyle(document.documentElement);
  const colours = LEVELS.map((level) => style.getPropertyValue(`--${level}`).trim().split(" ").map(Number));
  const image = new ImageData(canvas.width, canvas.height);
  levels.forEach((level, i) => image.data.set([...colours[level], 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
}
