// What would be if: a warp whose lanes lie as the reader likes, and what a request of it takes.

const ELEMENT_BYTES = 4;

/** How the lanes of an access lie: strides between neighbours in x and y, in elements; `null` where they lie otherwise. */
function strideFit(kernel, access) {
  const patterns = access && patternsOf(kernel, access);
  const shape = patterns?.shapes[0];
  if (!shape || access.bytes_per_lane !== ELEMENT_BYTES || shape.active !== -1 >>> 0) return null;
  const width = clamp(kernel.explanation.block[0], 1, 32);
  const at = shape.offsets.map((offset) => offset / ELEMENT_BYTES);
  const x = width > 1 ? at[1] - at[0] : 0;
  const y = width < 32 ? at[width] - at[0] : 0;
  const fits = 32 % width === 0 && at.every((element, lane) => element - at[0] === (lane % width) * x + Math.floor(lane / width) * y);
  return fits && x >= 0 && y >= 0 ? { x, y, width } : null;
}

function exploreView(kernel, access) {
  const fit = strideFit(kernel, access);
  const shared = access?.space === "shared";
  const start = { stride: fit?.x ?? 1, pitch: fit?.y ?? 32, width: fit?.width ?? 32, padding: 0, offset: 0 };
  const now = Object.fromEntries(Object.keys(start).map((key) => [key, recalled(key, start[key])]));
  const said = el("p", { class: "said", "aria-live": "polite" });
  const stage = scroll("Picture of the lanes as they would lie");
  const code = el("p", { class: "mono" });
  const memory = el("select", { change: () => draw() }, ...["global memory (sectors)", "shared memory (banks)"].map((name, i) => el("option", { value: i, selected: (i === 1) === shared ? "" : null }, name)));
  const widths = [1, 2, 4, 8, 16, 32];
  const set = (key) => (value) => { now[key] = value; remember(key, value); draw(); };
  const sliders = {
    width: slider("Block is this wide (threadIdx.x)", { min: 0, max: 5, value: widths.indexOf(now.width), show: (i) => `${widths[i]} × ${32 / widths[i]}`, input: (i) => set("width")(widths[i]) }),
    stride: slider("Elements from a lane to the next in x", { min: 0, max: Math.max(64, start.stride), value: now.stride, input: set("stride") }),
    pitch: slider("Elements from a lane to the next in y", { min: 0, max: Math.max(64, start.pitch), value: now.pitch, input: set("pitch") }),
    padding: slider("Padding of a row", { min: 0, max: 8, value: now.padding, input: set("padding") }),
    offset: slider("First element", { min: 0, max: 31, value: now.offset, input: set("offset") }),
  };
  function draw() {
    const widen = (stride) => (stride > 1 ? stride + now.padding : stride);
    const [x, y] = [widen(now.stride), widen(now.pitch)];
    const lanes = range(32).map((lane) => ({ lane, byte: ELEMENT_BYTES * (now.offset + (lane % now.width) * x + Math.floor(lane / now.width) * y) }));
    code.textContent = `element = ${now.offset ? `${now.offset} + ` : ""}threadIdx.x * ${x}${now.width < 32 ? ` + threadIdx.y * ${y}` : ""}`;
    sliders.pitch.element.hidden = now.width === 32;
    if (memory.value === "1") {
      const passes = passesOf(lanes.map(({ byte }) => byte / ELEMENT_BYTES));
      const drawn = bankPicture(lanes, ELEMENT_BYTES, 0, (i) => passes[i], "pass");
      show(drawn, [`${plural(drawn.passes, "pass", "passes")} over the banks. `, badge(drawn.passes === 1, drawn.passes === 1 ? "no conflict" : `${drawn.passes} times as long`)]);
    } else {
      const drawn = sectorPicture(lanes, ELEMENT_BYTES, 0);
      const { asked, share, isGood } = usedOf(lanes, ELEMENT_BYTES, drawn);
      show(drawn, [`${plural(drawn.sectors, "sector")}: ${count(drawn.moved)} bytes move for ${count(asked)}. `, badge(isGood, `${percent(share)} used`)]);
    }
  }
  function show({ picture }, words) {
    picture.setAttribute("aria-label", words[0]);
    stage.replaceChildren(picture);
    said.replaceChildren(...words);
  }
  const reset = el("button", { click: () => {
    for (const key of Object.keys(start)) { now[key] = start[key]; remember(key, null); }
    sliders.width.set(widths.indexOf(start.width));
    for (const key of ["stride", "pitch", "padding", "offset"]) sliders[key].set(start[key]);
    draw();
  } }, fit ? `As in the kernel: ${deed(access)}` : "Back to the beginning");
  draw();
  return el(
    "section",
    { "aria-labelledby": "explore" },
    heading("Try it: what would it take if …", "explore"),
    el("p", { class: "faint" }, `One request of 32 lanes for elements of ${ELEMENT_BYTES} bytes. Everything is computed as you move a slider.`),
    el("div", { class: "split" }, el("div", { class: "sliders" }, el("label", {}, "In", memory), ...Object.values(sliders).map(({ element }) => element), reset), el("div", {}, code, said, legend(), stage)),
  );
}
