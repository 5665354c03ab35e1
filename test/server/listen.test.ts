import { createServer as createNetServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { createServer } from "../../src/server/server.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../support/runtime.js";
import { openSocket, requestText, startServer, TOKEN, until } from "./support.js";
import { countingTool, echo, waitingTool } from "./tools.js";

const generated = { value: TOKEN, source: "file", file: "/nowhere" } as const;

describe("where the server listens", () => {
  it("is never open to other machines with a token nobody chose", async () => {
    const { runtime } = await testRuntime();
    const own = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.internal === false && each.family === "IPv4");
    for (const host of ["0.0.0.0", "::", "::ffff:0.0.0.0", ...(own === undefined ? [] : [own.address])]) {
      await expect(createServer({ runtime, token: generated, host, port: 0 }), host).rejects.toThrow(
        "HERMES_TOKEN",
      );
      const empty = { value: "", source: "configured" } as const;
      await expect(createServer({ runtime, token: empty, host, port: 0 }), host).rejects.toThrow(
        "HERMES_TOKEN",
      );
    }
  });

  it("may be the whole loopback network with a generated token", async () => {
    for (const host of ["127.0.0.1", "localhost", "127.0.0.2"]) {
      const { server } = await startServer([], { host, token: generated });
      expect(server.url).toBe(`http://${host}:${server.port}/`);
      expect((await fetch(new URL("/healthz", server.url))).status).toBe(200);
    }
  });

  it("with a chosen token may be everywhere", async () => {
    const { server } = await startServer([], { host: "0.0.0.0" });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/`);
    expect((await fetch(new URL("/v1/tools", server.url))).status).toBe(401);
  });

  it("is told clearly when it cannot be had", async () => {
    const { runtime } = await testRuntime();
    const taken = createNetServer();
    onTestEnd(() => void taken.close());
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
    });
    const token = { value: TOKEN, source: "configured" } as const;
    await expect(createServer({ runtime, token, host: "127.0.0.1", port })).rejects.toThrow(
      new RegExp(`127\\.0\\.0\\.1:${port} is already in use.*--port 0`),
    );
    await expect(createServer({ runtime, token, host: "192.0.2.1", port: 0 })).rejects.toThrow(
      "no address of this machine",
    );
    await expect(createServer({ runtime, token, host: "no-such-host.invalid", port: 0 })).rejects.toThrow(
      "no address of this machine",
    );
  });
});

describe("stopping", () => {
  it("lets a running call finish and answers it", async () => {
    let finish: (() => void) | undefined;
    const slow: AnyTool = {
      ...echo,
      name: "slow",
      handler: () =>
        new Promise<{ done: true }>((resolve) => {
          finish = () => resolve({ done: true });
        }),
    };
    const { server, calls } = await startServer([slow]);
    const answer = calls({ tool_calls: [{ id: "1", function: { name: "slow", arguments: { text: "x" } } }] });
    await until(() => finish !== undefined);
    const closed = server.close();
    await new Promise((resolve) => setTimeout(resolve, 300));
    finish?.();
    expect(await (await answer).text()).toContain("done");
    await closed;
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it("answers a call that was only just accepted", async () => {
    const { server, port } = await startServer([echo]);
    const body = JSON.stringify({
      tool_calls: [{ id: "1", function: { name: "echo", arguments: { text: "hi" } } }],
    });
    const socket = openSocket(port);
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    const head = [
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${TOKEN}`,
      `Content-Length: ${body.length}`,
    ];
    socket.write(requestText("POST /v1/tool_calls", [...head, "Expect: 100-continue"]));
    await until(() => answer.includes("100 Continue"));
    const closed = server.close();
    socket.write(body);
    await closed;
    await until(() => socket.destroyed);
    expect(answer).toContain('"text":"hi"');
  });

  it("aborts what does not finish, answers it, and ends in time", async () => {
    const { tool, seen } = waitingTool();
    const { server, calls } = await startServer([tool]);
    const answer = calls({ tool_calls: [{ id: "1", function: { name: "wait", arguments: {} } }] });
    await until(() => seen.started === 1);
    const before = performance.now();
    await Promise.all([server.close({ finishMs: 100, abortMs: 2_000 }), server.close()]);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(seen.aborted).toBe(1);
    expect((await answer).status).toBe(200);
    expect(await (await answer).text()).toContain("interrupt");
  });

  it("takes no new calls meanwhile, and does not wait for idle or stuck connections", async () => {
    const { tool, seen } = waitingTool();
    const counting = countingTool();
    const { server, calls, port } = await startServer([tool, counting.tool]);
    const body = JSON.stringify({ tool_calls: [{ id: "1", function: { name: "count", arguments: {} } }] });
    const stuck = openSocket(port);
    stuck.write("POST /v1/tool_calls HTTP/1.1\r\nHost: ");
    const late = openSocket(port);
    const held = ["Authorization: Bearer ", TOKEN].join("");
    late.write(requestText("GET /healthz", [`Host: 127.0.0.1:${port}`]));
    const heard: Buffer[] = [];
    late.on("data", (chunk) => heard.push(chunk));
    const running = calls({ tool_calls: [{ id: "1", function: { name: "wait", arguments: {} } }] });
    await until(() => seen.started === 1 && heard.length > 0);
    const closed = server.close({ finishMs: 500, abortMs: 500 });
    late.write(
      requestText(
        "POST /v1/tool_calls",
        [`Host: 127.0.0.1:${port}`, held, `Content-Length: ${body.length}`],
        body,
      ),
    );
    await closed;
    await running;
    expect(counting.runs()).toBe(0);
  });
});
