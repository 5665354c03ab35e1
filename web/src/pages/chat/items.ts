import type { AgentEvent, Content, SessionMessage } from "../../api/types.js";

/** What stands in a conversation, in order. */
export type Item =
  | {
      readonly kind: "user";
      readonly text: string;
      readonly images: readonly Picture[];
      /** Said while the turn was running. */
      readonly steered?: boolean;
    }
  | { readonly kind: "text" | "reasoning" | "notice"; readonly text: string }
  | { readonly kind: "error"; readonly message: string; readonly hint?: string | undefined }
  | { readonly kind: "tool"; readonly call: ToolUse };

export interface Picture {
  readonly data: string;
  readonly mimeType: string;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly arguments?: unknown;
  readonly state: "writing" | "running" | "asked" | "ok" | "error";
  readonly reason?: string;
  readonly progress?: string | undefined;
  readonly content?: readonly Content[];
  readonly human?: string;
  readonly duration_ms?: number;
}

/** The list with one more event in it. */
export function withEvent(items: readonly Item[], event: AgentEvent): readonly Item[] {
  switch (event.type) {
    case "text":
    case "reasoning":
      return withDelta(items, event.type, event.delta);
    case "tool_begun":
      return withTool(items, { id: event.id, name: event.name, state: "writing" });
    case "tool_use":
      return withTool(items, {
        id: event.id,
        name: event.name,
        arguments: argumentsOf(event.arguments),
        state: "running",
      });
    case "tool_progress":
      return withTool(items, { id: event.id, name: event.name, state: "running", progress: event.message });
    case "approval":
      return withTool(items, { id: event.id, name: event.name, state: "asked", reason: event.reason });
    case "tool_result":
      return withTool(items, {
        id: event.id,
        name: event.name,
        state: event.ok ? "ok" : "error",
        content: event.content,
        human: event.human,
        duration_ms: event.duration_ms,
      });
    case "notice":
      return [...items, { kind: "notice", text: event.message }];
    case "error":
      return [...items, { kind: "error", message: event.message, hint: event.hint }];
    case "result":
      return ended(items, event.stop);
    default:
      return items;
  }
}

function withDelta(items: readonly Item[], kind: "text" | "reasoning", delta: string): readonly Item[] {
  const last = items.at(-1);
  if (last?.kind !== kind) return [...items, { kind, text: delta }];
  return [...items.slice(0, -1), { kind, text: last.text + delta }];
}

function withTool(items: readonly Item[], call: ToolUse): readonly Item[] {
  const at = items.findLastIndex((item) => item.kind === "tool" && item.call.id === call.id);
  const known = items[at];
  if (known?.kind !== "tool") return [...items, { kind: "tool", call }];
  // A word about progress that comes late changes nothing about how a call ended.
  const isOver = known.call.state === "ok" || known.call.state === "error";
  const isEnd = call.state === "ok" || call.state === "error";
  if (isOver && !isEnd) return items;
  return items.with(at, { kind: "tool", call: { ...known.call, ...call } });
}

const STOPS: Readonly<Record<string, string>> = {
  interrupted: "Stopped.",
  max_turns: "Stopped: the turn took as many steps as it may.",
  budget: "Stopped: the budget of the turn is used up.",
};

function ended(items: readonly Item[], stop: string): readonly Item[] {
  const closed = items.map(
    (item): Item =>
      item.kind === "tool" && !("content" in item.call)
        ? { kind: "tool", call: { ...item.call, state: "error", human: "Stopped before it ended." } }
        : item,
  );
  const word = STOPS[stop];
  return word === undefined ? closed : [...closed, { kind: "notice", text: word }];
}

/** A conversation as it was kept. */
export function itemsOf(messages: readonly SessionMessage[]): readonly Item[] {
  return messages.reduce<readonly Item[]>((items, message) => [...withMessage(items, message)], []);
}

function withMessage(items: readonly Item[], message: SessionMessage): readonly Item[] {
  const parts = typeof message.content === "string" ? [textPart(message.content)] : message.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  switch (message.role) {
    case "user":
      return [
        ...items,
        {
          kind: "user",
          text,
          images: parts.filter((part): part is Content & Picture => part.type === "image"),
        },
      ];
    case "assistant": {
      const said: readonly Item[] = text === "" ? items : [...items, { kind: "text", text }];
      return (message.tool_calls ?? []).reduce<readonly Item[]>(
        (all, call) =>
          withTool(all, {
            id: call.id,
            name: call.name,
            arguments: argumentsOf(call.arguments),
            state: "running",
          }),
        said,
      );
    }
    case "tool":
      return withTool(items, {
        id: message.tool_call_id ?? message.id,
        name: message.name ?? nameOf(items, message.tool_call_id),
        state: message.is_error === true ? "error" : "ok",
        content: parts,
      });
    case "summary":
      return [...items, { kind: "notice", text: "Older messages were replaced by a summary." }];
    default:
      return items;
  }
}

function textPart(text: string): Content {
  return { type: "text", text };
}

function nameOf(items: readonly Item[], id: string | null): string {
  const found = items.find((item) => item.kind === "tool" && item.call.id === id);
  return found?.kind === "tool" ? found.call.name : "tool";
}

function argumentsOf(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

export interface PlanStep {
  readonly content: string;
  readonly status: string;
}

/** The list that the tool `todo` keeps, as it was last written. */
export function planOf(items: readonly Item[]): readonly PlanStep[] {
  let plan = new Map<string, PlanStep>();
  for (const item of items) {
    if (item.kind !== "tool" || item.call.name !== "todo") continue;
    const { todos, merge } = (item.call.arguments ?? {}) as { todos?: unknown; merge?: unknown };
    if (!Array.isArray(todos)) continue;
    if (merge !== true) plan = new Map();
    for (const [index, one] of (todos as readonly Partial<PlanStep & { id: string }>[]).entries()) {
      const id = String(one.id ?? index);
      const before = plan.get(id);
      plan.set(id, {
        content: String(one.content ?? before?.content ?? ""),
        status: String(one.status ?? before?.status ?? "pending"),
      });
    }
  }
  return [...plan.values()];
}
