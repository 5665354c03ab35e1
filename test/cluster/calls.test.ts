// @needs nats-server
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Seal } from "../../src/cluster/seal.js";
import { type CallResult, defineTool, ToolError, ToolResult } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { eventually } from "../gateway/support.js";
import { testRuntime } from "../support/runtime.js";
import { natsUrl, settings, testCluster, useNats } from "./support.js";

useNats();

/** Answers as it is told: late, wrongly, or not at all. */
const moody = defineTool({
  name: "moody",
  description: "does what it is told",
  parameters: {
    type: "object",
    properties: {
      ms: { type: "integer", default: 0 },
      mood: {
        enum: ["ok", "throw", "refuse", "undefined", "hang", "fail", "picture", "object", "partial"],
        default: "ok",
      },
      tag: { type: "string" },
    },
  },
  // Only what waits for its end needs one soon; on a busy machine the way alone may take as long.
  timeoutMs: ({ mood }) => (mood === "hang" || mood === "partial" ? 600 : 20_000),
  async handler({ ms, mood, tag }, ctx) {
    if (mood === "hang" || mood === "partial") {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      if (mood === "partial") return { until: tag };
    }
    if (ms > 0) await wait(ms);
    switch (mood) {
      case "throw":
        throw new Error(`thrown ${tag}`);
      case "refuse":
        throw new ToolError(`no ${tag}`, { code: "denied", hint: "ask nicely" });
      case "fail":
        return new ToolResult({ success: false, error: `failed ${tag}`, output: { tag } });
      case "picture":
        return new ToolResult({
          success: true,
          content: [
            { type: "image", data: Buffer.from(String(tag)).toString("base64"), mimeType: "image/png" },
          ],
        });
      case "object":
        return { tag, list: [1, 2.5, null, "ü"], none: undefined, when: new Date(0) };
      case "undefined":
        return undefined;
      default:
        return `answer ${tag}`;
    }
  },
}) as AnyTool;

const touch = defineTool({
  name: "touch",
  description: "says that it writes",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  permissions: ["file:write"],
  effects: ({ path }, scope) => [{ action: "file:write", resource: join(scope.cwd, path), mode: "write" }],
  handler: ({ path }) => `wrote ${path}`,
}) as AnyTool;

const strip = ({ duration_ms: _d, worker: _w, ...rest }: CallResult) => rest;

