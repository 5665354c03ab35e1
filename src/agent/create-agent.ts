import type { ModelClient } from "../model/model-client.js";
import { refuseUnknownOptions } from "../runtime/check-options.js";
import { createRuntime } from "../runtime/create-runtime.js";
import type { OpenSessionOptions } from "../runtime/open-session-options.js";
import type { Runtime } from "../runtime/runtime.js";
import { failure, HermesError } from "../tool/errors.js";
import type { AnyTool } from "../tool/tool.js";
import type { Agent } from "./agent.js";
import type { ConversationStore } from "./sessions/types.js";
import type { AgentModel } from "./turn.js";

type SessionChoices = Pick<
  OpenSessionOptions,
  | "toolsets"
  | "disabledToolsets"
  | "profile"
  | "environment"
  | "task"
  | "cwd"
  | "workspace"
  | "approver"
  | "ask"
  | "guardrails"
>;

export interface CreateAgentOptions extends SessionChoices {
  /**
   * `"PROVIDER:NAME"`, a client of your own, or one with its name, window and prices; the model of the settings when
   * left out.
   */
  readonly model?: string | ModelClient | AgentModel | undefined;
  /** Tools of this program; only without a `runtime`, which has its own. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** The conversation to go on with; a new one when left out. */
  readonly conversation?: string | undefined;
  /** Whose conversation it is, where a program serves several people; the owner of this machine when left out. */
  readonly owner?: string | undefined;
  /** What you ask of the agent besides, for its system prompt. */
  readonly instructions?: string | undefined;
  /** In place of our words on who the agent is. */
  readonly who?: string | undefined;
  /** How often the model is asked for one message at most. */
  readonly maxTurns?: number | undefined;
  /** How many agents it hands work to run at the same time. */
  readonly maxConcurrent?: number | undefined;
  /** Most US dollars for the conversation with all it hands on; as in the settings when left out. */
  readonly budgetUsd?: number | undefined;
  /** Hermes home, when no `runtime` is given; `HERMES_HOME` or `~/.hermes` when left out. */
  readonly home?: string | undefined;
  /** One of your own; otherwise one is made, and closed with the agent. */
  readonly runtime?: Runtime | undefined;
  /** Conversations of your own; otherwise those of the Hermes home are opened, and closed with the agent. */
  readonly store?: ConversationStore | undefined;
}

const KNOWN: Readonly<Record<keyof CreateAgentOptions, true>> = {
  model: true,
  toolsets: true,
  disabledToolsets: true,
  profile: true,
  environment: true,
  task: true,
  cwd: true,
  workspace: true,
  approver: true,
  ask: true,
  guardrails: true,
  tools: true,
  conversation: true,
  owner: true,
  instructions: true,
  who: true,
  maxTurns: true,
  maxConcurrent: true,
  budgetUsd: true,
  home: true,
  runtime: true,
  store: true,
};

/**
 * A conversation with a model that has tools. `send` gives what happens as it happens; `close` ends everything that was
 * opened for it.
 *
 * @example
 * const agent = await createAgent({ model: "openai:gpt-5-mini", toolsets: ["file"] });
 * for await (const event of agent.send("What is in this folder?"))
 *   if (event.type === "text") process.stdout.write(event.delta);
 * await agent.close();
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<Agent> {
  refuseUnknownOptions(options, { known: KNOWN, of: "createAgent" });
  const { model, tools, home, runtime: given, store, budgetUsd, ...parts } = options;
  refuseRuntimeTwice(options);
  const runtime =
    given ??
    (await createRuntime({
      ...(home !== undefined && { home }),
      ...(parts.cwd !== undefined && { cwd: parts.cwd }),
      ...(tools !== undefined && { tools }),
    }));
  // Loaded here: a program that only registers tools does without it.
  const { Agents } = await import("./agents.js");
  const agents = new Agents(runtime, { store });
  const onClose = async () => {
    await agents.close();
    if (given === undefined) await runtime.close();
  };
  try {
    return await agents.open({
      ...parts,
      model: asAgentModel(model),
      source: "library",
      ...(budgetUsd !== undefined && { budget: () => ({ sessionUsd: budgetUsd }) }),
      onClose,
    });
  } catch (error) {
    await onClose();
    throw error;
  }
}

function refuseRuntimeTwice({ runtime, tools, home }: CreateAgentOptions): void {
  if (runtime === undefined || (tools === undefined && home === undefined)) return;
  throw new HermesError(
    failure(
      "bad_request",
      `createAgent takes ${tools === undefined ? "home" : "tools"} only where it makes the runtime itself`,
      "Give it to createRuntime, or leave runtime out.",
    ),
  );
}

function asAgentModel(model: CreateAgentOptions["model"]): string | AgentModel | undefined {
  return isClient(model) ? { client: model, name: "custom" } : model;
}

function isClient(model: CreateAgentOptions["model"]): model is ModelClient {
  return typeof model === "object" && "stream" in model;
}
