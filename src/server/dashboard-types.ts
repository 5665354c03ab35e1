/**
 * What the page gets from the server, address by address. Types only: the page imports them, the routes are held
 * against them. Texts are masked; lists come without bodies.
 */
import type { AgentEvent } from "../agent/events.js";
import type { CallStatus, JournalRow } from "../call/journal.js";
import type { PublicApproval } from "../policy/approvals/record.js";
import type { ToolListing } from "../runtime/definitions.js";
import type { McpServerStatus, ShownChange } from "../sources/mcp/status.js";
import type { SourceStatus } from "../sources/types.js";
import type { CallResult, CallState } from "../tool/call.js";
import type { Content } from "../tool/content.js";
import type { Effect } from "../tool/effects.js";

export type * from "./dashboard/conversation-types.js";
export type * from "./dashboard/housekeeping-types.js";
export type { AgentEvent, CallResult, Content, Effect, McpServerStatus, SourceStatus, ToolListing };

/** `GET /v1/info` */
export interface InfoAnswer {
  readonly version: string;
  readonly home: string;
  /** The folder that sessions of this server work in. */
  readonly cwd: string;
  readonly tools: { readonly ready: number; readonly need_setup: number; readonly off: number };
  /** False when calls are not recorded. */
  readonly journal: boolean;
  /** `approvals.mode` in force. */
  readonly mode: string;
  /** The profile of new sessions. */
  readonly profile: string;
  /** Absent where none is configured: then there is no chat. */
  readonly model?: string | undefined;
  /** What holds commands back, in words; `ok` false when nothing does. */
  readonly boundary: { readonly ok: boolean; readonly what: string; readonly fix?: string | undefined };
  /** Milliseconds since 1970. */
  readonly started_at: number;
  /** `answers`: whether this very request could also approve and change (it came with the page key or the token). */
  readonly keys: { readonly answers: boolean };
}

/** One line of `GET /v1/calls?brief=1`. */
export interface BriefCall {
  readonly seq: number;
  readonly call_id: string;
  readonly session_id: string;
  readonly conversation?: string | undefined;
  readonly tool: string;
  readonly toolset?: string | undefined;
  readonly door: string;
  readonly environment: string;
  readonly worker?: string | undefined;
  readonly status: CallStatus | "running" | "unknown";
  readonly state?: CallState | undefined;
  readonly error_code?: string | undefined;
  readonly error_message?: string | undefined;
  readonly duration_ms?: number | undefined;
  readonly approval_wait_ms?: number | undefined;
  readonly queued_ms?: number | undefined;
  /** Milliseconds since 1970. */
  readonly started_at: number;
  /** Id of the call it was made from. */
  readonly parent?: string | undefined;
  readonly decision: string;
  readonly rule: string;
  readonly model?: string | undefined;
  /** At most 200 characters of the arguments. */
  readonly preview: string;
  readonly result_chars?: number | undefined;
}

/** `GET /v1/calls?brief=1&limit&before&status&tool&session&door&environment&q` */
export interface CallsAnswer<Row = BriefCall> {
  readonly journal: boolean;
  /** Newest first. */
  readonly calls: readonly Row[];
  /** Give it as `before` for the next page; absent on the last. */
  readonly next_before?: number | undefined;
}

/** Everything that was written down of one call, its documents parsed where they are whole. */
export interface WholeCall extends Omit<JournalRow, "owner" | "args" | "effects"> {
  /** An object, or the text as far as it was kept. */
  readonly args: unknown;
  readonly effects: readonly Effect[] | string;
}

/** One rule that was looked at. */
export interface TraceLine {
  readonly rule: string;
  readonly list?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly outcome: "allow" | "ask" | "deny" | "no match" | "pass";
  /** The effect it was about; absent for rules about the whole call. */
  readonly effect?: string | undefined;
  readonly reason?: string | undefined;
}

/** `GET /v1/calls/:id` (seq or call_id) */
export interface CallAnswer {
  readonly call: WholeCall;
  /** Absent where it was not kept. */
  readonly result?: { readonly text: string; readonly complete: boolean } | undefined;
  readonly children: readonly BriefCall[];
  /** What the rules of today say of it. */
  readonly trace: readonly TraceLine[];
  readonly trace_of: "now";
  /** Why there is no trace. */
  readonly trace_missing?: string | undefined;
  readonly approval?: ApprovalAnswer | undefined;
  /** To paste into a terminal. */
  readonly command: string;
}

/** `POST /v1/calls/:id/again` and `POST /v1/tools/:name/run` */
export interface RunAnswer {
  readonly result: CallResult;
}

/** One entry of `GET /v1/approvals`, and the answer to `POST /v1/approvals`. */
export type ApprovalAnswer = PublicApproval;

export interface ApprovalsAnswer {
  readonly approvals: readonly ApprovalAnswer[];
}

