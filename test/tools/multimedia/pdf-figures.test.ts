import { statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { caller } from "./caller.js";
import { writeLargePdf } from "./make-pdf.js";

describe("figures of pdf_extract", () => {
  it("200 MB: read in parts that are let go again, memory stays far below the size of the file", {
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
    expect(grown).toBeLessThan(120);
  });
});
