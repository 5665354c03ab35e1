// @needs chromium

import { expect, it } from "vitest";
import { tokensOf } from "../../../src/tools/browser/fit-lines.js";
import { startSite } from "../network/site.js";
import { openBrowsing } from "./browsing.js";

it("a page with 5,000 elements takes at most 8,000 tokens, with what can be clicked still there", {
  timeout: 120_000,
}, async () => {
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
  const [, from] = /refs (e\d+) to/.exec(String(links.snapshot)) ?? [];
  expect((await call("click", { ref: from })).ok).toBe(true);
});
