import { TOOL_ALIASES } from "../../../registry/aliases.js";
import type { JsonSchema } from "../../../tool/json-schema.js";
import type { NestedTool } from "../../../tool/tool.js";

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]*$/;
const LONGEST_DOC = 2_000;

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Record<string, unknown>;
}

/** Parameters in the order in which a script may give them: the required ones first. */
export function parametersOf(schema: JsonSchema): readonly Parameter[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties, required } = schema as {
    readonly properties?: Record<string, unknown>;
    readonly required?: readonly string[];
  };
  const needed = new Set(required);
  const all = Object.entries(properties ?? {}).map(([name, given]) => ({
    name,
    required: needed.has(name),
    schema: typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {},
  }));
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)];
}

/** A name that both languages take for a function. */
export function functionName(tool: string): string {
  const plain = tool.replaceAll(/[^A-Za-z0-9_]/g, "_");
  return IDENTIFIER.test(plain) && !KEYWORDS.has(plain) ? plain : `tool_${plain}`;
}

/** The other names under which a tool is known. */
export function otherNames(tool: string): readonly string[] {
  return Object.entries(TOOL_ALIASES).flatMap(([alias, canonical]) => (canonical === tool ? [alias] : []));
}

/** The text of the module `hermes_tools`: one function for each tool, with its names, defaults and words. */
export function pythonModule(tools: readonly NestedTool[]): string {
  return tools.map(pythonFunction).join("\n");
}

function pythonFunction(tool: NestedTool): string {
  const name = functionName(tool.name);
  const parameters = parametersOf(tool.parameters).filter(
    (one) => IDENTIFIER.test(one.name) && !KEYWORDS.has(one.name),
  );
  const signature = [
    ...parameters.map((one) => (one.required ? one.name : `${one.name}=${defaultOf(one)}`)),
    "**more",
  ].join(", ");
  const named = parameters.map((one) => `${literal(one.name)}: ${one.name}`).join(", ");
  const nullable = parameters.filter((one) => one.required || takesNull(one.schema));
  const kept = nullable.length === 0 ? "" : `, (${nullable.map((one) => `${literal(one.name)},`).join(" ")})`;
  return [
    `def ${name}(${signature}):`,
    `    ${literal(documentation(tool))}`,
    `    return _call(${literal(tool.name)}, _given({${named}}, more${kept}))`,
    ...otherNames(tool.name).map((other) => `${other} = ${name}`),
    "",
  ].join("\n");
}

function documentation(tool: NestedTool): string {
  const lines = parametersOf(tool.parameters).flatMap(({ name, schema }) =>
    typeof schema.description === "string" ? [`${name}: ${schema.description}`] : [],
  );
  return [tool.description, ...lines].join("\n").slice(0, LONGEST_DOC);
}

function defaultOf({ schema }: Parameter): string {
  return "default" in schema ? literal(schema.default) : "_left_out";
}

function takesNull(schema: Record<string, unknown>): boolean {
  return schema.type === "null" || (Array.isArray(schema.type) && schema.type.includes("null"));
}

/** A value as Python writes it. */
export function literal(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "None";
  if (typeof value === "string") return pythonText(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  const entries = Object.entries(value as object).map(([key, one]) => `${literal(key)}: ${literal(one)}`);
  return `{${entries.join(", ")}}`;
}

/** JSON text is Python text once the pairs of large characters are written as one. */
function pythonText(text: string): string {
  return JSON.stringify(text.toWellFormed?.() ?? text).replaceAll("\u007f", "\\x7f");
}
