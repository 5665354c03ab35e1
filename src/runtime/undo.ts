import type { ChangeQuery, ChangeRow } from "../call/undo/change-rows.js";
import { type Restored, restoreAll } from "../call/undo/restore.js";
import type { EnvironmentFiles } from "../env/environment.js";
import { failure, HermesError, ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import { fileChangesOf } from "./file-changes.js";
import type { Runtime } from "./runtime.js";

/** Changes that calls made to files, newest first. */
export async function listChanges(runtime: Runtime, query: ChangeQuery): Promise<readonly ChangeRow[]> {
  return (await changesOf(runtime).rows()).find(query);
}

/** A change as programs see it. */
export function publicChange(row: ChangeRow) {
  return {
    change: row.seq,
    call: row.callId,
    session: row.session,
    tool: row.tool,
    at: new Date(row.at).toISOString(),
    environment: row.environment,
    kind: row.kind,
    path: row.path,
    target: row.target ?? null,
    existed: row.existed,
    kept: row.kept,
    undone_at: row.undoneAt === undefined ? null : new Date(row.undoneAt).toISOString(),
  };
}

/** What a file held before a change and after it, as text; `missing` says why not. */
export interface ChangeTexts {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly missing?: string | undefined;
}

/** Texts of these changes, newest first; what a change left is what the next one found there, or what is there now. */
export async function changeTexts(
  runtime: Runtime,
  { rows, maxBytes }: { readonly rows: readonly ChangeRow[]; readonly maxBytes: number },
): Promise<readonly ChangeTexts[]> {
  const { bytes } = changesOf(runtime);
  const found = new Map<string, ChangeTexts["after"] | { readonly missing: string }>();
  const texts: ChangeTexts[] = [];
  for (const row of rows) {
    const place = `${row.environment}\0${row.target ?? row.path}`;
    const left = found.has(place) ? found.get(place) : await textAt(runtime, row, maxBytes);
    const before = !row.existed
      ? ""
      : !row.kept || row.before === undefined
        ? NOT_KEPT
        : textOf(await bytes.get(row.before), maxBytes);
    found.set(`${row.environment}\0${row.path}`, before);
    const missing = [before, left].find((one) => typeof one === "object");
    texts.push(
      typeof missing === "object"
        ? { missing: missing.missing }
        : { before: typeof before === "string" ? before : "", after: typeof left === "string" ? left : "" },
    );
  }
  return texts;
}

const NOT_KEPT = { missing: "what it held before was not kept" };

async function textAt(runtime: Runtime, row: ChangeRow, maxBytes: number) {
  try {
    const files = await filesOf(runtime, row.environment);
    const path = row.target ?? row.path;
    const stat = await files.stat(path);
    if (stat === undefined) return "";
    if (stat.size > maxBytes) return { missing: "it is too long to be shown" };
    return textOf(await files.read(path), maxBytes);
  } catch (error) {
    return { missing: describeThrown(error).message };
  }
}

function textOf(bytes: Uint8Array | undefined, maxBytes: number): string | { readonly missing: string } {
  if (bytes === undefined) return NOT_KEPT;
  if (bytes.length > maxBytes) return { missing: "it is too long to be shown" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? { missing: "it is not text" } : text;
  } catch {
    return { missing: "it is not text" };
  }
}

/** Takes these changes back as far as the files are still as the calls left them. */
export async function undoChanges(
  runtime: Runtime,
  request: { readonly rows: readonly ChangeRow[]; readonly dryRun?: boolean },
): Promise<readonly Restored[]> {
  const opened = new Map<string, Promise<EnvironmentFiles>>();
  return restoreAll({
    changes: changesOf(runtime),
    rows: request.rows,
    dryRun: request.dryRun === true,
    files: (environment) => {
      const files = opened.get(environment) ?? filesOf(runtime, environment);
      opened.set(environment, files);
      return files;
    },
  });
}

function changesOf(runtime: Runtime) {
  const changes = fileChangesOf(runtime);
  if (changes !== undefined) return changes;
  throw new HermesError(
    failure(
      "unavailable",
      "What files held before is not kept here",
      "It is switched off: see undo.enabled and journal.enabled with `hermes config get`.",
    ),
  );
}

async function filesOf(runtime: Runtime, name: string): Promise<EnvironmentFiles> {
  const [kind = name] = /^[a-z]+/.exec(name) ?? [];
  const session = await runtime.openSession({ environment: kind, toolsets: [] });
  if (session.environment === name) return session.scope.environment.files;
  throw new ToolError(`it was made in ${name}, and the configuration now leads to ${session.environment}`);
}
