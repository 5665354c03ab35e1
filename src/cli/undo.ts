import { visible } from "../base/visible-text.js";
import type { ChangeRow } from "../call/undo/change-rows.js";
import type { Restored } from "../call/undo/restore.js";
import type { Runtime } from "../runtime/runtime.js";
import { listChanges, publicChange, undoChanges } from "../runtime/undo.js";
import type { HermesError } from "../tool/errors.js";
import type { CommandContext } from "./context.js";
import { commandError } from "./errors.js";

const LISTED = 30;

export async function undo(context: CommandContext): Promise<void> {
  const { out, flags, options } = context;
  const [call] = context.args;
  const runtime = await context.runtime({ userTools: false });
  try {
    const since = typeof options.since === "string" ? timeOf(options.since) : undefined;
    if (call === undefined && since === undefined) return await list(context, runtime, options.all === true);
    const rows = await chosen(runtime, { call, since, session: options.session });
    const done = await undoChanges(runtime, { rows, dryRun: flags.dryRun === true });
    if (out.json) out.values(done);
    else for (const one of done) out.line(lineOf(one, context));
    if (!out.json && done.length === 0) out.line("Nothing to undo.");
    if (done.some(({ outcome }) => outcome === "left")) process.exitCode = 3;
  } finally {
    await runtime.close();
  }
}

async function list({ out }: CommandContext, runtime: Runtime, all: boolean): Promise<void> {
  const rows = await listChanges(runtime, { limit: LISTED, all });
  if (out.json) return out.values(rows.map(publicChange));
  if (rows.length === 0) return out.line("No changes of files are recorded.");
  const head = ["change", "when", "call", "tool", "did", "file"];
  out.table([head, ...rows.map(cells)]);
  out.note("hermes undo CHANGE | CALL takes one back, --since 10m everything since; --dry-run only shows it");
}

function cells(row: ChangeRow): readonly string[] {
  const did = row.kind === "write" ? (row.existed ? "changed" : "created") : `${row.kind}d`;
  return [
    String(row.seq),
    new Date(row.at).toISOString().replace("T", " ").slice(0, 19),
    row.callId,
    row.tool,
    row.undoneAt === undefined ? did : `${did}, undone`,
    visible(row.target === undefined ? row.path : `${row.path} → ${row.target}`),
  ];
}

function lineOf(one: Restored, { out }: CommandContext): string {
  const what = one.outcome === "left" ? `left alone: ${one.reason ?? ""}` : (one.did ?? "");
  const would = one.outcome === "would-restore" ? "would be: " : "";
  return `${out.mark(one.outcome === "left" ? "warning" : "ok")} ${visible(one.path)}  ${would}${what}`;
}

/** Every change of the call; call ids repeat from session to session, and then the newest is meant. */
async function chosen(
  runtime: Runtime,
  wanted: {
    readonly call: string | undefined;
    readonly since: number | undefined;
    readonly session: unknown;
  },
): Promise<readonly ChangeRow[]> {
  const { call, since } = wanted;
  const session = typeof wanted.session === "string" ? { session: wanted.session } : {};
  if (call === undefined) return listChanges(runtime, { ...session, since });
  if (/^\d+$/.test(call)) {
    const row = (await listChanges(runtime, { all: true })).find(({ seq }) => seq === Number(call));
    if (row !== undefined) return [row];
  }
  const rows = await listChanges(runtime, { call, ...session, since });
  const [newest] = rows;
  if (newest === undefined) throw unknownCall(call);
  return rows.filter((row) => row.session === newest.session);
}

function unknownCall(call: string): HermesError {
  return commandError(
    "not_found",
    `No change of a file by ${JSON.stringify(call)} is waiting to be undone`,
    "`hermes undo` lists the changes that can be; --all also those that were undone.",
  );
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "10m" ago, or a time as people write it. */
function timeOf(text: string): number {
  const ago = /^(\d+(?:\.\d+)?)\s*([smhd])$/.exec(text.trim());
  if (ago !== null) return Date.now() - Number(ago[1]) * (UNITS[ago[2] ?? ""] ?? 0);
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw commandError(
    "bad_request",
    `${JSON.stringify(text)} is not a time`,
    "Write 30s, 10m, 2h, 1d, or a time such as 2026-05-01T14:00.",
  );
}
