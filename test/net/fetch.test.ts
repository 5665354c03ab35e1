import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guardedFetch } from "../../src/net/fetch.js";
import { needs } from "../support/needs.js";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const seen: Seen[] = [];
let server: Server;
let port = 0;

/** /to?STATUS&LOCATION redirects, anything else echoes. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
  const redirect = /^\/to\?(\d+)&(.*)$/.exec(request.url ?? "");
  if (redirect) response.writeHead(Number(redirect[1]), { location: decodeURIComponent(redirect[2] ?? "") });
  response.end("hello");
}

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function get(url: string, changes: Partial<Parameters<typeof guardedFetch>[0]> = {}) {
  seen.length = 0;
  const answered = await guardedFetch({
    url,
    method: "GET",
    headers: {},
    signal: AbortSignal.timeout(10_000),
    followRedirects: true,
    rules: { allowPrivate: true },
    ...changes,
  });
  const text = await answered.text();
  return { ...answered, text };
}

const to = (status: number, location: string) =>
  `http://127.0.0.1:${port}/to?${status}&${encodeURIComponent(location)}`;
const blocked = { code: "blocked" };

test("a name is dialled only at the addresses that were judged, and looked up once", async () => {
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return ["127.0.0.1"];
  };
  const { text, url } = await get(`http://pinned.example:${port}/x`, { resolve });
  expect([text, url, lookups]).toEqual(["hello", `http://pinned.example:${port}/x`, 1]);
  expect(seen[0]?.headers.host).toBe(`pinned.example:${port}`);
});

test("a name that changes its address between check and connection is dialled where it was checked", async () => {
  // The server listens on 127.0.0.1 only: reaching it would mean that the second answer was used.
  const lists = [["127.0.0.2"], ["127.0.0.1"]];
  const resolve = async () => lists.shift() ?? ["127.0.0.1"];
  await expect(get(`http://rebind.example:${port}/`, { resolve })).rejects.toThrow();
  expect(seen).toEqual([]);
  expect(lists).toHaveLength(1);
});

test("private addresses are refused in any form before a socket is opened", async () => {
  for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost", "[::1]"]) {
    const attempt = get(`http://${host}:${port}/`, { rules: { allowPrivate: false } });
    await expect(attempt, host).rejects.toMatchObject(blocked);
  }
  expect(seen).toEqual([]);
});

describe("the body of an answer", () => {
  const bodies: Record<string, (response: ServerResponse) => void> = {
    "/long": (response) => response.end("x".repeat(5_000_000)),
    "/endless": (response) => void response.write("begin"),
    "/cut-off": (response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("begin");
      setTimeout(() => response.destroy(), 20);
    },
  };
  let local: Server;
  let at = "";
  beforeAll(async () => {
    local = createServer((request, response) => bodies[request.url ?? ""]?.(response));
    await new Promise<void>((resolve) => local.listen(0, "127.0.0.1", resolve));
    at = `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    local.closeAllConnections();
    local.close();
  });
  const open = (path: string, changes: Partial<Parameters<typeof guardedFetch>[0]> = {}) =>
    guardedFetch({ url: at + path, rules: { allowPrivate: true }, ...changes });

  test("is an error or ends where it becomes too large", async () => {
    const refused = await open("/long", { maxBytes: 1_000_000, hints: { tooLarge: "Ask for a page." } });
    await expect(refused.bytes()).rejects.toMatchObject({
      message: /larger than 1000000/,
      hint: "Ask for a page.",
    });
    const cut = await open("/long", { maxBytes: 1_000_001, overflow: "cut" });
    expect([(await cut.bytes()).length, cut.truncated]).toEqual([1_000_001, true]);
    const whole = await open("/long", { maxBytes: 5_000_000, overflow: "cut" });
    expect([(await whole.bytes()).length, whole.truncated]).toEqual([5_000_000, false]);
  });

  test("that does not end is ended by the time limit or by whoever asked", async () => {
    const slow = await open("/endless", { timeoutMs: 200, hints: { timeout: "Wait longer." } });
    await expect(slow.text()).rejects.toMatchObject({
      code: "timeout",
      message: `No complete answer from ${at}/endless within 0.2 s.`,
      hint: "Wait longer.",
    });
    const controller = new AbortController();
    const stopped = await open("/endless", { signal: controller.signal });
    controller.abort();
    await expect(stopped.text()).rejects.toMatchObject({ code: "cancelled" });
  });

  test("that breaks off says so", async () => {
    const broken = await open("/cut-off");
    await expect(broken.text()).rejects.toThrow(/closed the connection before the answer was complete/);
  });
});

describe("behind a proxy", () => {
  const asked: string[] = [];
  let proxy: Server;
  let rules: { allowPrivate: boolean; proxy: string };
  beforeAll(async () => {
    // As Squid has it: http is passed on, a tunnel is for TLS.
    proxy = createServer((incoming, outgoing) => {
      const { url = "", headers, method } = incoming;
      asked.push(`${method} ${url} ${headers["proxy-authorization"] ?? ""}`);
      const { pathname, host } = new URL(url);
      const onward = request({ port, path: pathname, method, headers: { host } });
      onward.on("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    proxy.on("connect", (request, socket) => {
      asked.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"] ?? ""}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    rules = {
      allowPrivate: false,
      proxy: `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    };
  });
  afterAll(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const unknown = async () => {
    throw new Error("ENOTFOUND");
  };

  test("names that only the proxy knows are reached through it", async () => {
    const { text, statusText } = await get("http://outside.example/x", { rules, resolve: unknown });
    expect([text, statusText]).toEqual(["hello", "OK"]);
    const login = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    expect(asked).toEqual([`GET http://outside.example/x ${login}`]);
    expect(seen.at(-1)?.headers).not.toHaveProperty("proxy-authorization");
    const secure = get("https://outside.example/x", { rules, resolve: unknown });
    await expect(secure).rejects.toMatchObject({ hint: expect.stringContaining("network.proxy") });
    expect(asked.slice(1)).toEqual([`CONNECT outside.example:443 ${login}`]);
  });

  test("what is forbidden by name or address stays so, and listed hosts go past it", async () => {
    asked.length = 0;
    const forbidden = { rules, resolve: async () => ["10.0.0.1"] };
    await expect(get("http://inside.example/", forbidden)).rejects.toMatchObject(blocked);
    await expect(get("http://169.254.169.254/", { rules })).rejects.toMatchObject(blocked);
    const here = { rules: { ...rules, allowPrivate: true } };
    expect((await get(`http://127.0.0.1:${port}/`, here)).text).toBe("hello");
    const listed = { rules: { ...here.rules, noProxy: [".example"] }, resolve: async () => ["127.0.0.1"] };
    expect((await get(`http://inside.example:${port}/`, listed)).text).toBe("hello");
    expect(asked).toEqual([]);
  });
});

test("a stream can be sent, but not again to where a redirect leads", async () => {
  const stream = async function* () {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  };
  await get(`http://127.0.0.1:${port}/`, { method: "POST", body: stream() });
  expect(seen.map(({ body }) => body)).toEqual(["one two"]);
  await expect(get(to(307, "/end"), { method: "POST", body: stream() })).rejects.toThrow(
    /the body was a stream/,
  );
});

describe("redirects", () => {
  test("are followed by hand, each judged again", async () => {
    const { text, redirects, url } = await get(to(302, "/end"));
    expect([text, redirects.length, url]).toEqual(["hello", 1, `http://127.0.0.1:${port}/end`]);
    for (const target of [
      "http://169.254.169.254/latest/meta-data/",
      "http://metadata.google.internal/",
      "file:///etc/passwd",
      "http://user:pw@127.0.0.1/",
      "gopher://127.0.0.1/",
      "http://127.0.0.1:22/",
      "http://exa mple/",
    ]) {
      await expect(get(to(302, target)), target).rejects.toMatchObject(blocked);
      expect(seen).toHaveLength(1);
    }
  });

  test("from a public name to a private address are refused", async () => {
    // The first hop is let through by hand-picked lookups, the second must not be.
    let hops = 0;
    const resolve = async () => {
      hops += 1;
      return hops === 1 ? ["127.0.0.1"] : ["169.254.169.254"];
    };
    const url = `http://first.example:${port}/to?302&${encodeURIComponent("http://second.example/")}`;
    await expect(get(url, { resolve })).rejects.toMatchObject(blocked);
    expect(seen).toHaveLength(1);
  });

  test("end after ten", async () => {
    await expect(get(to(302, "/to?302&/x"), { maxRedirects: 1 })).rejects.toThrow(/after 1 redirects/);
    const self = `http://127.0.0.1:${port}/to?302&`;
    await expect(get(self)).rejects.toThrow(/after 10 redirects/);
    expect(seen).toHaveLength(11);
  });

  test("can be left alone", async () => {
    const { status, redirects } = await get(to(301, "http://169.254.169.254/"), { followRedirects: false });
    expect([status, redirects]).toEqual([301, []]);
  });

  test("turn POST into GET where the standard says so, and keep it where it says so", async () => {
    const post = { method: "POST", body: "data", headers: { "content-type": "text/plain" } };
    for (const status of [301, 302, 303]) {
      await get(to(status, "/end"), post);
      expect(seen.map(({ method, body }) => [method, body])).toEqual([
        ["POST", "data"],
        ["GET", ""],
      ]);
      expect(seen[1]?.headers).not.toHaveProperty("content-type");
    }
    for (const status of [307, 308]) {
      await get(to(status, "/end"), post);
      expect(seen[1]).toMatchObject({ method: "POST", body: "data" });
    }
  });

  test("never hand a body on to another origin", async () => {
    const resolve = async () => ["127.0.0.1"];
    const elsewhere = `http://other.example:${port}/`;
    for (const [status, method] of [
      [307, "POST"],
      [308, "POST"],
      [302, "PUT"],
    ] as const) {
      const sent = get(to(status, elsewhere), { method, body: "password=x", resolve });
      await expect(sent).rejects.toMatchObject({ ...blocked, hint: expect.stringContaining(elsewhere) });
      expect(seen).toHaveLength(1);
    }
    await get(to(307, elsewhere), { resolve });
    await get(to(303, elsewhere), { method: "POST", body: "password=x", resolve });
    expect(seen.map(({ body }) => body)).toEqual(["password=x", ""]);
  });

  test("carry credentials within one origin and drop them for another", async () => {
    const headers = {
      authorization: "Bearer x",
      cookie: "a=b",
      "x-api-key": "k",
      "x-anything": "v",
      accept: "text/plain",
    };
    await get(to(302, "/same"), { headers });
    expect(seen[1]?.headers).toMatchObject(headers);
    const resolve = async () => ["127.0.0.1"];
    await get(to(302, `http://other.example:${port}/`), { headers, resolve });
    expect(seen[1]?.headers).toMatchObject({ accept: "text/plain" });
    expect(seen[1]?.headers).not.toHaveProperty("authorization");
    expect(seen[1]?.headers).not.toHaveProperty("x-anything");
    expect(seen[1]?.headers).not.toHaveProperty("cookie");
    expect(seen[1]?.headers).not.toHaveProperty("x-api-key");
  });
});

test("a resolver that never answers is left when the call is cancelled", async () => {
  const abort = new AbortController();
  const pending = get("http://slow.example/", {
    signal: abort.signal,
    resolve: () => new Promise(() => {}),
  });
  abort.abort(new Error("enough"));
  await expect(pending).rejects.toMatchObject({ code: "cancelled", cause: new Error("enough") });
});

describe("a kept connection that the server closes as the next request arrives", () => {
  /** Answers the first request of a connection and hangs up on the second, or on any at /never. */
  async function withForgetfulServer(work: (url: string, asked: string[]) => Promise<void>): Promise<void> {
    const asked: string[] = [];
    const served = new WeakSet<object>();
    const forgetful = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (served.has(request.socket) || request.url === "/never") return void request.socket.destroy();
      served.add(request.socket);
      response.end("hello");
    });
    await new Promise<void>((resolve) => forgetful.listen(0, "127.0.0.1", resolve));
    try {
      await work(`http://127.0.0.1:${(forgetful.address() as AddressInfo).port}`, asked);
    } finally {
      forgetful.closeAllConnections();
      forgetful.close();
    }
  }

  test("is asked again on a new one for what only reads", async () => {
    await withForgetfulServer(async (url, asked) => {
      expect((await get(`${url}/1`)).text).toBe("hello");
      await new Promise((resolve) => setImmediate(resolve));
      expect((await get(`${url}/2`)).text).toBe("hello");
      expect(asked).toEqual(["GET /1", "GET /2", "GET /2"]);
    });
  });

  test("is an error for what may change something, and where nothing ever came", async () => {
    await withForgetfulServer(async (url, asked) => {
      await get(`${url}/1`);
      await new Promise((resolve) => setImmediate(resolve));
      await expect(get(`${url}/2`, { method: "POST", body: "x" })).rejects.toThrow("closed the connection");
      await expect(get(`${url}/never`)).rejects.toThrow("closed the connection");
      expect(asked).toEqual(["GET /1", "POST /2", "GET /never"]);
    });
  });
});

