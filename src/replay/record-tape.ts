import type { SqliteConversationStore } from "../agent/sessions/conversation-store.js";
import { eachMessage } from "../agent/sessions/public.js";
import type { Conversation, StoredMessage } from "../agent/sessions/types.js";
import { canonicalJson } from "../base/canonical-json.js";
import { sha256 } from "../base/hash.js";
import type { Journal, JournalRow } from "../call/journal.js";
import type { View } from "../registry/view.js";
import type { Runtime } from "../runtime/runtime.js";
import type { IncomingCall } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import type { Effect } from "../tool/effects.js";
import { VERSION } from "../version.js";
import {
  TAPE_VERSION,
  type TapedCall,
  type TapedMessage,
  type TapedTool,
  type TapeHeader,
  tapeLine,
} from "./tape.js";

const MOST_CALLS = 100_000;

/** The tape of the conversation of this id, else of the session of the journal; undefined where there is neither. */
export async function tapeOfSession(of: {
  readonly runtime: Runtime;
  /** Undefined where there are no conversations yet. */
  readonly store: SqliteConversationStore | undefined;
  readonly id: string;
}): Promise<AsyncGenerator<string> | undefined> {
  const { runtime, store, id } = of;
  const conversation = await store?.get(id);
  if (store === undefined || conversation === undefined) return tapeOfJournal(runtime, id);
  return tapeOfConversation({ runtime, conversation, messages: eachMessage(store, id) });
}

/** A conversation as a tape, line by line. */
export async function* tapeOfConversation(of: {
  readonly runtime: Runtime;
  readonly conversation: Conversation;
  readonly messages: AsyncIterable<StoredMessage> | Iterable<StoredMessage>;
}): AsyncGenerator<string> {
  const { runtime, conversation } = of;
  const messages: StoredMessage[] = [];
  for await (const message of of.messages) messages.push(message);
  const journal = await runtime.journal();
  const rows = new RecordedRows(
    await journal.recent({
      limit: MOST_CALLS,
      conversation: conversation.id,
      sinceMs: conversation.startedAt - CLOCK_SLACK_MS,
    }),
  );
  // From the end: where ids repeat, the next answer of that id is the one of the call.
  const answers = new Map<string, StoredMessage>();
  const calls = new Map<StoredMessage, readonly TapedCall[]>();
  for (const message of [...messages].reverse()) {
    if (message.toolCallId !== undefined) answers.set(message.toolCallId, message);
    const made = (message.toolCalls ?? []).map((call) => {
      const answer = answers.get(call.id);
      answers.delete(call.id);
      return callOfMessage({
        call,
        message,
        answer,
        row: rows.take(call, message.at),
        cwd: conversation.cwd,
      });
    });
    calls.set(message, made);
  }
  const names = [...calls.values()].flat().map(({ name }) => name);
  yield tapeLine(
    await headerOf(runtime, names, {
      session: conversation.id,
      of: "conversation",
      title: conversation.title,
      model: conversation.model,
      cwd: conversation.cwd,
      started_at: new Date(conversation.startedAt).toISOString(),
    }),
    runtime.redact,
  );
  for (const message of messages) {
    yield tapeLine(taped(message), runtime.redact);
    for (const call of calls.get(message) ?? []) yield tapeLine(call, runtime.redact);
  }
}

/** The calls of one session of the journal as a tape; undefined when it has none. */
export async function tapeOfJournal(
  runtime: Runtime,
  session: string,
): Promise<AsyncGenerator<string> | undefined> {
  const journal = await runtime.journal();
  const rows = [...(await journal.recent({ limit: MOST_CALLS, sessionId: session }))].reverse();
  const [first] = rows;
  return first === undefined ? undefined : journalLines({ runtime, journal, rows, first });
}

async function* journalLines(of: {
  readonly runtime: Runtime;
  readonly journal: Journal;
  readonly rows: readonly JournalRow[];
  readonly first: JournalRow;
}): AsyncGenerator<string> {
  const { runtime, journal, rows, first } = of;
  const header = await headerOf(
    runtime,
    rows.map(({ tool }) => tool),
    {
      session: first.session_id,
      of: "journal",
      cwd: first.workspace ?? first.cwd,
      started_at: new Date(first.started_at).toISOString(),
    },
  );
  yield tapeLine(header, runtime.redact);
  for (const row of rows) {
    const result = row.result_hash === undefined ? undefined : await journal.result(row.result_hash, row.seq);
    yield tapeLine(callOfRow(row, { result, session: header.cwd }), runtime.redact);
  }
}

