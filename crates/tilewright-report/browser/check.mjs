// Opens the pages of a folder in headless Chromium and looks at them as readers do: first screens, phone, print, keyboard, both themes.
//
//   npm ci
//   node check.mjs DIRECTORY [DIRECTORY FOR SCREENSHOTS]
//
// CHROMIUM names the browser. `cargo test -p tilewright-cli --test it browser::` makes the pages and runs this.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { contrasts, everyPage } from "./pages.mjs";
import { comparison, keyboard, kernel, print, race, restored, samePicture } from "./behaviour.mjs";

const [folder, shots] = process.argv.slice(2);
const failures = [];
/** Of every page: bytes, milliseconds until it is loaded, pixels at 1440. They are printed, and kept beside the screenshots. */
const measures = {};
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Opens a page, and runs checks on it. What they find is gathered. */
async function look(name, { width, height, theme = "light" }, ...checks) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  const fail = (what) => failures.push(`${name} at ${width} x ${height}, ${theme}: ${what}`);
  page.on("pageerror", (error) => fail(error.message));
  page.on("console", (message) => message.type() === "error" && fail(message.text()));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || fail(`it asks for ${request.url()}`));
  const file = path.resolve(folder, `${name}.html`);
  await page.goto(`file://${file}`);
  if (shots) await page.screenshot({ path: path.join(shots, `${name}-${width}-${theme}.png`), timeout: 30_000 });
  const expect = (is, what) => is || fail(what);
  for (const check of checks) await check({ page, expect, name, file, width, height, theme, measures }).catch((error) => fail(`${check.name}: ${error.message.split("\n").slice(0, 4).join(" ")}`));
  await context.close();
}

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const names = fs.readdirSync(folder).filter((file) => file.endsWith(".html")).map((file) => file.slice(0, -5));
const pictures = fs.readdirSync(folder).filter((file) => file.endsWith(".svg")).map((file) => file.slice(0, -4));
const looks = [
  ...["light", "dark"].flatMap((theme) => [
    ["naive-coalesced", { ...desktop, theme }, contrasts, comparison, keyboard, restored],
    ["naive-coalesced", { ...phone, theme }, comparison],
    ["race", { ...desktop, theme }, race],
  ]),
  ["race", phone, race],
  ["naive-coalesced", desktop, print],
  ...["transpose-naive", "atomics-shared", "shared-tile", "block-tile-2d", "constant-divergent", "local-array"].map((name) => [name, desktop, kernel]),
  ...pictures.map((name) => [name, desktop, samePicture]),
  ...names.flatMap((name) => [desktop, phone].map((screen) => [name, screen, everyPage])),
];
/** Takes looks until none is left. Pages share nothing, so that each processor has one open. */
async function worker() {
  while (looks.length) await look(...looks.shift());
}
await Promise.all(Array.from({ length: Math.min(4, os.availableParallelism()) }, worker));
await browser.close();

if (failures.length) {
  console.error([...new Set(failures)].join("\n"));
  process.exit(1);
}
console.log(`${names.length} pages are as they should be`);
for (const quantity of ["bytes", "milliseconds", "pixels"]) {
  const [name, { [quantity]: most }] = Object.entries(measures).toSorted(([, a], [, b]) => b[quantity] - a[quantity])[0];
  console.log(`most ${quantity}: ${most.toLocaleString("en", { maximumFractionDigits: 0 })} (${name})`);
}
if (shots) fs.writeFileSync(path.join(shots, "measures.json"), JSON.stringify(measures, null, 1));
