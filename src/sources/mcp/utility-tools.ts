import type { Client, GetPromptResult, RequestOptions } from "@modelcontextprotocol/client";
import { type Content, text } from "../../tool/content.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import { ToolResult } from "../../tool/result.js";
import type { AnyTool } from "../../tool/tool.js";
import { embedded } from "./call-result.js";
import { cleanLine, cleanText } from "./clean-text.js";
import { frame, lockOf, permissionOf, type ToolOptions } from "./tool-value.js";

const MOST_LISTED = 1_000;

interface Utility {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  run(client: Client, args: Record<string, unknown>, options: RequestOptions): Promise<ToolResult>;
}

const NOTHING: JsonSchema = { type: "object", properties: {} };

const RESOURCES: readonly Utility[] = [
  {
    name: "list_resources",
    description: "List the resources (files, records, documents) this server offers, with their URIs.",
    parameters: NOTHING,
    async run(client, _args, options) {
      const { resources } = await client.listResources(undefined, options);
      // Servers without templates refuse the question.
      const templates = await client.listResourceTemplates(undefined, options).then(
        ({ resourceTemplates }) => resourceTemplates,
        () => [],
      );
      return data({
        resources: resources.slice(0, MOST_LISTED).map((one) => ({ uri: one.uri, ...described(one) })),
        templates:
          templates.length > 0
            ? templates
                .slice(0, MOST_LISTED)
                .map((one) => ({ uri_template: one.uriTemplate, ...described(one) }))
            : undefined,
      });
    },
  },
  {
    name: "read_resource",
    description: "Read one resource of this server by its URI.",
    parameters: {
      type: "object",
      properties: { uri: { type: "string", description: "URI from list_resources" } },
      required: ["uri"],
    },
    async run(client, args, options) {
      const { contents } = await client.readResource({ uri: String(args.uri) }, options);
      return new ToolResult({
        success: true,
        content: contents.length === 0 ? [text("")] : contents.map(embedded),
      });
    },
  },
];

const PROMPTS: readonly Utility[] = [
  {
    name: "list_prompts",
    description: "List the prompts (ready-made instructions) this server offers.",
    parameters: NOTHING,
    async run(client, _args, options) {
      const { prompts } = await client.listPrompts(undefined, options);
      return data({
        prompts: prompts.slice(0, MOST_LISTED).map((prompt) => ({
          ...described(prompt),
          arguments: (prompt.arguments ?? []).map(({ name, description, required }) => ({
            name,
            description: description === undefined ? undefined : cleanText(description, 300),
            required: required === true ? required : undefined,
          })),
        })),
      });
    },
  },
  {
    name: "get_prompt",
    description: "Get one prompt of this server, filled in with arguments.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name from list_prompts" },
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["name"],
    },
    async run(client, args, options) {
      const given = (args.arguments ?? {}) as Record<string, string>;
      return promptResult(await client.getPrompt({ name: String(args.name), arguments: given }, options));
    },
  },
];

/** Tools of ours for what else a server offers. They only read. */
export function utilityTools(
  options: ToolOptions,
  offers: { readonly resources: boolean; readonly prompts: boolean },
): readonly AnyTool[] {
  const { tools } = options.config;
  const wanted = [
    ...(offers.resources && tools.resources ? RESOURCES : []),
    ...(offers.prompts && tools.prompts ? PROMPTS : []),
  ];
  return wanted.map((utility) => utilityTool(utility, options));
}

function utilityTool(utility: Utility, options: ToolOptions): AnyTool {
  const { server, remote } = options;
  const lock = lockOf(options, true);
  return {
    ...frame(options, utility.name),
    description: `${utility.description} (MCP server ${server})`,
    parameters: utility.parameters,
    effects: () => [
      {
        action: permissionOf(server),
        resource: utility.name,
        mode: "read",
        lock,
      },
    ],
    handler: (args: Record<string, unknown>, context) =>
      remote.run({
        what: utility.name,
        context,
        work: ({ client }, call) => utility.run(client, args, call.requestOptions),
      }),
  };
}

interface Described {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

function described(one: Described) {
  return {
    name: one.name,
    title: one.title === undefined ? undefined : cleanLine(one.title, 200),
    description: one.description === undefined ? undefined : cleanText(one.description, 500),
    mime_type: one.mimeType,
  };
}

function data(output: Record<string, unknown>): ToolResult {
  return new ToolResult({ success: true, output, content: [text(JSON.stringify(output))] });
}

function promptResult({ description, messages }: GetPromptResult): ToolResult {
  const content: Content[] = messages.map(({ role, content: block }) => {
    if (block.type === "text") return text(`[${role}] ${block.text}`);
    if (block.type === "image" || block.type === "audio")
      return { type: block.type, data: block.data, mimeType: block.mimeType };
    return block.type === "resource" ? embedded(block.resource) : text(JSON.stringify(block));
  });
  if (description !== undefined) content.unshift(text(cleanText(description, 500)));
  return new ToolResult({ success: true, content: content.length === 0 ? [text("")] : content });
}
