// What readers do: compare, point, step, go by keyboard, follow a link, print.

import fs from "node:fs";

const visible = (page, selector) => page.locator(selector).first().isVisible();

/** `naive` beside `coalesced`: why one is slower, and by how much, without scrolling. */
export async function comparison({ page, expect, height, width }) {
  const verdict = await page.locator(".verdict").innerText();
  expect(/6\.6 times/.test(verdict), `the verdict is: ${verdict}`);
  for (const word of ["sector", "request", "warp"]) expect(await page.locator(".words dt", { hasText: word }).count(), `${word} is not explained`);
  const why = await page.locator(".why").innerText();
  expect(/12\.5 %/.test(why) && /13 times as fast/.test(why), `it says why with: ${why}`);
  const factor = await page.locator(".why").boundingBox();
  expect(factor.y + factor.height <= height, `the factor ends at ${factor.y + factor.height}, below the first screen`);
  const boxes = await page.locator(".pair .request").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()));
  expect(boxes.length === 2, `${boxes.length} pictures are beside each other`);
  const said = await page.locator(".pair .said").evaluateAll((all) => all.map((e) => [e.innerText, e.getBoundingClientRect().bottom]));
  expect(/1,024 bytes for 128/.test(said[0][0]) && /128 bytes for 128/.test(said[1][0]), `the pictures say ${said}`);
  if (width > 1000) {
    expect(said.every(([, bottom]) => bottom < height), "the key sentences are below the first screen");
    expect(boxes[0].y === boxes[1].y, "the pictures are not on one line");
  }
  const cells = await page.locator(".pair svg").evaluateAll((all) => all.map((svg) => svg.querySelector(".wanted").getBoundingClientRect().width));
  expect(Math.abs(cells[0] - cells[1]) < 0.5, `the scales differ: ${cells}`);
  expect((await page.locator(".differs mark").allInnerTexts()).join("") === "xxyyyyxx", "what differs in the source is not marked");

  // One slider for both; a lane under the pointer is told in words.
  await page.locator(".pair svg [data-lanes='5']").first().hover();
  const words = await page.locator(".pair .lane-words").allInnerTexts();
  expect(/Lane 5 .*A\[5\]\[0\].*A\[row \* lda \+ k\]/.test(words[0]), `lane 5 is told as ${words[0]}`);
  expect(/Lane 5 .*B\[0\]\[5\]/.test(words[1]), `and in the other as ${words[1]}`);
  await page.getByRole("group", { name: "Requests of warp 0, in both kernels" }).getByRole("button", { name: "Next" }).click();
  expect(/A\[5\]\[[1-9]/.test((await page.locator(".pair .lane-words").allInnerTexts())[0]), "the next request has other elements");

  // A bar means the same for every kernel: the bad line of naive is redder than the good one of coalesced.
  const kernels = page.getByRole("navigation", { name: "Kernels" });
  const widest = () => page.locator(".kernel .heat-bar").evaluateAll((all) => Math.max(...all.map((e) => parseFloat(e.style.width))));
  const naive = await widest();
  await kernels.getByRole("button", { name: "coalesced" }).scrollIntoViewIfNeeded();
  const before = await page.evaluate(() => scrollY);
  await kernels.getByRole("button", { name: "coalesced" }).click();
  expect((await widest()) < 0.5 * naive, "the heat of lines changes its meaning between kernels");
  const after = await page.evaluate(() => [scrollY, document.activeElement.textContent]);
  expect(Math.abs(after[0] - before) < 2 && after[1] === "coalesced", `switching went from ${before} to ${after}`);
  await kernels.getByRole("button", { name: "naive" }).click();

  // Sliders recompute at once.
  const explore = page.locator("section[aria-labelledby=explore]");
  const slider = (name) => explore.getByLabel(name);
  await slider("Elements from a lane to the next in x").fill("1");
  expect(/4 sectors: 128 bytes/.test(await explore.locator(".said").innerText()), "a stride of 1 takes 4 sectors");
  await slider("First element").fill("1");
  expect(/5 sectors/.test(await explore.locator(".said").innerText()), "a shifted row takes 5");
  await explore.getByRole("combobox").selectOption({ index: 1 });
  await slider("Elements from a lane to the next in x").fill("32");
  expect(/32 passes/.test(await explore.locator(".said").innerText()), "a column of 32 words takes 32 passes");
  await slider("Padding of a row").fill("1");
  expect(/1 pass /.test(await explore.locator(".said").innerText()), "padding ends the conflict");
}

