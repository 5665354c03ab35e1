import { connect as dial, isIPv6, type Socket } from "node:net";
import { ToolError } from "../tool/errors.js";
import type { ConnectRequest } from "../tool/fetch.js";
import { connectionFailure } from "./connection-failure.js";
import { refused, systemResolve, unresolved } from "./dial.js";
import { judgeUrl, type NetworkRules, openedFor, type ResolveHost } from "./urls.js";

const CONNECT_TIMEOUT_MS = 30_000;

export interface GuardedConnection extends ConnectRequest {
  readonly rules: NetworkRules;
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost | undefined;
}

/** Connects to the first address that answers, of those that the rules of web requests allow for this host. */
export async function guardedConnect(request: GuardedConnection): Promise<Socket> {
  const { host, port, resolve = systemResolve } = request;
  const where = `tcp://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const rules = request.configured === true ? openedFor(host.toLowerCase(), request.rules) : request.rules;
  const verdict = await judgeUrl(`http://${isIPv6(host) ? `[${host}]` : host}/`, { ...rules, resolve });
  if (verdict.verdict === "block")
    throw verdict.unresolved === true
      ? unresolved(where, verdict.reason)
      : refused({ url: where, reason: verdict.reason });
  let failed: unknown;
  for (const address of verdict.addresses) {
    try {
      return await opened({ address, port, request });
    } catch (error) {
      failed = error;
      if (request.signal?.aborted === true) break;
    }
  }
  throw request.signal?.aborted === true
    ? new ToolError("The connection was cancelled.", { code: "cancelled", cause: failed })
    : connectionFailure(failed ?? new Error(`${host} has no address`), where);
}

function opened(options: { address: string; port: number; request: GuardedConnection }): Promise<Socket> {
  const { address, port, request } = options;
  const limit = request.timeoutMs ?? CONNECT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    const socket = dial({ host: address, port });
    const late = setTimeout(
      () => socket.destroy(Object.assign(new Error("too late"), { code: "ETIMEDOUT" })),
      limit,
    );
    const stop = () => socket.destroy(new Error("cancelled"));
    request.signal?.addEventListener("abort", stop, { once: true });
    if (request.signal?.aborted === true) stop();
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(late);
      request.signal?.removeEventListener("abort", stop);
      reject(new Error("closed"));
    });
    socket.once("connect", () => {
      clearTimeout(late);
      socket.removeListener("error", reject);
      resolve(socket);
    });
  });
}
