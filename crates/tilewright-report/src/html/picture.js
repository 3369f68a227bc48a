// Pictures of one request: 32 words wide, a row for each line of memory or each pass over the banks.

const CELL = { width: 18, height: 14 };
const LEFT = 62;
const TOP = 20;
const WORDS = 32;
/** More rows than these are left out of a picture. */
const MOST_ROWS = 33;

/** Lines of 128 bytes with their sectors: what was wanted of them, and what moved for nothing. */
function sectorPicture(lanes, bytes, phase) {
  const { sectors, wanted } = sectorsOf(lanes, bytes, phase);
  const rows = [...new Set(sectors.map((sector) => Math.floor(sector / 4)))];
  const shown = rows.slice(0, MOST_ROWS);
  const place = new Map(shown.map((row, i) => [row, i]));
  const labels = shown.map((row) => count(Math.max(0, row * LINE - phase)));
  const picture = grid(labels, "byte", (column) => (column % 8 === 4 ? `sector ${column >> 3}` : null));
  const corners = sectors.filter((sector) => place.has(Math.floor(sector / 4))).map((sector) => ({
    x: LEFT + (((sector % 4) + 4) % 4) * 8 * CELL.width,
    y: TOP + place.get(Math.floor(sector / 4)) * CELL.height,
  }));
  const size = { width: 8 * CELL.width, height: CELL.height };
  for (const corner of corners) picture.append(svg("rect", { class: "waste", ...corner, ...size }));
  picture.append(svg("path", { class: "hatch", d: corners.map((corner) => hatch(corner, size)).join("") }));
  drawWords(picture, lanes, bytes, phase, (word) => place.get(Math.floor(word / WORDS)));
  for (const corner of corners) picture.append(svg("rect", { class: "sector", ...corner, ...size }));
  const moved = SECTOR * sectors.length;
  return { picture, hidden: rows.length - shown.length, sectors: sectors.length, wanted, moved };
}

/** Slanted lines across a rectangle. */
function hatch({ x, y }, { width, height }) {
  return range(Math.floor(width / 6)).map((i) => `M${x + 6 * i + 1} ${y + height}l${Math.min(6, height)} ${-height}`).join("");
}

/** Rows of passes or turns over the 32 banks. */
function bankPicture(lanes, bytes, phase, rowOf, heading) {
  const rows = lanes.map((_, i) => rowOf(i));
  const total = rows.length ? Math.max(...rows) + 1 : 0;
  const labels = range(Math.min(total, MOST_ROWS)).map((row) => `${heading} ${row + 1}`);
  const picture = grid(labels, "bank", (column) => (column % 4 === 0 || column === 31 ? column : null));
  for (let row = 0; row < Math.min(total, MOST_ROWS); row++) {
    drawWords(picture, lanes.filter((_, i) => rows[i] === row), bytes, phase, () => row);
  }
  return { picture, hidden: Math.max(0, total - MOST_ROWS), passes: total };
}

/** The empty grid with its labels. */
function grid(labels, name, columnLabel) {
  const height = TOP + labels.length * CELL.height + 2;
  const picture = svg("svg", { class: "lanes", viewBox: `0 0 ${LEFT + WORDS * CELL.width + 2} ${height}`, role: "img" });
  picture.append(svg("text", { x: LEFT - 6, y: TOP - 9, class: "end" }, name));
  for (let column = 0; column < WORDS; column++) {
    const label = columnLabel(column);
    const x = LEFT + column * CELL.width + (name === "byte" ? 0 : CELL.width / 2);
    if (label != null) picture.append(svg("text", { x, y: TOP - 9 }, String(label)));
  }
  const right = LEFT + WORDS * CELL.width;
  const lines = range(labels.length + 1).map((row) => `M${LEFT} ${TOP + row * CELL.height}H${right}`);
  const columns = range(WORDS / 8 + 1).map((i) => `M${LEFT + 8 * i * CELL.width} ${TOP}V${TOP + labels.length * CELL.height}`);
  picture.append(svg("path", { class: "bare", d: [...lines, ...columns].join("") }));
  labels.forEach((label, row) => {
    picture.append(svg("text", { class: "end", x: LEFT - 6, y: TOP + (row + 0.5) * CELL.height }, label));
  });
  return picture;
}

/** A cell for every word that lanes want, with their number; `×n` for a word that n lanes share. */
function drawWords(picture, lanes, bytes, phase, rowOf) {
  const words = new Map();
  for (const { lane, byte } of lanes) {
    for (let word = Math.floor((byte + phase) / WORD); word <= Math.floor((byte + phase + bytes - 1) / WORD); word++) {
      words.set(word, [...(words.get(word) ?? []), lane]);
    }
  }
  for (const [word, who] of words) {
    const row = rowOf(word);
    if (row === undefined) continue;
    const x = LEFT + (((word % WORDS) + WORDS) % WORDS) * CELL.width;
    const y = TOP + row * CELL.height;
    const title = who.length === 1 ? `lane ${who[0]}` : `lanes ${who.join(", ")}`;
    const cell = svg("rect", { class: "wanted", "data-lanes": who.join(" "), x: x + 0.5, y: y + 0.5, width: CELL.width - 1, height: CELL.height - 1 }, svg("title", {}, title));
    const label = who.length === 1 ? who[0] : `×${who.length}`;
    picture.append(cell, svg("text", { class: "lane", x: x + CELL.width / 2, y: y + CELL.height / 2 }, String(label)));
  }
}

/** Marks the cells of a lane. */
function markLane(picture, lane) {
  for (const cell of picture.querySelectorAll("[data-lanes]")) {
    cell.classList.toggle("chosen", lane != null && cell.dataset.lanes.split(" ").includes(String(lane)));
  }
}

/** What the two fills mean. */
const legend = () =>
  el("p", { class: "legend" }, el("span", { class: "key wanted-key", "aria-hidden": "true" }), "wanted by a lane (its number)", el("span", { class: "key waste-key", "aria-hidden": "true" }), "moved for nothing");
