import type { Readable, Writable } from "node:stream";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Runtime } from "../../runtime/runtime.js";
import { RunningRequests } from "../running-requests.js";
import { HeldCalls } from "./held-calls.js";
import { LineTransport } from "./line-transport.js";
import { McpSession } from "./mcp-session.js";
import { createToolServer, type McpDoor } from "./tool-server.js";

/**
 * Calls that are stopped get this long to end what they have started. Clients kill a server that is still there two
 * seconds after its input was closed.
 */
const STOPPING_MS = 1_400;

/** Speaks MCP over two streams until the client closes them or `signal` says so. */
export async function serveMcpOverStreams(options: {
  readonly runtime: Runtime;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { runtime, input, output, signal } = options;
  const [sdk, { serveStdio }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const running = new RunningRequests();
  const door: McpDoor = {
    runtime,
    session: new McpSession(runtime),
    ownSession: true,
    // Whoever started this process is the owner.
    mayApprove: true,
    unattended: runtime.approvals.unattended(),
    held: new HeldCalls<CallToolResult>(),
    principal: "owner",
    run: (request, work) => running.run(request, work),
  };
  const transport = new LineTransport({ input, output });
  try {
    // A toolset or profile that does not exist is a mistake to report now, not with the first call.
    await door.session.current();
    await new Promise<void>((resolve) => {
      const handle = serveStdio(
        ({ era }) => {
          const server = createToolServer(door, { sdk, era });
          const stop = door.session.onToolsChanged(() => {
            server.sendToolListChanged().catch(() => undefined);
          });
          server.onclose = stop;
          return server;
        },
        {
          transport,
          onerror: (error) => runtime.log.warn(`MCP client: ${error.message}`),
        },
      );
      const leave = transport.onclose;
      transport.onclose = () => {
        leave?.();
        resolve();
      };
      const close = () => void handle.close().then(resolve, () => resolve());
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
    });
  } finally {
    running.abortAll();
    door.held.close();
    await running.idle(STOPPING_MS);
    door.session.close();
  }
}
