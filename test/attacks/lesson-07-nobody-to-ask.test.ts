import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Door } from "../../src/call/scope.js";
import type { Approver } from "../../src/index.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import { tool } from "./support.js";

const DOORS: Door[] = [
  "library",
  "cli",
  "http",
  "mcp",
  "acp",
  "script",
  "bridge",
  "subagent",
  "cron",
  "gateway",
];

describe("lesson 7: where nobody can be asked, what needs a yes is denied", () => {
  it.each(DOORS)("door %s, and everything opened from it", async (door) => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    const session = await runtime.openSession({ door });
    const victim = join(cwd, ".envrc");
    for (const opened of [session, session.openChild(), session.openChild({ door: "script" }).openChild()]) {
      const [write, remove] = await opened.callAll([
        { name: "write_file", arguments: { path: victim, content: "x" } },
        { name: "terminal", arguments: { command: `rm -rf ${cwd}/nothing` } },
      ]);
      expect(write).toMatchObject({
        ok: false,
        error: { code: "denied", message: expect.stringContaining("nobody can be asked") },
        decision: { verdict: "ask", answer: "nobody" },
      });
      expect(remove?.decision).toMatchObject({ verdict: "ask", answer: "nobody" });
    }
    expect(existsSync(victim)).toBe(false);
  });

  it("a hook that asks is denied too, and so is a broken configuration's doubt", async () => {
    let ran = false;
    const subject = tool("subject", () => {
      ran = true;
      return "x";
    });
    const { runtime } = await testRuntime([subject]);
    runtime.hooks.on("pre_tool_call", () => ({ action: "ask", message: "really?" }));
    const session = await runtime.openSession();
    expect((await session.call({ name: "subject" })).error?.code).toBe("denied");
    expect(ran).toBe(false);
  });

  it("the command line without a terminal denies and says why", async ({ skip }) => {
    const home = tempDir();
    const folder = tempDir();
    const built = join(import.meta.dirname, "../../dist/cli/main.js");
    if (!existsSync(built)) return skip("not built");
    const victim = join(folder, ".env");
    const child = spawn(process.execPath, [built, "call", "write_file", `path=${victim}`, "content=x"], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: join(home, ".hermes") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestEnd(() => void child.kill());
    let shown = "";
    child.stdout.on("data", (chunk) => (shown += chunk));
    child.stderr.on("data", (chunk) => (shown += chunk));
    const code = await new Promise((resolve) => child.on("exit", resolve));
    expect(code).not.toBe(0);
    expect(shown).toContain("nobody can be asked");
    expect(existsSync(victim)).toBe(false);
  });
});

describe("lesson 8: silence is a no", () => {
  const answers: [string, Approver["ask"]][] = [
    ["an empty answer", async () => "" as never],
    ["yes", async () => "yes" as never],
    ["true", async () => true as never],
    ["Once", async () => "Once" as never],
    ["an object", async () => ({ toString: () => "once" }) as never],
    ["nothing", async () => undefined as never],
    [
      "a throw",
      () => {
        throw new Error("closed");
      },
    ],
    ["a rejection of nothing", () => Promise.reject(Object.create(null))],
    ["no promise", () => "sure" as never],
  ];
  it.each(answers)("%s", async (_what, ask) => {
    let ran = false;
    const subject = tool("subject", () => {
      ran = true;
      return "x";
    });
    const { runtime } = await testRuntime([subject], {
      policy: { decide: () => ({ verdict: "ask", rule: "r", reason: "because" }) },
    });
    const session = await runtime.openSession({ approver: { ask } });
    const result = await session.call({ name: "subject" });
    expect([result.error?.code, ran]).toEqual(["denied", false]);
    expect(result.decision?.answer).toBe("deny");
  });

  it("a prompt nobody answers ends after its time; the person's late yes runs nothing", async () => {
    let ran = false;
    const subject = tool("subject", () => {
      ran = true;
      return "x";
    });
    const { runtime } = await testRuntime([subject], {
      policy: { decide: () => ({ verdict: "ask", rule: "r", reason: "because" }) },
      flags: { "approvals.timeout": 1 },
    });
    let late: (answer: "once") => void = () => undefined;
    const session = await runtime.openSession({
      approver: {
        ask: () =>
          new Promise((resolve) => {
            late = resolve;
          }),
      },
    });
    const result = await session.call({ name: "subject" });
    expect(result.error?.code).toBe("timed_out_waiting");
    late("once");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ran).toBe(false);
  });

  it("an interrupt while the question is open ends the call without running it", async () => {
    let ran = false;
    const subject = tool("subject", () => {
      ran = true;
      return "x";
    });
    const { runtime } = await testRuntime([subject], {
      policy: { decide: () => ({ verdict: "ask", rule: "r" }) },
    });
    const controller = new AbortController();
    const session = await runtime.openSession({
      approver: {
        ask: (_request, signal) => {
          controller.abort();
          return new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason)),
          );
        },
      },
    });
    const result = await session.call({ name: "subject" }, { signal: controller.signal });
    expect([result.error?.code, ran]).toEqual(["cancelled", false]);
  });

  it("every question and its answer is in the journal", async () => {
    const subject = tool("subject", () => "x");
    const { runtime } = await testRuntime([subject], {
      journal: true,
      policy: { decide: () => ({ verdict: "ask", rule: "some.rule", reason: "because" }) },
    });
    const yes = await runtime.openSession({ approver: { ask: async () => "once" } });
    const no = await runtime.openSession({ approver: { ask: async () => "deny" } });
    const nobody = await runtime.openSession();
    for (const session of [yes, no, nobody]) await session.call({ name: "subject" });
    const rows = await (await runtime.journal()).recent({ limit: 3 });
    expect(rows.map((row) => [row.decision, row.rule, row.status]).reverse()).toEqual([
      ["ask:once", "some.rule", "ok"],
      ["ask:deny", "some.rule", "denied"],
      ["ask:nobody", "some.rule", "denied"],
    ]);
  });
});
