import type { CallResult } from "../tool/call.js";
import type { Content } from "../tool/content.js";

/**
 * What happens in a turn, in order; the last one is `result`, and there is exactly one of those. The lines of
 * `hermes chat --jsonl` are these objects, and so is what the library and the page get.
 */
export type AgentEvent =
  | {
      readonly type: "init";
      readonly session: string;
      readonly model: string;
      readonly tools: readonly string[];
    }
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  /** The model has begun to write a call. */
  | { readonly type: "tool_begun"; readonly id: string; readonly name: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly arguments: unknown }
  | {
      readonly type: "tool_progress";
      readonly id: string;
      readonly name: string;
      readonly message?: string | undefined;
    }
  | {
      readonly type: "tool_result";
      readonly id: string;
      readonly name: string;
      readonly ok: boolean;
      /** Why it failed: a closed code. */
      readonly code?: string | undefined;
      readonly content: readonly Content[];
      /** For people, as in `CallResult`. */
      readonly human: string;
      readonly duration_ms: number;
    }
  | { readonly type: "approval"; readonly id: string; readonly name: string; readonly reason: string }
  /** What a person should know: a retry, another model, a summary in place of old messages. */
  | { readonly type: "notice"; readonly message: string }
  | {
      readonly type: "error";
      readonly code: string;
      readonly message: string;
      readonly hint?: string | undefined;
    }
  | AgentResult;

/** Why a turn is over. */
export type StopReason = "end" | "max_turns" | "budget" | "interrupted" | "error";

export interface AgentResult {
  readonly type: "result";
  readonly session: string;
  readonly text: string;
  readonly stop: StopReason;
  /** How often the model was asked. */
  readonly turns: number;
  readonly model: string;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly ok: boolean;
    readonly duration_ms: number;
    readonly error?: NonNullable<CallResult["error"]> | undefined;
  }[];
  /** Why it stopped at `error` or `budget`, and what can be done about it. */
  readonly error?:
    | { readonly code: string; readonly message: string; readonly hint?: string | undefined }
    | undefined;
  readonly usage: AgentUsage;
  /** Null where nobody said what the model costs. */
  readonly cost_usd: number | null;
  readonly duration_ms: number;
}

/** All requests of the turn: also those for summaries, of its children and of tools that ask a model. */
export interface AgentUsage {
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
}
