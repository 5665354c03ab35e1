import { LATE, within } from "../base/deadline.js";
import type { Logger } from "../observe/log.js";
import type { CallResult } from "../tool/call.js";
import { describeThrown } from "../tool/thrown.js";
import type { SessionInfo } from "../tool/tool.js";

export interface PreToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly callId: string;
  readonly session: SessionInfo;
}

/** What a `pre_tool_call` hook may answer; anything else counts as silence. */
export type PreAnswer =
  | { readonly action: "block"; readonly message: string }
  | { readonly action: "modify"; readonly args: Readonly<Record<string, unknown>> }
  | { readonly action: "ask"; readonly message: string };

export interface PostToolCall extends PreToolCall {
  readonly result: CallResult;
  readonly status: "ok" | "error" | "blocked" | "cancelled";
}

export interface HookTypes {
  pre_tool_call: (event: PreToolCall) => unknown;
  post_tool_call: (event: PostToolCall) => unknown;
  /** The first one that returns a string replaces the result's text. */
  transform_tool_result: (event: PostToolCall & { readonly text: string }) => unknown;
}

export type HookName = keyof HookTypes;

export interface HookOptions {
  /** Lower runs earlier; equal ones run in order of registration. */
  readonly order?: number;
  /** A hook that throws is skipped ("open") or, before a call, blocks it ("closed"). */
  readonly onFailure?: "open" | "closed";
  readonly name?: string;
}

interface Registered {
  readonly run: (event: never) => unknown;
  readonly order: number;
  readonly onFailure: "open" | "closed";
  readonly name: string;
}

/** Ordered, timed, isolated: a hook can stop a call, it cannot break the path. */
export class Hooks {
  readonly #hooks: Record<HookName, Registered[]> = {
    pre_tool_call: [],
    post_tool_call: [],
    transform_tool_result: [],
  };
  readonly #timeoutMs: number;
  readonly #log: Logger;

  constructor(options: { readonly timeoutMs: number; readonly log: Logger }) {
    this.#timeoutMs = options.timeoutMs;
    this.#log = options.log;
  }

  on<N extends HookName>(name: N, run: HookTypes[N], options: HookOptions = {}): () => void {
    const registered: Registered = {
      run: run as Registered["run"],
      order: options.order ?? 0,
      onFailure: options.onFailure ?? "open",
      name: options.name ?? (run.name || `${name} hook`),
    };
    const list = this.#hooks[name];
    list.push(registered);
    list.sort((a, b) => a.order - b.order);
    return () => {
      const index = list.indexOf(registered);
      if (index >= 0) list.splice(index, 1);
    };
  }

  has(name: HookName): boolean {
    return this.#hooks[name].length > 0;
  }

  /** Block beats ask; modifications are merged in order, each hook seeing the ones before it. */
  async before(
    event: PreToolCall,
  ): Promise<
    { readonly args: PreToolCall["args"]; readonly modified: boolean } & (
      | { readonly block: string }
      | { readonly ask: string }
      | { readonly pass: true }
    )
  > {
    let args = event.args;
    let modified = false;
    let ask: string | undefined;
    for (const hook of [...this.#hooks.pre_tool_call]) {
      const outcome = await this.#run(hook, { ...event, args: copyOf(args) });
      if (outcome.kind === "late")
        return {
          args,
          modified,
          block: `hook ${hook.name} did not answer within ${this.#timeoutMs / 1000} s`,
        };
      if (outcome.kind === "threw") {
        if (hook.onFailure === "closed")
          return { args, modified, block: `hook ${hook.name} failed: ${outcome.message}` };
        continue;
      }
      const answer = readAnswer(outcome.value);
      if (answer?.action === "block") return { args, modified, block: answer.message };
      if (answer?.action === "ask") ask ??= answer.message;
      if (answer?.action === "modify") {
        args = { ...args, ...answer.args };
        modified = true;
      }
    }
    return ask === undefined ? { args, modified, pass: true } : { args, modified, ask };
  }

  async observe(event: PostToolCall): Promise<void> {
    for (const hook of [...this.#hooks.post_tool_call]) await this.#run(hook, event);
  }

  async transform(event: PostToolCall, text: string): Promise<string | undefined> {
    for (const hook of [...this.#hooks.transform_tool_result]) {
      const outcome = await this.#run(hook, { ...event, text });
      if (outcome.kind === "returned" && typeof outcome.value === "string") return outcome.value;
    }
    return undefined;
  }

  async #run(
    hook: Registered,
    event: unknown,
  ): Promise<{ kind: "returned"; value: unknown } | { kind: "threw"; message: string } | { kind: "late" }> {
    try {
      const value = await within(Promise.resolve(hook.run(event as never)), this.#timeoutMs);
      if (value !== LATE) return { kind: "returned", value };
      this.#log.error(`hook ${hook.name} did not answer within ${this.#timeoutMs} ms`);
      return { kind: "late" };
    } catch (error) {
      const { message } = describeThrown(error);
      this.#log.error(`hook ${hook.name} failed: ${message}`);
      return { kind: "threw", message };
    }
  }
}

function readAnswer(value: unknown): PreAnswer | undefined {
  if (typeof value !== "object" || value === null || !("action" in value)) return undefined;
  const { action } = value;
  const message =
    "message" in value && typeof value.message === "string" && value.message !== ""
      ? value.message
      : undefined;
  if (action === "block" && message !== undefined) return { action, message };
  if ((action === "ask" || action === "approve") && message !== undefined) return { action: "ask", message };
  if (
    action === "modify" &&
    "args" in value &&
    typeof value.args === "object" &&
    value.args !== null &&
    !Array.isArray(value.args)
  ) {
    return { action, args: value.args as Record<string, unknown> };
  }
  return undefined;
}

/** Hooks say what they want changed; writing into what they were shown must change nothing. */
export function copyOf<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    return typeof value === "object" && value !== null ? { ...value } : value;
  }
}
