// @needs nats-server
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../src/call/scope.js";
import { WorkerSessions } from "../../src/cluster/worker-sessions.js";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { eventually } from "../gateway/support.js";
import { onTestEnd } from "../support/runtime.js";
import { joinCluster, type TestCluster, testCluster, useNats } from "./support.js";

useNats();

/** A shell under a name of its own, so that workers can be told apart by which they have. */
function shell(name: string): AnyTool {
  return defineTool({
    name,
    description: "runs a command",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    permissions: ["memory:write"],
    effects: ({ command }) => [{ action: "memory:write", resource: command, mode: "write" }],
    async handler({ command }, { environment, session, signal }) {
      const { output } = await environment.exec({ command, cwd: session.cwd, timeoutMs: 10_000, signal });
      return Buffer.from(output).toString().trim();
    },
  }) as AnyTool;
}

async function twoShells(): Promise<TestCluster> {
  const tools = [shell("one"), shell("two")];
  const cluster = await testCluster([], { frontTools: tools, workers: [[], []] });
  cluster.workers.forEach(({ at }, index) => {
    const tool = tools[index];
    if (tool !== undefined) at.registry.add(tool);
  });
  await eventually(() => expect(tools.every(({ name }) => cluster.place.roster.serves(name))).toBe(true));
  return cluster;
}

describe("where the commands of a session stand", () => {
  it("is the same on each of its workers, whichever they went there on, and where calls are judged", async () => {
    const { front } = await twoShells();
    const [first, second] = ["first", "second"].map((name) => join(front.cwd, name));
    for (const folder of [first, second]) mkdirSync(folder ?? "");
    const session = await front.runtime.openSession();
    const run = async (name: string, command: string) =>
      (await session.call({ name, arguments: { command } })).human;
    expect(await run("two", "pwd")).toBe(front.cwd);
    await run("one", `cd ${first}; export FROM=one`);
    expect(session.cwd).toBe(first);
    expect(await run("two", "pwd; echo $FROM")).toBe(`${first}\none`);
    await run("two", `cd ${second}; export FROM=two`);
    expect(session.cwd).toBe(second);
    expect(session.scope.task.exported).toEqual({ FROM: "two" });
    expect(await run("one", "pwd; echo $FROM")).toBe(`${second}\ntwo`);
  });

  it("is known before the first call of a conversation that another machine had", async () => {
    const cluster = await twoShells();
    const { front, name } = cluster;
    const folder = join(front.cwd, "below");
    const other = join(front.cwd, "other");
    mkdirSync(folder);
    mkdirSync(other);
    const conversation = "a-chat";
    const [a, b, c] = [
      cluster,
      await joinCluster(name, [shell("one"), shell("two")]),
      await joinCluster(name, [shell("one"), shell("two")]),
    ];
    const begun = await a.front.runtime.openSession({ conversation });
    await begun.call({ name: "one", arguments: { command: `cd ${folder}; export KEPT=yes` } });
    const taken = await b.front.runtime.openSession({ conversation });
    expect(taken.cwd).toBe(folder);
    await taken.call({ name: "two", arguments: { command: `cd ${other}; export KEPT=no` } });
    // The first worker still has it where the first machine left it.
    const last = await c.front.runtime.openSession({ conversation });
    expect(last.cwd).toBe(other);
    const where = await last.call({ name: "one", arguments: { command: "pwd; echo $KEPT" } });
    expect(where.human).toBe(`${other}\nno`);
  });
});

