import { join } from "node:path";
import type { Logger } from "../../observe/log.js";
import { readOrMakeSecret } from "../../store/secret-file.js";
import { openStore } from "../../store/store.js";
import { ApprovalSigner } from "./signature.js";
import { type ApprovalStore, SqliteApprovals } from "./store.js";

const KEY = /^[\w-]{43}$/;

/** The approvals of a Hermes home, whether or not calls are recorded there. Whoever opens it closes it. */
export async function openApprovals(options: {
  readonly home: string;
  readonly stateDb: string;
  readonly log: Logger;
  /** Room for all questions; who asks none needs not say it. */
  readonly maxBytes?: number;
}): Promise<ApprovalStore> {
  const { home, stateDb, log, maxBytes = Number.POSITIVE_INFINITY } = options;
  const key = await readOrMakeSecret({
    file: join(home, "approvals.key"),
    accepts: KEY,
    what: "a key for approvals",
  });
  const store = await openStore({ path: stateDb });
  for (const notice of store.notices) log.warn(notice);
  try {
    const signer = new ApprovalSigner(Buffer.from(key, "base64url"));
    return new SqliteApprovals({ store, signer, log, maxBytes });
  } catch (error) {
    await store.close();
    throw error;
  }
}
