import type { AgentEvent, BriefCall, Content, SessionMessage } from "../../api/types.js";

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
  readonly state: "writing" | "running" | "asked" | "ok" | "error" | "denied";
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
        state: event.ok ? "ok" : failedState(event.code),
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
  if (isOver(known.call) && !isOver(call)) {
    // Some models give each turn's calls the same ids. A word about progress that comes late is none of those.
    const begins = call.state === "writing" || "arguments" in call;
    return begins ? [...items, { kind: "tool", call }] : items;
  }
  return items.with(at, { kind: "tool", call: { ...known.call, ...call } });
}

export function isOver({ state }: ToolUse): boolean {
  return state === "ok" || state === "error" || state === "denied";
}

/** What a rule or a person refused is no error. */
function failedState(code: string | undefined): "denied" | "error" {
  return code === "denied" || code === "blocked" ? "denied" : "error";
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

/** A conversation as it was kept; the journal knows how its calls ended. */
export function itemsOf(messages: readonly SessionMessage[], journal: readonly BriefCall[]): readonly Item[] {
  const items = messages.reduce<readonly Item[]>(withMessage, []);
  const left = [...journal];
  return items
    .toReversed()
    .map((item): Item => {
      if (item.kind !== "tool") return item;
      const at = left.findIndex(({ call_id }) => call_id === item.call.id);
      const [row] = at < 0 ? [] : left.splice(at, 1);
      return row === undefined ? item : { kind: "tool", call: withRow(item.call, row) };
    })
    .toReversed();
}

function withRow(call: ToolUse, row: BriefCall): ToolUse {
  const state = call.state === "error" ? failedState(row.status) : call.state;
  return { ...call, state, ...(row.duration_ms !== undefined && { duration_ms: row.duration_ms }) };
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
