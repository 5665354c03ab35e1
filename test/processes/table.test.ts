import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ProcessRows } from "../../src/env/processes/process-rows.js";
import { openStore } from "../../src/store/store.js";
import { ToolError } from "../../src/tool/errors.js";
import { onTestEnd } from "../support/runtime.js";
import { living, oddSeconds, testTable, until } from "./support.js";

async function refusal(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!ToolError.isInstance(error)) throw new Error(`was not refused: ${String(error)}`);
  return error;
}

describe("a background process", () => {
  it("runs on by itself; its output, end and exit code can be looked at", async () => {
    const { start, session } = testTable();
    const process = await start("echo one; sleep 0.4; echo two >&2; exit 3");
    expect(process.info).toMatchObject({ status: "running", environment: "local", pty: false });
    expect(process.tail(100)).toBe("one\n");
    await process.ended;
    expect(process.info).toMatchObject({ status: "exited", exitCode: 3 });
    expect(process.lines({ limit: 10 })).toEqual({ lines: ["one", "two"], total: 2, dropped: false });
    expect(process.lines({ offset: 1, limit: 10 }).lines).toEqual(["two"]);
    expect(session().list()).toHaveLength(1);
  });

  it("is found by a unique beginning of its id, and not from another session", async () => {
    const { start, table } = testTable();
    const process = await start("sleep 5");
    const { id } = process.info;
    const mine = table.forSession("s_1");
    expect(mine.get(id.slice(0, 9))).toBe(process);
    expect(mine.get(id.slice(5, 9))).toBe(process);
    expect(() => mine.get("nothing")).toThrow(/no background process/);
    expect(() => table.forSession("s_2").get(id)).toThrow(/no background process/);
    expect(table.forSession("s_10").list()).toEqual([]);
  });

  it("that dies at once is not reported as running", async () => {
    const { start } = testTable();
    const process = await start("sleep 0.1; echo broken; exit 7");
    expect(process.info).toMatchObject({ status: "exited", exitCode: 7 });
    expect(process.tail(100)).toBe("broken\n");
  });

  it("gets input, and the end of it", async () => {
    const { start } = testTable();
    const process = await start("while read line; do echo got:$line; done; echo over");
    await process.write("a\nb");
    expect(process.pendingInput).toBe("b");
    await process.write("c\n");
    expect(process.pendingInput).toBe("");
    await until(() => process.tail(100).includes("got:bc"));
    await process.closeInput();
    await process.ended;
    expect(process.tail(100)).toBe("got:a\ngot:bc\nover\n");
    await expect(process.write("late\n")).rejects.toThrow(/has ended/);
  });

  it("is killed with everything it started", async () => {
    const { start } = testTable();
    const seconds = oddSeconds();
    const process = await start(
      `(setsid sleep ${seconds} &) ; trap '' TERM; while true; do sleep ${seconds}; done`,
    );
    await until(() => living(seconds).length >= 2);
    expect(await process.kill()).toEqual([]);
    await process.ended;
    expect(process.info).toMatchObject({ status: "exited", exitCode: -15 });
    expect(living(seconds)).toEqual([]);
  });

  it("keeps only the end of a long output, and says so", async () => {
    const { start } = testTable();
    const process = await start("seq 1 100000", { ready: { pattern: "^100000$" } });
    await process.ended;
    const { lines, total, dropped } = process.lines({ limit: 3 });
    expect(lines).toEqual(["99998", "99999", "100000"]);
    expect(dropped).toBe(true);
    expect(total).toBeLessThan(100_000);
    expect(process.info.outputBytes).toBe(588_895);
  });
});

