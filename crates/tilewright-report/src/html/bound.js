// What bounds a launch: the parts of a multiprocessor on one scale, and the one that the others wait for.

/** Parts that are shown, and the least part of the bound that is worth a bar. */
const SHOWN_PARTS = 5;
const WORTH_A_BAR = 0.01;
/** Parts whose titles are one thing; those of all others are several. */
const ONE_THING = new Set(["l1_address", "l1_data", "constant", "l2", "dram", "launch"]);

const eachWork = ({ work }) => (work.name === "warp" ? "warp" : `${work.name} of a warp`);
/** What grows with the launch: its start is none of it. */
const workingParts = (bound) => bound.parts.filter(({ part, share }) => part !== "launch" && share >= WORTH_A_BAR).slice(0, SHOWN_PARTS);

function boundView(kernel, index) {
  const { bound } = kernel.explanation;
  const parts = bound ? workingParts(bound) : [];
  if (!parts.length) return null;
  const [busiest] = parts;
  const rows = parts.map((part) => el(
    "div",
    { class: "bar-row" },
    el("span", { class: "bar-name" }, part.title),
    el("span", { class: "bar-track" }, el("span", { class: `bar ${part === busiest ? "bad" : "good"}`, style: `width: ${Math.min(100, (100 * part.cycles) / busiest.cycles)}%` })),
    el("span", { class: "bar-value" }, decimal(part.cycles_per_work)),
  ));
  const asks = busiest.lines.slice(0, 3).map(({ file, line, what, share }) => `${fileName(file)}:${line}, ${what} (${percent(share)})`);
  const { prediction, waits } = bound;
  const said = [
    `The ${busiest.title} ${ONE_THING.has(busiest.part) ? "is" : "are"} busy longest; everything else waits for it.`,
    asks.length ? `It serves ${asks.join("; ")}.` : null,
    prediction.likely_seconds == null ? null : `The launch takes at least ${timeText(bound.seconds)}, and likely ${timeText(prediction.likely_seconds)} (costs: ${bound.rates} on ${bound.compute_capability}).`,
    waits.length ? `Nsight Compute would name as waits: ${waits.slice(0, 3).map(({ reason }) => reason.replaceAll("_", " ")).join(", ")}.` : null,
  ];
  return el(
    "section",
    { "aria-labelledby": `bound-${index}` },
    heading("What bounds it", `bound-${index}`),
    el("figure", { class: "bars bound" }, el("figcaption", {}, `Cycles for each ${eachWork(bound)}, at least, by part`), ...rows),
    el("p", {}, said.filter(Boolean).join(" ")),
  );
}

/** 0.0000662 seconds as 66.2 µs. */
function timeText(seconds) {
  const unit = ["ns", "µs", "ms"].findIndex((_, i) => seconds < 1000 ** (i - 2));
  return unit < 0 ? `${decimal(seconds)} s` : `${decimal(seconds * 1000 ** (3 - unit))} ${["ns", "µs", "ms"][unit]}`;
}
