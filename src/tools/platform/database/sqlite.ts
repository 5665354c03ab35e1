import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { Query, QueryAnswer, QueryJob } from "./query-job.js";
import { RowCollector } from "./row-collector.js";
import { SQLITE_PROGRAM } from "./sqlite-program.gen.js";
import { tooLate } from "./time-limit.js";

/** How long a file that another program is writing is waited for. */
const BUSY_MS = 5_000;
/** A single value of this size is an error of the database; it would have to be held in memory whole. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const MAX_VALUE_CHARS = 100_000;

type ProgramAnswer =
  | {
      readonly columns: readonly string[];
      readonly rows: readonly (readonly unknown[])[];
      readonly more?: boolean;
      readonly changed?: number;
    }
  | { readonly error: string; readonly code?: number };

export async function querySqlite({
  job,
  ctx,
  file,
  configured,
}: Query & { file: string; configured: boolean }): Promise<QueryAnswer> {
  const place = await openFile({ job, ctx, file, configured });
  try {
    return { ...(await askSqlite({ job, ctx, file: place.file })), note: place.note };
  } finally {
    await place.close();
  }
}

export interface MemoryTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** It is also there as `data`. */
  readonly chosen: boolean;
}

/** A query over tables that are made for it alone. */
export function queryTables({
  tables,
  ...query
}: Query & { tables: readonly MemoryTable[] }): Promise<QueryAnswer> {
  return askSqlite({ ...query, file: ":memory:", tables });
}

async function askSqlite(question: Question): Promise<QueryAnswer> {
  const { job } = question;
  const answer = await runProgram(question);
  if ("error" in answer) throw sqliteFailure(answer, job);
  const rows = new RowCollector(job);
  rows.setColumns(answer.columns);
  for (const row of answer.rows) if (!rows.add(row)) break;
  return rows.answer({ changed: answer.changed });
}

interface Question extends Query {
  readonly file: string;
  readonly tables?: readonly MemoryTable[] | undefined;
}

interface Place {
  readonly file: string;
  readonly note?: string | undefined;
  close(): Promise<void>;
}

/** The file itself; of an environment elsewhere a copy, which can only be read. */
async function openFile({
  job,
  ctx,
  file,
  configured,
}: Query & { file: string; configured: boolean }): Promise<Place> {
  const nothing = () => Promise.resolve();
  if (file === ":memory:" || file === "") return { file: ":memory:", close: nothing };
  const { environment } = ctx;
  if (configured && environment.kind !== "local") return { file, close: nothing };
  const path = environment.files.resolve(file, ctx.session.cwd);
  const real = await environment.files.realpath(path);
  const stat = await environment.files.stat(real);
  if (stat !== undefined && stat.type !== "file") {
    throw new ToolError(`${path} is not a file.`, {
      code: "invalid_arguments",
      hint: "Name the database file.",
    });
  }
  if (stat === undefined && job.readonly) {
    throw new ToolError(`There is no database ${path}.`, {
      hint: "Check the name with directory_list; readonly: false creates a new one.",
    });
  }
  if (environment.kind === "local") {
    // Reading one byte passes the guard of the call: a link that has turned meanwhile ends here.
    if (stat !== undefined) await environment.files.read(real, { start: 0, end: 1 });
    return {
      file: real,
      note: stat === undefined ? "The database file was created." : undefined,
      close: nothing,
    };
  }
  return copyOf({ real, path, job, ctx });
}

async function copyOf(from: { real: string; path: string; job: QueryJob; ctx: CallContext }): Promise<Place> {
  const { environment, signal } = from.ctx;
  const elsewhere = `${from.path} lies in the environment ${environment.name}`;
  if (!from.job.readonly) {
    throw new ToolError(`${elsewhere}, where SQLite files can only be read from here.`, {
      code: "unavailable",
      hint: "Change it with the program sqlite3 in the terminal.",
    });
  }
  const log = await environment.files.stat(`${from.real}-wal`);
  if (log !== undefined && log.size > 0) {
    throw new ToolError(`${elsewhere} and has changes that are not in the file yet (${from.path}-wal).`, {
      hint: `Run sqlite3 ${JSON.stringify(from.path)} 'PRAGMA wal_checkpoint(TRUNCATE)' in the terminal, then ask again.`,
    });
  }
  const folder = await mkdtemp(join(tmpdir(), "hermes-sqlite-"));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, "copy.db");
    await environment.fetch({ from: from.real, to: file, signal });
    return { file, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function runProgram({ job, ctx, file, tables }: Question): Promise<ProgramAnswer> {
  ctx.signal.throwIfAborted();
  const child = spawn(process.execPath, ["--no-warnings", "-e", SQLITE_PROGRAM], {
    // Neither the variables nor the options of this process are any of its business; Windows starts nothing without
    // this one.
    env: process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const stop = () => child.kill("SIGKILL");
  ctx.signal.addEventListener("abort", stop, { once: true });
  let late = false;
  const clock = setTimeout(() => {
    late = true;
    stop();
  }, job.timeoutMs);
  try {
    const answer = await answerOf(child, {
      ...job,
      driver: createRequire(import.meta.url).resolve("@photostructure/sqlite"),
      file,
      tables,
      busyMs: Math.min(BUSY_MS, job.timeoutMs),
      maxValueBytes: MAX_VALUE_BYTES,
      maxValueChars: MAX_VALUE_CHARS,
    });
    if (typeof answer !== "string") return answer;
    ctx.signal.throwIfAborted();
    if (late) throw tooLate(job);
    throw new ToolError(`The process that runs the query ended: ${answer}.`, {
      hint: "Ask for less, or look at the database with sqlite3 in the terminal.",
    });
  } finally {
    clearTimeout(clock);
    ctx.signal.removeEventListener("abort", stop);
    if (child.exitCode === null && child.signalCode === null) stop();
  }
}

/** The answer, or how the process ended without one. */
function answerOf(child: ChildProcess, order: object): Promise<ProgramAnswer | string> {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-1_000);
  });
  return new Promise((resolve) => {
    child.once("message", (answer) => resolve(answer as ProgramAnswer));
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`${signal ?? code} ${complaint.trim()}`.trim()));
    child.send(order, (error) => {
      if (error !== null) resolve(error.message);
    });
  });
}

const SQLITE_READONLY = 8;
const SQLITE_AUTH = 23;
const SQLITE_NOTADB = 26;

function sqliteFailure({ error, code }: Extract<ProgramAnswer, { error: string }>, job: QueryJob): ToolError {
  const primary = code === undefined ? undefined : code & 0xff;
  if (job.readonly && (primary === SQLITE_READONLY || /readonly|query_only/.test(error)))
    return new ToolError(`SQLite refused: ${error}.`, {
      hint: "The query would change the database. With readonly: false a person is asked to allow it.",
    });
  if (primary === SQLITE_AUTH || error === "not authorized")
    return new ToolError("SQLite refused: other database files are closed to this call.", {
      hint: "Open the other file with a call of its own.",
    });
  if (primary === SQLITE_NOTADB)
    return new ToolError("The file is no SQLite database (or an encrypted one).", {
      hint: "Check the name; read_file shows what kind of file it is.",
    });
  return new ToolError(`SQLite: ${error}.`, {
    hint: "Correct the query. SELECT name, sql FROM sqlite_schema shows the tables.",
  });
}
