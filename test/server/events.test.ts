import { describe, expect, it } from "vitest";
import type { RuntimeEvent } from "../../src/index.js";
import { onTestEnd } from "../support/runtime.js";
import { EventClient } from "./event-client.js";
import { openSocket, requestText, startServer, type TestServer, TOKEN, until } from "./support.js";
import { echo, reportingTool } from "./tools.js";

const echoCall = { tool_calls: [{ id: "c1", function: { name: "echo", arguments: { text: "hi" } } }] };

async function listen(
  server: TestServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventClient> {
  const client = await EventClient.open(server.server.url, headers);
  onTestEnd(() => client.close());
  return client;
}

function numbered(index: number, filler = ""): RuntimeEvent {
  return {
    type: "call.progress",
    session: "s",
    id: String(index),
    name: "n",
    progress: { message: filler } as Extract<RuntimeEvent, { type: "call.progress" }>["progress"],
  };
}

const idsOf = (client: EventClient) => client.events.map((event) => event.data.id);

describe("the event stream", () => {
  it("tells every client of every call, with growing ids", async () => {
    const server = await startServer([echo]);
    const clients = [await listen(server), await listen(server)];
    await server.calls(echoCall);
    for (const client of clients) {
      await until(() => client.events.length === 2);
      expect(client.events.map((event) => event.data)).toMatchObject([
        { type: "call.started", id: "c1", name: "echo" },
        { type: "call.finished", id: "c1", name: "echo", ok: true },
      ]);
      expect(new Set(client.events.map((event) => event.id)).size).toBe(2);
    }
  });

  it("costs calls nothing before somebody listens", async () => {
    const server = await startServer([echo]);
    await server.calls(echoCall);
    expect(server.runtime.events.wants("call.finished")).toBe(false);
    const client = await listen(server);
    expect(server.runtime.events.wants("call.finished")).toBe(true);
    await server.calls(echoCall);
    await until(() => client.events.length === 2);
    expect(client.events.map((event) => event.id?.split(".")[1])).toEqual(["1", "2"]);
  });

  it("is sent as a stream that may not be cached", async () => {
    const { ask } = await startServer();
    const leave = new AbortController();
    const answer = await ask("/v1/events", { signal: leave.signal });
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    leave.abort();
  });

  it("resumes after the last event a client has seen", async () => {
    const server = await startServer();
    const first = await listen(server);
    for (let index = 0; index < 5; index += 1) server.runtime.events.emit(numbered(index));
    await until(() => first.events.length === 5);
    first.close();
    for (let index = 5; index < 505; index += 1) server.runtime.events.emit(numbered(index));
    const second = await listen(server, { "last-event-id": first.events[2]?.id ?? "" });
    await until(() => second.events.length === 502);
    expect(idsOf(second)).toEqual(Array.from({ length: 502 }, (_, index) => String(index + 3)));
    server.runtime.events.emit(numbered(505));
    await until(() => second.events.length === 503);
  });

  it("says so when events were missed for good", async () => {
    const server = await startServer([], { limits: { pendingEvents: 10 } });
    const first = await listen(server);
    server.runtime.events.emit(numbered(0));
    await until(() => first.events.length === 1);
    const id = first.events[0]?.id ?? "";
    first.close();
    for (let index = 1; index <= 100; index += 1) {
      server.runtime.events.emit(numbered(index));
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const stale of [id, "0.1", "not-an-id", `${id}9999`, "__proto__.1"]) {
      const late = await listen(server, { "last-event-id": stale });
      await until(() => late.events.length > 0);
      expect(late.events[0]?.data).toEqual({ type: "stream.reset" });
    }
  });

  it("keeps the connection alive with comments", async () => {
    const server = await startServer([], { limits: { heartbeatMs: 50 } });
    const client = await listen(server);
    await until(() => client.comments.length >= 2);
    expect(client.events).toEqual([]);
  });

  it("hands a burst of thousands to a client that reads, in order and complete", async () => {
    const server = await startServer();
    const client = await listen(server);
    for (let index = 0; index < 5_000; index += 1) server.runtime.events.emit(numbered(index));
    await until(() => client.events.length >= 5_000);
    expect(idsOf(client)).toEqual(Array.from({ length: 5_000 }, (_, index) => String(index)));
    expect(client.ended).toBe(false);
  });

  it("ends when the server stops", async () => {
    const server = await startServer();
    const client = await listen(server);
    await server.server.close();
    await until(() => client.ended);
  });

  it("takes no more clients than it can bear, and forgets those that left", async () => {
    const server = await startServer([], { limits: { eventClients: 2 } });
    const first = await listen(server);
    await listen(server);
    await until(() => server.runtime.events.wants("call.finished"));
    await expect(listen(server)).rejects.toThrow("503");
    first.close();
    await until(async () => {
      const client = await listen(server).catch(() => undefined);
      return client !== undefined;
    });
  });

  it("is not opened by a HEAD request", async () => {
    const server = await startServer([], { limits: { eventClients: 1 } });
    for (let index = 0; index < 3; index += 1) {
      expect((await server.ask("/v1/events", { method: "HEAD" })).status).toBe(200);
    }
    await listen(server);
  });
});

describe("a client that does not read", () => {
  it("is dropped at a bound while the others get everything", async () => {
    const server = await startServer();
    const reading = await listen(server);
    const sleeping = openSocket(server.port);
    sleeping.pause();
    sleeping.write(
      requestText("GET /v1/events", [`Host: 127.0.0.1:${server.port}`, `Authorization: Bearer ${TOKEN}`]),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = process.memoryUsage().rss;
    const filler = "x".repeat(1_900);
    const total = 20_000;
    for (let index = 0; index < total; index += 1) {
      server.runtime.events.emit(numbered(index, filler));
      if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until(() => reading.events.length === total);
    expect(reading.events.at(-1)?.data.id).toBe(String(total - 1));
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 2 ** 20);
    // It notices only now that it reads: the connection ends in the middle of the stream.
    let received = 0;
    const closed = new Promise((resolve) => sleeping.on("close", resolve));
    sleeping.on("data", (chunk) => {
      received += chunk.length;
    });
    sleeping.resume();
    await closed;
    expect(received).toBeLessThan(total * filler.length);
    server.runtime.events.emit(numbered(total));
    await until(() => reading.events.length === total + 1);
  });
});

describe("what events may carry", () => {
  it("never a secret", async () => {
    const secret = "hunter2-and-more-4711";
    const server = await startServer(
      [echo, reportingTool(() => ({ message: `using ${secret}`, deep: [{ key: secret }] }))],
      {
        runtime: { env: { PATH: process.env.PATH, MY_API_KEY: secret } },
      },
    );
    const client = await listen(server);
    await server.calls({
      tool_calls: [
        { id: "1", function: { name: "report", arguments: {} } },
        { id: "2", function: { name: "echo", arguments: { text: `${secret} ${TOKEN}` } } },
      ],
    });
    await until(() => client.events.filter((event) => event.data.type === "call.finished").length === 2);
    const text = JSON.stringify(client.events);
    expect(text).toContain("call.progress");
    expect(text).not.toContain(secret);
    expect(text).not.toContain(TOKEN);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const odd = {
    "a cycle": cyclic,
    "a BigInt": { value: 10n },
    "a throwing getter": Object.defineProperty({}, "boom", {
      enumerable: true,
      get: () => {
        throw new Error("boom");
      },
    }),
    "a megabyte": { rows: Array.from({ length: 10_000 }, () => "x".repeat(100)) },
    "line breaks and framing": { message: 'a\n\ndata: {"type":"forged"}\r\n\r\nid: 9\n\n\u2028' },
  };
  for (const [what, progress] of Object.entries(odd)) {
    it(`${what} as progress harms nobody`, async () => {
      const server = await startServer([reportingTool(() => progress)]);
      const client = await listen(server);
      await server.calls({ tool_calls: [{ id: "1", function: { name: "report", arguments: {} } }] });
      await until(() => client.events.some((event) => event.data.type === "call.finished"));
      expect(client.events.map((event) => event.data.type)).toEqual([
        "call.started",
        "call.progress",
        "call.finished",
      ]);
      expect(JSON.stringify(client.events).length).toBeLessThan(40_000);
    });
  }
});
