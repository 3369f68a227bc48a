// Addresses of lanes, and what the hardware makes of them.

const SECTOR = 32;
const LINE = 128;
const WORD = 4;
const BANKS = 32;

/** Executions of an access, one after the other, as far as a warp is concerned. */
function executionsOf(patterns, warp) {
  return patterns.runs.filter((run) => run[0] === warp).flatMap(([, round, shape, buffer, base, times, roundStep, baseStep, phase]) =>
    Array.from({ length: times }, (_, i) => ({ warp, round: round + i * roundStep, shape: patterns.shapes[shape], buffer, base: base + i * baseStep, phase })),
  );
}

const warpsOf = (patterns) => [...new Set(patterns.runs.map(([warp]) => warp))].sort((a, b) => a - b);

/** Active lanes with the byte of the array that each begins at, and in shared memory the pass that serves it. */
const lanesAt = ({ shape, base }) =>
  lanesOf(shape.active).map((lane, i) => ({ lane, byte: base + shape.offsets[i], pass: shape.wavefronts?.[i] }));

/** What one request moves. */
function sectorsOf(lanes, bytes, phase) {
  const sectors = new Set();
  const wanted = new Set();
  for (const { byte } of lanes) {
    for (let at = byte + phase; at < byte + phase + bytes; at += 1) {
      sectors.add(Math.floor(at / SECTOR));
      wanted.add(at);
    }
  }
  return { sectors: [...sectors].sort((a, b) => a - b), wanted: wanted.size };
}

/** Passes over the banks for words of lanes: each serves one word of each bank. Gives the pass of every lane. */
function passesOf(words) {
  const taken = new Map();
  return words.map((word) => {
    const bank = ((word % BANKS) + BANKS) % BANKS;
    const known = taken.get(bank) ?? [];
    if (!known.includes(word)) known.push(word);
    taken.set(bank, known);
    return known.indexOf(word);
  });
}

/** Lanes of an atomic take turns where they meet: the turn of every lane. */
function turnsOf(lanes) {
  const met = new Map();
  return lanes.map(({ byte }) => {
    const turn = met.get(byte) ?? 0;
    met.set(byte, turn + 1);
    return turn;
  });
}

/** The file that is the kernel's own, and no header: that whose lines make most passes. */
function ownFile({ explanation }) {
  const passes = new Map();
  for (const line of explanation.lines) {
    const own = sum(mergedAccesses(line), (group) => cost(group).passes);
    passes.set(line.file, (passes.get(line.file) ?? 0) + own);
  }
  const isHeader = (file) => Number(file.endsWith("h"));
  return [...passes].toSorted(([one, a], [other, b]) => isHeader(one) - isHeader(other) || b - a)[0]?.[0];
}

/** Copies of one access of a line, as an unrolled loop has them, are one. */
function mergedAccesses(line) {
  const groups = new Map();
  for (const access of line.accesses) {
    const key = [access.instruction, access.buffer, access.space, access.operation, access.bytes_per_lane].join();
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(access);
  }
  return [...groups.values()];
}

const hasBanks = (access) => access.wavefronts != null;
const isAtomic = (access) => access.operation === "atomic";

/** What accesses take, and what they would take at best, in the unit of their memory. */
function cost(accesses) {
  const banks = hasBanks(accesses[0]);
  const total = sum(accesses, (a) => (banks ? a.wavefronts : a.sectors));
  const ideal = sum(accesses, (a) => (banks ? a.ideal_wavefronts : a.ideal_sectors));
  return { total, ideal, requests: sum(accesses, (a) => a.requests), unit: banks ? "passes" : "sectors", passes: banks ? total : Math.ceil(total / 4) };
}

/** `load of A`. */
function deed(access) {
  const [of, from] = access.operation === "load" ? ["of", "from"] : ["to", "to"];
  return access.buffer ? `${access.operation} ${of} ${access.buffer}` : `${access.operation} ${from} ${access.space} memory`;
}

/** What a request of these accesses costs, in few words. */
function costText(accesses) {
  const { total, ideal, requests, unit } = cost(accesses);
  if (!requests) return "not executed";
  const rounds = requests / Math.max(1, sum(accesses, (a) => a.executions));
  if (isAtomic(accesses[0]) && rounds > 1.01) return `${decimal(rounds)} rounds, 1 would do`;
  const each = total / requests;
  const word = each === 1 ? unit.replace(/e?s$/, "") : unit;
  if (total < ideal) return `${decimal(each)} ${word} (broadcast)`;
  return total > 1.01 * ideal ? `${decimal(each)} ${word}, ${decimal(ideal / requests)} would do` : `${decimal(each)} ${word}`;
}

/** The element that a byte of an array belongs to, as the source would write it. */
function elementText(buffer, byte) {
  const index = Math.floor(byte / buffer.element_bytes);
  if (buffer.rows <= 1) return `${buffer.name}[${index}]`;
  const [i, j] = placeOf(buffer, index);
  return `${buffer.name}[${i}][${j}]`;
}

/** A word of a shared variable: how many dimensions it has is known by the term of the source alone. */
function wordText(name, term, byte) {
  const word = count(Math.floor(byte / WORD));
  return term && !term.includes("][") ? `${name}[${word}]` : `word ${word} of ${name}`;
}

/** Row and column of an element. */
function placeOf(buffer, index) {
  const byRows = buffer.row_stride >= buffer.column_stride;
  const [major, minor] = byRows ? [buffer.row_stride, buffer.column_stride] : [buffer.column_stride, buffer.row_stride];
  const place = [Math.floor(index / major), Math.floor((index % major) / minor)];
  return byRows ? place : place.reverse();
}

/** `threadIdx` of a lane. */
function threadOf(block, warp, lane) {
  const thread = 32 * warp + lane;
  return [thread % block[0], Math.floor(thread / block[0]) % block[1], Math.floor(thread / (block[0] * block[1]))];
}

/** The part of a line of the source that indexes an array: `A[row * lda + k]`. */
function termOf(text, name) {
  const start = text.search(new RegExp(`(^|[^\\w])${name?.replace(/\W/g, "\\$&")}\\s*\\[`));
  if (!name || start < 0) return null;
  const from = text.indexOf(name, start);
  let depth = 0;
  for (let i = from + name.length; i < text.length; i++) {
    if (text[i] === "[") depth += 1;
    if (text[i] === "]" && --depth === 0 && text[i + 1] !== "[") return text.slice(from, i + 1);
  }
  return null;
}
