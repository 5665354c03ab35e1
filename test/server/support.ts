import { connect, type Socket } from "node:net";
import { createServer, type HermesServer, type ServerOptions } from "../../src/server/server.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, type TestRuntime, testRuntime } from "../support/runtime.js";

export const TOKEN = "test-token-0123456789-abcdefghijklmnop";

export interface TestServer extends TestRuntime {
  readonly server: HermesServer;
  readonly port: number;
  /** A request as the owner of the token. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  calls(body: unknown, init?: RequestInit): Promise<Response>;
}

export async function startServer(
  tools: readonly AnyTool[] = [],
  options: Partial<Omit<ServerOptions, "runtime">> & {
    readonly runtime?: Parameters<typeof testRuntime>[1];
  } = {},
): Promise<TestServer> {
  const { runtime: runtimeOptions, ...serverOptions } = options;
  const made = await testRuntime(tools, runtimeOptions);
  const server = await createServer({
    runtime: made.runtime,
    token: { value: TOKEN, source: "configured" },
    host: "127.0.0.1",
    port: 0,
    ...serverOptions,
  });
  onTestEnd(() => server.close({ finishMs: 0, abortMs: 1_000 }));
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, server.url), {
      ...init,
      headers: { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) },
    });
  return {
    ...made,
    server,
    port: server.port,
    ask,
    calls: (body, init = {}) =>
      ask("/v1/tool_calls", {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...init,
      }),
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export function openSocket(port: number): Socket {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  onTestEnd(() => void socket.destroy());
  return socket;
}

/** Sends exactly these bytes and reads until the server closes or a whole answer is there. */
export function sendRaw(port: number, text: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(port);
    let received = Buffer.alloc(0);
    const done = () => {
      const [head = "", ...rest] = received.toString("latin1").split("\r\n\r\n");
      socket.destroy();
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
      if (Number.isNaN(status)) reject(new Error(`no answer, only ${JSON.stringify(head.slice(0, 200))}`));
      else resolve({ status, head, body: rest.join("\r\n\r\n") });
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (isWhole(received.toString("latin1"))) done();
    });
    socket.on("close", done);
    socket.setTimeout(10_000, () => socket.destroy());
    socket.write(text);
  });
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = text.slice(0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return /\r\ntransfer-encoding: chunked/i.test(head) && text.endsWith("\r\n0\r\n\r\n");
}

/** An HTTP/1.1 request from header lines as they stand, nothing added. */
export function requestText(line: string, headers: readonly string[], body = ""): string {
  return `${[`${line} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error("the condition did not come true in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