describe("a yes where the session lives", () => {
  const risky = (resource: string, ran: string[]) =>
    defineTool({
      name: "risky",
      description: "touches something",
      parameters: { type: "object" },
      permissions: ["memory:write"],
      effects: () => [
        {
          action: "memory:write",
          resource,
          mode: "write",
          ask: { reason: `it is ${resource}`, key: resource },
        },
      ],
      handler: () => {
        ran.push(resource);
        return "done";
      },
    }) as AnyTool;

  async function ask(there: string, answer: (request: ApprovalRequest) => "once" | "session" | "deny") {
    const ran: string[] = [];
    const asked: string[] = [];
    const { front } = await testCluster([risky(there, ran)], { frontTools: [risky("here", ran)] });
    const session = await front.runtime.openSession({
      approver: async (request) => {
        asked.push(request.effects.map(({ resource }) => resource).join());
        return answer(request);
      },
    });
    return { ran, asked, result: await session.call({ name: "risky" }) };
  }

  it("is for what was shown: a worker on which the call touches something else asks again", async () => {
    const { ran, asked, result } = await ask("there", ({ effects }) =>
      effects.some(({ resource }) => resource === "here") ? "once" : "deny",
    );
    expect(asked).toEqual(["here", "there"]);
    expect(result).toMatchObject({ ok: false, state: "not_started", error: { code: "denied" } });
    expect(ran).toEqual([]);
  });

  it("is enough where the call touches the same", async () => {
    const { ran, asked, result } = await ask("here", () => "once");
    expect(result).toMatchObject({ ok: true });
    expect({ asked, ran }).toEqual({ asked: ["here"], ran: ["here"] });
  });

  it("for a session is not one on another machine that goes on with the conversation", async () => {
    const ran: string[] = [];
    const { front, name } = await testCluster([risky("there", ran)], { frontTools: [risky("here", ran)] });
    const conversation = "a-chat";
    const asked: string[] = [];
    const openOn = async ({ runtime }: TestCluster["front"], machine: string) =>
      runtime.openSession({
        conversation,
        approver: async ({ effects }) => {
          asked.push(`${machine} ${effects[0]?.resource}`);
          return "session";
        },
      });
    const first = await openOn(front, "a");
    for (let time = 0; time < 2; time += 1) await first.call({ name: "risky" });
    expect(asked).toEqual(["a here", "a there"]);
    const other = await joinCluster(name, [risky("here", ran)]);
    await (await openOn(other.front, "b")).call({ name: "risky" });
    expect(asked.slice(2)).toEqual(["b here", "b there"]);
  });
});

async function hostedHere(isBusy: () => boolean) {
  const { place, front } = await testCluster([], { builtins: true, workers: [] });
  const sessions = new WorkerSessions(front.runtime, { bus: place.bus, isBusy });
  onTestEnd(() => sessions.close());
  front.runtime.place = undefined;
  const about = { uid: "u", attempt: 1, node: "a-node", session: "a-session" };
  const order = { ...about, id: "c", tool: "terminal", args: {} };
  const spec = { profile: "default", environment: "local", tools: ["terminal"], heard: [] };
  return { sessions, order, spec, hosted: await sessions.of({ ...order, spec }) };
}

describe("a session on its worker", () => {
  it("goes on under the profile that the session has now", async () => {
    const where = defineTool({
      name: "where",
      description: "tells under which rules it runs",
      parameters: { type: "object" },
      handler: (_args, { session }) => session.profile,
    }) as AnyTool;
    const { front } = await testCluster([where]);
    const first = await front.runtime.openSession({ conversation: "a-chat" });
    expect((await first.call({ name: "where" })).human).toBe("default");
    const profile = "full_developer";
    const second = await front.runtime.openSession({ conversation: "a-chat", profile, continues: first });
    expect((await second.call({ name: "where" })).human).toBe(profile);
  });

  it("is kept as it is when the one in another environment cannot be opened", async () => {
    const { hosted, sessions, order, spec } = await hostedHere(() => false);
    const nowhere = sessions.of({ ...order, spec: { ...spec, environment: "nowhere" } });
    await expect(nowhere).rejects.toThrow(/nowhere/);
    expect(await sessions.of(order)).toBe(hosted);
    const ran = await hosted?.session.call({ name: "terminal", arguments: { command: "echo works" } });
    expect(ran?.human).toContain("works");
  });

  it("stays while it works, and while its programs run; else it ends when nobody has used it for long", async () => {
    let busy = true;
    const { hosted, sessions, order } = await hostedHere(() => busy);
    const inHours = (hours: number) => Date.now() + hours * 3_600_000;
    await sessions.endIdle(inHours(1));
    busy = false;
    expect(await sessions.of(order)).toBe(hosted);
    const command = { command: "sleep 60", background: true };
    await hosted?.session.call({ name: "terminal", arguments: command });
    await sessions.endIdle(inHours(1));
    expect(await sessions.of(order)).toBe(hosted);
    await sessions.endIdle(inHours(25));
    expect(await sessions.of(order)).toBeUndefined();
  });

  it("that has ended there with its programs is begun anew, and that is said", async () => {
    const { front, place } = await testCluster([shell("one")]);
    const session = await front.runtime.openSession();
    const first = await session.call({ name: "one", arguments: { command: "true" } });
    await place.tell(first.worker ?? "", { kind: "endSession", session: session.id });
    const again = await session.call({ name: "one", arguments: { command: "true" } });
    expect(again.notices).toEqual([expect.stringMatching(/had ended the session.*background programs/)]);
  });
});