/** Everything is reached by Tab, and nothing takes the focus away. */
export async function keyboard({ page, expect }) {
  const chips = page.locator(".kernel .chip:visible");
  const last = chips.nth((await chips.count()) - 1);
  await last.focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  const outline = await last.evaluate((e) => (e.matches(":focus-visible") ? getComputedStyle(e).outlineStyle : "not visible"));
  expect(outline === "solid", `the focus is ${outline}`);
  await page.keyboard.press("Enter");
  expect((await last.getAttribute("aria-pressed")) === "true", "Enter chooses");
  expect(await last.evaluate((e) => e === document.activeElement), "the focus stays on the access");
  const name = (await last.locator("strong").innerText()).replace(/^\d+ × /, "");
  expect((await page.locator(".kernel .panel").first().innerText()).includes(name), `the panel does not show ${name}`);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  expect(await last.evaluate((e) => e === document.activeElement), "Shift+Tab and Tab come back");
  const lane = page.locator(".kernel .panel").getByLabel("Lane", { exact: true });
  await lane.focus();
  await page.keyboard.press("End");
  expect(/Lane 31/.test(await page.locator(".kernel .panel .lane-words").innerText()), "lanes are chosen by keys");

  // Source and PTX beside each other.
  await page.getByRole("group", { name: "Beside the source" }).getByRole("button", { name: "PTX" }).click();
  await chips.first().locator("xpath=ancestor::tr").hover();
  const marked = await page.locator(".ptx li.marked").allInnerTexts();
  expect(marked.some((text) => /ld\.global/.test(text)), `the PTX of a load is marked as ${marked}`);
  const boxes = await page.evaluate(() => [".kernel .source", ".kernel .ptx"].map((name) => document.querySelector(name).getBoundingClientRect().toJSON()));
  expect(boxes[0].right <= boxes[1].left, "source and PTX are not side by side");
}

/** The link of a view brings it back. */
export async function restored({ page, expect }) {
  await page.getByRole("group", { name: "Beside the source" }).getByRole("button", { name: "Lanes" }).click();
  const chip = page.locator(".kernel .chip:visible").first();
  await chip.click();
  const panel = page.locator(".kernel .panel").first();
  await panel.getByLabel("Lane", { exact: true }).fill("7");
  await panel.getByRole("button", { name: "Next" }).click();
  await page.locator("section[aria-labelledby=explore]").getByLabel("Padding of a row").fill("3");
  const state = async () => [await page.locator(".kernel .panel").first().locator(".said, .lane-words").allInnerTexts(), await page.locator("section[aria-labelledby=explore] .mono").innerText()];
  const before = JSON.stringify(await state());
  const link = await page.locator(".view-link").getAttribute("href");
  await page.goto("about:blank");
  await page.goBack();
  await page.goto(`${page.url().split("#")[0]}${link}`);
  await page.reload();
  expect(JSON.stringify(await state()) === before, `the link ${link} shows ${JSON.stringify(await state())} and not ${before}`);
}

/** A page with a race opens with it: who, which iterations, which element, where the barrier belongs. */
export async function race({ page, expect }) {
  const verdict = await page.locator(".verdict").innerText();
  expect(/is wrong: shared race/.test(verdict), `the verdict is: ${verdict}`);
  expect(await page.locator(".verdict.error").count(), "errors are not red");
  const picture = await page.locator(".race-picture").innerText();
  const iterations = [...picture.matchAll(/iteration (\d)/g)].map(([, n]) => Number(n));
  expect(iterations.length === 2 && iterations[0] < iterations[1] && /no (barrier|__syncwarp)/.test(picture), `the picture says ${picture}`);
  expect((picture.match(/sum\[\d+\]/g) ?? []).length === 2, `both sides name the element: ${picture}`);
  expect(/__syncthreads\(\).*end of the loop/s.test(await page.locator(".race-fix").innerText()), "the missing line is not shown");
  const order = await page.evaluate(() => [".race", ".split"].map((name) => document.querySelector(name).getBoundingClientRect().top));
  expect(order[0] < order[1], "the race does not come first");
  const line = (await page.locator(".race-line .line").first().innerText()).trim();
  const panel = page.locator(".kernel .panel").first();
  expect((await panel.innerText()).includes(`:${line}`), `the panel shows another line than ${line}`);
  // The link of a finding shows the lanes of its own line, in view.
  const links = page.locator(".card.error button.link");
  for (let i = 0; i < (await links.count()); i++) {
    await links.nth(i).click();
    const wanted = (await links.nth(i).innerText()).split(",")[0].trim();
    expect((await panel.innerText()).includes(wanted), `the link ${wanted} shows other lanes`);
    const box = await panel.boundingBox();
    expect(box.y < (await page.evaluate(() => innerHeight)) && box.y + box.height > 0, `the lanes of ${wanted} are out of view`);
  }
}