/** `POST /v1/approvals` */
export interface ApprovalGiven {
  readonly id: string;
  readonly hash: string;
  readonly answer: "once" | "session" | "always" | "deny";
  readonly reason?: string | undefined;
  readonly widen?: boolean | undefined;
  readonly signature?: string | undefined;
}

/** `GET /v1/changes`, and both ways of `POST /v1/changes`: settings and code that wait for a person's yes. */
export interface ChangesAnswer {
  readonly changes: readonly { readonly path: string; readonly hash: string }[];
}

/** `GET /v1/tools?detail=1` */
export type ToolsAnswer = readonly ToolListing[];

/** `GET /v1/tools/:name` */
export interface ToolAnswer {
  readonly tool: ToolListing;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly output?: Readonly<Record<string, unknown>> | undefined;
  readonly definition_tokens: number;
  readonly examples: readonly {
    readonly title: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly result?: unknown;
  }[];
}

/** `POST /v1/tools/:name` `{"enabled": boolean}` */
export interface ToolSwitched {
  readonly tool: ToolListing;
  readonly changed: boolean;
  readonly file: string;
}

/** `POST /v1/tools/:name/foretell` `{"arguments": {}}`: nothing runs, nobody is asked. */
export interface ForetellAnswer {
  readonly decision: "allow" | "ask" | "deny" | "invalid";
  readonly reason: string;
  readonly rule: string;
  readonly effects: readonly Effect[];
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

/** A tool of an MCP server that says something else than what was approved. */
export interface Drift extends ShownChange {
  /** What was approved and what it says now: name, description, schemas; absent where they are too long. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  readonly now?: Readonly<Record<string, unknown>> | undefined;
}

/** `GET /v1/sources` */
export interface SourcesAnswer {
  readonly sources: readonly SourceStatus[];
  readonly mcp_servers: readonly (McpServerStatus & { readonly drift: readonly Drift[] })[];
}

/** `POST /v1/sources/:id/reconnect`; the id is `mcp:NAME` (encoded). */
export interface SourceReconnected {
  readonly source: SourceStatus;
}

/** `POST /v1/sources/:id/login` and `GET` of the same. */
export interface SourceLogin {
  readonly login: "waiting" | "done" | "failed";
  /** The page where a person logs in, and whose it is. */
  readonly open?: string | undefined;
  readonly at?: string | undefined;
  readonly why?: string | undefined;
}

/** `POST /v1/sources/:id/accept` `{"changes":[{"tool","fingerprint"}]}` */
export interface SourceAccepted {
  readonly accepted: readonly string[];
  /** Changed again since they were shown, and not accepted. */
  readonly missed: readonly string[];
}

/** One entry of `GET /v1/processes`. */
export interface ProcessAnswer {
  readonly id: string;
  readonly status: "running" | "exited" | "lost";
  readonly command: string;
  readonly cwd: string;
  readonly environment: string;
  readonly session: string;
  readonly pid: number | null;
  readonly pty: boolean;
  readonly exit_code: number | null;
  readonly lost: string | null;
  readonly handed_off: boolean;
  readonly output_bytes: number;
  readonly started_at: number;
  readonly ended_at: number | null;
}

export interface ProcessesAnswer {
  readonly processes: readonly ProcessAnswer[];
}

/** `GET /v1/processes/log?id&offset&limit` */
export interface ProcessLogAnswer {
  readonly id: string;
  readonly status: string;
  readonly lines: readonly string[];
  readonly total: number;
  readonly dropped: boolean;
}

/** `GET /v1/processes/:id/stream`, one JSON object per event: what is kept, then what comes. */
export type ProcessStreamEvent =
  | { readonly type: "output" /** Base64 of masked bytes for a terminal. */; readonly data: string }
  | { readonly type: "ended"; readonly process: ProcessAnswer };

/** `POST /v1/processes/kill` `{"id"}` */
export interface ProcessKilled {
  readonly process: ProcessAnswer;
  readonly survivors: readonly Readonly<Record<string, unknown>>[];
}

/** A call that ended while nobody listened, told from the journal (`?since=SEQ`). */
export interface ReplayedCall {
  readonly type: "call.finished";
  readonly replayed: true;
  readonly seq: number;
  readonly session: string;
  readonly conversation?: string | undefined;
  readonly id: string;
  readonly name: string;
  readonly toolset?: string | undefined;
  readonly preview: string;
  readonly ok: boolean;
  readonly status: string;
  readonly code?: string | undefined;
  readonly state?: CallState | undefined;
  readonly duration_ms?: number | undefined;
  readonly at: number;
  readonly door: string;
  readonly environment: string;
  readonly decision?: string | undefined;
  readonly rule?: string | undefined;
  readonly parent?: string | undefined;
  readonly model?: string | undefined;
}
