import { ageText } from "../../base/human.js";
import { visible } from "../../base/visible-text.js";
import { type ApprovalRecord, publicRecord } from "../../policy/approvals/record.js";
import type { CommandContext } from "../context.js";
import { brief } from "../output.js";
import { withApprovals } from "./store.js";

const HEAD = ["id", "tool", "state", "age", "left", "asked by", "reason", "what"];

export async function list(context: CommandContext): Promise<void> {
  const { out, options } = context;
  const all = options.all === true;
  await withApprovals(context, async (store) => {
    const records = store.list({ all });
    out.list({
      rows: records,
      asJson: (record) => publicRecord(record, { ownerAlive: store.isOwnerAlive(record) }),
      head: HEAD,
      cells: (record) => cells(record, store.isOwnerAlive(record)),
      empty: all ? "No approvals are recorded." : "Nothing waits for approval.",
    });
    const first = records.find((record) => record.status === "pending");
    if (first !== undefined)
      out.note(`Answer with: hermes approvals approve ${first.id}, or deny ${first.id} [reason]`);
  });
}

function cells(record: ApprovalRecord, ownerAlive: boolean): readonly string[] {
  const { shown, createdAt, expiresAt, status } = record;
  const now = Date.now();
  const open = status === "pending" || status === "approved";
  return [
    record.id,
    visible(record.tool),
    open && !ownerAlive ? `${status}, asker gone` : status,
    ageText(now - createdAt),
    open ? ageText(expiresAt - now) : "-",
    `${shown.door} ${shown.session}`,
    brief(visible(shown.reason), 48),
    brief(visible(shown.what), 72),
  ];
}
