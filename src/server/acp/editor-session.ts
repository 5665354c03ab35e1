import type * as acp from "@agentclientprotocol/sdk";
import type { Agent } from "../../agent/agent.js";
import type { AgentEvent, AgentResult } from "../../agent/events.js";
import type { Content } from "../../tool/content.js";
import { serializeOutput } from "../../tool/serialize.js";
import type { FileDiffs } from "./file-diffs.js";
import { readable } from "./prompt.js";
import { contentOf, kindOf, locationsOf, textContent, titleOf } from "./tool-updates.js";

type Tell = (update: acp.SessionUpdate) => Promise<void>;

/** How a turn ended: with a result, or with an error that ended it. */
export interface TurnEnd {
  readonly result: AgentResult | undefined;
  readonly error: string | undefined;
}

/** One conversation as an editor sees it: what happens in a turn becomes updates, in the same order. */
export class EditorSession {
  readonly agent: Agent;
  readonly #diffs: FileDiffs;
  readonly #tell: Tell;
  readonly #redact: (text: string) => string;
  /** Calls that the editor has been told of, and whoever waits for that. */
  readonly #announced = new Set<string>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #turn = 0;
  #plan = "";

  constructor(parts: {
    readonly agent: Agent;
    readonly diffs: FileDiffs;
    readonly tell: Tell;
    readonly redact: (text: string) => string;
  }) {
    this.agent = parts.agent;
    this.#diffs = parts.diffs;
    this.#tell = parts.tell;
    this.#redact = parts.redact;
  }

  async prompt(message: string | readonly Content[], signal: AbortSignal): Promise<TurnEnd> {
    let result: AgentResult | undefined;
    let error: string | undefined;
    let isAnswered = false;
    for await (const event of this.agent.send(message, { signal })) {
      if (event.type === "init") this.#turn += 1;
      else if (event.type === "result") result = event;
      else if (event.type === "error") error = [event.message, event.hint].filter(Boolean).join(" ");
      else {
        if (event.type === "text") isAnswered = true;
        else if (event.type === "tool_use") isAnswered = false;
        await this.#follow(event);
      }
    }
    // A model that only thought: what it thought stands for its answer.
    if (result !== undefined && result.text !== "" && !isAnswered) await this.#say(result.text);
    return { result, error: result === undefined || result.stop === "error" ? error : undefined };
  }

  /** Models number their calls anew in each turn; an editor takes the same id for the same call. */
  idOf(callId: string): string {
    return `t${this.#turn}.${callId}`;
  }

  /** Resolves when the editor knows of the call, so that a question about it comes after it. */
  whenAnnounced(callId: string, signal: AbortSignal): Promise<void> {
    if (this.#announced.has(this.idOf(callId)) || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(this.idOf(callId)) ?? [];
      this.#waiting.set(this.idOf(callId), [...waiting, resolve]);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  async close(): Promise<void> {
    this.#diffs.close();
    await this.agent.close();
  }

  async #follow(event: Exclude<AgentEvent, { type: "init" | "result" | "error" }>): Promise<void> {
    switch (event.type) {
      case "text":
        return this.#say(event.delta);
      case "reasoning":
        return this.#tell({
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: event.delta },
        });
      case "notice":
        return this.#tell({
          sessionUpdate: "agent_thought_chunk",
          content: { type: "text", text: `${event.message}\n` },
        });
      case "tool_use":
        return this.#announce(event);
      case "tool_progress":
        if (event.message === undefined) return;
        return this.#tell({
          sessionUpdate: "tool_call_update",
          toolCallId: this.idOf(event.id),
          status: "in_progress",
          content: [textContent(event.message)],
        });
      case "tool_result":
        await this.#tell({
          sessionUpdate: "tool_call_update",
          toolCallId: this.idOf(event.id),
          status: event.ok ? "completed" : "failed",
          content: [...(await this.#diffs.take(event.id)), ...contentOf(event)],
        });
        return this.#tellPlan();
      // Asked with a request of its own.
      case "approval":
      case "tool_begun":
        return;
    }
  }

  #say(text: string): Promise<void> {
    return this.#tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async #announce({ id, name, arguments: given }: Extract<AgentEvent, { type: "tool_use" }>): Promise<void> {
    const effects = await this.agent.session.effectsOf({ id, name, arguments: given });
    const toolCallId = this.idOf(id);
    await this.#tell({
      sessionUpdate: "tool_call",
      toolCallId,
      title: this.#redact(titleOf(name, effects)),
      kind: kindOf(effects),
      status: "in_progress",
      rawInput: readable(this.#redact(serializeOutput(readable(given)))),
      locations: locationsOf(effects),
    });
    this.#announced.add(toolCallId);
    for (const resolve of this.#waiting.get(toolCallId) ?? []) resolve();
    this.#waiting.delete(toolCallId);
  }

  /** The model's task list is what editors call a plan. */
  async #tellPlan(): Promise<void> {
    const { todos } = this.agent;
    const plan = JSON.stringify(todos);
    if (plan === this.#plan || (this.#plan === "" && todos.length === 0)) return;
    this.#plan = plan;
    await this.#tell({
      sessionUpdate: "plan",
      entries: todos
        .filter(({ status }) => status !== "cancelled")
        .map(({ content, status }) => ({
          content,
          priority: "medium",
          status: status === "pending" || status === "in_progress" ? status : "completed",
        })),
    });
  }
}
