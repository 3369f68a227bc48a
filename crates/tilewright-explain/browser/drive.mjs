// Opens a page in headless Chromium, looks at it and drives it by mouse and keyboard.
//
//   npm install playwright-core
//   tilewright explain naive --compare coalesced --report page.html
//   node drive.mjs page.html [DIRECTORY FOR SCREENSHOTS]
//
// CHROMIUM names the browser unless it is /usr/bin/chromium.

import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

const [file, shots] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const sizes = { desktop: { width: 1400, height: 1000 }, phone: { width: 390, height: 844 } };

for (const [name, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => /^(file|data):/.test(request.url()) || complaints.push(`request of ${request.url()}`));
    await page.goto(`file://${path.resolve(file)}`);
    if (shots) await page.screenshot({ path: path.join(shots, `${name}-${colorScheme}.png`), fullPage: true });

    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${name}: the page is ${overflow} pixels too wide`);
    await structure(page);
    await contrast(page);
    await accesses(page);
    await animation(page);
    await keyboard(page);
    await matrices(page);
    assert.deepEqual(complaints, [], name);
    if (shots) await page.screenshot({ path: path.join(shots, `${name}-${colorScheme}-driven.png`) });
    await context.close();
  }
}
await browser.close();
console.log("the page works");

/** Everything that can be operated has a name, every heading its place. */
async function structure(page) {
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, [role=region], [role=img], [role=group]")]
      .filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim()))
      .map((e) => e.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(nameless, [], "elements without a name");
  const levels = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3")].map((h) => Number(h.tagName[1])));
  assert.equal(levels[0], 1);
  levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, "a level of headings is left out"));
  const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((e) => e.id));
  assert.equal(new Set(ids).size, ids.length, "ids are unique");
}

/** Text against its page, by WCAG 2. */
async function contrast(page) {
  const worst = await page.evaluate(() => {
    const luminance = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const back = luminance(getComputedStyle(document.body).backgroundColor) + 0.05;
    const texts = [...document.querySelectorAll("h1, p, .faint, .severity, a, td.line, small")];
    return Math.min(...texts.map((e) => luminance(getComputedStyle(e).color) + 0.05).map((l) => Math.max(l, back) / Math.min(l, back)));
  });
  assert.ok(worst >= 4.5, `a contrast of ${worst.toFixed(2)}`);
}

/** A click on an access shows its lanes. */
async function accesses(page) {
  const chips = page.locator(".source .chip");
  const count = await chips.count();
  assert.ok(count > 0, "there are accesses in the source");
  const pictures = new Set();
  for (let i = 0; i < Math.min(count, 12); i++) {
    if (!(await chips.nth(i).isVisible())) continue;
    await chips.nth(i).click();
    assert.equal(await chips.nth(i).getAttribute("aria-pressed"), "true");
    assert.equal(await page.locator(".chip[aria-pressed=true]").count(), 1);
    const instruction = await chips.nth(i).locator("code").textContent();
    assert.equal(await page.locator(".panel code").first().textContent(), instruction);
    if (!(await page.locator(".panel svg").count())) continue;
    const label = await page.locator(".panel svg").getAttribute("aria-label");
    assert.match(label, /active lane/);
    assert.ok(await page.locator(".panel svg .cell").count(), "lanes are drawn");
    pictures.add(label);
  }
  assert.ok(pictures.size > 0);
  await page.locator(".panel details summary").click();
  const rows = await page.locator(".panel details tbody tr").count();
  assert.ok(rows > 0 && rows <= 32, "a row for each active lane");
}

/** The longest player of the panel: steps and plays. */
async function animation(page) {
  const chips = page.locator(".source .chip");
  for (let i = 0; i < (await chips.count()); i++) {
    if (!(await chips.nth(i).isVisible())) continue;
    await chips.nth(i).click();
    const range = page.locator(".panel input[type=range]");
    if ((await range.count()) && Number(await range.getAttribute("max")) >= 3) {
      const button = (name) => page.locator(".panel").getByRole("button", { name, exact: true });
      await button("Next").click();
      assert.equal(await range.inputValue(), "1");
      await button("Back").click();
      await button("Play").click();
      await page.waitForFunction(() => Number(document.querySelector(".panel input[type=range]").value) >= 2);
      await button("Pause").click();
      const stopped = await range.inputValue();
      await page.waitForTimeout(400);
      assert.equal(await range.inputValue(), stopped, "it has stopped");
      await button("Last").click();
      assert.equal(await range.inputValue(), await range.getAttribute("max"));
      await button("First").click();
      assert.equal(await range.inputValue(), "0");
      return;
    }
  }
}

/** The same without a mouse. */
async function keyboard(page) {
  const chip = page.locator(".source .chip:visible").first();
  await chip.focus();
  // A focus is drawn for those who come by keyboard.
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  const outline = await chip.evaluate((e) => (e.matches(":focus-visible") ? getComputedStyle(e).outlineStyle : "not visible"));
  assert.equal(outline, "solid", "the focus is seen");
  await page.keyboard.press("Enter");
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  assert.ok(await page.evaluate(() => document.activeElement.classList.contains("panel")), "the panel is next");
  const range = page.locator(".panel input[type=range]");
  if (await range.count()) {
    await range.focus();
    await page.keyboard.press("End");
    assert.equal(await range.inputValue(), await range.getAttribute("max"));
    await page.keyboard.press("Home");
    assert.equal(await range.inputValue(), "0");
  }
}

/** Elements are coloured, and another thread colours others. */
async function matrices(page) {
  const canvas = page.locator("canvas").first();
  if (!(await canvas.count())) return;
  const pixels = () => canvas.evaluate((e) => [...e.getContext("2d").getImageData(0, 0, e.width, e.height).data].join());
  const before = await pixels();
  assert.ok(new Set(before.match(/\d+,\d+,\d+,255/g)).size > 1, "something is touched");
  const thread = page.getByLabel("Thread", { exact: true });
  const last = Number(await thread.getAttribute("max"));
  if (last === 0) return;
  await thread.fill(String(last));
  await page.waitForTimeout(50);
  const labels = await page.locator("canvas").evaluateAll((all) => all.map((e) => e.getAttribute("aria-label")));
  assert.ok(labels.every((label) => /this turn: thread/.test(label)));
  await page.getByRole("group", { name: "Turns of the loop" }).getByRole("button", { name: "Last" }).click();
  assert.notEqual(await pixels(), before, "the last turn looks different");
}
