import { existsSync } from "node:fs";
import { networkAdvice } from "../../net/connection-failure.js";
import { hostOf } from "../../net/hosts.js";
import { networkRules } from "../../net/rules.js";
import { proxyFor } from "../../net/urls.js";
import { describeThrown } from "../../tool/thrown.js";
import type { ConnectRequest } from "./connect.js";

/** Why a server could not be reached, for a person. */
export class ConnectError extends Error {
  readonly fix: string | undefined;
  /** A person has to do something first; trying again soon is of no use. */
  readonly needsPerson: boolean;

  constructor(message: string, options: { fix?: string; needsPerson?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "ConnectError";
    this.fix = options.fix;
    this.needsPerson = options.needsPerson === true;
  }
}

/** The program ended before the connection was made; the message says how. */
export class EndedEarly extends Error {}

export function explainConnectError(
  error: unknown,
  request: Pick<ConnectRequest, "server" | "config" | "host">,
): ConnectError {
  if (error instanceof ConnectError) return error;
  const { server, config } = request;
  const cause = { cause: error };
  const refused = chain(error).find(({ name }) => name === "ScopeRefused");
  if (refused !== undefined) return new ConnectError(refused.message, { ...cause, needsPerson: true });
  if (needsLogin(error))
    return new ConnectError("needs a login", {
      ...cause,
      needsPerson: true,
      fix: `hermes mcp login ${server}`,
    });
  const code = codeOf(error);
  // A program is not found either when the folder it should start in is not there.
  if (code === "ENOENT" && config.command !== "" && config.cwd !== "" && !existsSync(config.cwd))
    return new ConnectError(`the folder ${config.cwd} does not exist`, {
      ...cause,
      fix: `make it, or change mcp_servers.${server}.cwd`,
    });
  if (code === "ENOENT" && config.command !== "")
    return new ConnectError(`the program ${config.command} was not found`, {
      ...cause,
      fix: `install it, or change mcp_servers.${server}.command`,
    });
  if (code === "EACCES" && config.command !== "")
    return new ConnectError(`the program ${config.command} may not be run`, { ...cause, fix: `chmod +x it` });
  const status = statusOf(error);
  if (status === 403) return new ConnectError("the server denied access (HTTP 403)", cause);
  const proxy = proxyTo(request);
  if (code === "ECONNREFUSED" && proxy === undefined)
    return new ConnectError("nothing listens at its address", {
      ...cause,
      fix: "start the server, or check its url",
    });
  const network = networkCodeOf(error);
  const fix = network === undefined ? undefined : networkAdvice(network, proxy);
  const what =
    network === "ENOTFOUND" || network === "EAI_AGAIN"
      ? "its host name is not known"
      : `${describeThrown(error).message.slice(0, 500)}${network === undefined ? "" : ` (${network})`}`;
  return new ConnectError(what, { ...cause, ...(fix !== undefined && { fix }) });
}

function proxyTo({ config, host }: Pick<ConnectRequest, "config" | "host">): string | undefined {
  if (!URL.canParse(config.url)) return undefined;
  return proxyFor(hostOf(new URL(config.url)), networkRules(host.config.values));
}

/** Of a connection that could not be made, or not be trusted. */
function networkCodeOf(error: unknown): string | undefined {
  return codesOf(error).find((code) => /^(?:E[A-Z_]+|UND_ERR_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/.test(code));
}

/** Whether another kind of transport may fit better: the address is right, but not for this kind of request. */
export function refusesTransport(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403;
}

/** An answer that refuses: the server is there, and has understood. What a web server says is no such answer. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "number" &&
    statusOf(error) === undefined
  );
}

function needsLogin(error: unknown): boolean {
  return chain(error).some((one) => one.name === "UnauthorizedError") || statusOf(error) === 401;
}

export function statusOf(error: unknown): number | undefined {
  for (const one of chain(error)) {
    if ("status" in one && typeof one.status === "number") return one.status;
    // The old transport tells it as its code.
    if ("code" in one && typeof one.code === "number" && one.code >= 400 && one.code < 600) return one.code;
  }
  return undefined;
}

export function codeOf(error: unknown): string | undefined {
  return codesOf(error).find((code) => /^E[A-Z_]+$/.test(code));
}

/** Those of the system and of connections; that the client could not agree on a protocol ("ERA_…") has one of these as its cause. */
function codesOf(error: unknown): readonly string[] {
  return chain(error)
    .map((one) => ("code" in one ? one.code : undefined))
    .filter((code) => typeof code === "string" && !code.startsWith("ERA_"))
    .map(String);
}

/** The error and what it says it was caused by. */
function chain(error: unknown): readonly Error[] {
  const found: Error[] = [];
  for (let next = error; next instanceof Error && found.length < 8; next = next.cause) {
    found.push(next);
    if (next instanceof AggregateError && next.errors[0] instanceof Error) found.push(next.errors[0]);
  }
  return found;
}