test("IPv6 literals are dialled as written", async ({ skip }) => {
  const six = createServer((_request, response) => response.end("six"));
  const listening = await new Promise<boolean>((resolve) => {
    six.once("error", () => resolve(false));
    six.listen(0, "::1", () => resolve(true));
  });
  if (!listening) skip("this machine has no IPv6 loopback");
  const url = `http://[::1]:${(six.address() as AddressInfo).port}/`;
  expect((await get(url)).text).toBe("six");
  await expect(get(url, { rules: { allowPrivate: false } })).rejects.toMatchObject(blocked);
  six.closeAllConnections();
  six.close();
});

test("TLS is checked against the name that was asked for, not the pinned address", async (context) => {
  needs(context, "openssl");
  const folder = mkdtempSync(join(tmpdir(), "hermes-tls-"));
  const make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=secure.example", "-addext", "subjectAltName=DNS:secure.example"];
  execFileSync("openssl", [...make, ...names, "-keyout", "key", "-out", "cert"], {
    cwd: folder,
    stdio: "ignore",
  });
  const pem = { key: readFileSync(join(folder, "key")), cert: readFileSync(join(folder, "cert")) };
  const asked: unknown[] = [];
  const secure = createTlsServer(pem, (_request, response) => response.end());
  secure.on("connection", (socket) => socket.on("error", () => {}));
  secure.on("tlsClientError", (_error, socket) => asked.push(socket.servername));
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const url = `https://secure.example:${(secure.address() as AddressInfo).port}/`;
  const failed: unknown = await get(url, { resolve: async () => ["127.0.0.1"] }).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ details: { errno: "DEPTH_ZERO_SELF_SIGNED_CERT" } });
  await expect.poll(() => asked, { timeout: 2_000 }).toEqual(["secure.example"]);
  secure.close();
  rmSync(folder, { recursive: true });
});
