import { userInfo } from "node:os";
import { ownCommand } from "../base/own-command.js";
import { commandError } from "./errors.js";

/** Set for every command that a tool starts. */
const AGENT_MARK = "AI_AGENT";

/** A model must not answer its own questions, or change jobs and plugins, by typing it into its terminal. */
export function assertPerson(
  what = "Approvals are given by a person",
  hint = "Ask the person to answer, on the page or in their own terminal.",
): void {
  if (process.env[AGENT_MARK] !== "hermes") return;
  throw commandError("denied", `${what}, and this command was started by a tool call`, hint);
}

/** What a model is not told: the person can do something about it. */
export function howToBeAsked(now: string): string {
  const [open, set] = [`${ownCommand()} open`, `${ownCommand()} config set approvals.unattended_mode queue`];
  return `To be asked: ${now} (${open}). To let such calls always wait for you: ${set}, then answer with ${ownCommand()} approvals.`;
}

/** Who answers at this machine, for the record. */
export function localPerson(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

/** Whether a person sits at the terminal of this command. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks a person at the terminal. Without one, only `--yes` is a yes; a no ends the command. */
export async function confirm(asked: {
  readonly question: string;
  readonly yes: boolean;
  /** What is said after a no. */
  readonly refused: string;
  readonly hint?: string | undefined;
}): Promise<void> {
  if (asked.yes) return;
  if (!isInteractive()) {
    throw commandError("denied", "Nobody is there to confirm it", "Add --yes after you have looked.");
  }
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await reader.question(`${asked.question} [y/N] `);
    if (!/^y(?:es)?$/i.test(typed.trim())) throw commandError("denied", asked.refused, asked.hint);
  } finally {
    reader.close();
  }
}
