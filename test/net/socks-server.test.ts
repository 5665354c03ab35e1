import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { openSocksProxy } from "../../src/net/socks-server.js";
import type { NetworkRules } from "../../src/net/urls.js";
import type { ProxyTrouble } from "../../src/tool/fetch.js";
import { onTestEnd } from "../support/runtime.js";

async function startEcho(): Promise<{ readonly port: number; readonly seen: { count: number } }> {
  const seen = { count: 0 };
  const server = createServer((socket) => {
    seen.count += 1;
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(() => void server.close());
  return { port: (server.address() as AddressInfo).port, seen };
}

async function startProxy(options: {
  readonly rules?: Partial<NetworkRules>;
  readonly answers?: readonly string[];
  readonly refusal?: (url: string) => string | undefined;
}) {
  const trouble: ProxyTrouble[] = [];
  let asked = 0;
  const proxy = await openSocksProxy({
    rules: { allowPrivate: false, ...options.rules },
    refusal: options.refusal ?? (() => undefined),
    resolve: async () => {
      const answer = options.answers?.[Math.min(asked, options.answers.length - 1)] ?? "127.0.0.1";
      asked += 1;
      return [answer];
    },
    onTrouble: (one) => void trouble.push(one),
  });
  onTestEnd(() => proxy.close());
  const { port } = new URL(proxy.url.replace("socks5", "http"));
  return { port: Number(port), trouble, asked: () => asked, close: () => proxy.close() };
}

/** What a browser says; answers with the proxy's code and the open connection. */
async function ask(
  proxy: number,
  host: string | Buffer,
  port: number,
): Promise<{ code: number; socket: Socket }> {
  const socket = connect(proxy, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestEnd(() => void socket.destroy());
  await once(socket, "connect");
  socket.write(Buffer.from([5, 1, 0]));
  const [hello] = (await once(socket, "data")) as [Buffer];
  expect([...hello]).toEqual([5, 0]);
  const address =
    typeof host === "string"
      ? Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host)])
      : Buffer.from([1, ...host]);
  const number = Buffer.alloc(2);
  number.writeUInt16BE(port);
  const request = Buffer.concat([Buffer.from([5, 1, 0]), address, number]);
  // In two pieces: a message may be cut anywhere.
  socket.write(request.subarray(0, 5));
  setTimeout(() => socket.write(request.subarray(5)), 5);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return { code: answer[1] ?? -1, socket };
}

describe("a proxy for programs with network code of their own", () => {
  it("dials what the rules allow and hands bytes through both ways", async () => {
    const echo = await startEcho();
    const proxy = await startProxy({ rules: { privateHosts: ["inside.test"] } });
    const { code, socket } = await ask(proxy.port, "inside.test", echo.port);
    expect(code).toBe(0);
    socket.write("hello");
    expect(String((await once(socket, "data"))[0])).toBe("hello");
  });

  it("refuses private addresses however they are written, and says which", async () => {
    const echo = await startEcho();
    const proxy = await startProxy({});
    for (const host of [
      "outside.test",
      "127.0.0.1",
      Buffer.from([127, 0, 0, 1]),
      "::ffff:127.0.0.1",
      "localhost",
    ])
      expect((await ask(proxy.port, host, echo.port)).code).toBe(2);
    expect(proxy.trouble.map(({ blocked }) => blocked)).toEqual([true, true, true, true, true]);
    expect(echo.seen.count).toBe(0);
  });

  it("looks a name up once for each connection and dials that answer: a second answer changes nothing", async () => {
    const echo = await startEcho();
    // Public first, then this machine: what a rebinding name server does between the judging and the dialling.
    const proxy = await startProxy({ answers: ["203.0.113.1", "127.0.0.1"] });
    const first = await ask(proxy.port, "rebind.test", echo.port);
    expect(first.code).not.toBe(0);
    expect(proxy.asked()).toBe(1);
    expect((await ask(proxy.port, "rebind.test", echo.port)).code).toBe(2);
    expect(echo.seen.count).toBe(0);
  });

  it("asks the policy about every host, and ends what is open when it is closed", async () => {
    const echo = await startEcho();
    const asked: string[] = [];
    const proxy = await startProxy({
      rules: { privateHosts: ["inside.test", "closed.test"] },
      refusal: (url) => {
        asked.push(url);
        return url.includes("closed") ? "closed by a profile" : undefined;
      },
    });
    expect((await ask(proxy.port, "closed.test", echo.port)).code).toBe(2);
    const { socket } = await ask(proxy.port, "inside.test", echo.port);
    expect(asked).toEqual([`http://closed.test:${echo.port}/`, `http://inside.test:${echo.port}/`]);
    const closed = once(socket, "close");
    await proxy.close();
    await closed;
  });

  it("goes through the operator's proxy where one is set", async () => {
    const echo = await startEcho();
    const upstream = createServer((socket) => {
      socket.once("data", (head) => {
        expect(String(head)).toMatch(/^CONNECT far\.test:\d+ HTTP\/1\.1\r\n/);
        const target = connect(echo.port, "127.0.0.1");
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        socket.pipe(target).pipe(socket);
        socket.on("error", () => undefined);
      });
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    onTestEnd(() => void upstream.close());
    const proxy = await startProxy({
      answers: ["93.184.216.34"],
      rules: { proxy: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` },
    });
    const { code, socket } = await ask(proxy.port, "far.test", 80);
    expect(code).toBe(0);
    socket.write("through");
    expect(String((await once(socket, "data"))[0])).toBe("through");
  });
});
