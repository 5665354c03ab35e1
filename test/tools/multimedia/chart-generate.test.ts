import { existsSync, readFileSync, writeFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { PLAIN_TYPES } from "../../../src/tools/multimedia/chart/plain-chart.js";
import { needs } from "../../support/needs.js";
import { startSite } from "../network/site.js";
import { caller } from "./caller.js";

const SALES = [
  { month: "Jan", sales: 120, cost: 80 },
  { month: "Feb", sales: 95, cost: 70 },
  { month: "Mar", sales: 160, cost: 90 },
];

/** How many different colours of the palette a picture really shows. */
async function colorsIn(
  file: string,
  wanted: readonly (readonly [number, number, number])[],
): Promise<readonly number[]> {
  const { data, info } = await sharp(readFileSync(file))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return wanted.map(([r, g, b]) => {
    let count = 0;
    for (let at = 0; at < data.length; at += info.channels)
      if (data[at] === r && data[at + 1] === g && data[at + 2] === b) count += 1;
    return count;
  });
}

describe("chart_generate", () => {
  it("draws bars whose heights are the numbers", async () => {
    const { call, path } = await caller();
    const args = { type: "bar", data: SALES, x: "month", y: "sales", title: "Sales & more" };
    const svg = await call("chart_generate", { ...args, output: "sales.svg" });
    expect(svg.structured).toMatchObject({ success: true, path: path("sales.svg"), width: 760, height: 440 });
    const text = readFileSync(path("sales.svg"), "utf8");
    for (const word of ["Jan", "Feb", "Mar", "Sales &amp; more", "120"]) expect(text).toContain(word);
    const heights = [...text.matchAll(/aria-label="month: \w+; sales: (\d+)"[^>]*? d="[^"]*?v([\d.]+)/g)];
    expect(heights.map(([, sales]) => sales)).toEqual(["120", "95", "160"]);
    const [first, ...others] = heights.map(([, sales, height]) => Number(height) / Number(sales));
    for (const other of others) expect(other).toBeCloseTo(first ?? 0, 6);
    const png = await call("chart_generate", { ...args });
    expect(png.structured).toMatchObject({
      path: path("sales-more.png"),
      format: "png",
      width: 1520,
      height: 880,
    });
    const [bars = 0] = await colorsIn(path("sales-more.png"), [[47, 111, 222]]);
    expect(bars).toBeGreaterThan(50_000);
  });

  it("knows every type that it names", async () => {
    const { call, path } = await caller();
    for (const type of PLAIN_TYPES) {
      const data =
        type === "heatmap" ? SALES.map((row) => ({ ...row, kind: row.month === "Jan" ? "a" : "b" })) : SALES;
      const columns =
        type === "heatmap" ? { x: "month", y: "kind", series: "sales" } : { x: "month", y: "sales" };
      const result = await call("chart_generate", {
        type,
        data,
        ...(type === "histogram" ? { x: "sales" } : columns),
        output: `${type}.svg`,
      });
      expect([type, result.error]).toEqual([type, undefined]);
      expect(readFileSync(path(`${type}.svg`), "utf8")).toMatch(/<path[^>]+d="M/);
    }
  });

  it("several columns are series, with a legend", async () => {
    const { call, path } = await caller();
    await call("chart_generate", {
      type: "line",
      data: SALES,
      x: "month",
      y: ["sales", "cost"],
      output: "two.svg",
    });
    const text = readFileSync(path("two.svg"), "utf8");
    expect(text).toContain(">sales<");
    expect(text).toContain(">cost<");
    expect(text.match(/#2f6fde/g)?.length).toBeGreaterThan(0);
    expect(text.match(/#f28e2b/g)?.length).toBeGreaterThan(0);
  });

  it("takes tables in the shapes that they come in", async () => {
    const { call, path } = await caller();
    writeFileSync(path("t.csv"), "name,value of it\nA.b,1\n[c],2.5\n");
    writeFileSync(
      path("t.json"),
      JSON.stringify([
        { name: "A.b", n: 1 },
        { name: "[c]", n: 2.5 },
      ]),
    );
    const shapes: readonly unknown[] = [
      "t.csv",
      "t.json",
      [
        ["name", "n"],
        ["A.b", 1],
        ["[c]", 2.5],
      ],
      { name: ["A.b", "[c]"], n: [1, "2.5"] },
      { "A.b": 1, "[c]": 2.5 },
    ];
    for (const [at, data] of shapes.entries()) {
      const result = await call("chart_generate", { type: "bar", data, output: `${at}.svg` });
      expect([at, result.error]).toEqual([at, undefined]);
      const text = readFileSync(path(`${at}.svg`), "utf8");
      for (const word of ["A.b", "[c]", "2.5"]) expect(text).toContain(`>${word}<`);
    }
  });

  it("a Vega-Lite description of one's own; data from files and addresses that are allowed", async () => {
    const { call, path } = await caller();
    writeFileSync(path("rows.csv"), "a,b\nfirst,3\nsecond,4\n");
    const site = await startSite({
      "/rows.json": (_request, response) => void response.end('[{"a":"third","b":5}]'),
    });
    const spec = (url: string) => ({
      data: { url },
      mark: "bar",
      encoding: { x: { field: "a", type: "nominal" }, y: { field: "b", type: "quantitative" } },
    });
    await call("chart_generate", { type: "vega-lite", spec: spec("rows.csv"), output: "file.svg" });
    expect(readFileSync(path("file.svg"), "utf8")).toContain(">second<");
    await call("chart_generate", {
      type: "vega-lite",
      spec: spec(`${site.base}/rows.json`),
      output: "web.svg",
    });
    expect(readFileSync(path("web.svg"), "utf8")).toContain(">third<");
    const inline = { mark: "point", encoding: { x: { field: "n", type: "quantitative" } } };
    const result = await call("chart_generate", {
      type: "vega-lite",
      spec: inline,
      data: [{ n: 1 }],
      output: "i.png",
    });
    expect(result.structured).toMatchObject({ format: "png" });
    const denied = await call("chart_generate", {
      type: "vega-lite",
      spec: spec("http://169.254.169.254/x"),
      output: "no.svg",
    });
    expect(denied.error?.code).toBe("denied");
    const missing = await call("chart_generate", {
      type: "vega-lite",
      spec: spec("none.csv"),
      output: "no.svg",
    });
    expect(missing.error?.message).toMatch(/none\.csv/);
    expect(existsSync(path("no.svg"))).toBe(false);
  });

  it("runs no code that a description brings along", async () => {
    const { call } = await caller();
    const attack = "constructor.constructor('globalThis.reached = true')()";
    const spec = {
      data: { values: [{ n: 1 }] },
      transform: [
        { calculate: `toString.${attack}`, as: "m" },
        { calculate: `datum.${attack}`, as: "o" },
      ],
      mark: "point",
      encoding: { x: { field: "n", type: "quantitative" } },
    };
    await call("chart_generate", { type: "vega-lite", spec, output: "attack.svg" });
    expect("reached" in globalThis).toBe(false);
  });

  it("says what is wrong", async () => {
    const { call } = await caller();
    const attempts = [
      [{ type: "bar" }, /needs data/],
      [{ type: "bar", data: SALES, x: "moon" }, /no column "moon"/],
      [{ type: "bar", data: SALES, y: "month" }, /holds no numbers/],
      [{ type: "bar", data: [] }, /no rows/],
      [{ type: "pie", data: { a: -1, b: 2 } }, /below zero/],
      [{ type: "vega-lite" }, /needs spec/],
      [{ type: "vega-lite", spec: { mark: "nonsense", encoding: {} } }, /could not be drawn/],
      [
        { type: "vega-lite", spec: { data: { sequence: { start: 0, stop: 1e10 } }, mark: "point" } },
        /more than/,
      ],
      [{ type: "mermaid" }, /needs code/],
    ] as const;
    for (const [args, message] of attempts) {
      const { error } = await call("chart_generate", args);
      expect([args, error?.message]).toEqual([args, expect.stringMatching(message)]);
      expect(error?.hint).toBeTruthy();
    }
  });

  it("Mermaid in the system's browser", { timeout: 60_000 }, async (context) => {
    needs(context, "chromium");
    const { call, path } = await caller();
    const code = "graph LR\n  A[Order] --> B{Paid?}\n  B -->|yes| C[Ship]";
    const png = await call("chart_generate", { type: "mermaid", code, output: "flow.png" });
    expect(png.error).toBeUndefined();
    expect((png.structured as { width: number }).width).toBeGreaterThan(300);
    expect((await sharp(path("flow.png")).stats()).entropy).toBeGreaterThan(0.3);
    const wrong = await call("chart_generate", {
      type: "mermaid",
      code: "graph LR\n  A[",
      output: "wrong.png",
    });
    expect(wrong.error?.message).toMatch(/could not be drawn/);
  });
});