/** Single kernels, each with what it was known for. */
export async function kernel({ page, expect, name, height }) {
  const said = page.locator(".kernel .panel .said").first();
  const bottom = (await said.boundingBox()).y;
  expect(bottom < height, `the key sentence is at ${bottom}`);
  expect((await page.locator(".card").count()) <= 8, "findings repeat");
  if (name === "transpose-naive") {
    const captions = await page.locator(".matrices figcaption").allInnerTexts();
    expect(captions.every((text) => /256 × 256/.test(text)), `the arrays are drawn as ${captions}`);
    expect(/Line 10/.test(await page.locator(".verdict").innerText()), "the store is not named");
  }
  if (name === "atomics-shared") {
    const chip = page.locator(".chip", { hasText: "12.5 rounds" });
    expect(await chip.count(), "no access says 12.5 rounds");
    await chip.first().click();
    const text = await page.locator(".kernel .panel").first().innerText();
    expect(/2 turns/.test(text) && /12\.5 rounds/.test(text), `the picture says ${text}`);
    expect(/contention/.test(await page.locator(".card").first().innerText()), "contention is no finding");
  }
  // Memories that are served neither by sectors of their addresses nor by banks.
  const served = { "constant-divergent": ["constant memory", /32 passes of constant memory/], "local-array": ["load from local memory", /32 sectors/] }[name];
  if (served) {
    if (name === "constant-divergent") expect(/32 passes/.test(await page.locator(".verdict").innerText()), "the verdict does not say what costs most");
    await page.locator(".chip", { hasText: served[0] }).first().click();
    const text = await page.locator(".kernel .panel .said").last().innerText();
    expect(served[1].test(text), `the picture of ${served[0]} says ${text}`);
  }
  if (name === "block-tile-2d") {
    expect(/unrolled copies/.test(await page.locator(".cards").first().innerText()), "copies are not merged");
  }
  if (name === "shared-tile") {
    const names = await page.locator(".chip:visible").allInnerTexts();
    expect(names.every((text) => /(of|to|from) \w/.test(text)), `accesses without an array: ${names}`);
    const order = await page.evaluate(() => ["A", "B", "C"].map((one) => document.querySelector(`.of-${one}`).getBoundingClientRect().toJSON()));
    expect(order[1].bottom <= order[2].top && order[0].right <= order[2].left, "B is above C and A to its left");
  }
  expect(await visible(page, ".matrices canvas"), "no array is drawn");
}

/** On paper both kernels stay beside each other, and the controls are gone. */
export async function print({ page, expect }) {
  await page.emulateMedia({ media: "print" });
  expect(!(await visible(page, ".player")), "controls are printed");
  const columns = await page.locator(".pair").first().evaluate((e) => getComputedStyle(e).gridTemplateColumns.split(" ").length);
  expect(columns === 2, "the columns are lost");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const headings = await page.locator(".kernel h2").allInnerTexts();
  for (const name of ["naive", "coalesced"]) expect(headings.includes(`${name}, in detail`), `${name} is not printed`);
  const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
  const pages = (pdf.match(/\/Type\s*\/Page\b/g) ?? []).length;
  expect(pages > 0 && pages <= 6, `it takes ${pages} sheets`);
}

/** The picture that `--picture` drew of an access is that of the page: the same words in the same rows and columns, the same sectors. */
export async function samePicture({ page, expect, file }) {
  const drawn = await page.evaluate((text) => {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    const last = (name) => [...svg.querySelectorAll(name)].slice(0, -1); // without the legend's
    return { title: svg.querySelector(".heading").textContent, cells: last("rect.wanted").map(place), sectors: Math.max(0, last("rect.sector").length) };
    function place(rect) {
      return ["x", "y"].map((name) => Number(rect.getAttribute(name)));
    }
  }, fs.readFileSync(file.replace(/html$/, "svg"), "utf8"));
  const access = drawn.title.split(":")[0];
  await page.locator(".kernel .chip:visible", { hasText: access }).first().click();
  const shown = await page.locator(".kernel .panel .request svg").first().evaluate((svg) => ({
    cells: [...svg.querySelectorAll("rect.wanted")].map((rect) => ["x", "y"].map((name) => Number(rect.getAttribute(name)))),
    sectors: svg.querySelectorAll("rect.sector").length,
  }));
  const grid = (cells) => {
    const least = [0, 1].map((i) => Math.min(...cells.map((cell) => cell[i])));
    return cells.map(([x, y]) => `${y - least[1]} ${x - least[0]}`).toSorted().join(", ");
  };
  expect(drawn.cells.length > 0 && grid(drawn.cells) === grid(shown.cells), `${access} is drawn as ${grid(drawn.cells)} and shown as ${grid(shown.cells)}`);
  expect(drawn.sectors === shown.sectors, `${access} has ${drawn.sectors} sectors in the picture, and ${shown.sectors} in the page`);
}
