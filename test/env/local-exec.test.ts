import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { ExecRequest } from "../../src/env/environment.js";
import { createLocalEnvironment, type LocalEnvironmentOptions } from "../../src/env/local/local.js";
import { outputArrived } from "../../src/env/local/run-process.js";
import { runningWith, skipWithoutSandbox } from "../sandbox/support.js";

const never = new AbortController().signal;
/** Marks the processes of a test: their numbers are others inside a sandbox. */
const TAG = "HERMES_TEST_TAG";

describe.each([
  { mode: "without a sandbox", sandboxed: false, launcher: true },
  { mode: "in the sandbox", sandboxed: true, launcher: true },
  { mode: "without the launcher", sandboxed: false, launcher: false },
])("$mode", ({ sandboxed, launcher }) => {
  describe("local exec", () => {
    if (sandboxed) skipWithoutSandbox();
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-exec-")));
    const environmentWith = (options: LocalEnvironmentOptions = {}) =>
      createLocalEnvironment({
        ...options,
        launcher,
        ...(sandboxed && { sandbox: { mode: "required" as const, workspace: folder } }),
      });
    const local = environmentWith();
    afterAll(async () => {
      await local.close();
      rmSync(folder, { recursive: true, force: true });
    });

    function run(command: ExecRequest["command"], changes: Partial<ExecRequest> = {}) {
      return local.exec({ command, cwd: folder, timeoutMs: 20_000, signal: never, ...changes });
    }

    async function linesOf(file: string): Promise<readonly string[]> {
      return (await readFile(join(folder, file), "utf8")).trim().split("\n");
    }

    describe("a command", () => {
      test("gives back its output, exit code and final folder", async () => {
        await mkdir(join(folder, "below"), { recursive: true });
        const result = await run("echo out; echo err >&2; cd below; exit 3");
        expect(result).toMatchObject({
          output: "out\nerr\n",
          stderr: "",
          exitCode: 3,
          timedOut: false,
          cancelled: false,
          truncated: false,
          totalBytes: 8,
          cwd: join(folder, "below"),
        });
      });

      test("keeps the order of stdout and stderr, as a terminal would", async () => {
        const { output } = await run("for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done");
        expect(output).toBe("o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n");
      });

      test("can keep stdout and stderr apart", async () => {
        const result = await run("echo out; echo err >&2", { separateStderr: true });
        expect([result.output, result.stderr]).toEqual(["out\n", "err\n"]);
      });

      test("may open /dev/stdout, /dev/stderr and /dev/stdin by name", async () => {
        const result = await run("echo a >/dev/stdout; echo b >/dev/stderr; cat /dev/stdin", { stdin: "c" });
        expect(result.output).toBe("a\nb\nc");
      });

      test("reports a final folder whose name holds a line break", async () => {
        const odd = join(folder, "two\nlines ");
        await mkdir(odd, { recursive: true });
        expect((await run('cd "$(printf "two\\nlines ")" && true')).cwd).toBe(odd);
      });

      test("does not let a script that uses descriptors 3 to 9 disturb the report", async () => {
        const { output, cwd } = await run("exec 3>&1 4>&1 9>&1; cd /; echo text");
        expect([output, cwd]).toEqual(["text\n", "/"]);
      });

      test("that is a syntax error says so without showing anything but its own text", async () => {
        const result = await run("echo a; if; then");
        expect(result.exitCode).toBe(2);
        expect(result.output).toContain("`echo a; if; then'");
        expect(result.output).not.toMatch(/251|trap|HERMES/);
      });

      test("sees no positional arguments and reads no start-up files", async () => {
        const home = await mkdtemp(join(tmpdir(), "hermes-exec-home-"));
        await writeFile(join(home, ".bashrc"), "echo from-bashrc");
        await writeFile(join(folder, ".bashrc"), "echo from-bashrc");
        const environment = environmentWith({
          env: { ...process.env, HOME: home, BASH_ENV: ".bashrc" },
        });
        const { output } = await environment.exec({
          command: 'echo "$#:$0"',
          cwd: folder,
          timeoutMs: 5_000,
          signal: never,
          stdin: "",
        });
        await environment.close();
        await rm(home, { recursive: true });
        expect(output).toBe("0:bash\n");
      });

      test("killed by a signal ends with 128 plus its number", async () => {
        expect((await run("kill -9 $$")).exitCode).toBe(137);
        expect((await run("kill -TERM $$")).exitCode).toBe(143);
      });

      test("has an empty standard input unless one is given", async () => {
        expect((await run("cat; echo end")).output).toBe("end\n");
        expect((await run("cat", { stdin: new Uint8Array([104, 105]) })).output).toBe("hi");
      });

      test("that ignores a large input does not fail", async () => {
        expect(await run("true", { stdin: "x".repeat(5_000_000) })).toMatchObject({
          exitCode: 0,
          output: "",
        });
      });

      test("passes a large input on unharmed", async () => {
        expect((await run("wc -c", { stdin: "x".repeat(5_000_000) })).output.trim()).toBe("5000000");
      });

      test("given as an argument vector is touched by no shell", async () => {
        const words = ["a b", "$HOME", "*", "`id`", "'", "-x", "", "é\n"];
        const { output, exitCode } = await run(["printf", "[%s]", ...words]);
        expect([output, exitCode]).toEqual([words.map((word) => `[${word}]`).join(""), 0]);
      });

      test("whose program is missing ends like in a shell", async () => {
        expect((await run(["no-such-program-here"])).exitCode).toBe(127);
        await writeFile(join(folder, "not-executable"), "", { mode: 0o644 });
        expect((await run([join(folder, "not-executable")])).exitCode).toBe(126);
        expect((await run("no-such-program-here")).exitCode).toBe(127);
      });

      test("is streamed piece by piece, and a listener that throws does no harm", async () => {
        const chunks: string[] = [];
        const result = await run("echo one; sleep 0.2; echo two", {
          onChunk(chunk) {
            chunks.push(chunk);
            throw new Error("listener");
          },
        });
        expect(chunks).toEqual(["one\n"]);
        expect(result.output).toBe("one\ntwo\n");
      });
    });

    describe("a process that outlives the shell", () => {
      test("holding the pipe does not hold the call", async () => {
        const tag = randomUUID();
        const started = Date.now();
        const result = await run("sleep 60 & echo done", { env: { [TAG]: tag } });
        expect(result).toMatchObject({ output: "done\n", exitCode: 0 });
        expect(Date.now() - started).toBeLessThan(5_000);
        const alive = runningWith(TAG, tag);
        expect(alive).toHaveLength(sandboxed ? 0 : 1);
        for (const pid of alive) process.kill(Number(pid), "SIGKILL");
      });

      test("is named in the result", async () => {
        const result = await run("sleep 47 & true");
        expect(result.sandbox?.ended ?? result.stillRunning?.map(({ command }) => command)).toEqual([
          "sleep",
        ]);
        for (const { pid } of result.stillRunning ?? []) process.kill(pid, "SIGKILL");
      });

      test("and is about to finish does finish", async () => {
        const result = await run("echo text > >(sleep 0.1; tr a-z A-Z)");
        expect([result.output, result.exitCode]).toEqual(["TEXT\n", 0]);
      });

      if (!sandboxed) {
        test("is not killed by its next line of output", async () => {
          await run("(sleep 0.6; echo late; echo survived > survived; sleep 0.1) & echo now");
          await expect.poll(() => readdir(folder), { timeout: 5_000 }).toContain("survived");
        });
      }
    });

    describe("a timeout", () => {
      test("ends with 124 and keeps the output so far", async () => {
        const result = await run("echo part; sleep 60", { timeoutMs: 300 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true, cancelled: false });
        // The shell may still say what became of its child.
        expect(result.output).toMatch(/^part\n(?:Terminated\n)?$/);
      });

      test("ends the whole tree: children, other sessions, double forks, and those that ignore TERM", async () => {
        const tag = randomUUID();
        const result = await run(
          [
            "echo $$ >> tree",
            "sleep 61 & echo $! >> tree",
            "setsid bash -c 'echo $$ >> tree; sleep 62'  & ",
            "(setsid bash -c 'trap \"\" TERM HUP; echo $$ >> tree; while :; do sleep 1; done' &)",
            "bash -c 'trap \"\" TERM; echo $$ >> tree; while :; do sleep 1; done'",
          ].join("\n"),
          { timeoutMs: 1_500, env: { [TAG]: tag } },
        );
        expect(result.exitCode).toBe(124);
        expect(await linesOf("tree")).toHaveLength(5);
        expect(runningWith(TAG, tag)).toEqual([]);
      });

      test("ends a stopped process too", async () => {
        const tag = randomUUID();
        await run("sleep 60 & echo $! > stopped; kill -STOP $!; wait", {
          timeoutMs: 500,
          env: { [TAG]: tag },
        });
        expect(await linesOf("stopped")).toHaveLength(1);
        expect(runningWith(TAG, tag)).toEqual([]);
      });

      test("lets a program clean up", async () => {
        const clean = "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.1; done";
        expect((await run(["bash", "-c", clean], { timeoutMs: 500 })).output).toMatch(
          /^ready\n(?:Terminated\n)?cleaned\n$/,
        );
      });
    });

    describe("cancelling", () => {
      test("ends the tree with 130", async () => {
        const abort = new AbortController();
        const tag = randomUUID();
        const pending = run("echo begun; sleep 60 & echo $! > cancelled; wait", {
          signal: abort.signal,
          env: { [TAG]: tag },
        });
        await expect.poll(() => readdir(folder), { timeout: 5_000 }).toContain("cancelled");
        abort.abort();
        expect(await pending).toMatchObject({ output: "begun\n", exitCode: 130, cancelled: true });
        expect(runningWith(TAG, tag)).toEqual([]);
      });

      test("before the start starts nothing", async () => {
        const result = await run("echo x > should-not-exist", { signal: AbortSignal.abort() });
        expect(result).toMatchObject({ exitCode: 130, cancelled: true, output: "" });
        expect(await readdir(folder)).not.toContain("should-not-exist");
      });

      test("closing the environment ends what runs and refuses what comes", async () => {
        const environment = environmentWith();
        const request = { cwd: folder, timeoutMs: 20_000, signal: never };
        const pending = environment.exec({ ...request, command: "echo $$ > closing; sleep 60" });
        await expect.poll(() => readdir(folder), { timeout: 5_000 }).toContain("closing");
        await environment.close();
        expect((await pending).cancelled).toBe(true);
        await expect(environment.exec({ ...request, command: "true" })).rejects.toThrow(/is closed/);
      });
    });

    describe("output", () => {
      test("of 300 MB is counted, bounded and keeps its beginning and end", async () => {
        const before = process.memoryUsage().rss;
        const result = await run("echo BEGIN; head -c 300000000 /dev/zero | tr '\\0' x; echo; echo END", {
          timeoutMs: 60_000,
        });
        expect(result.truncated).toBe(true);
        expect(result.totalBytes).toBe(300_000_011);
        expect(result.output.length).toBeLessThan(50_200);
        expect(result.output).toMatch(
          /^BEGIN\nx+\n\[\.\.\. \d+ of 300000011 characters omitted \.\.\.\]\nx+\nEND\n$/,
        );
        expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
      });

      test("that is not UTF-8 becomes replacement characters; split characters survive", async () => {
        expect((await run("printf 'a\\xff\\xfeb'")).output).toBe("a\ufffd\ufffdb");
        expect(
          (await run("printf '\\xe2'; sleep 0.2; printf '\\x82'; sleep 0.2; printf '\\xac'")).output,
        ).toBe("€");
        expect((await run("printf 'cut\\xe2\\x82'")).output).toMatch(/^cut\ufffd+$/);
      });
    });

    describe("what cannot be started is refused with a reason", () => {
      test("a deleted working directory", async () => {
        const gone = join(folder, "gone");
        await mkdir(gone);
        await rm(gone, { recursive: true });
        await expect(run("true", { cwd: gone })).rejects.toThrow(
          /does not exist \(it may have been deleted\)/,
        );
      });

      test("a working directory that is a file or relative", async () => {
        await writeFile(join(folder, "plain"), "");
        await expect(run("true", { cwd: join(folder, "plain") })).rejects.toThrow(/not a folder/);
        await expect(run("true", { cwd: "relative" })).rejects.toThrow(/absolute/);
      });

      test("a command or environment beyond what the system takes", async () => {
        await expect(run(`: ${"x".repeat(200_000)}`)).rejects.toThrow(/too large to start: one argument/);
        await expect(run("true", { env: { BIG: "x".repeat(200_000) } })).rejects.toThrow(/variable BIG/);
        const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`V${i}`, "x".repeat(100_000)]));
        await expect(run("true", { env: many })).rejects.toThrow(/together/);
      });

      test("NUL bytes and odd variable names", async () => {
        await expect(run("echo a\0b")).rejects.toThrow(/NUL/);
        await expect(run(["echo", "a\0b"])).rejects.toThrow(/NUL/);
        await expect(run("true", { env: { "BAD NAME": "1" } })).rejects.toThrow(/not a valid variable name/);
        await expect(run([])).rejects.toThrow(/empty/);
      });
    });

    test("many commands side by side do not mix their output, and each keeps its order", async () => {
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          run(`echo a-${index}; echo b-${index} >&2; echo c-${index}`),
        ),
      );
      expect(results.map((result) => result.output)).toEqual(
        results.map((_, index) => `a-${index}\nb-${index}\nc-${index}\n`),
      );
    });

    test("commands still run where no real pipe can be made", async () => {
      const environment = environmentWith({ stateDir: join(folder, "missing") });
      const request = { cwd: folder, timeoutMs: 5_000, signal: never };
      const result = await environment.exec({ ...request, command: "cat; echo err >&2", stdin: "in" });
      await environment.close();
      expect(result).toMatchObject({ exitCode: 0, cwd: folder });
      expect(result.output).toContain("in");
      expect(result.output).toContain("err\n");
    });

    test("a run leaves no descriptors and no temporary files behind", async () => {
      const stateDir = join(folder, "state");
      await mkdir(stateDir, { recursive: true });
      const environment = environmentWith({ stateDir });
      const request = { cwd: folder, timeoutMs: 5_000, signal: never, command: "echo hi", stdin: "x" };
      await environment.exec(request);
      const before = (await readdir("/proc/self/fd")).length;
      for (let round = 0; round < 30; round += 1) await environment.exec(request);
      await delay(100);
      // The stock of ready pipes may be fuller than before, by one batch.
      expect((await readdir("/proc/self/fd")).length - before).toBeLessThan(24);
      expect(await readdir(stateDir)).toEqual([]);
      await environment.close();
    });
  });
});

test("what was printed is read before anybody stops waiting for it, however long this process was held up", async () => {
  const child = spawn("sh", ["-c", "echo there; exec sleep 30"], { stdio: ["ignore", "pipe", "ignore"] });
  let seen = "";
  child.stdout.on("data", (bytes) => {
    seen += bytes;
  });
  const arrived = outputArrived({ outputEnded: new Promise(() => {}) });
  // Longer than is waited: the timer is over when this process comes to look at its pipes.
  spawnSync("sleep", ["0.8"]);
  await arrived;
  child.kill("SIGKILL");
  expect(seen).toBe("there\n");
});
