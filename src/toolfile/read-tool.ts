import { isRecord } from "../base/record.js";
import { type ConfigNode, describeNode } from "../config/node.js";
import { checkSchema } from "../tool/check-schema.js";
import { DEFAULT_TOOLSET } from "../tool/define.js";
import type { JsonSchema } from "../tool/json-schema.js";
import type { ToolExample } from "../tool/tool.js";
import type { Problems } from "./problems.js";
import { readCommand } from "./read-command.js";
import { readComposite } from "./read-composite.js";
import { readHttp } from "./read-http.js";
import { objectSchema, readParameters, usedDefinitions } from "./read-parameters.js";
import { Section } from "./section.js";
import { type CommonSpec, TOOL_TYPES, type ToolSpec, type ToolType } from "./tool-spec.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const TOOLSET = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const LONGEST_SECONDS = 3_600;
const DEFAULT_SECONDS: Readonly<Record<ToolType, number>> = {
  http_wrapper: 30,
  command: 60,
  composite: 300,
};

export interface FileScope {
  readonly problems: Problems;
  /** Schemas that the tools of the file share. */
  readonly definitions: Readonly<Record<string, unknown>>;
}

/** One tool of a file; undefined when something is wrong with it, which is then told in `problems`. */
export function readTool(node: ConfigNode, { problems, definitions }: FileScope): ToolSpec | undefined {
  if (node.kind !== "map") {
    problems.add(node, `a tool must be a section with a name, but this is ${describeNode(node)}`);
    return undefined;
  }
  const before = problems.count;
  const tool = new Section({ node, what: whatOf(node.entries), problems });
  const type = tool.choice("type", TOOL_TYPES, { required: true });
  const common = readCommon(tool, { type: type ?? "http_wrapper", definitions });
  const spec =
    type === undefined || common === undefined
      ? undefined
      : type === "http_wrapper"
        ? readHttp(tool, common)
        : type === "command"
          ? readCommand(tool, common)
          : readComposite(tool, common);
  return problems.count === before ? spec : undefined;
}

function whatOf(entries: readonly { readonly name: string; readonly node: ConfigNode }[]): string {
  const name = entries.find((entry) => entry.name === "name")?.node;
  return name?.kind === "scalar" && typeof name.value === "string"
    ? `tool ${name.value.slice(0, 64)}`
    : "a tool";
}

function readCommon(
  tool: Section,
  known: { readonly type: ToolType; readonly definitions: Readonly<Record<string, unknown>> },
): CommonSpec | undefined {
  const name = tool.text("name", { required: true });
  const description = tool.text("description", { required: true });
  const toolset = tool.text("toolset") ?? DEFAULT_TOOLSET;
  const emoji = tool.text("emoji");
  const tags = tool.texts("tags") ?? [];
  const aliases = tool.texts("aliases") ?? [];
  const enabled = tool.boolean("enabled") ?? true;
  const timeout = tool.number("timeout_seconds", { min: 0.1, max: LONGEST_SECONDS });
  const parameters = readParameters(tool);
  const output = readOutput(tool, known.definitions);
  const examples = readExamples(tool);
  for (const [key, text, pattern] of [
    ["name", name, NAME],
    ["toolset", toolset, TOOLSET],
    ...aliases.map((alias) => ["aliases", alias, NAME] as const),
  ] as const)
    if (text !== undefined && !pattern.test(text))
      tool.wrong(
        tool.get(key),
        `"${key}" of ${tool.what} holds ${JSON.stringify(text.slice(0, 80))}, which cannot be a name`,
        "up to 64 letters, digits, _ and -, beginning with a letter",
      );
  // Tools of such toolsets take over from each other.
  if (toolset.startsWith("mcp-"))
    tool.wrong(
      tool.get("toolset"),
      `"toolset" of ${tool.what} begins with "mcp-", which is kept for MCP servers`,
    );
  if (name === undefined || description === undefined) return undefined;
  const schema = objectSchema(parameters, known.definitions);
  const unusable = checkSchema(schema, { foreign: true });
  if (unusable !== undefined) tool.wrong(tool.get("parameters"), `${tool.what}: ${unusable.message}`);
  return {
    name,
    description,
    toolset,
    emoji,
    tags,
    aliases,
    enabled,
    parameters,
    schema,
    output,
    examples,
    timeoutSeconds: timeout ?? DEFAULT_SECONDS[known.type],
    place: tool.node.place,
  };
}

function readOutput(tool: Section, definitions: Readonly<Record<string, unknown>>): JsonSchema | undefined {
  const value = tool.value("output");
  if (value === undefined) return undefined;
  if (!isRecord(value)) {
    tool.wrong(tool.get("output"), `"output" of ${tool.what} must be a JSON Schema`);
    return undefined;
  }
  const used = usedBy(value, definitions);
  return used === undefined ? value : { ...value, $defs: used };
}

function usedBy(
  schema: JsonSchema,
  definitions: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  const used = usedDefinitions(schema, definitions);
  return Object.keys(used).length === 0 ? undefined : used;
}

function readExamples(tool: Section): readonly ToolExample[] {
  return (tool.items("examples") ?? []).flatMap((node) => {
    if (node.kind !== "map") {
      tool.wrong(
        node,
        `an example of ${tool.what} must have title and arguments, not be ${describeNode(node)}`,
      );
      return [];
    }
    const section = new Section({ node, what: `an example of ${tool.what}`, problems: tool.problems });
    const title = section.text("title", { required: true });
    const args = section.value("arguments");
    const result = section.value("result");
    section.finish();
    if (title === undefined) return [];
    return [{ title, arguments: isRecord(args) ? args : {}, result: isRecord(result) ? result : {} }];
  });
}
