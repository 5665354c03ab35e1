import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startSite } from "../network/site.js";
import { caller } from "./caller.js";
import { pdfOf, scannedPdf } from "./make-pdf.js";

interface Extracted {
  readonly pages: readonly {
    readonly n: number;
    readonly text: string;
    readonly tables?: readonly { readonly rows: readonly (readonly string[])[] }[];
    readonly ocr_confidence?: number;
  }[];
  readonly total_pages: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly images?: readonly { readonly page: number; readonly path: string; readonly width: number }[];
  readonly notes?: readonly string[];
}

const FIVE = ["One", "Two", "Three", "Four", "Five"].map((word) => [{ text: `Page ${word}`, x: 50, y: 780 }]);

const REPORT = [
  { text: "Annual report", x: 50, y: 780, size: 24 },
  { text: "What we sold this year, in thousands, by", x: 50, y: 740 },
  { text: "region and quarter, is in the table.", x: 50, y: 725 },
  { text: "Region", x: 50, y: 690 },
  { text: "Q1", x: 200, y: 690 },
  { text: "Q2", x: 300, y: 690 },
  { text: "North", x: 50, y: 672 },
  { text: "120", x: 200, y: 672 },
  { text: "95", x: 300, y: 672 },
  { text: "South", x: 50, y: 654 },
  { text: "80", x: 200, y: 654 },
  { text: "1,310", x: 300, y: 654 },
];

