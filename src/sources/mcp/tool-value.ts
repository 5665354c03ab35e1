import type { CallToolResult, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/record.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { checkSchema } from "../../tool/check-schema.js";
import type { Effect, Permission } from "../../tool/effects.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import {
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
  type SchemaObject,
} from "../../tool/schema-walk.js";
import type { AnyTool, CallContext } from "../../tool/tool.js";
import { outputCheck, toToolResult } from "./call-result.js";
import { cleanLine, cleanText, isClean, LONGEST_PARAMETER_TEXT } from "./clean-text.js";
import type { Connection } from "./connect.js";
import { type Definition, hints } from "./definition.js";
import { describeChange } from "./definition-diff.js";
import type { DirectCall } from "./direct-calls.js";
import { aliasesOf, toolNameOf, toolsetOf } from "./names.js";
import { normalizeParameters } from "./normalize-schema.js";
import type { PinnedTool } from "./pins.js";
import type { RunningCall } from "./running-call.js";

/** Requests to one server on behalf of calls. */
export interface RemoteCalls {
  run<Result>(request: {
    /** As it is told in errors. */
    readonly what: string;
    readonly context: CallContext;
    /** Runs once there is a connection and the list of tools is known; throws when the call may not go on. */
    readonly before?: () => void;
    readonly work: (connection: Connection, call: RunningCall) => Promise<Result>;
  }): Promise<Result>;
}

export interface ToolOptions {
  readonly server: string;
  readonly config: McpServerConfig;
  readonly remote: RemoteCalls;
  /** Throws when this version of the tool may not be run; notes the yes to a change that was asked about. */
  readonly begin: (tool: PinnedTool) => void;
}

/** Room for the server's own limit to be the one that ends the call. */
const DEADLINE_MARGIN_MS = 15_000;

/** A tool of a server as a value of ours. Throws with the reason when it cannot be one. */
export function mcpTool(pinned: PinnedTool, options: ToolOptions): AnyTool {
  const { remote } = options;
  const { approved } = pinned;
  const parameters = parametersOf(approved.inputSchema);
  const output = outputOf(approved.outputSchema);
  const fits = outputCheck(approved.outputSchema);
  const effects = effectsOf(pinned, options);
  return {
    ...frame(options, approved.name),
    description: cleanText(approved.description ?? approved.title),
    parameters,
    output,
    effects: () => effects,
    async handler(args: Record<string, unknown>, context) {
      const result = await remote.run({
        what: approved.name,
        context,
        before: () => options.begin(pinned),
        work: (connection, call) =>
          callRemoteTool(connection, { name: approved.name, arguments: args }, call),
      });
      const { structuredContent } = result;
      return toToolResult(result, structuredContent === undefined || (await fits(structuredContent)));
    },
  };
}

/** What all tools of a server have in common. */
export function frame({ server, config }: Pick<ToolOptions, "server" | "config">, tool: string) {
  return {
    name: toolNameOf(server, tool),
    aliases: aliasesOf(server, tool),
    toolset: toolsetOf(server),
    tags: ["mcp"],
    permissions: [permissionOf(server)],
    timeoutMs: Math.max(config.max_timeout, config.timeout) * 1000 + DEADLINE_MARGIN_MS,
  };
}

export function permissionOf(server: string): Permission {
  return `mcp:${server}`;
}

export function lockOf(
  { server, config }: Pick<ToolOptions, "server" | "config">,
  reads: boolean,
): Effect["lock"] {
  return { name: permissionOf(server), shared: reads || config.supports_parallel_tool_calls };
}

/**
 * A server's hints are a stranger's word: they may make us more careful and let reading calls run side by side, and
 * they never permit anything.
 */
function effectsOf(pinned: PinnedTool, options: ToolOptions): readonly Effect[] {
  const { server } = options;
  const { approved, changed } = pinned;
  const versions = changed === undefined ? [approved] : [approved, changed.definition];
  const reads = versions.every((version) => hints(version, "readOnlyHint"));
  const ask = questionFor(pinned, versions, server);
  const lock = lockOf(options, reads);
  return [
    {
      action: permissionOf(server),
      resource: cleanLine(approved.name, 200),
      mode: reads ? "read" : "write",
      ask,
      lock,
    },
  ];
}

function questionFor(
  { approved, changed }: PinnedTool,
  versions: readonly Definition[],
  server: string,
): Effect["ask"] | undefined {
  const destroys = versions.some((version) => hints(version, "destructiveHint"));
  const key = `${server}/${approved.name}`;
  if (changed !== undefined) {
    const also = destroys ? "; the server also says that it may destroy something" : "";
    const told = "its definition changed since it was approved";
    const reason = `${told}: ${describeChange(approved, changed.definition)}${also}`;
    return { reason, told, key: `${key}@${changed.fingerprint}` };
  }
  if (!destroys) return undefined;
  return {
    reason: `MCP server ${server} says that ${cleanLine(approved.name, 100)} may destroy something`,
    key,
  };
}

