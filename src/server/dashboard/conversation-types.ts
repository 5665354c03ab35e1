/** What the page gets about conversations, live and kept; the rest is in `dashboard-types.ts`. */
import type { Restored } from "../../call/undo/restore.js";
import type { Replayed } from "../../replay/replayed.js";
import type { Content } from "../../tool/content.js";

/** One conversation; times are ISO texts. */
export interface SessionLine {
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly model: string;
  readonly started_at: string;
  readonly updated_at: string;
  readonly messages: number;
  readonly parent: string | null;
  readonly state: "idle" | "running" | "cut_off";
  readonly owner: string;
  readonly cwd: string;
  readonly cost_usd?: number | undefined;
}

/** `GET /v1/sessions?limit&before&q` */
export interface SessionsAnswer {
  /** Last used first. */
  readonly sessions: readonly SessionLine[];
  /** Give it as `before` for the next page; absent on the last. */
  readonly next_before?: string | undefined;
  /** With `q`: passages, best first; `sessions` are then those they stand in. */
  readonly found?: readonly {
    readonly session: string;
    readonly message: string;
    readonly role: string;
    readonly snippet: string;
    readonly at: string;
  }[];
}

export interface SessionMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant" | "tool" | "summary";
  readonly content: string | readonly Content[];
  readonly tool_calls:
    | readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[]
    | null;
  readonly tool_call_id: string | null;
  readonly name?: string | undefined;
  readonly is_error?: boolean | undefined;
  readonly at: string;
}

/** `GET /v1/sessions/:id?after&limit` */
export interface SessionAnswer extends Omit<SessionLine, "messages"> {
  readonly messages: readonly SessionMessage[];
  /** How many there are altogether. */
  readonly total: number;
  /** Give it as `after` for the next page; absent on the last. */
  readonly next_after?: string | undefined;
}

/** `GET /v1/sessions/:id/replay`, as `hermes replay --json`. */
export type ReplayAnswer = Replayed;

/** One change of one file by a call of the session. */
export interface SessionChange {
  readonly change: number;
  readonly call: string;
  readonly session: string;
  readonly tool: string;
  readonly at: string;
  readonly environment: string;
  readonly kind: "write" | "remove" | "rename";
  readonly path: string;
  readonly target: string | null;
  readonly existed: boolean;
  readonly kept: boolean;
  readonly undone_at: string | null;
  /** What it held before the change and what the change left there; absent where it is not text, too long, or gone. */
  readonly before?: string | undefined;
  readonly now?: string | undefined;
  /** Why they are absent. */
  readonly diff_missing?: string | undefined;
}

/** `GET /v1/sessions/:id/changes` */
export interface SessionChangesAnswer {
  readonly changes: readonly SessionChange[];
}

/** `POST /v1/sessions/:id/undo` `{"changes"?: [number], "dry_run"?: boolean}`; all of them when left out. */
export interface UndoAnswer {
  readonly restored: readonly Restored[];
}

/** `POST /v1/chat/:session/stop`; `POST /v1/chat/:session/steer` `{"text"}`. */
export interface ChatTold {
  /** False when nothing of this conversation was running. */
  readonly running: boolean;
}
