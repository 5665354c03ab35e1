import { join } from "node:path";
import type { AdoptedConversation } from "../../agent/sessions/adopt.js";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { isRecord } from "../../base/record.js";
import { hermesPaths } from "../../config/paths.js";
import type { Database, SqlRow } from "../../store/driver.js";
import { originalMessages, timeOf } from "./original-messages.js";
import { reasonOf, withCopyOf } from "./read-source.js";
import { failed, type Homes, kept, type Step, skipped } from "./step.js";

const USABLE_ID = /^[\w.:@-]{1,200}$/;

/** A session whose parent ended like this goes on with it, or beside it; every other one was handed work. */
const NOT_HANDED_ON =
  /^(?:compression|branched|new_session|session_reset|session_switch|idle|daily|suspended|resume_pending_expired)$/;

/**
 * `state.db`: each session with its messages, its id and its times. They are read one at a time, from a copy, so `each`
 * is given every step as it comes: all of them together may be larger than memory.
 */
export async function migrateConversations(
  { from, home }: Homes,
  each: (step: Step) => Promise<void>,
): Promise<void> {
  let store: SqliteConversationStore | undefined;
  const adopt = async (conversation: AdoptedConversation) => {
    if (store === undefined) {
      const { openConversations } = await import("../../agent/sessions/conversation-store.js");
      store = await openConversations(hermesPaths(home));
    }
    return store.adopt(conversation);
  };
  try {
    const here = await idsHere(home);
    await withCopyOf(join(from, "state.db"), async (db) => {
      const rows = sessionsIn(db);
      const byId = new Map(rows.map((row) => [String(row.id), row]));
      for (const row of rows)
        await each(planOne({ db, row, parent: byId.get(String(row.parent_session_id)), here, adopt }));
    });
  } catch (error) {
    await each(failed({ kind: "conversation", name: "state.db", reason: reasonOf(error) }));
  } finally {
    await store?.close();
  }
}

async function idsHere(home: string): Promise<ReadonlySet<string>> {
  const ids = await withCopyOf(hermesPaths(home).sessionsDb, (db) =>
    db.prepare("SELECT id FROM conversations").all(),
  );
  return new Set((ids ?? []).map(({ id }) => String(id)));
}

/** Parents before those they handed work to. */
function sessionsIn(db: Database): readonly SqlRow[] {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE name IN ('sessions', 'messages')").all();
  if (tables.length < 2) throw new Error("it holds no sessions of Hermes Agent");
  return db.prepare("SELECT * FROM sessions ORDER BY started_at, id").all();
}

function planOne({
  db,
  row,
  parent,
  here,
  adopt,
}: {
  readonly db: Database;
  readonly row: SqlRow;
  readonly parent: SqlRow | undefined;
  readonly here: ReadonlySet<string>;
  adopt(conversation: AdoptedConversation): Promise<boolean>;
}): Step {
  const id = String(row.id);
  const item = { kind: "conversation", name: id } as const;
  if (here.has(id)) return kept({ ...item, reason: "it is here already" });
  if (!USABLE_ID.test(id)) return failed({ ...item, reason: "its id cannot be used here" });
  try {
    const { messages, left } = originalMessages(db, id);
    if (messages.length === 0) return skipped({ ...item, reason: "it holds no messages" });
    const reason =
      left.length === 0 ? undefined : `left out: ${left.length} rows (${[...new Set(left)].join(", ")})`;
    const isHandedOn = parent !== undefined && wasHandedOn(row, parent);
    const startedAt = timeOf(row.started_at);
    const conversation: AdoptedConversation = {
      id,
      title: textIn(row.title),
      source: isHandedOn ? "subagent" : textIn(row.source) || "cli",
      owner: ownerOf(row),
      model: textIn(row.model),
      cwd: textIn(row.cwd),
      parent: isHandedOn ? String(row.parent_session_id) : undefined,
      startedAt,
      messages: messages.map((message) => ({ ...message, at: message.at || startedAt })),
    };
    return { item: { ...item, state: "migrated", reason }, apply: () => adopt(conversation) };
  } catch (error) {
    return failed({ ...item, reason: reasonOf(error) });
  }
}

function wasHandedOn(row: SqlRow, parent: SqlRow): boolean {
  if (NOT_HANDED_ON.test(textIn(parent.end_reason))) return false;
  const config = markers(row.model_config);
  return config._branched_from === undefined && config._reset_from === undefined;
}

function markers(json: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textIn(json));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** What was said in a chat belongs to that chat, as with our own gateways; the rest to the person of this machine. */
function ownerOf(row: SqlRow): string {
  const chat = textIn(row.chat_id) || textIn(row.user_id);
  return chat === "" ? "" : `${textIn(row.source)}:${chat}`;
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
