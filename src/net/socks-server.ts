import { once } from "node:events";
import { type AddressInfo, createServer, isIPv6, type Socket } from "node:net";
import { ToolError } from "../tool/errors.js";
import type { NetworkProxy, ProxyRequest } from "../tool/fetch.js";
import { guardedConnect } from "./connect.js";
import { systemResolve } from "./dial.js";
import { judgeUrl, type NetworkRules, proxyFor, type ResolveHost } from "./urls.js";

/** RFC 1928. Only what a browser says is understood: no sign-in, CONNECT. */
const VERSION = 5;
const NO_SIGN_IN = 0;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const ANSWER = { ok: 0, failed: 1, refused: 2, unreachable: 4 } as const;

const HANDSHAKE_MS = 15_000;
const CONNECT_MS = 30_000;

export interface SocksOptions extends ProxyRequest {
  readonly rules: NetworkRules;
  /** Why the policy closes an address that no rule of the operator closes. */
  refusal(url: string): string | undefined;
  /** Replaces the system's resolver. */
  readonly resolve?: ResolveHost | undefined;
}

/**
 * A SOCKS5 proxy on this machine: every connection of the program behind it is judged here, its name looked up here,
 * and only an address that was judged is dialled. The program itself looks nothing up, so that a name cannot lead
 * somewhere else between being judged and being dialled.
 */
export async function openSocksProxy(options: SocksOptions): Promise<NetworkProxy> {
  const open = new Set<Socket>();
  const ended = new AbortController();
  const server = createServer((client) => {
    open.add(client);
    client.once("close", () => open.delete(client));
    client.on("error", () => client.destroy());
    serve(client, { ...options, signal: ended.signal }).catch(() => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `socks5://127.0.0.1:${port}`,
    async close() {
      ended.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

interface Serving extends SocksOptions {
  readonly signal: AbortSignal;
}

async function serve(client: Socket, options: Serving): Promise<void> {
  client.setTimeout(HANDSHAKE_MS, () => client.destroy());
  client.setNoDelay(true);
  const [version, methods = 0] = await take(client, 2);
  if (version !== VERSION) throw new Error("not SOCKS5");
  await take(client, methods);
  client.write(Buffer.from([VERSION, NO_SIGN_IN]));
  const [, command, , kind] = await take(client, 4);
  const host = await readHost(client, kind);
  const port = (await take(client, 2)).readUInt16BE();
  if (command !== CONNECT) return refuse(client, ANSWER.failed);
  client.setTimeout(0);
  let target: Socket;
  try {
    target = await dial({ host, port }, options);
  } catch (error) {
    const blocked = ToolError.isInstance(error) && error.code === "blocked";
    options.onTrouble?.({ host, port, blocked, reason: error instanceof Error ? error.message : "" });
    return refuse(client, blocked ? ANSWER.refused : ANSWER.unreachable);
  }
  if (client.destroyed) return void target.destroy();
  target.setNoDelay(true);
  target.on("error", () => client.destroy());
  target.once("close", () => client.destroy());
  client.once("close", () => target.destroy());
  client.write(answer(ANSWER.ok));
  client.pipe(target);
  target.pipe(client);
}

async function readHost(client: Socket, kind: number | undefined): Promise<string> {
  if (kind === IPV4) return (await take(client, 4)).join(".");
  if (kind === NAME) return (await take(client, (await take(client, 1))[0] ?? 0)).toString("latin1");
  if (kind !== IPV6) throw new Error("unknown kind of address");
  const bytes = await take(client, 16);
  const parts = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16));
  return parts.join(":");
}

async function dial(where: { host: string; port: number }, options: Serving): Promise<Socket> {
  const { port } = where;
  const host = where.host.replace(/^\[|\]$/g, "");
  const scheme = port === 443 || port === 8443 ? "https" : "http";
  const url = `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}/`;
  const reason = options.refusal(url);
  if (reason !== undefined) throw new ToolError(reason, { code: "blocked" });
  const upstream = proxyFor(host, options.rules);
  if (upstream !== undefined) return throughProxy({ url, host, port, upstream }, options);
  return guardedConnect({
    host,
    port,
    rules: options.rules,
    resolve: options.resolve,
    timeoutMs: CONNECT_MS,
    signal: options.signal,
  });
}

/** The operator's own proxy dials; what it is asked to dial has been judged as far as this machine can. */
async function throughProxy(
  where: { url: string; host: string; port: number; upstream: string },
  options: Serving,
): Promise<Socket> {
  const verdict = await judgeUrl(where.url, { ...options.rules, resolve: options.resolve ?? systemResolve });
  if (verdict.verdict === "block") throw new ToolError(verdict.reason, { code: "blocked" });
  const proxy = new URL(where.upstream);
  const socket = await guardedConnect({
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: Number(proxy.port || 80),
    configured: true,
    rules: { ...options.rules, proxy: undefined },
    timeoutMs: CONNECT_MS,
    signal: options.signal,
  });
  const target = `${isIPv6(where.host) ? `[${where.host}]` : where.host}:${where.port}`;
  const user = decodeURIComponent(`${proxy.username}:${proxy.password}`);
  const signIn =
    proxy.username === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(user).toString("base64")}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${signIn}\r\n`);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    if (head.length > 16_384) throw new Error("the proxy does not come to an end");
    head += (await take(socket, 1)).toString("latin1");
  }
  if (/^HTTP\/1\.\d 2\d\d/.test(head)) return socket;
  socket.destroy();
  throw new ToolError(`The proxy answered ${head.split("\r\n", 1)[0]?.slice(0, 100) ?? ""}.`);
}

/** Exactly so many bytes, none of what follows them. */
function take(socket: Socket, count: number): Promise<Buffer> {
  if (count === 0) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0);
    const stop = () => {
      socket.pause();
      socket.off("data", add).off("end", early).off("close", early);
    };
    const add = (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < count) return;
      stop();
      if (held.length > count) socket.unshift(held.subarray(count));
      resolve(held.subarray(0, count));
    };
    const early = () => {
      stop();
      reject(new Error("ended early"));
    };
    if (socket.destroyed || socket.readableEnded) return early();
    socket.on("data", add).once("end", early).once("close", early);
    socket.resume();
  });
}

function refuse(client: Socket, code: number): void {
  client.end(answer(code));
}

function answer(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}
