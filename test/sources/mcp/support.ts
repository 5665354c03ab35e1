import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { ToolRegistry } from "../../../src/registry/registry.js";
import type { Runtime } from "../../../src/runtime/runtime.js";
import type { SessionOptions } from "../../../src/runtime/session.js";
import type { McpServerStatus, McpSource } from "../../../src/sources/mcp/source.js";
import type { CallResult } from "../../../src/tool/call.js";
import { onTestEnd, type TestRuntime, tempDir, testRuntime } from "../../support/runtime.js";

export const SCRIPTABLE = fileURLToPath(new URL("./scriptable-server.mjs", import.meta.url));
const peers = createRequire(fileURLToPath(new URL("../../peers/package.json", import.meta.url)));

/** Settings of a scriptable server that behaves as the script says. */
export function scriptable(script: Record<string, unknown> = {}, settings: Record<string, unknown> = {}) {
  const text = JSON.stringify(script);
  if (text.length < 4_000) return { command: process.execPath, args: [SCRIPTABLE, text], ...settings };
  const file = join(tempDir(), "script.json");
  writeFileSync(file, text);
  return { command: process.execPath, args: [SCRIPTABLE, file], ...settings };
}

/** A public server from npm. */
export function peer(name: string, ...args: readonly string[]) {
  return {
    command: process.execPath,
    args: [peers.resolve(`@modelcontextprotocol/${name}/dist/index.js`), ...args],
  };
}

export interface McpTest extends TestRuntime {
  readonly source: McpSource;
  readonly file: string;
}

/** A runtime whose configuration names these servers, when all of them have been tried. */
export async function mcpRuntime(
  servers: Record<string, unknown>,
  options: {
    readonly home?: string;
    readonly mcp?: Record<string, unknown>;
    readonly env?: Record<string, string>;
    readonly settle?: boolean;
    readonly yolo?: boolean;
    readonly registry?: ToolRegistry;
  } = {},
): Promise<McpTest> {
  const home = options.home ?? tempDir();
  const file = join(home, "config.yaml");
  writeFileSync(
    file,
    stringify({ mcp_servers: servers, ...(options.mcp !== undefined && { mcp: options.mcp }) }),
  );
  const test = await testRuntime([], {
    home,
    userTools: true,
    env: { PATH: process.env.PATH, HOME: home, ...options.env },
    ...(options.yolo !== undefined && { yolo: options.yolo }),
    ...(options.registry !== undefined && { registry: options.registry }),
  });
  if (options.settle !== false) await test.runtime.sources.settled();
  return { ...test, source: sourceOf(test.runtime), file };
}

export function sourceOf(runtime: Runtime): McpSource {
  const source = runtime.sources.get("mcp");
  if (source === undefined) throw new Error("no MCP source was made");
  return source as McpSource;
}

/** A way to call tools, each under an id of its own. */
export async function caller(runtime: Runtime, options: SessionOptions = {}) {
  const session = await runtime.openSession(options);
  onTestEnd(() => session.close());
  let count = 0;
  return async (
    name: string,
    args: Record<string, unknown> = {},
    signal?: AbortSignal,
  ): Promise<CallResult> =>
    session.call({ id: `call-${count++}`, name, arguments: args }, signal === undefined ? {} : { signal });
}

/** What the server said, without the frame that it reaches a model in. */
export function textOf(result: CallResult): string {
  if (result.ok) return result.human;
  return result.content.map((part) => ("text" in part ? (part.text ?? "") : `[${part.type}]`)).join("\n");
}

/** Waits until a server looks like this; the generous bound only ends a test that would hang. */
export async function until(
  source: McpSource,
  name: string,
  holds: (status: McpServerStatus) => boolean,
  withinMs = 8_000,
): Promise<McpServerStatus> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const status = source.servers().find((one) => one.name === name);
    if (status !== undefined && holds(status)) return status;
    if (Date.now() > deadline) throw new Error(`server ${name} stayed ${JSON.stringify(status)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
