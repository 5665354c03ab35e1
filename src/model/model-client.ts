import type { IncomingCall } from "../tool/call.js";
import type { Content } from "../tool/content.js";
import { carries } from "../tool/errors.js";
import type { ToolSchema } from "../tool/tool.js";

/** A model that can be asked. */
export interface ModelClient {
  /**
   * The answer in parts, as they come; the last one is `finish`, and there is exactly one of those. Throws a
   * ModelError, or the reason of the request's signal.
   */
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
}

/** Why a model is asked: every request has a bill, and the bill says what it was for. */
export type ModelPurpose = "turn" | "summary" | "title" | "review" | "vision" | "sampling" | "mixture";

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly purpose?: ModelPurpose | undefined;
  /** What the model may call; nobody but the caller runs it. */
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** The model stops before it would write one of these. */
  readonly stop?: readonly string[] | undefined;
  /** The answer is to be one JSON object, where the server knows how to ask for that. */
  readonly json?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  /** Text and images; other parts are named, not sent. */
  | { readonly role: "user"; readonly content: string | readonly Content[] }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly IncomingCall[] | undefined;
      readonly opaque?: OpaqueAnswer | undefined;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      /** The name that was called, for servers that link answers by it. */
      readonly name?: string | undefined;
      /** Images only where the server takes them in results; elsewhere they are named. */
      readonly content: string | readonly Content[];
      readonly isError?: boolean | undefined;
    };

/**
 * An answer as its server sent it, with what only that server understands (signed reasoning, ids of items). It goes back
 * byte for byte in place of what we would write, and only to the model it came from.
 */
export interface OpaqueAnswer {
  /** Provider and model: `anthropic:claude-x`. */
  readonly from: string;
  readonly json: string;
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  /** What the model thinks aloud, where its server tells. */
  | { readonly type: "reasoning"; readonly text: string }
  /** A call whose arguments are still on their way: to be shown, never to be run. */
  | { readonly type: "tool_call_begun"; readonly id: string; readonly name: string }
  /** Whole: its arguments are JSON text that nobody has looked at. */
  | { readonly type: "tool_call"; readonly call: IncomingCall }
  | ModelFinish;

export interface ModelFinish {
  readonly type: "finish";
  /** "length": it was cut off; "refusal": it or its server would not answer; "other": what we have no word for. */
  readonly reason: "stop" | "length" | "tool_calls" | "refusal" | "other";
  /** As the server names it. */
  readonly model?: string | undefined;
  readonly usage?: ModelUsage | undefined;
  readonly opaque?: OpaqueAnswer | undefined;
}

/** Servers count differently; here `inputTokens` is all of the input, and the other two are parts of it. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** How many of the input tokens the server still knew. */
  readonly cachedTokens?: number | undefined;
  /** How many of them it was paid to keep for the next time. */
  readonly cacheWriteTokens?: number | undefined;
  /** What the request cost, where the server itself says so. */
  readonly costUsd?: number | undefined;
}

/** A whole answer. */
export interface ModelAnswer extends Omit<ModelFinish, "type"> {
  readonly text: string;
  readonly toolCalls: readonly IncomingCall[];
}

/** Asks and waits for the whole answer. */
export async function complete(client: ModelClient, request: ModelRequest): Promise<ModelAnswer> {
  let text = "";
  const toolCalls: IncomingCall[] = [];
  for await (const part of client.stream(request)) {
    if (part.type === "text") text += part.text;
    else if (part.type === "tool_call") toolCalls.push(part.call);
    else if (part.type === "finish") {
      const { type: _, ...finish } = part;
      return { text, toolCalls, ...finish };
    }
  }
  throw new ModelError("bad_answer", "the model's answer broke off");
}

const modelErrorMark = Symbol.for("hermes-tools.ModelError");

/**
 * `unreachable`: nobody answered. `busy`: too many requests, or trouble of the server that may pass. `quota`: the account
 * is empty. `refused`: the key is wrong or may not do this. `too_long`: more than the model can read. `status`: another
 * answer that is no answer of the model. `too_large`, `bad_answer`: what came cannot be taken. `broken_off`: the stream
 * ended before the answer did.
 */
export type ModelErrorCode =
  | "unreachable"
  | "busy"
  | "quota"
  | "refused"
  | "too_long"
  | "status"
  | "too_large"
  | "bad_answer"
  | "broken_off";

/** Why there is no answer, told without the key and without the server's words. */
export class ModelError extends Error {
  readonly [modelErrorMark] = true;
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** What the server answered with, when that was no answer of the model. */
  readonly status: number | undefined;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ModelErrorCode, message: string, status?: number, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  static isInstance(value: unknown): value is ModelError {
    return carries(value, modelErrorMark);
  }
}
