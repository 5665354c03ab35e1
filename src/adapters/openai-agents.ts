import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { sessionTools, toldOf } from "./session-tools.js";

type Told = { type: "text"; text: string } | { type: "image"; image: { data: string; mediaType: string } };

/** What `tools` of an agent takes, without its package. */
export type OpenAIAgentsTool = {
  type: "function";
  name: string;
  description: string;
  parameters: {
    type: "object";
    // biome-ignore lint/suspicious/noExplicitAny: the package's own type says so, and reads it from nobody else
    properties: Record<string, any>;
    required: string[];
    additionalProperties: boolean;
  };
  strict: boolean;
  invoke(
    context: unknown,
    input: string,
    details?: {
      readonly toolCall?: { readonly callId: string } | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<string | Told[]>;
  needsApproval(): Promise<boolean>;
  isEnabled(): Promise<boolean>;
};

/**
 * The tools of a session for `@openai/agents`: `new Agent({ tools: await toOpenAIAgentsTools(session) })`. Who approves
 * is the session's affair: the package is not asked to.
 */
export async function toOpenAIAgentsTools(session: Session): Promise<OpenAIAgentsTool[]> {
  const tools = await sessionTools(session);
  return tools.map(({ name, description, parameters, run }) => ({
    type: "function",
    name,
    description,
    parameters: {
      type: "object",
      properties: {},
      required: [],
      additionalProperties: true,
      ...parameters,
    },
    strict: false,
    invoke: async (_context, input, details) =>
      outputOf(await run({ id: details?.toolCall?.callId, arguments: input, signal: details?.signal })),
    needsApproval: async () => false,
    isEnabled: async () => true,
  }));
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
