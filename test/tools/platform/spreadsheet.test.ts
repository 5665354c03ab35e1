import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openXlsx, writeXlsx } from "hucre";
import { describe, expect, it } from "vitest";
import { testRuntime } from "../../support/runtime.js";

async function open() {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const session = await runtime.openSession({ approver: { ask: async () => "once" } });
  const call = (args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call({ name: "spreadsheet", arguments: args }, { signal });
  return { call, cwd };
}

const ROWS = [
  ["item", "price", "count", "sum"],
  ["desk", 200, 2, "=B2*C2"],
  ["lamp, tall", 19.5, 1, "=B3*C3"],
  ['Ünïcode "quoted"', null, true, "007"],
];
/** What is read before anybody has calculated. */
const READ = ROWS.map((row) =>
  row.map((value) => (typeof value === "string" && value.startsWith("=") ? null : value)),
);

describe.each(["xlsx", "ods"])("spreadsheet .%s", (kind) => {
  it("reads back what was written: values, formulas, ranges, sheets", async () => {
    const { call } = await open();
    const path = `plan.${kind}`;
    const written = await call({ action: "write", path, sheet: "Plan", rows: ROWS });
    expect(written.error).toBeUndefined();
    expect(written.structured).toMatchObject({
      row_count: 4,
      range: "A1:D4",
      sheet: "Plan",
      sheets: ["Plan"],
    });
    await call({
      action: "write",
      path,
      sheet: "Other",
      rows: [
        { a: 1, b: "x" },
        { b: "y", a: 2 },
      ],
    });
    const whole = await call({ action: "read", path });
    expect(whole.structured).toMatchObject({
      sheets: ["Plan", "Other"],
      sheet: "Plan",
      rows: READ,
      row_count: 4,
      formulas: { D2: "=B2*C2", D3: "=B3*C3" },
      truncated: false,
    });
    const part = await call({ action: "read", path, range: "b2:a3" });
    expect(part.structured).toMatchObject({
      rows: [
        ["desk", 200],
        ["lamp, tall", 19.5],
      ],
      range: "A2:B3",
    });
    const columns = await call({ action: "read", path, sheet: "other", range: "B:B" });
    expect(columns.structured).toMatchObject({ rows: [["b"], ["x"], ["y"]] });
    const rows = await call({ action: "read", path, sheet: "Other", range: "2:2" });
    expect(rows.structured).toMatchObject({ rows: [[1, "x"]] });
    const info = await call({ action: "info", path });
    expect(info.structured).toMatchObject({
      sheets: [
        { name: "Plan", rows: 4, columns: 4, formulas: 2 },
        { name: "Other", rows: 3, columns: 2 },
      ],
    });
  });

  it("appends by column name, updates cells, and leaves the rest alone", async () => {
    const { call } = await open();
    const path = `list.${kind}`;
    await call({
      action: "write",
      path,
      rows: [
        ["name", "n"],
        ["a", 1],
        ["b", 2],
      ],
    });
    const appended = await call({ action: "append", path, rows: [{ n: 3, name: "c" }] });
    expect(appended.structured).toMatchObject({ range: "A4:B4", row_count: 1 });
    await call({ action: "update", path, range: "B2", rows: [[10], [20]] });
    await call({ action: "update", path, range: "C2:C2", rows: [["=SUM(B2:B4)"]] });
    const { structured } = await call({ action: "read", path });
    expect(structured).toMatchObject({
      rows: [
        ["name", "n", null],
        ["a", 10, null],
        ["b", 20, null],
        ["c", 3, null],
      ],
      formulas: { C2: "=SUM(B2:B4)" },
    });
    const strange = await call({ action: "append", path, rows: [{ colour: "red" }] });
    expect(strange.error).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("colour"),
    });
    const tooBig = await call({ action: "update", path, range: "A1:A1", rows: [[1, 2]] });
    expect(tooBig.error?.message).toContain("do not fit");
  });
});

