import { randomBytes } from "node:crypto";
import type { SqlRow } from "../../store/driver.js";
import { isOwnerAlive } from "../../store/process-owner.js";
import { failure, HermesError } from "../../tool/errors.js";
import { columnsOf } from "./message-rows.js";
import type { Conversation, ConversationState, NewMessage } from "./types.js";

const TITLE_CHARS = 80;

/** When it began, so that people can tell them apart, and enough chance that nobody guesses one. */
export function newConversationId(now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
  return `${time}_${randomBytes(6).toString("hex")}`;
}

export function conversationOf(
  row: SqlRow,
  isAlive: (worker: string) => boolean = isOwnerAlive,
): Conversation {
  return {
    id: String(row.id),
    title: String(row.title),
    source: String(row.source),
    owner: String(row.owner),
    model: String(row.model),
    cwd: String(row.cwd),
    parent: row.parent === null ? undefined : String(row.parent),
    startedAt: Number(row.started_at),
    updatedAt: Number(row.updated_at),
    messages: Number(row.messages),
    state: stateOf(row, isAlive),
  };
}

function stateOf({ worker }: SqlRow, isAlive: (worker: string) => boolean): ConversationState {
  if (typeof worker !== "string") return "idle";
  return isAlive(worker) ? "running" : "cut_off";
}

/** A process may work on hundreds of the conversations of one list. */
export function rememberedAliveness(): (worker: string) => boolean {
  const known = new Map<string, boolean>();
  return (worker) => {
    const alive = known.get(worker) ?? isOwnerAlive(worker);
    known.set(worker, alive);
    return alive;
  };
}

/** Until somebody gives it a better one: what the person said first. */
export function titleOf(added: readonly NewMessage[]): string {
  const first = added.find(({ role }) => role === "user");
  if (first === undefined) return "";
  const line = columnsOf(first).text.trim().split("\n", 1)[0] ?? "";
  return line.length <= TITLE_CHARS
    ? line
    : `${line.slice(0, TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function workedOn(id: string): HermesError {
  return new HermesError(
    failure("unavailable", `${id} is being worked on`, "Stop it first, then delete it."),
  );
}

export function noSuchConversation(id: string): HermesError {
  return new HermesError(failure("not_found", `There is no conversation ${id}`, "See: hermes sessions list"));
}
