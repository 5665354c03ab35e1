import { basename, extname } from "node:path";
import { sizeText } from "../../base/human.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { absolutePath, locate } from "../files/paths.js";
import { decodeText, detectEncoding } from "../files/text-encoding.js";
import { writeVerified } from "../files/write-verified.js";
import type { ChangedBook, SheetJob } from "./sheets/sheet-job.js";
import { humanText, modelText, type SheetOutput } from "./sheets/shown-sheet.js";

const MAX_FILE_BYTES = 100 * 1024 * 1024;
const MAX_CHARS = 1_000_000;
const ACTIONS = ["read", "write", "append", "update", "query", "convert", "info"] as const;
const WRITES: readonly string[] = ["write", "append", "update", "convert"];

export default defineTool({
  name: "spreadsheet",
  toolset: "spreadsheet",
  emoji: "📗",
  description:
    "Work with XLSX, ODS and CSV files: read a range, write a sheet, append rows, update cells, query by SQL (the " +
    "first row names the columns, the sheet is the table data), convert, info. Cells that begin with = are formulas.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      path: { type: "string", minLength: 1 },
      sheet: { type: "string", description: "The first one unless said" },
      range: { type: "string", description: "A1:C9, A:C, 2:5; update: also just the first cell" },
      rows: {
        type: "array",
        items: { type: ["array", "object"] },
        description: "Lists of values, or objects by column name",
      },
      query: {
        type: "string",
        description: "SQL for query: SELECT region, sum(amount) FROM data GROUP BY region",
      },
      output: { type: "string", description: "File to write instead of path; convert needs it" },
      max_rows: { type: "integer", minimum: 1, maximum: 10_000, default: 500 },
    },
    required: ["action", "path"],
    additionalProperties: false,
  },
  permissions: ["file:read", "file:write"],
  everyCallNeeds: ["file:read"],
  changesThroughEnvironment: true,
  effects: ({ action, path, output }, scope) => {
    const from = absolutePath(path, scope);
    const to = absolutePath(output ?? path, scope);
    const reads: Effect = { action: "file:read", resource: from, mode: "read" };
    return WRITES.includes(action)
      ? [reads, { action: "file:write", resource: to, mode: "write", reversible: false }]
      : [reads];
  },
  timeoutMs: 120_000,

  async handler(args, ctx): Promise<SheetOutput> {
    const { action } = args;
    const { formatOf, isTextFormat, runSheetJob } = await import("./sheets/sheet-job.js");
    const source = await locate(args.path, ctx);
    const target = args.output === undefined ? source : await locate(args.output, ctx);
    if (action === "convert" && args.output === undefined)
      throw missing("convert", "output", "the file to write");
    if (action === "query" && args.query === undefined) throw missing("query", "query", "an SQL query");
    if (["write", "append", "update"].includes(action) && args.rows === undefined)
      throw missing(action, "rows", "the rows to write");
    const format = formatOf(source.path) ?? unknownKind(source.path);
    const outputFormat = formatOf(target.path) ?? unknownKind(target.path);
    const bytes = await contentOf(source, ctx);
    if (bytes === undefined && !["write", "append"].includes(action)) {
      throw new ToolError(`There is no file ${source.path}.`, {
        hint: "Check the name with directory_list; write and append make a new file.",
      });
    }
    const job: SheetJob = {
      action,
      format,
      outputFormat: WRITES.includes(action) ? outputFormat : format,
      name: basename(source.path, extname(source.path)).slice(0, 31) || "Sheet1",
      // A text file has one sheet, whatever somebody calls it.
      sheet: isTextFormat(format) ? undefined : args.sheet,
      range: args.range,
      rows: args.rows,
      maxRows: args.max_rows,
      maxChars: MAX_CHARS,
      ...(isTextFormat(format)
        ? { text: bytes === undefined ? "" : await textOf(source.path, bytes) }
        : { bytes }),
    };
    const base = { success: true, status: "success", action, path: target.path } as const;
    if (action === "info") {
      const { sheets } = await runSheetJob({ ...job, action }, ctx.signal);
      return { ...base, sheets, row_count: sheets.reduce((sum, { rows }) => sum + rows, 0) };
    }
    if (action === "read") {
      const { formulas, ...part } = await runSheetJob({ ...job, action }, ctx.signal);
      return {
        ...base,
        ...part,
        columns: (part.rows[0] ?? []).map((value) => (value === null ? "" : String(value))),
        row_count: part.rows.length,
        ...(Object.keys(formulas).length > 0 && { formulas }),
        ...(part.truncated && { note: "There are more rows: name a range, or raise max_rows." }),
      };
    }
    if (action === "query")
      return { ...base, ...(await query(job, { ctx, sql: args.query ?? "", run: runSheetJob })) };
    const changed: ChangedBook = await runSheetJob({ ...job, action }, ctx.signal);
    await writeVerified({ real: target.real, bytes: changed.bytes, ctx });
    return {
      ...base,
      sheets: changed.sheets,
      sheet: changed.sheet,
      range: changed.range,
      row_count: changed.row_count ?? 0,
      bytes_written: changed.bytes.length,
      ...((changed.waiting ?? 0) > 0 && {
        note: `${changed.waiting} formulas get their values when the file is opened in an office program.`,
      }),
    };
  },

  present: (out) => ({ model: [text(modelText(out))], human: humanText(out) }),

  examples: [
    {
      title: "Ask a CSV file by SQL",
      files: { "sales.csv": "region,amount\nnorth,10\nsouth,5\nnorth,7\n" },
      arguments: {
        action: "query",
        path: "sales.csv",
        query: "SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region",
      },
      result: {
        rows: [
          { region: "north", total: 17 },
          { region: "south", total: 5 },
        ],
        row_count: 2,
      },
    },
    {
      title: "Write a sheet with a formula and read a part of it",
      before: [
        {
          name: "spreadsheet",
          arguments: {
            action: "write",
            path: "plan.xlsx",
            sheet: "Plan",
            rows: [
              ["item", "price", "count", "sum"],
              ["desk", 200, 2, "=B2*C2"],
            ],
          },
        },
      ],
      arguments: { action: "read", path: "plan.xlsx", range: "A2:D2" },
      result: { sheet: "Plan", rows: [["desk", 200, 2, null]], formulas: { D2: "=B2*C2" } },
    },
  ],
});

