import { ToolError } from "../tool/errors.js";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused; nothing listens there",
  ECONNRESET: "the server closed the connection before answering",
  UND_ERR_SOCKET: "the server closed the connection before the answer was complete",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  UND_ERR_HEADERS_TIMEOUT: "the server did not answer in time",
  UND_ERR_BODY_TIMEOUT: "the server stopped sending",
  UND_ERR_HEADERS_OVERFLOW: "the response headers are too large",
  CERT_HAS_EXPIRED: "the TLS certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the TLS certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the TLS certificate chain is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the TLS certificate cannot be verified",
  ERR_TLS_CERT_ALTNAME_INVALID: "the TLS certificate belongs to another host",
};

/** Says why a request got no answer; undici hides the reason in nested causes. */
export function connectionFailure(error: unknown, url: string, proxy?: string): unknown {
  const chain = causes(error);
  const refusal = chain.find((one) => ToolError.isInstance(one));
  if (refusal !== undefined) return refusal;
  const code = chain.map((one) => one.code).find((one) => typeof one === "string");
  const deepest = chain.at(-1);
  if (deepest === undefined) return error;
  const reason =
    (code === undefined ? undefined : REASONS[code]) ?? `${code ?? deepest.name}: ${deepest.message}`;
  return new ToolError(`No answer from ${url}: ${reason}.`, {
    cause: error,
    details: { errno: code ?? null },
    hint:
      networkAdvice(code ?? "", proxy) ??
      "Check the address and whether the server is running, then try again.",
  });
}

/** The same advice for what a library says of a request that it made by itself; undefined where it failed otherwise. */
export function adviceFor(error: unknown, proxy?: string): string | undefined {
  const code = causes(error)
    .map((one) => one.code)
    .find((one) => /^(?:E[A-Z_]{4,}|UND_ERR_)|CERT|VERIFY_LEAF|ISSUER/.test(String(one)));
  return code === undefined ? undefined : networkAdvice(code, proxy);
}

/** Behind a company's proxy most failures have one of two causes, each with one setting; both are named. */
export function networkAdvice(code: string, proxy?: string): string | undefined {
  if (/CERT|VERIFY_LEAF|ISSUER/.test(code))
    return "If a proxy of your company signs connections: start Hermes with NODE_EXTRA_CA_CERTS=FILE.pem, its certificate.";
  if (proxy !== undefined)
    return `Asked for through the proxy ${proxy.replace(/\/\/[^/@]*@/, "//")} (network.proxy or HTTPS_PROXY): does it run, and let this host through? Hosts in network.no_proxy (NO_PROXY) go without.`;
  return /TIMEOUT|TIMEDOUT|UNREACH|ENOTFOUND|EAI_AGAIN/.test(code)
    ? "Is the address right? Where the web is reached through a proxy: set network.proxy or HTTPS_PROXY."
    : undefined;
}

/**
 * A connection that had served an answer before was closed in the moment the next request went out on it, as servers do
 * with idle ones. Nothing is wrong with the server, and what only reads can be asked again.
 */
export function wasKeptTooLong(error: unknown): boolean {
  return causes(error).some(
    (one) =>
      one.code === "UND_ERR_SOCKET" &&
      "socket" in one &&
      typeof one.socket === "object" &&
      one.socket !== null &&
      "bytesRead" in one.socket &&
      Number(one.socket.bytesRead) > 0,
  );
}

function causes(error: unknown): readonly (Error & { code?: string | undefined })[] {
  const chain: (Error & { code?: string | undefined })[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; ) {
    chain.push(at);
    // Some libraries have a field of their own for it.
    at = at instanceof AggregateError ? at.errors[0] : (at.cause ?? ("error" in at ? at.error : undefined));
  }
  return chain;
}