describe("readiness", () => {
  it("is a port that accepts connections", async () => {
    const { start } = testTable();
    const port = await freePort();
    const serve = `require("http").createServer((q,a)=>a.end()).listen(${port},"127.0.0.1")`;
    const process = await start(`sleep 0.3; exec node -e '${serve}'`, {
      ready: { port, timeoutSeconds: 20 },
    });
    expect(process.ready).toEqual({ ready: true, why: expect.stringContaining(String(port)) });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it("is refused for a port that somebody else has", async () => {
    const { start, session } = testTable();
    const server = createServer().listen(0, "127.0.0.1");
    onTestEnd(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    expect((await refusal(start("sleep 5", { ready: { port } }))).message).toMatch(/already in use/);
    expect(session().list()).toEqual([]);
  });

  it("is a line that matches, also one that is not finished", async () => {
    const { start } = testTable();
    const process = await start("sleep 0.3; printf 'listening on 80'; sleep 5", {
      ready: { pattern: "listening on \\d+" },
    });
    expect(process.ready).toMatchObject({ ready: true });
    expect(process.tail(100)).toBe("listening on 80");
  });

  it("is not reached by a process that dies meanwhile", async () => {
    const { start } = testTable();
    const process = await start("echo failed; exit 2", { ready: { pattern: "never", aliveSeconds: 0 } });
    expect(process.ready).toEqual({ ready: false, why: expect.stringContaining("ended") });
    expect(process.info).toMatchObject({ status: "exited", exitCode: 2 });
  });

  it("says what has not happened when the time is over", async () => {
    const { start } = testTable();
    const process = await start("sleep 5", { ready: { pattern: "never", timeoutSeconds: 0.3 } });
    expect(process.ready).toEqual({ ready: false, why: 'not within 0.3 s: a line matches "never"' });
    expect(process.info.status).toBe("running");
  });

  it("is being alive after a while", async () => {
    const { start } = testTable();
    const process = await start("sleep 5", { ready: { aliveSeconds: 0.3 } });
    expect(process.ready).toEqual({ ready: true, why: "alive after 0.3 s" });
  });

  it("is waited for no longer when the call is cancelled, and the process ends", async () => {
    const { start, session } = testTable();
    const seconds = oddSeconds();
    const stop = new AbortController();
    const started = start(`sleep ${seconds}`, { ready: { pattern: "never" }, signal: stop.signal });
    await until(() => living(seconds).length > 0);
    stop.abort();
    expect((await refusal(started)).code).toBe("cancelled");
    expect(living(seconds)).toEqual([]);
    expect(session().list()[0]?.status).toBe("exited");
  });
});

describe("limits", () => {
  it("what ended longest ago makes room for what is new", async () => {
    const { start, session } = testTable({ limits: { tracked: 2 } });
    const first = await start("true");
    await first.ended;
    const second = await start("true");
    await second.ended;
    const third = await start("true");
    expect(
      session()
        .list()
        .map(({ id }) => id),
    ).toEqual([second.info.id, third.info.id]);
  });

  it("when all of them run, nothing is started, and the answer says what to end", async () => {
    const { start } = testTable({ limits: { tracked: 1 } });
    const running = await start("sleep 5");
    const refused = await refusal(start("true"));
    expect(refused.code).toBe("over_budget");
    expect(refused.hint).toContain(running.info.id);
    await running.kill();
    expect((await start("true")).info.status).toBe("exited");
  });

  it("one that is not ready yet takes one place, not two", async () => {
    const { start, session } = testTable({ limits: { tracked: 2 } });
    const first = start("sleep 5", { ready: { pattern: "never", timeoutSeconds: 1 } });
    await until(() => session().list().length === 1);
    expect((await start("sleep 5")).info.status).toBe("running");
    expect((await refusal(start("true"))).code).toBe("over_budget");
    await first;
  });

  it("finished ones are forgotten after half an hour", async () => {
    let now = Date.now();
    const { start, session } = testTable({ now: () => now });
    await (await start("true")).ended;
    now += 1_799_000;
    expect(session().list()).toHaveLength(1);
    now += 2_000;
    expect(session().list()).toEqual([]);
  });
});

describe("the end of a session", () => {
  it("ends its processes and those of the sessions below it, and nobody else's", async () => {
    const { table, environment, cwd } = testTable();
    const start = (session: string) =>
      table.forSession(session).start({ environment, command: "sleep 30", title: "sleep 30", cwd });
    const [own, child, other] = await Promise.all([start("s_1"), start("s_1.a"), start("s_2")]);
    expect(table.forSession("s_1").list()).toHaveLength(2);
    await table.endSession("s_1");
    expect([own, child, other].map((one) => one?.info.status)).toEqual(["exited", "exited", "running"]);
  });

  it("spares what was handed off; a child hands to the session above", async () => {
    const { table, environment, cwd } = testTable();
    const start = (session: string) =>
      table.forSession(session).start({ environment, command: "sleep 30", title: "sleep 30", cwd });
    const [own, child] = await Promise.all([start("s_1"), start("s_1.a")]);
    child?.handOff();
    expect(child?.info).toMatchObject({ session: "s_1", handedOff: false });
    await table.endSession("s_1.a");
    own?.handOff();
    await table.endSession("s_1");
    expect(own?.info).toMatchObject({ status: "running", handedOff: true });
    expect(child?.info.status).toBe("exited");
    await table.close();
    expect(own?.info.status).toBe("exited");
  });

  it("no session may hand off more than three", async () => {
    const { start } = testTable();
    const processes = await Promise.all(Array.from({ length: 4 }, () => start("sleep 30")));
    for (const process of processes.slice(0, 3)) process.handOff();
    expect(() => processes[3]?.handOff()).toThrow(/hand off 3/);
  });
});

describe("notices", () => {
  it("tell once that it has ended, with the end of its output, secrets masked", async () => {
    const { start, session, events } = testTable();
    const process = await start("echo hunter2-secret; sleep 0.3; exit 4", { notifyOnComplete: true });
    await process.ended;
    await until(() => events.some((event) => event.type === "process.notice"));
    const notices = session().takeNotices();
    expect(notices).toEqual([
      expect.objectContaining({ kind: "completed", process: process.info.id, exitCode: 4, output: "***\n" }),
    ]);
    expect(session().takeNotices()).toEqual([]);
    expect(events.map(({ type }) => type).sort()).toEqual([
      "process.ended",
      "process.notice",
      "process.started",
    ]);
  });

  it("tell of a line that matches", async () => {
    const { start, session } = testTable();
    await start("sleep 0.3; echo fine; echo ERROR: bad; echo ERROR: worse; sleep 5", {
      watchPatterns: ["^ERROR"],
    });
    await until(() => session().list()[0]?.outputBytes === 29);
    expect(session().takeNotices()).toEqual([
      expect.objectContaining({ kind: "matched", output: "ERROR: bad" }),
    ]);
  });

  it("do not watch what tells its end", async () => {
    const { start, session } = testTable();
    const process = await start("sleep 0.3; echo ERROR", {
      watchPatterns: ["ERROR"],
      notifyOnComplete: true,
    });
    expect(process.notes.join()).toMatch(/watch_patterns are not used/);
    await process.ended;
    await until(() => session().list()[0]?.status === "exited");
    expect(
      session()
        .takeNotices()
        .map(({ kind }) => kind),
    ).toEqual(["completed"]);
  });

  it("of a broken pattern come before anything is started", async () => {
    const { start, session } = testTable();
    expect((await refusal(start("sleep 5", { watchPatterns: ["("] }))).code).toBe("invalid_arguments");
    expect(session().list()).toEqual([]);
  });
});

describe("what is written down", () => {
  it("nothing until the first process; looking for leftovers does not open the store", async () => {
    const { table, opened, session } = testTable();
    expect(session().list()).toEqual([]);
    expect(await table.recover()).toEqual([]);
    expect(opened()).toBe(0);
  });

  it("the row while it runs, and its end", async () => {
    const { start, home } = testTable();
    const process = await start("echo hunter2-secret; exec sleep 30");
    const store = await openStore({ path: join(home, "state.db") });
    onTestEnd(() => store.close());
    const rows = new ProcessRows(store);
    expect(rows.list({ all: false })).toEqual([
      expect.objectContaining({
        id: process.info.id,
        pid: process.info.pid,
        pidStart: expect.stringMatching(/^[0-9a-f]+\.\d+$/),
        command: "echo ***; exec sleep 30",
        status: "running",
        kind: "local",
      }),
    ]);
    await process.kill();
    await until(() => rows.list({ all: false }).length === 0);
    expect(rows.list({ all: true })[0]).toMatchObject({ status: "exited", exitCode: -15 });
  });

  it("the end of its output, for its owner only, secrets masked", async () => {
    const { start, folder } = testTable();
    const process = await start("echo hunter2-secret; seq 1 50000; exit 0");
    await process.ended;
    const path = join(folder, `${process.info.id}.log`);
    await until(() => statSync(path, { throwIfNoEntry: false }) !== undefined);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const text = readFileSync(path, "utf8");
    expect(text.endsWith("49999\n50000\n")).toBe(true);
    expect(text.length).toBeLessThanOrEqual(65_536);
    const short = await start("echo hunter2-secret");
    await short.ended;
    await until(
      () => statSync(join(folder, `${short.info.id}.log`), { throwIfNoEntry: false }) !== undefined,
    );
    expect(readFileSync(join(folder, `${short.info.id}.log`), "utf8")).toBe("***\n");
  });

  it("receipts for seven days", async () => {
    let now = Date.now();
    const { start, home } = testTable({ now: () => now });
    await (await start("true")).ended;
    const store = await openStore({ path: join(home, "state.db") });
    onTestEnd(() => store.close());
    const rows = new ProcessRows(store);
    await until(() => rows.list({ all: true })[0]?.status === "exited");
    expect(rows.prune(now + 6 * 86_400_000)).toEqual([]);
    expect(rows.prune(now + 8 * 86_400_000)).toHaveLength(1);
    now += 1;
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
