import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { loadPeer } from "./load-peer.js";
import { type SessionTool, sessionTools, toldOf } from "./session-tools.js";

/** What is used of a tool of LangChain; it is an instance of its own class. */
export type LangChainTool = {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  invoke(input: unknown, config?: unknown): Promise<unknown>;
};

/** The little of `@langchain/core` that is needed; its types come with the program that has it. */
interface LangChain {
  readonly DynamicStructuredTool: new (fields: {
    name: string;
    description: string;
    schema: object;
    responseFormat: "content_and_artifact";
    func(input: unknown, manager: unknown, config?: CallConfig): Promise<readonly [unknown, CallResult]>;
  }) => LangChainTool;
  readonly ToolMessage: new (fields: {
    content: unknown;
    tool_call_id: string;
    name: string;
    status: "error";
    artifact: CallResult;
  }) => unknown;
}

interface CallConfig {
  readonly toolCall?: { readonly id?: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The tools of a session for LangChain (`@langchain/core`, which the program itself brings along): for `bindTools`,
 * `createAgent` and tool nodes. The artifact of a message is the `CallResult`; a call that failed is a message with the
 * status `error`.
 */
export async function toLangChainTools<Tool = LangChainTool>(session: Session): Promise<Tool[]> {
  const langchain = await loadLangChain();
  return (await sessionTools(session)).map((tool) => adapted(tool, langchain) as Tool);
}

function adapted(
  { name, description, parameters, run }: SessionTool,
  { DynamicStructuredTool, ToolMessage }: LangChain,
): LangChainTool {
  return new DynamicStructuredTool({
    name,
    description,
    schema: parameters,
    responseFormat: "content_and_artifact",
    async func(input, _manager, config) {
      const id = config?.toolCall?.id;
      const result = await run({ id, arguments: input, signal: config?.signal });
      const content = contentOf(result);
      if (result.ok || id === undefined) return [content, result];
      const message = new ToolMessage({ content, tool_call_id: id, name, status: "error", artifact: result });
      return [message, result];
    },
  });
}

function contentOf(result: CallResult): unknown {
  const content = toldOf(result);
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "image"
      ? { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }
      : { type: "text", text: textOf([part]) },
  );
}

async function loadLangChain(): Promise<LangChain> {
  const [tools, messages] = await Promise.all([
    loadPeer("@langchain/core/tools"),
    loadPeer("@langchain/core/messages"),
  ]);
  return { ...tools, ...messages } as LangChain;
}
