import { visible } from "../base/visible-text.js";
import type { ProcessRow } from "../env/processes/process-rows.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";
import { statusNow, withProcessRows } from "./process-rows.js";

export async function run(
  context: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  await withProcessRows(context, async (store) => {
    const rows = store?.list({ all: options.all === true }) ?? [];
    if (out.json) {
      out.values(rows.map(publicRow));
      return;
    }
    if (rows.length === 0) {
      out.line(
        options.all === true ? "No background processes are recorded." : "No background processes run.",
      );
      return;
    }
    const head = ["id", "status", "pid", "age", "session", "environment", "command"];
    for (const line of table([head, ...rows.map(rowOf)])) out.line(line);
    if (rows.some((row) => row.status === "running" && statusNow(row) === "lost")) {
      out.note("lost: the runtime that followed it died. The next one ends what it left, or: hermes kill ID");
    }
  });
}

/** A row as programs see it; the same over HTTP. */
function publicRow(row: ProcessRow): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    status: statusNow(row),
    exit_code: row.exitCode ?? null,
    lost: row.lost ?? null,
    pid: row.pid ?? null,
    command: row.command,
    cwd: row.cwd,
    environment: row.environment,
    session: row.session,
    pty: row.pty,
    handed_off: row.handedOff,
    started_at: row.startedAt,
    ended_at: row.endedAt ?? null,
  };
}

function rowOf(row: ProcessRow): readonly string[] {
  const status = statusNow(row);
  return [
    row.id,
    status === "exited" ? `exited ${row.exitCode ?? "?"}` : status,
    row.pid === undefined ? "-" : String(row.pid),
    duration((row.endedAt ?? Date.now()) - row.startedAt),
    row.session,
    row.environment,
    brief(visible(row.command), 72),
  ];
}

function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
