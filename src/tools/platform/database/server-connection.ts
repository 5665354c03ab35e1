import type { Socket } from "node:net";
import { ToolError } from "../../../tool/errors.js";
import { hostOf } from "./connection-string.js";
import type { ServerQuery } from "./query-job.js";
import { tooLate } from "./time-limit.js";

/** More than this is never taken in for one query: a single value can be larger than the memory. */
const MAX_RECEIVED_BYTES = 128 * 1024 * 1024;
const LOOK_EVERY_MS = 20;

export interface ServerConnection {
  readonly socket: Socket;
  readonly port: number;
  /** Why it was ended from this side, when it was. */
  ended(): ToolError | undefined;
  close(): void;
}

/**
 * An open connection to a database server, to be handed to its driver. It is ended with the call, when the time is over,
 * and when the server sends more than anybody could hold.
 */
export async function openServer(query: ServerQuery, defaultPort: number): Promise<ServerConnection> {
  const { server, job, ctx } = query;
  const port = server.url.port === "" ? defaultPort : Number(server.url.port);
  const socket = await ctx.connect({
    host: hostOf(server.url),
    port,
    configured: server.configured,
    timeoutMs: Math.min(job.timeoutMs, 15_000),
  });
  let reason: ToolError | undefined;
  const end = (why: ToolError) => {
    reason ??= why;
    socket.destroy();
  };
  const start = socket.bytesRead;
  const deadline = performance.now() + job.timeoutMs + GRACE_MS;
  const watch = setInterval(() => {
    if (ctx.signal.aborted) end(new ToolError("The query was cancelled.", { code: "cancelled" }));
    else if (performance.now() > deadline) end(tooLate(job));
    else if (socket.bytesRead - start > MAX_RECEIVED_BYTES) end(tooLarge());
  }, LOOK_EVERY_MS);
  socket.once("close", () => clearInterval(watch));
  return {
    socket,
    port,
    ended: () => reason,
    close: () => {
      clearInterval(watch);
      socket.destroy();
    },
  };
}

/** The server's own limit comes first, since only that stops the work there. */
const GRACE_MS = 1_000;

function tooLarge(): ToolError {
  return new ToolError(`The server sent more than ${MAX_RECEIVED_BYTES / 1024 / 1024} MB for this query.`, {
    hint: "Ask for fewer columns, or for a part of long values (substring).",
  });
}
