import { visible } from "../base/visible-text.js";
import { type ApprovalRecord, publicRecord } from "../policy/approvals/record.js";
import { withApprovals } from "./approvals-store.js";
import type { CommandContext } from "./globals.js";
import { brief, table } from "./output.js";

export async function run(
  context: CommandContext,
  _args: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  const all = options.all === true;
  await withApprovals(context, async (store) => {
    const records = store.list({ all });
    if (out.json) {
      out.values(records.map((record) => publicRecord(record, { ownerAlive: store.isOwnerAlive(record) })));
      return;
    }
    if (records.length === 0) {
      out.line(all ? "No approvals are recorded." : "Nothing waits for approval.");
      return;
    }
    const rows = records.map((record) => rowOf(record, store.isOwnerAlive(record)));
    const head = ["id", "tool", "state", "age", "left", "asked by", "reason", "what"];
    for (const line of table([head, ...rows])) out.line(line);
    const [first] = records.filter((record) => record.status === "pending");
    if (first !== undefined)
      out.note(`Answer with: hermes approvals approve ${first.id}, or deny ${first.id} [reason]`);
  });
}

function rowOf(record: ApprovalRecord, ownerAlive: boolean): readonly string[] {
  const { shown, createdAt, expiresAt, status } = record;
  const now = Date.now();
  const open = status === "pending" || status === "approved";
  return [
    record.id,
    visible(record.tool),
    open && !ownerAlive ? `${status}, asker gone` : status,
    duration(now - createdAt),
    open ? duration(Math.max(0, expiresAt - now)) : "-",
    `${shown.door} ${shown.session}`,
    brief(visible(shown.reason), 48),
    brief(visible(shown.what), 72),
  ];
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
