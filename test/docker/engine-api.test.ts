import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { EngineApi } from "../../src/env/docker/engine-api.js";

/** Something that listens where an engine would. */
async function engineThat(
  answers: (request: IncomingMessage, response: ServerResponse) => void,
  version = "1.41",
): Promise<EngineApi> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-api-"));
  const server = createServer((request, response) => {
    if (request.url === "/_ping") response.setHeader("Api-Version", version).end("OK");
    else answers(request, response);
  });
  const socketPath = join(folder, "engine.sock");
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const api = new EngineApi({ socketPath });
  onTestFinished(async () => {
    api.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });
  return api;
}

describe("the engine's interface", () => {
  it.each([
    ["1.24", "/v1.24/info"],
    ["1.47", "/v1.47/info"],
    ["1.99", "/v1.47/info"],
    ["2.0", "/v1.47/info"],
  ])("an engine of version %s is asked for %s", async (version, path) => {
    const api = await engineThat((request, response) => response.end(JSON.stringify(request.url)), version);
    expect(await api.json({ path: "/info" })).toBe(path);
  });

  it("tells what the engine refused in the engine's words", async () => {
    const api = await engineThat((_, response) => response.writeHead(409).end('{"message":"is in use"}'));
    await expect(api.json({ path: "/x" })).rejects.toMatchObject({ status: 409, message: "is in use" });
  });

  it("asks again when a kept connection turns out to be closed", async () => {
    const used = new WeakSet<Socket>();
    let closed = 0;
    const api = await engineThat((request, response) => {
      if (used.has(request.socket)) {
        closed += 1;
        request.socket.destroy();
        return;
      }
      used.add(request.socket);
      response.end('"answer"');
    });
    for (let turn = 0; turn < 4; turn++) expect(await api.json({ path: "/x" })).toBe("answer");
    expect(closed).toBeGreaterThan(0);
  });

  it("gives up on an engine that takes a question and never answers", async () => {
    const api = await engineThat(() => {});
    await expect(api.json({ path: "/x", timeoutMs: 100 })).rejects.toMatchObject({
      status: undefined,
      code: "ETIMEDOUT",
    });
  });

  it("a stream that is refused, or not opened at all, is an error", async () => {
    const api = await engineThat((request, response) => {
      if (request.url?.endsWith("/refused") === true)
        response.writeHead(404).end('{"message":"no such exec"}');
      else response.end("no stream");
    });
    await expect(api.hijack({ path: "/refused" })).rejects.toMatchObject({
      status: 404,
      message: "no such exec",
    });
    await expect(api.hijack({ path: "/plain" })).rejects.toThrow(/did not open a stream/);
  });
});