describe("spreadsheet", () => {
  it("CSV: numbers that lose nothing are numbers, everything else stays as it was written", async () => {
    const { call, cwd } = await open();
    writeFileSync(join(cwd, "a.csv"), '\ufeffid;name;day\r\n007;"Müller; Co";2026-05-01\r\n12;x;1e3\r\n');
    const { structured } = await call({ action: "read", path: "a.csv" });
    expect(structured).toMatchObject({
      rows: [
        ["id", "name", "day"],
        ["007", "Müller; Co", "2026-05-01"],
        [12, "x", 1000],
      ],
    });
    await call({ action: "append", path: "a.csv", rows: [{ name: "y", id: 13, day: "=1+1" }] });
    expect(readFileSync(join(cwd, "a.csv"), "utf8").replace(/^\ufeff/, "")).toBe(
      'id;name;day\r\n007;"Müller; Co";2026-05-01\r\n12;x;1e3\r\n13;y;=1+1\n'.replace(/\n$/, "\r\n"),
    );
  });

  it("queries by SQL over all sheets, and changes nothing", async () => {
    const { call } = await open();
    await call({
      action: "write",
      path: "s.xlsx",
      sheet: "Sales",
      rows: [
        ["region", "amount"],
        ["north", 10],
        ["south", 5],
        ["north", 7],
      ],
    });
    await call({
      action: "write",
      path: "s.xlsx",
      sheet: "Regions",
      rows: [
        ["region", "boss"],
        ["north", "Ada"],
      ],
    });
    const { structured, error } = await call({
      action: "query",
      path: "s.xlsx",
      query: "SELECT boss, sum(amount) AS total FROM data JOIN Regions USING (region) GROUP BY boss",
    });
    expect(error).toBeUndefined();
    expect(structured).toMatchObject({
      rows: [{ boss: "Ada", total: 17 }],
      columns: ["boss", "total"],
      row_count: 1,
    });
    const change = await call({ action: "query", path: "s.xlsx", query: "DELETE FROM Sales" });
    expect(change.error?.message).toMatch(/read-?only/);
    const wrong = await call({ action: "query", path: "s.xlsx", query: "SELECT not_there FROM data" });
    expect(wrong.error?.message).toContain("no such column");
  });

  it("converts between the kinds", async () => {
    const { call, cwd } = await open();
    writeFileSync(join(cwd, "a.csv"), "name,n\nx,1\ny,2\n");
    for (const [path, output] of [
      ["a.csv", "b.xlsx"],
      ["b.xlsx", "c.ods"],
      ["c.ods", "d.csv"],
    ])
      expect((await call({ action: "convert", path, output })).error).toBeUndefined();
    expect(readFileSync(join(cwd, "d.csv"), "utf8")).toBe("name,n\nx,1\ny,2\n");
  });

  it("a change keeps styles, dates and formulas of what it does not touch", async () => {
    const { call, cwd } = await open();
    const bytes = await writeXlsx({
      sheets: [
        {
          name: "S",
          rows: [
            ["a", new Date(Date.UTC(2026, 4, 1))],
            [1, 2],
          ],
          cells: new Map([
            ["0,0", { style: { font: { bold: true } } }],
            ["1,2", { formula: "A2+B2", formulaResult: 3 }],
          ]),
        },
      ],
    });
    writeFileSync(join(cwd, "s.xlsx"), bytes);
    const before = await call({ action: "read", path: "s.xlsx" });
    expect(before.structured).toMatchObject({
      rows: [
        ["a", "2026-05-01", null],
        [1, 2, 3],
      ],
    });
    const changed = await call({ action: "update", path: "s.xlsx", range: "A2", rows: [[5]] });
    expect(changed.structured).toMatchObject({ note: expect.stringContaining("1 formula") });
    const after = await openXlsx(readFileSync(join(cwd, "s.xlsx")), { readStyles: true });
    const sheet = after.sheets[0];
    expect(sheet?.cells?.get("0,0")?.style?.font?.bold).toBe(true);
    expect(sheet?.cells?.get("1,2")?.formula).toBe("A2+B2");
    // What was calculated with the old value is not passed on as true.
    const read = await call({ action: "read", path: "s.xlsx" });
    expect(read.structured).toMatchObject({
      rows: [
        ["a", "2026-05-01", null],
        [5, 2, null],
      ],
    });
  });

  it("cuts and says so; a range brings the rest", async () => {
    const { call } = await open();
    await call({ action: "write", path: "n.csv", rows: Array.from({ length: 50 }, (_, at) => [at]) });
    const first = await call({ action: "read", path: "n.csv", max_rows: 10 });
    expect(first.structured).toMatchObject({
      row_count: 10,
      total_rows: 50,
      truncated: true,
      range: "A1:A10",
    });
    const rest = await call({ action: "read", path: "n.csv", range: "41:50" });
    expect(rest.structured).toMatchObject({ row_count: 10, rows: expect.arrayContaining([[49]]) });
  });

  it("says what is wrong", async () => {
    const { call, cwd } = await open();
    writeFileSync(join(cwd, "no.xlsx"), "this is no workbook");
    writeFileSync(join(cwd, "a.csv"), "a\n1\n");
    const cases: readonly [Record<string, unknown>, string][] = [
      [{ action: "read", path: "gone.xlsx" }, "There is no file"],
      [{ action: "read", path: "no.xlsx" }, "cannot be read"],
      [{ action: "read", path: "a.docx" }, "no ending of a spreadsheet"],
      [{ action: "read", path: "a.csv", range: "nonsense!" }, "is no range"],
      [{ action: "write", path: "b.xlsx" }, "needs rows"],
      [{ action: "convert", path: "a.csv" }, "needs output"],
      [{ action: "query", path: "a.csv" }, "needs query"],
      [{ action: "write", path: "b.xlsx", sheet: "a/b", rows: [[1]] }, "name of a sheet"],
      [{ action: "write", path: "b.xlsx", rows: [[{ deep: 1 }]] }, "A cell holds"],
      [{ action: "write", path: "b.xls", rows: [[1]] }, "can only be read"],
    ];
    for (const [args, message] of cases) {
      const { error } = await call(args);
      expect([args, error?.message]).toEqual([args, expect.stringContaining(message)]);
    }
    expect(existsSync(join(cwd, "b.xlsx"))).toBe(false);
  });

  it("the work ends with the call", async () => {
    const { call } = await open();
    await call({
      action: "write",
      path: "big.csv",
      rows: Array.from({ length: 20_000 }, (_, at) => [at, "x".repeat(50), at * 2]),
    });
    const controller = new AbortController();
    const running = call({ action: "convert", path: "big.csv", output: "big.xlsx" }, controller.signal);
    setTimeout(() => controller.abort(), 30);
    expect((await running).error?.code).toBe("cancelled");
  });

  const openpyxl = hasOpenpyxl();
  it.skipIf(!openpyxl)("openpyxl reads what was written, and the other way round", async () => {
    const { call, cwd } = await open();
    await call({ action: "write", path: "plan.xlsx", sheet: "Plan", rows: ROWS });
    const seen = execFileSync(
      "/usr/bin/python3",
      [
        "-c",
        "import openpyxl,json;print(json.dumps([[c.value for c in r] for r in openpyxl.load_workbook('plan.xlsx')['Plan'].iter_rows()]))",
      ],
      { cwd, encoding: "utf8" },
    );
    expect(JSON.parse(seen)).toEqual(ROWS);
    execFileSync(
      "/usr/bin/python3",
      [
        "-c",
        "import openpyxl;w=openpyxl.Workbook();s=w.active;s.title='P';s.append(['a',1.5,True,None,'=B1*2']);w.save('p.xlsx')",
      ],
      { cwd },
    );
    const { structured } = await call({ action: "read", path: "p.xlsx" });
    expect(structured).toMatchObject({
      sheet: "P",
      rows: [["a", 1.5, true, null, null]],
      formulas: { E1: "=B1*2" },
    });
  });
});

/** Of the system's Python: others do not see its packages. */
function hasOpenpyxl(): boolean {
  return existsSync("/usr/lib/python3/dist-packages/openpyxl/__init__.py");
}
