import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ProcessRow, ProcessRows } from "../../src/env/processes/process-rows.js";
import { endLeftTree } from "../../src/env/processes/reap.js";
import { startOfProcess } from "../../src/store/process-owner.js";
import { openStore } from "../../src/store/store.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { living, oddSeconds, testTable, until } from "./support.js";

const DEAD_OWNER = "00000000.999999.1.00000000";

/** A process that some earlier runtime is said to have started with this mark. */
async function leftProcess(mark: string): Promise<{ pid: number; seconds: string }> {
  const seconds = oddSeconds();
  const child = spawn("sleep", [seconds], { env: { ...process.env, HERMES_EXEC_ID: mark }, detached: true });
  await until(() => living(seconds).length === 1);
  return { pid: child.pid ?? 0, seconds };
}

function row(changes: Partial<ProcessRow>): ProcessRow {
  return {
    id: "proc_left",
    session: "s_old",
    command: "sleep",
    cwd: "/",
    environment: "local",
    kind: "local",
    pid: undefined,
    pidStart: undefined,
    mark: "left-mark",
    pty: false,
    owner: DEAD_OWNER,
    status: "running",
    exitCode: undefined,
    lost: undefined,
    startedAt: Date.now(),
    endedAt: undefined,
    handedOff: false,
    ...changes,
  };
}

/** A home in which a runtime died while these were running. */
async function homeWith(rows: readonly ProcessRow[]): Promise<{ home: string; rows: ProcessRows }> {
  const home = tempDir();
  mkdirSync(join(home, "processes"));
  writeFileSync(join(home, "processes", `owner-${DEAD_OWNER}`), "");
  const store = await openStore({ path: join(home, "state.db") });
  onTestEnd(() => store.close());
  const written = new ProcessRows(store);
  for (const each of rows) written.add(each);
  return { home, rows: written };
}

describe.runIf(process.platform === "linux")("what a dead runtime has left", () => {
  it("is ended and reported once", async () => {
    const { pid, seconds } = await leftProcess("mark-one");
    const left = row({ pid, pidStart: startOfProcess(pid), mark: "mark-one" });
    const { home, rows } = await homeWith([left]);
    const { table, logged } = testTable({ home });
    expect(await table.recover()).toMatchObject([{ id: "proc_left", outcome: "ended" }]);
    expect(living(seconds)).toEqual([]);
    expect(rows.list({ all: true })[0]).toMatchObject({
      status: "lost",
      lost: expect.stringContaining("ended"),
    });
    expect(logged.join()).toContain("proc_left");
    expect(await table.recover()).toEqual([]);
    expect(readdirSync(join(home, "processes")).filter((name) => name.includes(DEAD_OWNER))).toEqual([]);
  });

  it("is found by its mark when its leader has ended", async () => {
    const { seconds } = await leftProcess("mark-two");
    const { home } = await homeWith([row({ pid: 999_999, pidStart: "x.1", mark: "mark-two" })]);
    expect(await testTable({ home }).table.recover()).toMatchObject([{ outcome: "ended" }]);
    expect(living(seconds)).toEqual([]);
  });

  it("is not mistaken for a stranger that got its number", async () => {
    const { pid, seconds } = await leftProcess("somebody-else");
    const { home } = await homeWith([row({ pid, pidStart: "00000000.1", mark: "mark-three" })]);
    expect(await testTable({ home }).table.recover()).toMatchObject([{ outcome: "already gone" }]);
    expect(living(seconds)).toEqual([pid]);
    expect(await endLeftTree({ pid, pidStart: "00000000.1", mark: "" })).toEqual({
      found: false,
      survivors: [],
    });
    expect(living(seconds)).toEqual([pid]);
  });

  it("is only named when it runs elsewhere", async () => {
    const { home } = await homeWith([row({ environment: "docker", kind: "docker", pid: 7 })]);
    const { table, logged } = testTable({ home });
    expect(await table.recover()).toMatchObject([{ outcome: "elsewhere" }]);
    expect(logged.join()).toMatch(/docker, where it may still run as process 7/);
  });

  it("is left alone while the runtime that follows it lives", async () => {
    const first = testTable();
    const seconds = oddSeconds();
    await first.start(`sleep ${seconds}`);
    const second = testTable({ home: first.home });
    expect(await second.table.recover()).toEqual([]);
    expect(living(seconds).length).toBeGreaterThan(0);
  });
});
