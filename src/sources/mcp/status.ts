import type { SourceState, SourceStatus } from "../types.js";
import type { Definition } from "./definition.js";

/** A tool whose definition is another one now, as a person is told. */
export interface ShownChange {
  readonly tool: string;
  readonly change: string;
  /** Of the new definition: a yes to it is a yes to nothing else. */
  readonly fingerprint: string;
}

/** The same with both definitions, to lay them side by side. */
export interface DefinitionDrift extends ShownChange {
  readonly before: Definition;
  readonly now: Definition;
}

/** Everything there is to know about one MCP server at this moment. */
export interface McpServerStatus {
  readonly name: string;
  readonly state: SourceState;
  /** Why it is not ready, and what to do. */
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  readonly transport: "stdio" | "http" | "sse";
  /** The revision of the protocol that is spoken with it. */
  readonly protocol?: string | undefined;
  /** What the server calls itself. */
  readonly server_info?: { readonly name: string; readonly version: string } | undefined;
  readonly tools: readonly string[];
  readonly quarantined: readonly { readonly name: string; readonly reason: string }[];
  /** Tools whose definition is another one than was approved. */
  readonly changed: readonly ShownChange[];
  /** The last lines it wrote to its standard error. */
  readonly stderr: readonly string[];
  /** Milliseconds since 1970: when it is tried again. */
  readonly next_retry?: number | undefined;
  /** How long the last connection took, tools included. */
  readonly connected_ms?: number | undefined;
  /** Times it was started or connected to again. */
  readonly restarts: number;
}

export function sourceStatus(server: McpServerStatus): SourceStatus {
  const { state, tools, reason, fix, next_retry, quarantined } = server;
  return {
    source: `mcp:${server.name}`,
    state,
    tools,
    quarantined,
    reason,
    fix,
    next_retry,
  };
}
