import { isRecord } from "../../base/record.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { checkSchema } from "../../tool/check-schema.js";
import type { Effect, Permission } from "../../tool/effects.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import type { AnyTool, CallContext } from "../../tool/tool.js";
import { callRemoteTool } from "./call-remote-tool.js";
import { outputCheck, toToolResult } from "./call-result.js";
import { cleanLine, cleanText } from "./clean-text.js";
import type { Connection } from "./connect.js";
import { type Definition, hints } from "./definition.js";
import { describeChange } from "./definition-diff.js";
import { aliasesOf, toolNameOf, toolsetOf } from "./names.js";
import { normalizeParameters } from "./normalize-schema.js";
import type { PinnedTool } from "./pins.js";
import type { RunningCall } from "./running-call.js";
import { HiddenText, withCleanText } from "./schema-text.js";

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
    ...(output !== undefined && { output }),
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
      ...(ask !== undefined && { ask }),
      ...(lock !== undefined && { lock }),
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
    const reason = `its definition changed since it was approved: ${describeChange(approved, changed.definition)}${also}`;
    return { reason, key: `${key}@${changed.fingerprint}` };
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
