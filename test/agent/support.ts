import { join } from "node:path";
import type { Agent } from "../../src/agent/agent.js";
import type { AgentEvent, AgentResult } from "../../src/agent/events.js";
import { type AgentParts, openAgent } from "../../src/agent/open-agent.js";
import { openConversations } from "../../src/agent/sessions/conversation-store.js";
import type { ModelClient, ModelPart, ModelRequest } from "../../src/model/model-client.js";
import { openModel } from "../../src/model/open-route.js";
import type { IncomingCall } from "../../src/tool/call.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import type { Step as ServerStep } from "../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";

/** What a scripted model does when it is asked: parts of an answer, or its own idea of one. */
export type Step =
  | readonly ModelPart[]
  | ((request: ModelRequest) => AsyncIterable<ModelPart> | readonly ModelPart[]);

const USAGE = { inputTokens: 100, outputTokens: 10 };

export function says(text: string): Step {
  return [
    { type: "text", text },
    { type: "finish", reason: "stop", usage: USAGE },
  ];
}

export function calls(...made: readonly IncomingCall[]): Step {
  return [
    ...made.map((call) => ({ type: "tool_call" as const, call })),
    { type: "finish", reason: "tool_calls", usage: USAGE },
  ];
}

export function call(id: string, name: string, args: unknown = {}): IncomingCall {
  return { id, name, arguments: JSON.stringify(args) };
}

/** Plays its steps in order and remembers what it was asked. */
export function scripted(
  ...steps: readonly Step[]
): ModelClient & { readonly asked: readonly ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    asked,
    async *stream(request) {
      const step = steps[asked.length];
      asked.push(request);
      if (step === undefined) throw new Error(`nothing is written down for request ${asked.length}`);
      yield* typeof step === "function" ? step(request) : step;
    },
  };
}

export async function agentWith(
  client: ModelClient,
  options: Partial<Omit<AgentParts, "model" | "runtime">> & {
    readonly tools?: readonly AnyTool[];
    readonly home?: string;
    /** Tool files of the home, too. */
    readonly userTools?: boolean;
    readonly contextTokens?: number;
    readonly prices?: { readonly input: number; readonly output: number; readonly cached?: number };
  } = {},
) {
  const { tools = [], contextTokens, prices, home: given, userTools = false, ...parts } = options;
  const { runtime, cwd, home } = await testRuntime(tools, {
    builtins: true,
    userTools,
    ...(parts.cwd !== undefined && { cwd: parts.cwd }),
    ...(given !== undefined && { home: given }),
  });
  const store =
    parts.store ??
    (await openConversations({
      sessionsDb: join(home, "sessions.db"),
      sessionsIndex: join(home, "sessions-index.db"),
    }));
  if (parts.store === undefined) onTestEnd(() => store.close());
  const agent = await openAgent({
    runtime,
    approver: async () => "once",
    ...parts,
    store,
    model: { client, name: "test:scripted", contextTokens, prices },
  });
  onTestEnd(() => agent.close());
  return { agent, store, runtime, cwd, home };
}

export async function played(events: AsyncIterable<AgentEvent>): Promise<{
  readonly events: readonly AgentEvent[];
  readonly result: AgentResult;
}> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  const result = seen.at(-1);
  if (result?.type !== "result") throw new Error(`the turn ended with ${JSON.stringify(result)}`);
  return { events: seen, result };
}

export async function said(agent: Agent, text: string) {
  return played(agent.send(text));
}

/** An agent whose model is a server that speaks a provider's format, and refuses what that provider would. */
export async function agentOnServer(
  steps: readonly ServerStep[],
  options: Parameters<typeof agentWith>[1] & {
    readonly provider?: "openai" | "anthropic" | "responses" | "gemini";
    readonly model?: string;
    readonly server?: ScriptedModel;
  } = {},
) {
  const { provider = "openai", model = "scripted", server: given, ...parts } = options;
  const server = given ?? (await startScriptedModel({ steps }));
  if (given === undefined) onTestEnd(() => server.close());
  const route = { provider, model, url: server.url, idleMs: 60_000, foundBy: "test" };
  const opened = await agentWith(openModel([route], { retryBaseMs: 1 }), parts);
  return { ...opened, server };
}
