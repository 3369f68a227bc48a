// A race as a picture: who does what in which iteration, and that nothing lies between.

function raceView(kernel, finding) {
  // Further ones take part in the same way as the first two.
  const { remedy } = finding;
  const participants = finding.participants.slice(0, 2);
  const acts = participants.map((p, i) => ({ ...p, i, line: p.location?.line, verb: /^st/.test(p.what) ? "writes" : /^ld/.test(p.what) ? "reads" : "updates" }));
  acts.sort((a, b) => (a.iteration ?? 0) - (b.iteration ?? 0) || (a.location?.ptx_line ?? 0) - (b.location?.ptx_line ?? 0));
  const rows = acts.map((act, i) => el(
    "li",
    { class: "race-row" },
    el("span", { class: "race-who" }, act.threads.length ? `thread (${act.threads[0].join(", ")})` : "a thread", el("small", {}, act.block ? `block (${act.block.join(", ")})` : "")),
    el("span", { class: `race-act race-${i}` }, act.iteration ? el("small", {}, `iteration ${act.iteration}`) : null, el("strong", {}, `${act.verb} ${act.element ?? "the same bytes"}`), act.line ? el("small", {}, `line ${act.line}`) : null),
  ));
  const gap = el("li", { class: "race-gap" }, `${remedy?.insert === "__syncwarp()" ? "no __syncwarp()" : "no barrier"}: either may come first`);
  return el(
    "section",
    { class: "race", "aria-labelledby": "race" },
    el("h2", { id: "race" }, "The race"),
    el("ol", { class: "race-picture" }, rows[0], gap, rows[1]),
    raceSource(kernel, acts, remedy),
  );
}

/** The lines of both accesses, and the line that is missing. */
function raceSource(kernel, acts, remedy) {
  const file = acts[0].location?.file;
  const text = kernel.sources.find(({ name }) => name === file || fileName(name) === fileName(file ?? ""))?.text;
  const lines = acts.map(({ line }) => line).filter(Boolean);
  if (!text || !lines.length) return null;
  const [from, to] = [Math.min(...lines) - 2, Math.max(...lines, remedy?.after_line ?? 0) + 2];
  if (to - from > 30) return null;
  const code = text.split("\n");
  const rows = [];
  for (let number = Math.max(1, from); number <= Math.min(to, code.length); number++) {
    rows.push(el("div", { class: lines.includes(number) ? "race-line" : null }, el("span", { class: "line" }, String(number)), code[number - 1]));
    if (remedy?.after_line === number && remedy.place !== "within_line") {
      // Outside of the `if` that the access stands in.
      const isWithinIf = remedy.place === "end_of_loop" && /^\s*if\b/.test(code[number - 2] ?? "");
      const indent = code[number - (isWithinIf ? 2 : 1)].match(/^\s*/)[0];
      rows.push(el("div", { class: "race-fix" }, el("span", { class: "line" }, "+"), `${indent}${remedy.insert};  // the fix: ${remedy.place === "end_of_loop" ? "the end of the loop's body, which all threads pass" : "where all threads pass"}`));
    }
  }
  return scroll("Lines of the race", el("pre", { class: "race-source" }, ...rows));
}
