import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, json, outcomeOf, start, tempFolder, until } from "./hermes.js";

/** Processes that carry this mark in their command line. */
function processesMarked(mark: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
      } catch {
        return false;
      }
    });
}

describe("exit codes", () => {
  it("0: the call went well, its result is on stdout and nothing on stderr", async () => {
    const done = await hermes(["call", "sleep", "seconds=0"]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toBe("waited 0.0 s\n");
  });

  it("1: something nobody expected, such as a journal that cannot be opened", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "state.db"));
    const done = await hermes(["call", "sleep", "seconds=0", "--json"], { home });
    expect(done.code).toBe(1);
    expect(errorLine(done)).toMatchObject({ code: "internal" });
    expect(done.stderr).not.toMatch(/\n\s+at /);
  });

  it("2: arguments that fail the schema, with the reason and the signature", async () => {
    const done = await hermes(["call", "sleep", "seconds=soon", "--json"]);
    expect(done.code).toBe(2);
    expect(errorLine(done)).toMatchObject({ code: "invalid_arguments" });
    expect(errorLine(done).message).toContain("sleep(seconds: number");
    expect(json(done)).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
  });

  it("3: the tool returned an error", async () => {
    const done = await hermes(["call", "read_file", "path=/does/not/exist", "--json"]);
    expect(done.code).toBe(3);
    expect(errorLine(done)).toMatchObject({ code: "failed" });
  });

  it("3: a command that fails is no success for scripts; --exit-code passes its own", async () => {
    const [failed, passed, meant] = await Promise.all([
      hermes(["call", "terminal", "command=echo partly; exit 7", "--json"]),
      hermes(["call", "terminal", "command=echo partly; exit 7", "--exit-code"]),
      hermes(["call", "terminal", "command=echo a | grep b", "--json"]),
    ]);
    expect([failed.code, passed.code, meant.code]).toEqual([3, 7, 3]);
    expect(json(failed)).toMatchObject({ ok: true, state: "done", exit_code: 7 });
    const none = json<{ structured: Record<string, unknown> }>(meant);
    expect(none).toMatchObject({
      ok: true,
      structured: { exit_code_meaning: "no lines matched (not an error)" },
    });
    expect(none.structured).not.toHaveProperty("error");
    expect(passed.stdout).toContain("partly\n");
  });

  it("124: a command whose time is over", async () => {
    const done = await hermes(["call", "terminal", "command=sleep 30", "timeout=1", "--jsonl"]);
    expect(done.code).toBe(124);
    expect(done.stdout).toContain('"exit_code":124');
  });

  it("3: the same for code that fails", async () => {
    const words = ["language=javascript", "code=process.exit(4)", "--yolo", "--json"];
    const done = await hermes(["call", "execute_code", ...words], { cwd: tempFolder() });
    expect([done.code, json<{ exit_code: number }>(done).exit_code]).toEqual([3, 4]);
  });

  it("4: the tool cannot be used here", async () => {
    const done = await hermes(["call", "todo", "--json"]);
    expect(done.code).toBe(4);
    expect(errorLine(done)).toMatchObject({ code: "unavailable" });
  });

  it("5: what needs approval is denied at once when there is nobody to ask", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "x"));
    const done = await hermes(["call", "terminal", "command=rm -rf x", "--json"], { home });
    expect(done.code).toBe(5);
    expect(errorLine(done)).toMatchObject({ code: "denied" });
    expect(json(done)).toMatchObject({ ok: false, decision: { verdict: "ask", answer: "nobody" } });
    expect(readdirSync(home)).toContain("x");
  });

  it("124: --timeout ends a call however long its tool would take", async () => {
    const started = Date.now();
    const done = await hermes(["--timeout", "1", "call", "sleep", "seconds=25", "--json"]);
    expect(done.code).toBe(124);
    expect(errorLine(done)).toMatchObject({ code: "timeout" });
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  it("124: a tool that ignores its abort cannot keep the process alive", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "tools"));
    writeFileSync(
      join(home, "tools", "stubborn.mjs"),
      `import { defineTool } from "hermes-tools";
       export default defineTool({
         name: "stubborn", description: "Never ends", parameters: { type: "object" },
         handler: () => new Promise(() => setInterval(() => undefined, 1000)),
       });`,
    );
    const done = await hermes(["--timeout", "0.5", "call", "stubborn"], { home });
    expect(done.code).toBe(124);
    expect(done.stderr).toContain("may still be running");
  });

  it("130: Ctrl-C ends the call", async () => {
    const child = start(["call", "sleep", "seconds=30", "--jsonl"]);
    const ended = outcomeOf(child);
    let shown = "";
    child.stdout?.on("data", (chunk: string) => {
      shown += chunk;
    });
    await until(() => shown.includes("call.started"), "the start of the call");
    child.kill("SIGINT");
    const done = await ended;
    expect(done.code).toBe(130);
    expect(done.stdout).toContain('"code":"cancelled"');
  });

  it("130: after Ctrl-C the whole process tree of a command is gone", async () => {
    const mark = `${30_000 + process.pid}.25`;
    // Not in the Hermes home, where every word may name a file of the runtime.
    const cwd = tempFolder();
    const child = start(["call", "terminal", `command=(sleep ${mark}); sleep ${mark}`], { cwd });
    const ended = outcomeOf(child);
    await until(() => processesMarked(`sleep\0${mark}`).length > 0, "the start of the command");
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    expect(processesMarked(mark)).toEqual([]);
  });

  it("a second problem does not hide the first: out of scope is 4, with the reason", async () => {
    const done = await hermes(["-t", "file", "call", "sleep", "seconds=0", "--json"]);
    expect(done.code).toBe(4);
    expect(errorLine(done).hint).toContain("not in this session");
    expect(await hermesJson(["-t", "timing", "call", "sleep", "seconds=0"])).toMatchObject({ ok: true });
  });
});
