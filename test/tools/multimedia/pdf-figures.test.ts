import { statSync, writeFileSync } from "node:fs";
import { extractText } from "unpdf";
import { describe, expect, it } from "vitest";
import { caller } from "./caller.js";
import { pdfOf, writeLargePdf } from "./make-pdf.js";

const WORDS =
  "The library reads this line, and so does the tool that stands in front of it; both in the same minute.";

describe("figures of pdf_extract", () => {
  it("500 pages: at most 1.5 times the library alone", { timeout: 120_000 }, async () => {
    const { call, path } = await caller();
    const page = Array.from({ length: 40 }, (_, at) => ({
      text: `${at} ${WORDS}`,
      x: 30,
      y: 800 - at * 18,
      size: 10,
    }));
    const bytes = await pdfOf(Array.from({ length: 500 }, () => page));
    writeFileSync(path("long.pdf"), bytes);
    const timed = async (work: () => Promise<unknown>) => {
      const started = performance.now();
      await work();
      return performance.now() - started;
    };
    const alone = () => timed(() => extractText(Uint8Array.from(bytes)));
    const tool = () => timed(() => call("pdf_extract", { path: "long.pdf" }));
    await alone();
    await tool();
    const ratios: number[] = [];
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await alone(), await tool()];
      ratios.push(other / one);
    }
    const median = ratios.sort((a, b) => a - b)[2] ?? 9;
    console.log(`pdf_extract, 500 pages: ${median.toFixed(2)} times the library alone`);
    expect(median).toBeLessThan(1.5);
  });

  it("200 MB: memory stays near the size of the file, which is read in parts", {
    timeout: 120_000,
  }, async () => {
    const { call, path } = await caller();
    await call("pdf_extract", { path: "none.pdf" });
    await writeLargePdf(path("large.pdf"), { pages: 50, pictureBytes: 4_000_000 });
    expect(statSync(path("large.pdf")).size).toBeGreaterThan(199_000_000);
    const before = process.resourceUsage().maxRSS;
    const result = await call("pdf_extract", { path: "large.pdf" });
    const grown = Math.round((process.resourceUsage().maxRSS - before) / 1024);
    console.log(`pdf_extract, 200 MB: ${grown} MB more memory at most`);
    expect(result.structured).toMatchObject({ total_pages: 50 });
    expect((result.structured as { pages: { text: string }[] }).pages[49]?.text).toBe("Large page 50");
    expect(grown).toBeLessThan(400);
  });
});