type RunSheetJob = typeof import("./sheets/sheet-job.js").runSheetJob;

async function query(
  job: SheetJob,
  { ctx, sql, run }: { readonly ctx: CallContext; readonly sql: string; readonly run: RunSheetJob },
): Promise<Pick<SheetOutput, "sheets" | "rows" | "columns" | "row_count" | "truncated">> {
  const [{ tables }, { queryTables }] = await Promise.all([
    run({ ...job, action: "query" }, ctx.signal),
    import("./database/sqlite.js"),
  ]);
  const answer = await queryTables({
    tables,
    ctx,
    job: {
      query: sql,
      params: undefined,
      maxRows: job.maxRows,
      maxBytes: MAX_CHARS,
      readonly: true,
      explain: false,
      timeoutMs: 60_000,
    },
  });
  return {
    sheets: tables.map(({ name }) => name),
    rows: answer.rows,
    columns: answer.columns,
    row_count: answer.rows.length,
    truncated: answer.truncated,
  };
}

async function contentOf(
  source: { path: string; real: string },
  ctx: CallContext,
): Promise<Uint8Array | undefined> {
  const stat = await ctx.environment.files.stat(source.real);
  if (stat === undefined) return undefined;
  if (stat.type !== "file") {
    throw new ToolError(`${source.path} is not a file.`, {
      code: "invalid_arguments",
      hint: "Name a spreadsheet file.",
    });
  }
  if (stat.size > MAX_FILE_BYTES) {
    throw new ToolError(
      `${source.path} has ${sizeText(stat.size, "decimal")}; spreadsheets are read up to ${sizeText(MAX_FILE_BYTES, "decimal")}.`,
      { hint: "Split it, or load it into a database and use database_query." },
    );
  }
  return ctx.environment.files.read(source.real);
}

async function textOf(path: string, bytes: Uint8Array): Promise<string> {
  const encoding = detectEncoding(bytes);
  if (encoding !== undefined || bytes.length === 0)
    return encoding === undefined ? "" : decodeText(bytes, encoding);
  throw new ToolError(`${path} is not a text file.`, {
    hint: "Its name may be wrong: read_file shows what it is.",
  });
}

function missing(action: string, argument: string, what: string): ToolError {
  return new ToolError(`${action} needs ${argument}.`, {
    code: "invalid_arguments",
    hint: `Give ${argument}: ${what}.`,
  });
}

function unknownKind(path: string): never {
  throw new ToolError(`${path} has no ending of a spreadsheet.`, {
    code: "invalid_arguments",
    hint: "Known are .xlsx, .xlsm, .ods, .csv, .tsv, and for reading .xls and .xlsb.",
  });
}
