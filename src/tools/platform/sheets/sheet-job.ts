import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { ToolError } from "../../../tool/errors.js";
import type { MemoryTable } from "../database/sqlite.js";
import { SHEET_THREAD } from "./sheet-thread.gen.js";

export type SheetFormat = "xlsx" | "ods" | "csv" | "tsv" | "xls" | "xlsb";

const FORMATS: Readonly<Record<string, SheetFormat>> = {
  xlsx: "xlsx",
  xlsm: "xlsx",
  ods: "ods",
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  txt: "csv",
  xls: "xls",
  xlsb: "xlsb",
};

/** Memory of the thread: a workbook takes some thirty times its size in the file. */
const HEAP_MB = 2_048;

export type Cell = string | number | boolean | null;

/** One job for the spreadsheet library. Text files come decoded, the others as bytes; neither for a new file. */
export interface SheetJob {
  readonly action: "read" | "write" | "append" | "update" | "query" | "convert" | "info";
  readonly format: SheetFormat;
  readonly bytes?: Uint8Array | undefined;
  readonly text?: string | undefined;
  readonly outputFormat: SheetFormat;
  /** What the only sheet of a text file is called. */
  readonly name: string;
  readonly sheet?: string | undefined;
  readonly range?: string | undefined;
  readonly rows?: readonly unknown[] | undefined;
  readonly maxRows: number;
  readonly maxChars: number;
}

export interface DescribedSheet {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly header: readonly Cell[];
  readonly formulas?: number;
  readonly hidden?: boolean;
}

export interface ReadPart {
  readonly sheets: readonly string[];
  readonly sheet: string;
  readonly range?: string | undefined;
  readonly rows: readonly (readonly Cell[])[];
  readonly total_rows: number;
  readonly truncated: boolean;
  readonly formulas: Readonly<Record<string, string>>;
}

export interface ChangedBook {
  readonly bytes: Uint8Array;
  readonly sheets: readonly string[];
  readonly sheet?: string;
  readonly range?: string | undefined;
  readonly row_count?: number;
  /** Formulas whose results nobody has calculated yet. */
  readonly waiting?: number;
}

interface Answers {
  readonly info: { readonly sheets: readonly DescribedSheet[] };
  readonly read: ReadPart;
  readonly query: { readonly tables: readonly MemoryTable[] };
  readonly convert: ChangedBook;
  readonly write: ChangedBook;
  readonly append: ChangedBook;
  readonly update: ChangedBook;
}

/** By the end of the name; undefined when it is none of them. */
export function formatOf(path: string): SheetFormat | undefined {
  const [, extension] = /\.([a-z]+)$/i.exec(path) ?? [];
  const known = extension?.toLowerCase() ?? "";
  return Object.hasOwn(FORMATS, known) ? FORMATS[known] : undefined;
}

export const isTextFormat = (format: SheetFormat): boolean => format === "csv" || format === "tsv";

/** Ends with the call, whatever the thread is about to find. */
export async function runSheetJob<Job extends SheetJob>(
  job: Job,
  signal: AbortSignal,
): Promise<Answers[Job["action"]]> {
  signal.throwIfAborted();
  const library = createRequire(import.meta.url).resolve("hucre");
  const worker = new Worker(SHEET_THREAD, {
    eval: true,
    workerData: { library, job },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", (message: ThreadMessage<Answers[Job["action"]]>) =>
        "answer" in message ? resolve(message.answer) : reject(failureOf(message)),
      );
      worker.once("error", (error: NodeJS.ErrnoException) => reject(threadFailure(error)));
      worker.once("exit", () => reject(signal.reason ?? new Error("the thread for spreadsheets ended")));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

type ThreadMessage<Answer> =
  | { readonly answer: Answer }
  | { readonly problem: string; readonly told: boolean };

function failureOf({ problem, told }: { readonly problem: string; readonly told: boolean }): ToolError {
  if (told) {
    const [what = problem, ...rest] = problem.split(/(?<=\.) /);
    return new ToolError(what, { code: "invalid_arguments", hint: rest.join(" ") || undefined });
  }
  return new ToolError(`The spreadsheet cannot be read or written: ${problem.replace(/\.$/, "")}.`, {
    hint: "The file may be damaged, protected by a password, or of another kind than its name says.",
  });
}

function threadFailure(error: NodeJS.ErrnoException): ToolError {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? new ToolError(`The spreadsheet needs more than ${HEAP_MB} MB of memory.`, {
        hint: "Convert it to .csv with another program and read it in parts, or load it into a database.",
      })
    : new ToolError(`The spreadsheet cannot be read: ${error.message}.`, { cause: error });
}
