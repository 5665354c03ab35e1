import { ageText } from "../../base/human.js";
import { visible } from "../../base/visible-text.js";
import type { ProcessRow } from "../../env/processes/process-rows.js";
import type { CommandContext } from "../context.js";
import { brief } from "../output.js";
import { statusNow, withProcessRows } from "./rows.js";

export async function ps(context: CommandContext): Promise<void> {
  const { out, options } = context;
  await withProcessRows(context, async (store) => {
    const rows = store?.list({ all: options.all === true }) ?? [];
    const empty =
      options.all === true ? "No background processes are recorded." : "No background processes run.";
    const head = ["id", "status", "pid", "age", "session", "environment", "command"];
    out.list({ rows, asJson: publicRow, head, cells, empty });
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

function cells(row: ProcessRow): readonly string[] {
  const status = statusNow(row);
  return [
    row.id,
    status === "exited" ? `exited ${row.exitCode ?? "?"}` : status,
    row.pid === undefined ? "-" : String(row.pid),
    ageText((row.endedAt ?? Date.now()) - row.startedAt),
    row.session,
    row.environment,
    brief(visible(row.command), 72),
  ];
}
