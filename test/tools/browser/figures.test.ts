// @needs chromium

import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { tokensOf } from "../../../src/tools/browser/fit-lines.js";
import { startSite } from "../network/site.js";
import { openBrowsing } from "./browsing.js";

it("a page with 5,000 elements takes at most 8,000 tokens, with what can be clicked still there", async () => {
  const rows = Array.from(
    { length: 1_000 },
    (_, n) =>
      `<div><p>Paragraph ${n} with some words about nothing much</p><span>and more</span><ul><li>point ${n}</li></ul></div>`,
  );
  const site = await startSite({
    "/text": `<h1>Top</h1><button>First</button>${rows.join("")}<button>Last</button><a href="/x">End</a>`,
    "/links": `<h1>Top</h1>${Array.from({ length: 2_500 }, (_, n) => `<li><a href="/${n}">Entry number ${n}</a></li>`).join("")}<button>Last</button>`,
  });
  const { get, call } = await openBrowsing();
  await get("navigate", { url: `${site.base}/text` });
  const text = await get("snapshot");
  expect(tokensOf(String(text.snapshot))).toBeLessThanOrEqual(8_000);
  for (const word of ["First", "Last", "End", "Paragraph 0 "]) expect(text.snapshot).toContain(word);
  expect(text).toMatchObject({ truncated: true, full_path: expect.any(String) });
  await get("navigate", { url: `${site.base}/links` });
  const links = await get("snapshot");
  expect(tokensOf(String(links.snapshot))).toBeLessThanOrEqual(8_000);
  expect(links.snapshot).toContain('button "Last"');
  // Those in the middle are told as a range, and can be clicked by it.
  const [, from] = /refs ((?:f\d+)?e\d+) to/.exec(String(links.snapshot)) ?? [];
  expect((await call("click", { ref: from })).ok).toBe(true);
});

it("navigate and snapshot take at most 1.2 times as long as the library alone, give or take the noise of a machine", async () => {
  const body = Array.from(
    { length: 300 },
    (_, n) => `<div><a href="/${n}">Entry ${n}</a> <p>Some text ${n}</p></div>`,
  );
  const site = await startSite({ "/": `<title>Page</title>${body.join("")}` });
  const { get } = await openBrowsing();
  await get("navigate", { url: `${site.base}/` });
  const bare = await chromium.launch({ executablePath: "/usr/bin/chromium", chromiumSandbox: false });
  try {
    const page = await bare.newPage();
    await page.goto(`${site.base}/`);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const started = performance.now();
      await get("navigate", { url: `${site.base}/?ours=${round}` });
      const middle = performance.now();
      await page.goto(`${site.base}/?theirs=${round}`);
      await page.ariaSnapshot({ mode: "ai" });
      ours.push(middle - started);
      theirs.push(performance.now() - middle);
    }
    const median = (times: number[]) => times.sort((a, b) => a - b)[3] ?? 0;
    console.log(
      `navigate + snapshot: ours ${median(ours).toFixed(0)} ms, bare ${median(theirs).toFixed(0)} ms`,
    );
    expect(median(ours)).toBeLessThan(median(theirs) * 1.2 + 40);
  } finally {
    await bare.close();
  }
});
