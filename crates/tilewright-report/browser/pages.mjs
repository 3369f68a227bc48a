// What holds for every page.

import fs from "node:fs";
import { createRequire } from "node:module";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const MOST_BYTES = 500_000;
const MOST_PIXELS = 6000;

export async function everyPage({ page, expect, name, file, width, height, measures }) {
  const bytes = fs.statSync(file).size;
  expect(bytes < MOST_BYTES, `it weighs ${bytes} bytes`);
  // A time is recorded and fails nothing: other programs may run here. The least of three is the page's own.
  const time = () => page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  const times = [await time()];
  while (width > 1000 && times.length < 3) times.push(await page.reload().then(time));
  const size = await page.evaluate(() => ({ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight }));
  expect(size.width <= width, `it is ${size.width} pixels wide`);
  if (width > 1000) {
    expect(size.height < MOST_PIXELS, `it is ${size.height} pixels high`);
    measures[name] = { bytes, milliseconds: Math.min(...times), pixels: size.height };
  }

  // The verdict and its words are on the first screen, in that order.
  const first = await page.evaluate(() => [".verdict", ".words"].map((name) => document.querySelector(name)?.getBoundingClientRect().bottom ?? 1e9));
  expect(first[0] < first[1] && first[1] < height, `the verdict ends at ${first[0]}, the words at ${first[1]}`);
  for (const word of ["warp", "request"]) expect(await page.locator(".words dt", { hasText: word }).count(), `${word} is not explained`);

  // The source may say what it likes.
  const text = await page.evaluate(() => [...document.querySelectorAll("header, .panel, .cards, section > p, figcaption, .chip, .bars")].filter((e) => e.checkVisibility()).map((e) => e.innerText).join("\n"));
  for (const wrong of [/\b1 sectors\b/, /\b1 wavefronts\b/, /\b1 passes\b/, /_ZZ/, /NaN|undefined|\[object/]) expect(!wrong.test(text), `it says ${text.match(wrong)?.[0]}`);
  for (const [, used] of text.matchAll(/([\d,.]+) % (of the moved bytes )?used/g)) expect(Number(used.replace(",", "")) <= 100, `${used} % used`);

  // Nothing is cut off, and every access says which array it goes to.
  const clipped = await page.evaluate(() => [...document.querySelectorAll(".chip")].filter((chip) => {
    const [inner, outer] = [chip.getBoundingClientRect(), chip.closest("td, .source-box").getBoundingClientRect()];
    return chip.checkVisibility() && (inner.right > outer.right + 1 || chip.scrollWidth > chip.clientWidth + 1);
  }).length);
  expect(clipped === 0, `${clipped} accesses are clipped`);

  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, nodes } of violations) expect(false, `axe: ${id}: ${nodes[0].html.slice(0, 160)} (${nodes.length})`);
}

/** Pairs of colours that must be told apart, by the contrast of WCAG 2. */
const PAIRS = [
  ["--wanted", "--waste"], ["--wanted", "--page"], ["--on-wanted", "--wanted"], ["--hatch", "--page"], ["--hatch", "--waste"],
  ["--sector", "--page"], ["--sector", "--waste"], ["--cell-earlier", "--cell-untouched"], ["--wanted", "--cell-earlier"],
  ["--cell-chosen", "--wanted"], ["--good", "--page"], ["--error", "--page"], ["--on-fill", "--good"], ["--on-fill", "--error"],
];

export async function contrasts({ page, expect }) {
  const worst = await page.evaluate((pairs) => {
    const style = getComputedStyle(document.documentElement);
    const luminance = (name) => {
      const hex = style.getPropertyValue(name).trim().slice(1);
      const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    return pairs.map(([a, b]) => [a, b, Math.max(luminance(a), luminance(b)) / Math.min(luminance(a), luminance(b))]);
  }, PAIRS);
  for (const [a, b, contrast] of worst) expect(contrast >= 3, `${a} on ${b} has a contrast of ${contrast.toFixed(2)}`);
}
