import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import httpRequest, { type HttpOutput } from "../../../src/tools/network/http-request.js";
import { makeContext, type TestContext } from "../context.js";

let server: Server;
let base = "";
let requests = 0;
let ctx: TestContext;

const PAGES: Record<string, (request: IncomingMessage, response: ServerResponse, body: string) => void> = {
  "/json": (_request, response) => {
    response.setHeader("content-type", "application/json");
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.end('{"ok":true}');
  },
  "/echo": (request, response, body) => {
    response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
  },
  "/latin1": (_request, response) => {
    response.setHeader("content-type", "text/plain; charset=iso-8859-1");
    response.end(Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  },
  "/large": (_request, response) => {
    response.setHeader("content-type", "text/csv");
    response.end("row,1\n".repeat(40_000));
  },
  "/binary": (_request, response) => {
    response.setHeader("content-type", "image/png");
    response.end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]));
  },
  "/untyped": (_request, response) => response.end("plain text"),
  "/bomb": (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" });
    response.end(gzipSync(Buffer.alloc(120_000_000, "x"), { level: 9 }));
  },
  "/missing": (_request, response) => response.writeHead(404).end("nothing here"),
  "/empty": (_request, response) => response.writeHead(204).end(),
  "/slow": (_request, response) => {
    response.write("begin");
  },
  "/hangs-up": (request) => request.socket.destroy(),
  "/redirect": (_request, response) => response.writeHead(302, { location: "/json" }).end(),
  "/to-metadata": (_request, response) =>
    response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end(),
};

