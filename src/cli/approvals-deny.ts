import { visible } from "../base/visible-text.js";
import { publicRecord } from "../policy/approvals/record.js";
import { isRefused, unknownId } from "../policy/approvals/refusal.js";
import { assertPerson, localPerson, withApprovals } from "./approvals-store.js";
import type { CommandContext } from "./globals.js";

export async function run(context: CommandContext, [id = "", ...words]: readonly string[]): Promise<void> {
  assertPerson();
  const { out } = context;
  const reason = words.join(" ");
  await withApprovals(context, async (store) => {
    const record = store.find(id);
    const denied =
      record === undefined
        ? unknownId(id)
        : await store.answer({
            id,
            hash: record.hash,
            answer: "deny",
            by: localPerson(),
            ...(reason !== "" && { reason }),
          });
    if (isRefused(denied)) out.fail(denied);
    else if (out.json) out.value(publicRecord(denied, { ownerAlive: store.isOwnerAlive(denied) }));
    else out.line(`${out.mark("ok")} denied ${id}: ${visible(denied.shown.what)}`);
  });
}
