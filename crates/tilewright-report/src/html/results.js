// What came out: arrays beside the expected ones, and what the compiler warned of.

/** Arrays that were compared, the wrong ones first; null where none was. */
function resultsView({ explanation }, index) {
  const { expected = [], not_compared: left = [] } = explanation;
  if (!expected.length && !left.length) return null;
  const wrong = expected.filter(({ different }) => different);
  const right = expected.filter(({ different }) => !different);
  return el(
    "section",
    { "aria-labelledby": `results-${index}` },
    heading(wrong.length ? "The result is wrong" : "The result", `results-${index}`),
    el("div", { class: "cards" }, ...wrong.map(wrongResult)),
    ...right.map(({ name, elements }) => el("p", {}, el("code", {}, name), ` is as expected, ${plural(elements, "element")}.`)),
    left.length ? el("p", {}, "Not compared, as the launch did not come to a good end: ", left.join(", "), ".") : null,
  );
}

function wrongResult({ name, different, elements, tolerance, worst, first }) {
  const row = (what, { index, found, expected }) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, `${name}${index.map((i) => `[${i}]`).join("")}`)), el("td", { class: "n" }, String(found)), el("td", { class: "n" }, String(expected)), el("td", {}, what));
  const head = el("tr", {}, ...["Element", "Found", "Expected", ""].map((text) => el("th", { scope: "col" }, text)));
  const rows = [worst && row("farthest off", worst), ...first.map((one, i) => row(i ? "" : "the first", one))];
  return el(
    "article",
    { class: "card error" },
    el("h3", {}, el("span", { class: "severity" }, "wrong"), " · ", el("code", {}, name), ` · ${count(different)} of ${count(elements)} elements differ`),
    tolerance ? el("p", {}, `By more than ${tolerance}, of 1 or of the expected number where that is larger.`) : null,
    scroll(`Differences of ${name}`, el("table", { class: "numbers" }, el("thead", {}, head), el("tbody", {}, ...rows))),
  );
}

/** The compiler's own words; null where it warned of nothing. */
function warningsView({ explanation }, index) {
  const { compiler_warnings: warnings = [] } = explanation;
  if (!warnings.length) return null;
  const card = (text) => el("article", { class: "card warning" }, el("pre", {}, text));
  return el("section", { "aria-labelledby": `compiler-${index}` }, heading("The compiler warns", `compiler-${index}`), ...warnings.map(card));
}
