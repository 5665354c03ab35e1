import type { Session } from "../runtime/session.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { sessionTools, toldOf } from "./session-tools.js";

type JsonObject = Record<string, unknown>;

/** Arguments by JSON Schema, in the words of Standard Schema. They are judged and mended by the call itself. */
type AiSdkSchema = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "hermes-tools";
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: { input(): JsonObject; output(): JsonObject };
  };
};

type AiSdkOutput =
  | { type: "text" | "error-text"; value: string }
  | {
      type: "content";
      value: ({ type: "text"; text: string } | { type: "image-data"; data: string; mediaType: string })[];
    };

/** What `tools` of the AI SDK takes, without its package. */
export type AiSdkTool = {
  readonly type: "dynamic";
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(
    input: unknown,
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal | undefined },
  ): Promise<CallResult>;
  toModelOutput(told: { readonly output: unknown }): AiSdkOutput;
};

/**
 * The tools of a session for the AI SDK (`ai`, version 6 and later): `generateText({ tools: await toAiSdkTools(session) })`.
 * What comes out of a call is its `CallResult`; the model reads what every model reads of it.
 */
export async function toAiSdkTools(session: Session): Promise<Record<string, AiSdkTool>> {
  const tools = await sessionTools(session);
  return Object.fromEntries(
    tools.map(({ name, description, parameters, run }): [string, AiSdkTool] => [
      name,
      {
        type: "dynamic",
        description,
        inputSchema: schemaOf(parameters),
        execute: (input, { toolCallId, abortSignal }) =>
          run({ id: toolCallId, arguments: input, signal: abortSignal }),
        toModelOutput: ({ output }) => outputOf(output as CallResult),
      },
    ]),
  );
}

function schemaOf(parameters: object): AiSdkSchema {
  // The SDK writes into what it is given.
  const copy = (): JsonObject => structuredClone(parameters) as JsonObject;
  return {
    "~standard": {
      version: 1,
      vendor: "hermes-tools",
      validate: (value) => ({ value }),
      jsonSchema: { input: copy, output: copy },
    },
  };
}

function outputOf(result: CallResult): AiSdkOutput {
  const content = toldOf(result);
  if (typeof content === "string") return { type: result.ok ? "text" : "error-text", value: content };
  return {
    type: "content",
    value: content.map((part) =>
      part.type === "image"
        ? { type: "image-data", data: part.data, mediaType: part.mimeType }
        : { type: "text", text: textOf([part]) },
    ),
  };
}
