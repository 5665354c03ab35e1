import { userInfo } from "node:os";
import { hermesPaths } from "../config/paths.js";
import { createLogger } from "../observe/log.js";
import { openApprovals } from "../policy/approvals/open.js";
import type { ApprovalStore } from "../policy/approvals/store.js";
import { failure, HermesError } from "../tool/errors.js";
import type { CommandContext } from "./globals.js";

/** Opens the approvals of this home for one command. */
export async function withApprovals<Result>(
  { home }: CommandContext,
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

/** Who answers at this machine, for the record. */
export function localPerson(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

/** Set for every command that a tool starts. */
const AGENT_MARK = "AI_AGENT";

/** A model must not answer its own questions by typing the answer into its terminal. */
export function assertPerson(what = "Approvals are given"): void {
  if (process.env[AGENT_MARK] !== "hermes") return;
  throw new HermesError(
    failure(
      "denied",
      `${what} by a person, and this command was started by a tool call`,
      "Ask the person to answer, on the page or in their own terminal.",
    ),
  );
}