async function headerOf(
  runtime: Runtime,
  names: readonly string[],
  about: Omit<TapeHeader, "type" | "version" | "hermes" | "tools" | "tools_hash">,
): Promise<TapeHeader> {
  const session = await runtime.openSession({ door: "cli" });
  const tools = await toolsOf(session.view, names);
  return {
    type: "tape",
    version: TAPE_VERSION,
    ...about,
    hermes: VERSION,
    tools,
    tools_hash: sha256(canonicalJson(tools)),
  };
}

async function toolsOf(view: View, names: readonly string[]): Promise<readonly TapedTool[]> {
  const tools: TapedTool[] = [];
  for (const name of [...new Set(names)].sort()) {
    const found = view.find(name);
    if ("code" in found) continue;
    const { description, parameters } = await found.entry.load();
    tools.push({ name: found.entry.name, description, parameters });
  }
  return tools;
}

function taped({ role, content, toolCalls, toolCallId, at }: StoredMessage): TapedMessage {
  return {
    type: "message",
    role,
    content,
    ...(toolCalls !== undefined && { tool_calls: toolCalls }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    at: new Date(at).toISOString(),
  };
}

const CLOCK_SLACK_MS = 1_000;

/** Of one conversation, newest first. Ids repeat where a model counts its calls itself. */
class RecordedRows {
  readonly #byId = new Map<string, JournalRow[]>();

  constructor(rows: readonly JournalRow[]) {
    for (const row of rows) {
      const same = this.#byId.get(row.call_id);
      if (same === undefined) this.#byId.set(row.call_id, [row]);
      else same.push(row);
    }
  }

  /** Calls are asked for newest first, since it is the oldest rows that the journal may have dropped. */
  take({ id, name }: IncomingCall, askedAt: number): JournalRow | undefined {
    const [newest] = this.#byId.get(id) ?? [];
    if (newest?.called_as !== name || newest.started_at < askedAt - CLOCK_SLACK_MS) return undefined;
    return this.#byId.get(id)?.shift();
  }
}

function callOfMessage(of: {
  readonly call: IncomingCall;
  readonly message: StoredMessage;
  readonly answer: StoredMessage | undefined;
  readonly row: JournalRow | undefined;
  readonly cwd: string | undefined;
}): TapedCall {
  const { call, message, answer, row } = of;
  const name = row?.tool ?? call.name;
  const failed = answer?.isError === true;
  const text =
    answer === undefined ? "" : typeof answer.content === "string" ? answer.content : textOf(answer.content);
  return {
    type: "call",
    id: call.id,
    name,
    ...(name !== call.name && { called_as: call.name }),
    arguments: parsedArguments(call.arguments),
    ...(row !== undefined && decided(row)),
    ok: answer !== undefined && !failed,
    ...((failed || answer === undefined) && {
      error: { code: row?.error_code, message: answer === undefined ? "it was never answered" : text },
    }),
    ...(answer !== undefined && { result: plainContent(answer.content) }),
    ...folderOf(row, of.cwd),
    at: new Date(row?.started_at ?? message.at).toISOString(),
  };
}

/** What is nothing but text is kept as such. */
function plainContent(content: StoredMessage["content"]): StoredMessage["content"] {
  return typeof content !== "string" && content.every(({ type }) => type === "text")
    ? textOf(content)
    : content;
}

function callOfRow(
  row: JournalRow,
  { result, session }: { readonly result: string | undefined; readonly session: string | undefined },
): TapedCall {
  return {
    type: "call",
    id: row.call_id,
    name: row.tool,
    ...(row.called_as !== row.tool && { called_as: row.called_as }),
    arguments: parsedArguments(row.args),
    ...(row.args_bytes !== undefined && { arguments_cut: true }),
    ...decided(row),
    ok: row.status === "ok",
    ...(row.status !== "ok" && {
      error: { code: row.error_code ?? row.status, message: row.error_message ?? row.status },
    }),
    ...(result !== undefined && { result }),
    ...(result !== undefined && sha256(result) !== row.result_hash && { result_cut: true }),
    ...folderOf(row, session),
    at: new Date(row.started_at).toISOString(),
  };
}

/** Where a call worked, when that is not where the session does. */
function folderOf(row: JournalRow | undefined, session: string | undefined): Pick<TapedCall, "cwd"> {
  return row?.cwd === undefined || row.cwd === session ? {} : { cwd: row.cwd };
}

function decided(
  row: JournalRow,
): Pick<TapedCall, "decision" | "rule" | "effects" | "environment" | "duration_ms"> {
  const effects = parsedArguments(row.effects);
  return {
    ...(row.decision !== "none" && { decision: row.decision, rule: row.rule }),
    ...(Array.isArray(effects) && { effects: effects as readonly Effect[] }),
    environment: row.environment,
    duration_ms: row.duration_ms,
  };
}

function parsedArguments(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