describe("pdf_extract", () => {
  it("gives the pages that are asked for, and what the document says of itself", async () => {
    const { call, path } = await caller();
    const bytes = await pdfOf(FIVE, (document) => {
      document.setTitle("Numbers");
      document.setAuthor("Ann");
      document.setCreationDate(new Date("2026-03-01T10:00:00Z"));
    });
    writeFileSync(path("five.pdf"), bytes);
    const some = (await call("pdf_extract", { path: "five.pdf", pages: "2-3, 5" })).structured as Extracted;
    expect(some.total_pages).toBe(5);
    expect(some.pages).toEqual([
      { n: 2, text: "Page Two" },
      { n: 3, text: "Page Three" },
      { n: 5, text: "Page Five" },
    ]);
    expect(some.metadata).toMatchObject({
      title: "Numbers",
      author: "Ann",
      created: "2026-03-01T10:00:00.000Z",
    });
    const last = (await call("pdf_extract", { path: "five.pdf", pages: "4-" })).structured as Extracted;
    expect(last.pages.map(({ n }) => n)).toEqual([4, 5]);
    const about = (await call("pdf_extract", { path: "five.pdf", mode: "metadata" })).structured as Extracted;
    expect([about.pages, about.total_pages]).toEqual([[], 5]);
  });

  it("keeps columns, finds tables, writes Markdown", async () => {
    const { call, path } = await caller();
    writeFileSync(path("report.pdf"), await pdfOf([REPORT]));
    const laid = (await call("pdf_extract", { path: "report.pdf", mode: "layout" })).structured as Extracted;
    expect(laid.pages[0]?.tables).toEqual([
      {
        rows: [
          ["Region", "Q1", "Q2"],
          ["North", "120", "95"],
          ["South", "80", "1,310"],
        ],
      },
    ]);
    const lines = (laid.pages[0]?.text ?? "").split("\n");
    const column = (word: string) => lines.find((line) => line.includes(word))?.indexOf(word);
    expect(column("120")).toBe(column("Q1"));
    expect(column("1,310")).toBe(column("Q2"));
    const marked = (await call("pdf_extract", { path: "report.pdf", mode: "markdown" }))
      .structured as Extracted;
    expect(marked.pages[0]?.text).toBe(
      "# Annual report\n\nWhat we sold this year, in thousands, by region and quarter, is in the table.\n\n" +
        "| Region | Q1 | Q2 |\n| --- | --- | --- |\n| North | 120 | 95 |\n| South | 80 | 1,310 |",
    );
  });

  it("saves the pictures of the pages, one that is shared once", async () => {
    const { call, path } = await caller();
    const red = await sharp({ create: { width: 60, height: 40, channels: 3, background: "#ff0000" } })
      .png()
      .toBuffer();
    const bytes = await pdfOf([FIVE[0] ?? [], FIVE[1] ?? []], async (document, pages) => {
      const picture = await document.embedPng(red);
      for (const page of pages) page.drawImage(picture, { x: 50, y: 400 });
    });
    writeFileSync(path("pictures.pdf"), bytes);
    const out = (await call("pdf_extract", { path: "pictures.pdf", images_folder: "found" }))
      .structured as Extracted;
    const [first] = out.images ?? [];
    expect(first).toMatchObject({ page: 1, path: path("found/page-1-1.png"), width: 60, height: 40 });
    const { dominant } = await sharp(first?.path).stats();
    expect(dominant.r).toBeGreaterThan(240);
    expect(out.pages.map(({ text }) => text)).toEqual(["Page One", "Page Two"]);
  });

  it("reads scanned pages, also in strips and turned", { timeout: 60_000 }, async () => {
    const { call, path } = await caller();
    writeFileSync(path("scan.pdf"), await scannedPdf(["Invoice 4711", "Total 99.50 EUR"]));
    const out = (await call("pdf_extract", { path: "scan.pdf" })).structured as Extracted;
    for (const page of out.pages) {
      expect(page.text).toMatch(/Invoice 4711\s+Total 99\.50 EUR/);
      expect(page.ocr_confidence).toBeGreaterThan(70);
    }
    const off = (await call("pdf_extract", { path: "scan.pdf", ocr: "never" })).structured as Extracted;
    expect(off.pages.map(({ text }) => text)).toEqual(["", ""]);
  });

  it("reads large files in parts", async () => {
    const { call, path } = await caller();
    const noise = await sharp(randomBytes(2_000 * 1_500 * 3), {
      raw: { width: 2_000, height: 1_500, channels: 3 },
    })
      .png({ compressionLevel: 0 })
      .toBuffer();
    const bytes = await pdfOf(FIVE, async (document, pages) => {
      for (const page of pages.slice(0, 3))
        page.drawImage(await document.embedPng(noise), { x: 0, y: 0, width: 100, height: 75 });
    });
    expect(bytes.length).toBeGreaterThan(20_000_000);
    writeFileSync(path("large.pdf"), bytes);
    const out = (await call("pdf_extract", { path: "large.pdf" })).structured as Extracted;
    expect(out.pages.map(({ text }) => text)).toEqual(FIVE.map(([piece]) => piece?.text));
  });

  it("from the web; then it is told apart as what others wrote", async () => {
    const { call } = await caller();
    const bytes = await pdfOf(FIVE);
    const site = await startSite({ "/five.pdf": (_request, response) => void response.end(bytes) });
    const result = await call("pdf_extract", { url: `${site.base}/five.pdf`, pages: "1" });
    expect(result.structured).toMatchObject({ total_pages: 5, pages: [{ n: 1, text: "Page One" }] });
    expect(result.untrusted_from).toEqual([`${site.base}/five.pdf`]);
  });

  it("says what is wrong", async () => {
    const { call, path } = await caller();
    writeFileSync(path("five.pdf"), await pdfOf(FIVE));
    writeFileSync(path("text.pdf"), "just words");
    const attempts = [
      [{ path: "five.pdf", pages: "9" }, /the document has 5 pages/],
      [{ path: "five.pdf", pages: "a-b" }, /no range of pages/],
      [{ path: "text.pdf" }, /not a readable PDF/],
      [{ path: "none.pdf" }, /There is no file/],
      [{}, /exactly one of path and url/],
      [{ path: "five.pdf", url: "http://127.0.0.1:8080/x.pdf" }, /exactly one of path and url/],
    ] as const;
    for (const [args, message] of attempts) {
      const { error } = await call("pdf_extract", args);
      expect(error?.message).toMatch(message);
      expect(error?.hint).toBeTruthy();
    }
  });
});
