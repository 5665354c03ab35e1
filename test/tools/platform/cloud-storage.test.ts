import { createHash, createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SignatureV4 } from "@smithy/signature-v4";
import S3rver from "s3rver";
import { describe, expect, it } from "vitest";
import { presignedUrl } from "../../../src/tools/platform/storage/presign.js";
import { onTestEnd, tempDir, testRuntime } from "../../support/runtime.js";

const KEYS = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

async function startStorage(): Promise<string> {
  const directory = tempDir();
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: "files", configs: [] }],
  });
  const { port } = await server.run();
  onTestEnd(() => server.close());
  return `http://127.0.0.1:${port}`;
}

/** Stands between the tool and the storage, counts, and breaks connections when it is told to. */
async function startBreaker(
  target: string,
  breaks: (request: IncomingMessage, seen: number) => "before" | number | undefined,
) {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const cut = breaks(request, requests.length);
    if (cut === "before") return void request.socket.destroy();
    const { host, port } = new URL(target);
    const onward = send(
      {
        host: "127.0.0.1",
        port,
        path: request.url,
        method: request.method,
        headers: { ...request.headers, host: request.headers.host ?? host },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        let sent = 0;
        answer.on("data", (chunk: Buffer) => {
          sent += chunk.length;
          response.write(chunk);
          if (typeof cut === "number" && sent > cut) request.socket.destroy();
        });
        answer.on("end", () => response.end());
      },
    );
    onward.on("error", () => request.socket.destroy());
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function open(
  options: {
    env?: Record<string, string>;
    flags?: Readonly<Record<string, unknown>>;
    answer?: "once" | "deny";
  } = {},
) {
  const asked: string[] = [];
  const { runtime, cwd, home } = await testRuntime([], {
    builtins: true,
    flags: options.flags ?? { "security.allowed_hosts": ["127.0.0.1"] },
    env: { PATH: process.env.PATH, ...(options.env ?? KEYS) },
  });
  const session = await runtime.openSession({
    approver: {
      ask: async ({ reason }) => {
        asked.push(reason);
        return options.answer ?? "once";
      },
    },
  });
  const call = (args: Record<string, unknown>, signal?: AbortSignal) =>
    session.call({ name: "cloud_storage", arguments: { bucket: "files", ...args } }, { signal });
  return { call, cwd, home, asked };
}

/** Node's hash in the form that the library wants. */
class NodeSha256 {
  readonly #hash;
  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

const hashOf = async (path: string) => {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
};

describe("cloud_storage", () => {
  it("puts, lists, gets, copies and deletes", async () => {
    const endpoint = await startStorage();
    const { call, cwd, asked } = await open();
    mkdirSync(join(cwd, "out"));
    writeFileSync(join(cwd, "a.txt"), "hello\n");
    const put = await call({ action: "put", endpoint, path: "a.txt", key: "docs/a b+ü.txt" });
    expect(put.error).toBeUndefined();
    expect(put.structured).toMatchObject({ bytes: 6, parts: 1, key: "docs/a b+ü.txt" });
    await call({ action: "put", endpoint, path: "a.txt", key: "top.txt" });
    const copied = await call({ action: "copy", endpoint, key: "top.txt", to: "docs/b.txt" });
    expect(copied.error).toBeUndefined();
    const list = await call({ action: "list", endpoint, key: "docs/" });
    expect(list.untrusted_from).toEqual([`${endpoint}/files`]);
    expect(list.structured).toMatchObject({
      objects: [
        { key: "docs/a b+ü.txt", bytes: 6 },
        { key: "docs/b.txt", bytes: 6 },
      ],
      truncated: false,
    });
    const folders = await call({ action: "list", endpoint, delimiter: "/" });
    expect(folders.structured).toMatchObject({ objects: [{ key: "top.txt" }], folders: ["docs/"] });
    const got = await call({ action: "get", endpoint, key: "docs/b.txt", path: "out/b.txt" });
    expect(got.structured).toMatchObject({ bytes: 6, path: join(cwd, "out/b.txt") });
    expect(readFileSync(join(cwd, "out/b.txt"), "utf8")).toBe("hello\n");
    expect(asked).toEqual([]);
    const gone = await call({ action: "delete", endpoint, key: "docs/b.txt" });
    expect(gone.structured).toMatchObject({ bytes: 6 });
    expect(asked).toHaveLength(1);
    const again = await call({ action: "get", endpoint, key: "docs/b.txt", path: "out/c.txt" });
    expect(again.error?.hint).toContain("There is no such object");
    expect(existsSync(join(cwd, "out/c.txt"))).toBe(false);
  });

  // ListObjectsV2 of the Amazon S3 API Reference; the test server fails when it should give a second page.
  it("lists page by page up to the limit, and says that there is more", async () => {
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://host");
      const page = Number(searchParams.get("continuation-token") ?? "0");
      const contents = ["a", "b"].map(
        (name) => `<Contents><Key>${name}${page}</Key><Size>1</Size></Contents>`,
      );
      response.end(
        `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${page + 1}</NextContinuationToken>${contents.join("")}</ListBucketResult>`,
      );
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    const { call } = await open();
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { structured } = await call({ action: "list", endpoint, limit: 4 });
    expect(structured).toMatchObject({
      objects: [{ key: "a0" }, { key: "b0" }, { key: "a1" }, { key: "b1" }],
      truncated: true,
    });
  });

  it("an address for others works without keys until it expires", async () => {
    const endpoint = await startStorage();
    const { call, cwd } = await open();
    writeFileSync(join(cwd, "a.txt"), "for you");
    await call({ action: "put", endpoint, path: "a.txt", key: "x/a b.txt" });
    const { structured } = await call({ action: "presign", endpoint, key: "x/a b.txt", expires_seconds: 60 });
    const { url } = structured as { url: string };
    expect(await (await fetch(url)).text()).toBe("for you");
    const up = await call({ action: "presign", endpoint, key: "new.txt", method: "PUT" });
    const sent = await fetch((up.structured as { url: string }).url, { method: "PUT", body: "mine" });
    expect(sent.status).toBe(200);
    const got = await call({ action: "get", endpoint, key: "new.txt" });
    expect(got.structured).toMatchObject({ bytes: 4, path: join(cwd, "new.txt") });
    const none = await open({ env: {} });
    expect((await none.call({ action: "presign", endpoint, key: "a" })).error?.hint).toBe(
      "Set AWS_ACCESS_KEY_ID=...",
    );
  });

  it("signs such addresses as Amazon's own library does", async () => {
    const now = new Date("2026-05-01T10:20:30Z");
    const place = {
      endpoint: "https://s3.eu-west-1.amazonaws.com",
      bucket: "files",
      region: "eu-west-1",
      configured: true,
      keys: {
        accessKeyId: "AKIDEXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG",
        sessionToken: "to+ken/=",
      },
    };
    const key = "docs/a b+ü*(1).txt";
    const url = presignedUrl({ place, key, method: "GET", seconds: 600, now });
    const signer = new SignatureV4({
      service: "s3",
      region: place.region,
      credentials: place.keys,
      sha256: NodeSha256,
      uriEscapePath: false,
    });
    const { query = {} } = await signer.presign(
      {
        method: "GET",
        protocol: "https:",
        hostname: "s3.eu-west-1.amazonaws.com",
        path: new URL(url).pathname,
        query: {},
        headers: { host: "s3.eu-west-1.amazonaws.com", "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
      },
      {
        expiresIn: 600,
        signingDate: now,
        unsignableHeaders: new Set(["x-amz-content-sha256"]),
        unhoistableHeaders: new Set(["x-amz-content-sha256"]),
      },
    );
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual(query);
  });

  it("a large file goes in parts; a broken transfer goes on where it stopped, both ways", {
    timeout: 60_000,
  }, async () => {
    const storage = await startStorage();
    let broken = true;
    const breaker = await startBreaker(storage, (request) => {
      const part = /partNumber=(\d+)/.exec(request.url ?? "")?.[1];
      if (broken && part !== undefined && Number(part) >= 4) return "before";
      return broken && request.method === "GET" ? 20_000_000 : undefined;
    });
    const { call, cwd, home } = await open();
    writeFileSync(join(cwd, "big.bin"), randomBytes(45 * 1024 * 1024));
    const first = await call({ action: "put", endpoint: breaker.endpoint, path: "big.bin", key: "big.bin" });
    expect(first.error).toBeDefined();
    broken = false;
    breaker.requests.length = 0;
    const second = await call({ action: "put", endpoint: breaker.endpoint, path: "big.bin", key: "big.bin" });
    expect(second.error).toBeUndefined();
    expect(second.structured).toMatchObject({ bytes: 45 * 1024 * 1024, parts: 6 });
    const { resumed_bytes } = second.structured as { resumed_bytes: number };
    expect(resumed_bytes).toBeGreaterThanOrEqual(8 * 1024 * 1024);
    expect(breaker.requests.filter((line) => line.includes("partNumber=1&"))).toEqual([]);

    broken = true;
    const got = await call({ action: "get", endpoint: breaker.endpoint, key: "big.bin", path: "back.bin" });
    expect(got.error).toBeUndefined();
    expect(breaker.requests.filter((line) => line.startsWith("GET")).length).toBeGreaterThan(1);
    expect(await hashOf(join(cwd, "back.bin"))).toBe(await hashOf(join(cwd, "big.bin")));
    const left = readdirSync(home, { recursive: true }).filter((name) =>
      /\.(?:part|upload)$/.test(String(name)),
    );
    expect(left).toEqual([]);
  });

  it("300 MB go through in bounded memory", { timeout: 120_000 }, async () => {
    const endpoint = await startStorage();
    const { call, cwd } = await open();
    const block = randomBytes(1024 * 1024);
    writeFileSync(join(cwd, "huge.bin"), "");
    for (let megabytes = 0; megabytes < 300; megabytes += 1)
      writeFileSync(join(cwd, "huge.bin"), block, { flag: "a" });
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    await call({ action: "put", endpoint, path: "huge.bin", key: "huge.bin" });
    const got = await call({ action: "get", endpoint, key: "huge.bin", path: "back.bin" });
    clearInterval(watch);
    expect(got.structured).toMatchObject({ bytes: 300 * 1024 * 1024 });
    expect(await hashOf(join(cwd, "back.bin"))).toBe(await hashOf(join(cwd, "huge.bin")));
    // The server runs in this process too.
    expect((most - before) / 1024 / 1024).toBeLessThan(400);
  });

  it("a private address is refused unless the operator configured it, with its own keys", async () => {
    const endpoint = await startStorage();
    const closed = await open({ flags: {} });
    const { error } = await closed.call({ action: "list", endpoint });
    expect(["blocked", "denied"]).toContain(error?.code);
    const storage = {
      team: { endpoint, bucket: "files", access_key_env: "TEAM_KEY", secret_key_env: "TEAM_SECRET" },
    };
    const named = await open({ flags: { storage }, env: { TEAM_KEY: "S3RVER", TEAM_SECRET: "S3RVER" } });
    expect((await named.call({ action: "list", bucket: "team" })).structured).toMatchObject({
      bucket: "files",
      objects: [],
    });
    expect((await named.call({ action: "list", endpoint: "team" })).structured).toMatchObject({
      objects: [],
    });
    const without = await open({ flags: { storage }, env: {} });
    expect((await without.call({ action: "list", bucket: "team" })).error?.hint).toBe("Set TEAM_KEY=...");
  });

  it("a cancelled upload lets go of its connections and asks no more", async () => {
    let busy = 0;
    let asked = 0;
    const slow = createServer((request, response) => {
      asked += 1;
      if (request.method === "POST") {
        response.setHeader("content-type", "application/xml");
        response.end(
          "<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>",
        );
        return;
      }
      busy += 1;
      request.resume();
      request.socket.on("close", () => {
        busy -= 1;
      });
    });
    slow.listen(0, "127.0.0.1");
    await once(slow, "listening");
    onTestEnd(() => {
      slow.closeAllConnections();
      slow.close();
    });
    const { call, cwd } = await open();
    writeFileSync(join(cwd, "big.bin"), randomBytes(40 * 1024 * 1024));
    const stop = new AbortController();
    const endpoint = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const running = call({ action: "put", endpoint, key: "big", path: "big.bin" }, stop.signal);
    await expect.poll(() => busy, { timeout: 10_000 }).toBe(3);
    stop.abort();
    expect((await running).error?.code).toBe("cancelled");
    await expect.poll(() => busy).toBe(0);
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(asked).toBe(before);
  });

  it("says what is wrong, and never shows a key", async () => {
    const endpoint = await startStorage();
    const { call } = await open({ env: { ...KEYS, AWS_ACCESS_KEY_ID: "not-a-known-key" } });
    const wrong = await call({ action: "list", endpoint });
    expect(wrong.error?.hint).toContain("access key");
    expect(JSON.stringify(wrong)).not.toContain("not-a-known-key");
    const right = await open();
    expect((await right.call({ action: "list", endpoint, bucket: "none" })).error?.hint).toContain(
      "no such bucket",
    );
    expect((await right.call({ action: "get", endpoint, key: "none" })).error).toMatchObject({
      message: "get files/none: NotFound.",
      hint: expect.stringContaining("no such object"),
    });
    expect((await right.call({ action: "put", endpoint, key: "a" })).error?.message).toContain("needs path");
    expect((await right.call({ action: "get", endpoint, key: "../a" })).error?.message).toContain("..");
    expect((await right.call({ action: "list", endpoint: "nowhere" })).error?.message).toContain(
      "no configured storage",
    );
  });
});