beforeAll(async () => {
  server = createServer(async (request, response) => {
    requests += 1;
    let body = "";
    for await (const chunk of request) body += chunk;
    PAGES[request.url ?? ""]?.(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = 0;
  ctx = makeContext({ settings: { allow_private_urls: true } });
});
afterEach(() => ctx.cleanUp());

type Args = Parameters<typeof httpRequest.handler>[0];
async function send(path: string, args: Partial<Args> = {}, context: TestContext = ctx): Promise<HttpOutput> {
  const url = path.startsWith("/") ? base + path : path;
  const all: Args = { url, method: "GET", timeout_seconds: 10, follow_redirects: true, ...args };
  return (await httpRequest.handler(all, context)) as HttpOutput;
}

describe("a response", () => {
  test("comes with status, headers and body", async () => {
    expect(await send("/json")).toMatchObject({
      status: 200,
      ok: true,
      body: '{"ok":true}',
      body_bytes: 11,
      headers: { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] },
      url: `${base}/json`,
      redirected: false,
      truncated: false,
      elapsed_ms: expect.any(Number),
    });
  });

  test("with an error status is a result, not a failure", async () => {
    expect(await send("/missing")).toMatchObject({ status: 404, ok: false, body: "nothing here" });
  });

  test("is decoded by its charset", async () => {
    expect((await send("/latin1")).body).toBe("café");
    expect((await send("/untyped")).body).toBe("plain text");
    expect((await send("/empty")).body).toBe("");
    expect((await send("/json", { method: "HEAD" })).body).toBe("");
  });

  test("that is large goes to a private file, whole", async () => {
    const { body, body_path = "", body_preview, truncated } = await send("/large");
    expect([body, truncated]).toEqual([undefined, false]);
    expect(body_path.startsWith(ctx.cacheDir)).toBe(true);
    expect(readFileSync(body_path, "utf8")).toBe("row,1\n".repeat(40_000));
    expect(statSync(body_path).mode & 0o777).toBe(0o600);
    expect(body_preview).toMatch(/^row,1\n/);
  });

  test("that is binary goes to a file, byte for byte", async () => {
    const { body, body_path = "", body_preview } = await send("/binary");
    expect([body, body_preview]).toEqual([undefined, undefined]);
    expect(body_path).toMatch(/\.png$/);
    expect([...readFileSync(body_path)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
  });

  test("that unpacks to far more than it claims is cut", async () => {
    const before = process.memoryUsage().rss;
    const { truncated, body_bytes, body_path = "" } = await send("/bomb", { timeout_seconds: 60 });
    expect([truncated, body_bytes]).toEqual([true, 50 * 1024 * 1024]);
    expect(statSync(body_path).size).toBe(50 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  test("small leaves no file behind", async () => {
    await send("/json");
    expect(existsSync(ctx.cacheDir) ? readdirSync(ctx.cacheDir) : []).toEqual([]);
  });
});

describe("a request", () => {
  test("sends text as it is and objects as JSON", async () => {
    const text = JSON.parse((await send("/echo", { method: "POST", body: "a=1" })).body ?? "");
    expect(text).toMatchObject({ method: "POST", body: "a=1" });
    const object = JSON.parse((await send("/echo", { method: "PUT", body: { a: [1] } })).body ?? "");
    expect(object).toMatchObject({ body: '{"a":[1]}', headers: { "content-type": "application/json" } });
    const own = {
      method: "PATCH",
      body: { a: 1 },
      headers: { "Content-Type": "application/merge+json" },
    } as const;
    expect((await send("/echo", own)).body).toContain("application/merge+json");
    expect(JSON.parse((await send("/echo", { method: "DELETE", body: null })).body ?? "").body).toBe("");
  });

  test("cannot carry a body with GET", async () => {
    await expect(send("/echo", { body: "x" })).rejects.toMatchObject({ code: "invalid_arguments" });
    expect(requests).toBe(0);
  });

  test("refuses headers that would break or contradict it", async () => {
    for (const headers of [
      { "X-A": "a\r\nX-B: b" },
      { "bad name": "x" },
      { Host: "internal" },
      { "Content-Length": "3" },
      { "Transfer-Encoding": "chunked" },
      { A: "1", a: "2" },
      { "X-Text": "snow ☃" },
    ] as Record<string, string>[]) {
      await expect(send("/echo", { headers }), JSON.stringify(headers)).rejects.toMatchObject({
        code: "invalid_arguments",
      });
    }
    expect(requests).toBe(0);
  });
});

describe("the address guard", () => {
  test("refuses private addresses unless the operator opened them with a real true", async () => {
    for (const settings of [{}, { allow_private_urls: "true" }, { allow_private_urls: "false" }]) {
      const closed = makeContext({ settings });
      await expect(send("/json", {}, closed)).rejects.toMatchObject({ code: "blocked" });
      await closed.cleanUp();
    }
    expect(requests).toBe(0);
  });

  test("checks each redirect, and shows where they ended", async () => {
    expect(await send("/redirect")).toMatchObject({ status: 200, redirected: true, url: `${base}/json` });
    expect(await send("/redirect", { follow_redirects: false })).toMatchObject({
      status: 302,
      redirected: false,
    });
    await expect(send("/to-metadata")).rejects.toMatchObject({
      code: "blocked",
      message: expect.stringContaining("/to-metadata"),
    });
  });

  test("never repeats a password from a URL", async () => {
    const attempt = send("http://user:hunter2@example.com/");
    await expect(attempt).rejects.toThrow(/user name or password/);
    await expect(attempt).rejects.not.toThrow(/hunter2/);
  });
});

describe("a request without an answer says why", () => {
  test("when it takes too long, and ends at the limit", async () => {
    const started = Date.now();
    await expect(send("/slow", { timeout_seconds: 1 })).rejects.toMatchObject({ code: "timeout" });
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  test("when it is cancelled", async () => {
    const abort = new AbortController();
    const own = makeContext({ settings: { allow_private_urls: true }, signal: abort.signal });
    setTimeout(() => abort.abort(), 100);
    await expect(send("/slow", {}, own)).rejects.toMatchObject({ code: "cancelled" });
    await own.cleanUp();
  });

  test("when nothing listens or the server hangs up", async () => {
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    await expect(send(`http://127.0.0.1:${port}/`)).rejects.toThrow(/connection was refused/);
    await expect(send("/hangs-up")).rejects.toThrow(/closed the connection/);
  });
});

test("effects name the URL and tell reading from writing", () => {
  const scope = { cwd: "/", environment: "local" };
  const args = { url: "https://example.com/", timeout_seconds: 30, follow_redirects: true };
  expect(httpRequest.effects?.({ ...args, method: "HEAD" }, scope)).toEqual([
    { action: "network:fetch", resource: args.url, mode: "read" },
  ]);
  expect(httpRequest.effects?.({ ...args, method: "DELETE" }, scope)).toEqual([
    { action: "network:write", resource: args.url, mode: "write" },
  ]);
});
