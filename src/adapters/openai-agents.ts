import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { loadPeer } from "./load-peer.js";
import { sessionTools, toldOf } from "./session-tools.js";

type Told = { type: "text"; text: string } | { type: "image"; image: { data: string; mediaType: string } };

type Parameters = {
  type: "object";
  // biome-ignore lint/suspicious/noExplicitAny: the package's own type says so, and reads it from nobody else
  properties: Record<string, any>;
  required: string[];
  additionalProperties: boolean;
};

interface Details {
  readonly toolCall?: { readonly callId: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is used of a tool of `@openai/agents`; it is made by the package itself. */
export type OpenAIAgentsTool = {
  type: "function";
  name: string;
  description: string;
  parameters: Parameters;
  strict: boolean;
  invoke(context: unknown, input: string, details?: Details): Promise<string | Told[]>;
  needsApproval(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
};

/** The little of the package that is needed; its types come with the program that has it. */
interface OpenAIAgents {
  tool(options: {
    name: string;
    description: string;
    parameters: Parameters;
    strict: false;
    execute(input: unknown, context: unknown, details?: Details): Promise<string | Told[]>;
  }): OpenAIAgentsTool;
}

/**
 * The tools of a session for `@openai/agents`: `new Agent({ tools: await toOpenAIAgentsTools(session) })`. Who approves
 * is the session's affair: the package is not asked to. It makes the tools itself, because it stops a run for a person's
 * approval when it cannot read the arguments of a tool that somebody else has made.
 */
export async function toOpenAIAgentsTools(session: Session): Promise<OpenAIAgentsTool[]> {
  const { tool } = (await loadPeer("@openai/agents")) as OpenAIAgents;
  const tools = await sessionTools(session);
  return tools.map(({ name, description, parameters, run }) =>
    tool({
      name,
      description,
      parameters: { properties: {}, required: [], additionalProperties: true, ...parameters, type: "object" },
      strict: false,
      execute: async (input, _context, details) =>
        outputOf(await run({ id: details?.toolCall?.callId, arguments: input, signal: details?.signal })),
    }),
  );
}

function outputOf(result: CallResult): string | Told[] {
  const content = toldOf(result);
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "image"
      ? { type: "image", image: { data: part.data, mediaType: part.mimeType } }
      : { type: "text", text: textOf([part]) },
  );
}
