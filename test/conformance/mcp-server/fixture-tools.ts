import { setTimeout as wait } from "node:timers/promises";
import { type Content, defineTool, ToolResult } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const noArguments = { type: "object", properties: {} } as const;

function answering(name: string, content: readonly Content[]): AnyTool {
  return defineTool({
    name,
    description: `Answers as the scenario of ${name} wants it.`,
    permissions: [],
    parameters: noArguments,
    handler: () => new ToolResult({ success: true, content }),
  });
}

const text = (value: string): Content => ({ type: "text", text: value });

/** The tools the public suite calls by name, as ordinary tools of a registry. */
export const fixtureTools: readonly AnyTool[] = [
  answering("test_simple_text", [text("This is a simple text response for testing.")]),
  answering("test_image_content", [{ type: "image", data: PNG, mimeType: "image/png" }]),
  answering("test_audio_content", [{ type: "audio", data: WAV, mimeType: "audio/wav" }]),
  answering("test_embedded_resource", [
    {
      type: "resource",
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content.",
    },
  ]),
  answering("test_multiple_content_types", [
    text("Multiple content types test:"),
    { type: "image", data: PNG, mimeType: "image/png" },
    {
      type: "resource",
      uri: "test://mixed-content-resource",
      mimeType: "application/json",
      text: '{"test":"data","value":123}',
    },
  ]),
  defineTool({
    name: "test_error_handling",
    description: "Always fails.",
    permissions: [],
    parameters: noArguments,
    handler: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
  }),
  defineTool({
    name: "test_tool_with_progress",
    description: "Says how far it is.",
    permissions: [],
    parameters: noArguments,
    async handler(_args, ctx) {
      for (const fraction of [0, 0.5, 1]) {
        ctx.progress({ fraction });
        await wait(60);
      }
      return "done";
    },
  }),
  defineTool({
    name: "test_elicitation",
    description: "Asks the person.",
    permissions: [],
    parameters: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    async handler({ message }, ctx) {
      const answer = await ctx.ask({ question: message });
      return `User response: ${answer ?? "none"}`;
    },
  }) as AnyTool,
  defineTool({
    name: "test_reconnection",
    description: "Takes a moment.",
    permissions: [],
    parameters: noArguments,
    async handler() {
      await wait(100);
      return "back again";
    },
  }),
  defineTool({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    permissions: [],
    parameters: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: {
          type: "object",
          properties: { street: { type: "string" }, city: { type: "string" } },
        },
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    handler: () => "ok",
  }) as AnyTool,
];
