import type { IncomingMessage, ServerResponse } from "node:http";
import { type HostRules, isAllowedHost, isAllowedOrigin } from "./host-rules.js";
import type { ServerLimits } from "./limits.js";
import { JSON_TYPE, type Problem, problemText } from "./problem.js";

/** Headers of which a second one would let two readers see two requests. */
const SINGLE_HEADERS = ["host", "origin", "authorization", "content-length"];

/** What is refused from the head of a request alone, before anything reads the rest. */
export function gate(
  incoming: IncomingMessage,
  { rules, limits }: { readonly rules: HostRules; readonly limits: ServerLimits },
): Problem | undefined {
  const { host, origin } = incoming.headers;
  const repeated = SINGLE_HEADERS.find((name) => count(incoming.rawHeaders, name) > 1);
  if (repeated !== undefined) {
    return { status: 400, code: "bad_request", message: `The header ${repeated} is given more than once.` };
  }
  if (host === undefined || !isAllowedHost(rules, { host, localAddress: incoming.socket.localAddress })) {
    return {
      status: 403,
      code: "forbidden",
      message: "The Host header does not name this server.",
      hint: "Use the address the server printed when it started.",
    };
  }
  if (!isAllowedOrigin(rules, { origin, host })) {
    return {
      status: 403,
      code: "forbidden",
      message: "Requests from other web pages are refused.",
      hint: "Call the API from a program, or open the page of this server itself.",
    };
  }
  if (incoming.url?.startsWith("/") !== true) {
    return { status: 400, code: "bad_request", message: "The request target must be a path." };
  }
  return Number(incoming.headers["content-length"] ?? 0) > limits.bodyBytes ? tooLarge(limits) : undefined;
}

export function tooLarge(limits: ServerLimits): Problem {
  return {
    status: 413,
    code: "too_large",
    message: `The body is larger than ${limits.bodyBytes / 2 ** 20} MiB.`,
    hint: "Write large data to a file and pass its path.",
  };
}

/** Time a refused client gets to read the answer while what it still sends is thrown away. */
export const LINGER_MS = 1_000;

/** Answers and closes. Closing at once would reset the connection under a client that is still sending. */
export function refuse(incoming: IncomingMessage, outgoing: ServerResponse, problem: Problem): void {
  const body = Buffer.from(problemText(problem));
  outgoing.writeHead(problem.status, {
    "content-type": JSON_TYPE,
    "content-length": body.length,
    connection: "close",
    ...problem.headers,
  });
  if (incoming.method === "HEAD" || incoming.complete || !hasBody(incoming)) {
    outgoing.end(body);
    return;
  }
  outgoing.write(body);
  const finish = () => {
    clearTimeout(timer);
    outgoing.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  incoming.once("end", finish);
  incoming.once("close", finish);
  incoming.on("error", () => undefined);
  incoming.resume();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) found += 1;
  }
  return found;
}
