// Pictures of one warp's access: 32 words wide, a row for each memory line or each wavefront.

const CELL = 20;
const LEFT = 74;
const TOP = 34;
const WORDS = 32;

/** For each 4-byte word that an active lane touches: which lanes. Keys are `row * 32 + column`. */
function wordsOf(shape, bytes, rowOf) {
  const words = new Map();
  lanesOf(shape.active).forEach((lane, i) => {
    const first = Math.floor(shape.offsets[i] / 4);
    const last = Math.floor((shape.offsets[i] + bytes - 1) / 4);
    for (let word = first; word <= last; word++) {
      const key = rowOf(word, i) * WORDS + (word % WORDS);
      words.set(key, [...(words.get(key) ?? []), lane]);
    }
  });
  return words;
}

/** Lines of 128 bytes with their sectors; what is moved but not asked for is grey. */
function sectorPicture(shape, bytes, base, origin) {
  const words = wordsOf(shape, bytes, (word) => Math.floor(word / WORDS));
  const rows = [...new Set([...words.keys()].map((key) => Math.floor(key / WORDS)))].sort((a, b) => a - b);
  const place = new Map(rows.map((row, i) => [row, i]));
  const sectors = new Set([...words.keys()].map((key) => Math.floor(key / 8)));
  const picture = grid(rows.map((row) => count(base + row * 128)), "sector", (column) => (column % 8 === 4 ? column >> 3 : null));
  for (const sector of sectors) {
    const x = LEFT + (sector % 4) * 8 * CELL;
    const y = TOP + place.get(sector >> 2) * CELL;
    picture.append(svg("rect", { class: "waste", x, y, width: 8 * CELL, height: CELL }));
  }
  drawWords(picture, words, (row) => place.get(row));
  for (const sector of sectors) {
    const x = LEFT + (sector % 4) * 8 * CELL;
    picture.append(svg("rect", { class: "sector", x, y: TOP + place.get(sector >> 2) * CELL, width: 8 * CELL, height: CELL }));
  }
  const asked = words.size * 4;
  const text =
    `${plural(lanesOf(shape.active).length, "active lane")} × ${bytes} bytes: ${plural(sectors.size, "sector")} of 32 bytes in ` +
    `${plural(rows.length, "line")} of 128, ${count(Math.min(asked, lanesOf(shape.active).length * bytes))} of ${count(32 * sectors.size)} bytes used. ` +
    `Rows begin at these bytes of ${origin}.`;
  return describe(picture, text);
}

/** Wavefronts over the 32 banks. */
function bankPicture(shape, bytes) {
  const total = shape.wavefronts.length ? Math.max(...shape.wavefronts) + 1 : 0;
  const words = wordsOf(shape, bytes, (_, i) => shape.wavefronts[i]);
  const labels = Array.from({ length: total }, (_, wavefront) => `#${wavefront + 1}`);
  const picture = grid(labels, "bank", (column) => (column % 4 === 0 || column === 31 ? column : null));
  drawWords(picture, words, (row) => row);
  const text =
    `${plural(lanesOf(shape.active).length, "active lane")} × ${bytes} bytes: ${plural(total, "wavefront")} over 32 banks. ` +
    `A row is a wavefront, a column a bank; ×n is one word for n lanes.`;
  return describe(picture, text);
}

/** The empty grid with its labels. */
function grid(labels, heading, columnLabel) {
  const height = TOP + labels.length * CELL + 4;
  const picture = svg("svg", { class: "lanes", viewBox: `0 0 ${LEFT + WORDS * CELL + 4} ${height}`, role: "img" });
  picture.append(svg("text", { x: LEFT - 8, y: TOP - 10, class: "end" }, heading));
  for (let column = 0; column < WORDS; column++) {
    const label = columnLabel(column);
    const x = LEFT + column * CELL + (heading === "sector" ? 0 : CELL / 2);
    if (label != null) picture.append(svg("text", { x, y: TOP - 10 }, String(label)));
  }
  labels.forEach((label, row) => {
    const y = TOP + row * CELL;
    picture.append(svg("text", { class: "end", x: LEFT - 8, y: y + CELL / 2 }, label));
    for (let column = 0; column < WORDS; column++) {
      picture.append(svg("rect", { class: "bare", x: LEFT + column * CELL, y, width: CELL, height: CELL }));
    }
  });
  return picture;
}

function drawWords(picture, words, rowOf) {
  for (const [key, lanes] of words) {
    const x = LEFT + (key % WORDS) * CELL;
    const y = TOP + rowOf(Math.floor(key / WORDS)) * CELL;
    const cell = svg("rect", { class: "cell", style: `--lane: ${lanes[0]}`, x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 2 });
    cell.append(svg("title", {}, lanes.length === 1 ? `lane ${lanes[0]}` : `lanes ${lanes.join(", ")}`));
    const label = lanes.length === 1 ? lanes[0] : `×${lanes.length}`;
    picture.append(cell, svg("text", { class: "lane", x: x + CELL / 2, y: y + CELL / 2, "pointer-events": "none" }, String(label)));
  }
}

function describe(picture, text) {
  picture.setAttribute("aria-label", text);
  return { picture, text };
}

/** The same in words: a row for each lane. */
function laneTable(shape, base) {
  const rows = lanesOf(shape.active).map((lane, i) => {
    const address = base + shape.offsets[i];
    const served = shape.wavefronts.length ? [Math.floor(address / 4) & 31, shape.wavefronts[i] + 1] : [Math.floor(address / 32)];
    return el("tr", {}, ...[lane, address, ...served].map((n) => el("td", { class: "n" }, count(n))));
  });
  const names = shape.wavefronts.length ? ["Lane", "Byte", "Bank", "Wavefront"] : ["Lane", "Byte", "Sector"];
  const head = el("tr", {}, ...names.map((name) => el("th", { scope: "col", class: "n" }, name)));
  return scroll("Lanes", el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}