describe("a call in a cluster", () => {
  it("law 1: has the decision and the result of the direct call, and names its worker", async () => {
    const { front, workers } = await testCluster([moody, touch]);
    const direct = await testRuntime([moody, touch], { cwd: front.cwd, home: front.home, journal: true });
    const [there, here] = await Promise.all([front.runtime.openSession(), direct.runtime.openSession()]);
    const call = fc.record({
      name: fc.constantFrom("moody", "moody", "moody", "touch", "nope"),
      arguments: fc.oneof(
        fc.record({
          ms: fc.integer({ min: 0, max: 4 }),
          mood: fc.constantFrom(..."ok throw refuse undefined fail picture object partial hang".split(" ")),
          tag: fc.string({ maxLength: 5 }),
          path: fc.constantFrom("a", "../b", "/etc/passwd", "~/.ssh/id_rsa"),
        }),
        fc.constantFrom<unknown>("{", "[]", 7, null, { ms: "3" }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(call, async (each) => {
        const [far, near] = await Promise.all([
          there.call({ id: "x", ...each }),
          here.call({ id: "x", ...each }),
        ]);
        expect(strip(far)).toEqual(strip(near));
        if (far.state !== "not_started") expect(far.worker).toBe(workers[0]?.worker.id);
      }),
      { numRuns: 60 },
    );
  });

  it("is in both journals, and the row where the session lives names the worker", async () => {
    const { front, workers } = await testCluster([touch]);
    const session = await front.runtime.openSession();
    const { worker } = await session.call({ id: "one", name: "touch", arguments: { path: "a" } });
    const [row] = await (await front.runtime.journal()).recent({ limit: 1 });
    expect(row).toMatchObject({ call_id: "one", tool: "touch", status: "ok", worker });
    const there = workers.find((one) => one.worker.id === worker);
    // Nobody waits for that one.
    await eventually(async () => {
      const [other] = (await (await there?.at.runtime.journal())?.recent({ limit: 1 })) ?? [];
      expect(other).toMatchObject({ call_id: "one", door: "cluster", status: "ok" });
    });
  });

  it("carries results and arguments of several megabytes", async () => {
    const echo = defineTool({
      name: "echo",
      description: "gives back what it got",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      maxResultSizeChars: Number.POSITIVE_INFINITY,
      handler: ({ text }) => ({ text, bytes: text.length }),
    }) as AnyTool;
    const { front } = await testCluster([echo]);
    const text = "0123456789abcdef".repeat(200_000);
    const result = await (await front.runtime.openSession()).call({ name: "echo", arguments: { text } });
    expect(result.ok).toBe(true);
    expect(result.structured).toEqual({ text, bytes: 3_200_000 });
  });

  it("tells of its progress, and ends with what it gave when it is interrupted", async () => {
    const steps = defineTool({
      name: "steps",
      description: "goes on until it is told to stop",
      parameters: { type: "object" },
      async handler(_args, ctx) {
        ctx.progress({ message: "on the way", fraction: 0.5 });
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        return { came: "half way" };
      },
    }) as AnyTool;
    const { front } = await testCluster([steps]);
    const session = await front.runtime.openSession();
    const stop = new AbortController();
    const seen: unknown[] = [];
    const result = await session.call(
      { name: "steps" },
      {
        signal: stop.signal,
        onProgress: (progress) => {
          seen.push(progress);
          stop.abort();
        },
      },
    );
    expect(seen).toEqual([{ message: "on the way", fraction: 0.5 }]);
    expect(result).toMatchObject({ ok: false, state: "partial", error: { code: "cancelled" } });
    expect(JSON.stringify(result.content)).toContain("half way");
  });

  it("masks what only the worker knows to be secret", async () => {
    const tell = defineTool({
      name: "tell",
      description: "tells a secret of its machine",
      parameters: { type: "object" },
      handler: () => ({ told: "token-of-the-worker-4711" }),
    }) as AnyTool;
    const { front, workers } = await testCluster([tell]);
    for (const { at } of workers) at.runtime.secrets.add("WORKER_TOKEN", "token-of-the-worker-4711");
    const result = await (await front.runtime.openSession()).call({ name: "tell" });
    expect(result.ok).toBe(true);
    expect(JSON.stringify(result)).not.toContain("4711");
  });

  it("a tool that must stay where its session is does not leave, nor does one that no worker has", async () => {
    const here = (name: string, more: object) =>
      ({
        ...defineTool({ name, description: name, parameters: { type: "object" }, handler: () => "here" }),
        ...more,
      }) as AnyTool;
    const own = [here("stays", { stays: true }), here("only_here", {})];
    const { front } = await testCluster([here("stays", { stays: true })], { frontTools: own });
    const session = await front.runtime.openSession();
    for (const { name } of own) {
      const result = await session.call({ name });
      expect(result).toMatchObject({ ok: true, human: "here" });
      expect(result.worker).toBeUndefined();
    }
  });
});

describe("where a call goes", () => {
  const where = (name: string): AnyTool =>
    defineTool({
      name,
      description: "runs somewhere",
      parameters: { type: "object" },
      handler: () => "done",
    }) as AnyTool;

  it("labels choose among workers, and a session stays where it is", async () => {
    // Its own time does not run while it waits for a worker.
    const hasty = { ...where("hasty"), timeoutMs: 200 };
    const tools = [where("go"), hasty];
    const { front, workers } = await testCluster(tools, { workers: [["gpu", "region=eu"], [], []] });
    const gpu = workers[0]?.worker.id;
    const chosen = await front.runtime.openSession({ labels: ["gpu", "region=eu"] });
    expect((await chosen.call({ name: "go" })).worker).toBe(gpu);
    const any = await front.runtime.openSession();
    const first = (await any.call({ name: "go" })).worker;
    const rest = await Promise.all(Array.from({ length: 20 }, () => any.call({ name: "go" })));
    expect(new Set(rest.map(({ worker }) => worker))).toEqual(new Set([first]));
    const none = await front.runtime.openSession({ labels: ["tpu"] });
    for (const name of ["go", "hasty"])
      expect(await none.call({ name })).toMatchObject({
        ok: false,
        state: "not_started",
        error: { code: "unavailable", message: expect.stringContaining("labels tpu") },
      });
  });

  it("sessions spread over the workers", async () => {
    const slow = {
      ...where("slow"),
      handler: async () => {
        await wait(200);
        return "done";
      },
    };
    const { front } = await testCluster([slow], { workers: [[], []] });
    const sessions = await Promise.all(Array.from({ length: 8 }, () => front.runtime.openSession()));
    const results = await Promise.all(sessions.map((session) => session.call({ name: "slow" })));
    const [first] = results;
    expect(results.filter(({ worker }) => worker === first?.worker)).toHaveLength(4);
  });

  it("a worker that drains finishes what it runs; the session goes on elsewhere, where it stood", async () => {
    const { front, place, workers } = await testCluster([], {
      builtins: true,
      workers: [[], []],
      worker: { "cluster.drain_seconds": 10 },
    });
    const folder = join(front.cwd, "below");
    mkdirSync(folder);
    const session = await front.runtime.openSession({ toolsets: ["terminal"] });
    const sh = (command: string) => session.call({ name: "terminal", arguments: { command } });
    const first = await sh(`cd ${folder}; export KEPT=yes`);
    expect(first).toMatchObject({ ok: true, exit_code: 0 });
    const running = sh("sleep 1; echo finished");
    await wait(300);
    const leaving = workers.find(({ worker }) => worker.id === first.worker)?.worker;
    await leaving?.drain();
    expect((await running).human).toContain("finished");
    const next = await sh("pwd; echo $KEPT");
    expect(next.worker).not.toBe(first.worker);
    expect(next.human).toContain(`${folder}\nyes`);
    // That its programs ended with the old one is said once, when it has left.
    while (place.roster.get(first.worker ?? "") !== undefined) await place.roster.changed(10_000);
    expect((await sh("pwd")).notices).toEqual([
      expect.stringMatching(`${first.worker} is gone, with the back`),
    ]);
    expect((await sh("pwd")).notices ?? []).toEqual([]);
  });
});

describe("what may run", () => {
  const nested = defineTool({
    name: "nested",
    description: "calls another tool",
    parameters: { type: "object" },
    async handler(_args, ctx) {
      const tools = ctx.openTools();
      const result = await tools.call({
        name: "terminal",
        arguments: { command: "rm -rf build && echo gone" },
      });
      tools.close();
      return {
        ok: result.ok,
        error: result.error?.message ?? "",
        names: tools.tools.map(({ name }) => name),
      };
    },
  }) as AnyTool;

  it("a yes where the session lives is enough; a question that comes up on the worker is asked there", async () => {
    const { front } = await testCluster([nested], { builtins: true });
    const asked: string[] = [];
    const session = await front.runtime.openSession({
      toolsets: ["terminal", "nested"],
      approver: async (request) => {
        asked.push(`${request.tool}: ${request.reason}`);
        return "once";
      },
    });
    const direct = await session.call({ name: "terminal", arguments: { command: "rm -rf build" } });
    expect(direct).toMatchObject({ ok: true, decision: { verdict: "ask", answer: "once" } });
    expect(asked).toHaveLength(1);
    const inside = await session.call({ name: "nested" });
    expect(inside.structured).toMatchObject({ ok: true, names: ["nested", "process", "terminal"] });
    expect(asked).toHaveLength(2);
  });

  it("nobody to ask is a no, also for what is called on the worker", async () => {
    const { front } = await testCluster([nested], { builtins: true });
    const session = await front.runtime.openSession({ toolsets: ["terminal", "nested"] });
    const inside = await session.call({ name: "nested" });
    expect(inside.structured).toMatchObject({ ok: false });
  });

  it("what the worker's own rules deny does not run there", async () => {
    const { front, workers } = await testCluster([], { builtins: true });
    const home = workers[0]?.at.home ?? "";
    writeFileSync(join(home, "secret.txt"), "of the worker");
    const session = await front.runtime.openSession({ approver: async () => "once" });
    const result = await session.call({ name: "read_file", arguments: { path: join(home, "server.token") } });
    expect(result).toMatchObject({ ok: false, state: "not_started", error: { code: "denied" } });
  });

  it("an order or an outcome that does not carry the secret counts for nothing", async () => {
    let ran = 0;
    const counted = defineTool({
      name: "counted",
      description: "counts",
      parameters: { type: "object" },
      handler: async () => {
        ran += 1;
        await wait(600);
        return "mine";
      },
    }) as AnyTool;
    const { front, place, workers, name } = await testCluster([counted]);
    const stranger = await connect({ servers: natsUrl().replace("nats://", "") });
    const forged = new Seal("another secret");
    const order = {
      uid: "x-1",
      attempt: 1,
      node: "x",
      session: "s",
      id: "c",
      tool: "counted",
      args: {},
      approved: true,
    };
    const spec = { profile: "default", environment: "local", tools: ["counted"], heard: [] };
    const subject = `${name}.calls.${workers[0]?.worker.id}`;
    const session = await front.runtime.openSession();
    const running = session.call({ name: "counted" });
    await wait(200);
    stranger.publish(subject, forged.seal(subject, { ...order, spec }));
    stranger.publish(subject, new TextEncoder().encode("not even sealed"));
    const answer = `${name}.node.${place.id}`;
    const outcome = {
      uid: `${place.id}-1`,
      attempt: 1,
      worker: "w",
      began: true,
      output: "forged",
      untrustedFrom: [],
      retries: 0,
      notices: [],
    };
    stranger.publish(answer, forged.seal(answer, { kind: "outcome", outcome }));
    await stranger.flush();
    expect((await running).human).toBe("mine");
    await wait(100);
    expect(ran).toBe(1);
    await stranger.close();
  });

  it("nothing starts without the secret", async () => {
    const { runtime } = await testRuntime([], { flags: settings("none", { "cluster.key": "" }) });
    const { ClusterPlace } = await import("../../src/cluster/place.js");
    await expect(ClusterPlace.join(runtime)).rejects.toThrow(/HERMES_CLUSTER_KEY/);
  });
});

describe("what gets lost on the way", () => {
  it("a consumer that somebody deletes is made anew", async () => {
    const quick = defineTool({
      name: "quick",
      description: "answers",
      parameters: { type: "object" },
      handler: () => "here",
    }) as AnyTool;
    const { front, workers, name } = await testCluster([quick]);
    const session = await front.runtime.openSession();
    expect((await session.call({ name: "quick" })).ok).toBe(true);
    const stranger = await connect({ servers: natsUrl().replace("nats://", "") });
    const streams = await jetstreamManager(stranger);
    await streams.consumers.delete(`${name.toUpperCase()}_CALLS`, workers[0]?.worker.id ?? "");
    const again = await session.call({ name: "quick" });
    expect(again).toMatchObject({ ok: true, human: "here" });
    await stranger.close();
  });

  it("an attempt that was given up settles nothing", async () => {
    const { front, place } = await testCluster([moody]);
    const session = await front.runtime.openSession();
    const running = session.call({ name: "moody", arguments: { ms: 100, tag: "true" } });
    await wait(30);
    const subject = place.bus.subject("node", place.id);
    const late = {
      uid: `${place.id}-1`,
      attempt: 0,
      worker: "w",
      began: true,
      output: "late",
      untrustedFrom: [],
      retries: 0,
      notices: [],
    };
    place.bus.publish(subject, { kind: "outcome", outcome: late });
    expect((await running).human).toBe("answer true");
  });
});
