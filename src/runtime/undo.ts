import type { ChangeQuery, ChangeRow } from "../call/undo/change-rows.js";
import { type Restored, restoreAll } from "../call/undo/restore.js";
import type { EnvironmentFiles } from "../env/environment.js";
import { failure, HermesError, ToolError } from "../tool/errors.js";
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