function parametersOf(given: unknown): JsonSchema {
  const parameters = normalizeParameters(withCleanText(given));
  const problem = checkSchema(parameters, { foreign: true });
  if (problem !== undefined) throw new HiddenText(problem.message);
  return parameters;
}

/** Only told to programs; a promise that cannot be shown is left out. */
function outputOf(given: unknown): JsonSchema | undefined {
  if (!isRecord(given)) return undefined;
  try {
    const output = withCleanText(given) as JsonSchema;
    return checkSchema(output, { foreign: true }) === undefined ? output : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever the server answers is read with care later; checking it here as well would cost as much as a small call. */
const AS_IT_IS: StandardSchemaV1<unknown, CallToolResult> = {
  "~standard": { version: 1, vendor: "hermes", validate: (value) => ({ value: value as CallToolResult }) },
};

function callRemoteTool(
  { client, calls }: Connection,
  tool: DirectCall,
  call: RunningCall,
): Promise<CallToolResult> {
  const { traceparent } = call.context;
  if (calls !== undefined) return calls.call({ ...tool, traceparent }, call);
  const trace = traceparent === undefined ? {} : { _meta: { traceparent } };
  const params = { name: tool.name, arguments: tool.arguments, ...trace };
  // In the newer protocol some parameters are sent as headers too, which only the SDK's own way does.
  if (client.getProtocolEra() === "modern") return client.callTool(params, call.requestOptions);
  return client.request({ method: "tools/call", params }, AS_IT_IS, call.requestOptions);
}

/** Text for readers: cleaned and shortened. */
const PROSE: ReadonlySet<string> = new Set(["description", "title"]);
/** Values that only advise: left out when they hide something. */
const ADVICE: ReadonlySet<string> = new Set(["default", "examples", "pattern", "format"]);
/** What decides which values are right, or where a part is found. Changing it would change the meaning. */
const MEANING: ReadonlySet<string> = new Set(
  (
    "type enum const required $ref $id $schema $anchor $dynamicRef $dynamicAnchor id multipleOf maximum minimum " +
    "exclusiveMaximum exclusiveMinimum maxLength minLength maxItems minItems uniqueItems maxProperties minProperties " +
    "minContains maxContains dependentRequired nullable"
  ).split(" "),
);
const MAX_DEPTH = 100;

/** A schema that cannot be shown to a model, and why. */
class HiddenText extends Error {}

/**
 * The same schema in which every text is fit for a model. Keywords that mean nothing to a validator are left out: a
 * server could write anything there. Throws `HiddenText` where text that must stay as it is hides something.
 */
export function withCleanText(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema)) return schema;
  if (depth > MAX_DEPTH) throw new HiddenText(`its parameters are nested deeper than ${MAX_DEPTH} levels`);
  const clean: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const inner = cleanKeyword({ keyword, value, depth });
    if (inner !== undefined) clean[keyword] = inner;
  }
  return clean;
}

interface Part {
  readonly keyword: string;
  readonly value: unknown;
  readonly depth: number;
}

function cleanKeyword({ keyword, value, depth }: Part): unknown {
  if (PROSE.has(keyword)) return cleanText(value, LONGEST_PARAMETER_TEXT) || undefined;
  if (ADVICE.has(keyword)) return hidesNothing(value) ? value : undefined;
  if (MEANING.has(keyword)) {
    if (!hidesNothing(value))
      throw new HiddenText(`"${keyword}" in its parameters holds hidden or misleading text`);
    return value;
  }
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isRecord(value)) return cleanMap(value, depth);
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
    return value.map((item) => withCleanText(item, depth + 1));
  return SCHEMA_KEYWORDS.has(keyword) ? withCleanText(value, depth + 1) : undefined;
}

function cleanMap(map: SchemaObject, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(map)) {
    if (!isClean(name)) throw new HiddenText("a parameter has a name with hidden or misleading text");
    // `dependencies` may hold lists of names; they are only names again.
    const inner = Array.isArray(value) ? value : withCleanText(value, depth + 1);
    if (!hidesNothing(Array.isArray(value) ? value : undefined))
      throw new HiddenText("a parameter has a name with hidden or misleading text");
    Object.defineProperty(clean, name, {
      value: inner,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return clean;
}

/** Looks at every text inside a value. */
function hidesNothing(value: unknown): boolean {
  const pending = [value];
  for (let steps = 0; pending.length > 0; steps++) {
    const next = pending.pop();
    if (steps > 20_000) return false;
    if (typeof next === "string") {
      if (!isClean(next)) return false;
    } else if (Array.isArray(next)) pending.push(...next.slice(0, 20_001));
    else if (isRecord(next)) pending.push(...Object.keys(next), ...Object.values(next));
  }
  return true;
}
