import { hermesPaths } from "../../config/paths.js";
import { createLogger } from "../../observe/log.js";
import { openApprovals } from "../../policy/approvals/open.js";
import type { ApprovalStore } from "../../policy/approvals/store.js";
import type { CommandContext } from "../context.js";

/** Opens the approvals of this home for one command. */
export async function withApprovals<Result>(
  { home }: Pick<CommandContext, "home">,
  work: (store: ApprovalStore) => Promise<Result>,
): Promise<Result> {
  const { stateDb } = hermesPaths(home);
  const store = await openApprovals({ home, stateDb, log: createLogger({ level: "warn" }) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
