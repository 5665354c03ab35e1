import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMissingFolder } from "../../src/env/working-folder.js";
import { ToolError } from "../../src/tool/errors.js";
import { installed, openPlace, processesWith, until, wait } from "./there.js";

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(installed)("commands through $flavour", ({ flavour, missing }) => {
  test.skipIf(missing)("print, exit with their code, and tell folder and exported variables", async () => {
    const { run, root } = openPlace(flavour);
    const result = await run("echo out; echo err >&2; export NAME='two words' ; cd /; exit 3");
    expect(result).toMatchObject({
      output: "out\nerr\n",
      stderr: "",
      exitCode: 3,
      cwd: "/",
      truncated: false,
    });
    expect(result.exported).toEqual({ NAME: "two words" });
    expect((await run("pwd; echo $NAME", { env: { NAME: "again" } })).output).toBe(`${root}\nagain\n`);
    expect((await run("kill -9 $$")).exitCode).toBe(137);
    expect((await run("exec sh -c 'exit 6'")).exitCode).toBe(6);
    expect((await run("set -e; false; echo not here")).exitCode).toBe(1);
    expect(await run("trap 'echo bye' EXIT; exit 4")).toMatchObject({ output: "bye\n", exitCode: 4 });
    expect((await run("set -eu; echo one | grep two")).exitCode).toBe(1);
    expect((await run("set -x; :")).output).not.toContain("export");
    expect((await run("exec 3>/dev/null 4>&3; echo fine")).output).toBe("fine\n");
  });

  test.skipIf(missing)("keep what arrives on stdout long after their exit code", async () => {
    const { run, transport } = openPlace(flavour);
    await run("true");
    transport.stdoutDelayMs = 700;
    expect(await run("echo 1; echo 2; sleep 60 & exit 3")).toMatchObject({ output: "1\n2\n", exitCode: 3 });
    expect((await run("printf '\\036'; printf x >&2", { separateStderr: true })).output).toBe("\u001e");
  });

  test.skipIf(missing)("get and take away variables, whatever they hold", async () => {
    const { run } = openPlace(flavour, { env: { OWN: "from there" } });
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom(..."'\"\\$`!\n\t ;&|#\u0081\u0001é漢😀"),
        fc.string({ unit: "binary", maxLength: 1 }),
      ),
      maxLength: 60,
    });
    const value = text.map((each) => each.replaceAll("\0", "").toWellFormed());
    await fc.assert(
      fc.asyncProperty(value, value, fc.constantFrom(0, 5_000), async (one, two, padding) => {
        const env = { ONE: one, TWO: two, PAD: "x".repeat(padding), OWN: undefined };
        const line = `printf '%s\\0%s\\0%s' "$ONE" "$TWO" "\${OWN-gone}"; printf %s ${quote(one)}`;
        const result = await run(line, { env, maxOutputChars: 100_000 });
        expect(result.output).toBe(`${one}\0${two}\0gone${one}`);
        expect(result.exported).toMatchObject({ ONE: one, TWO: two, OWN: undefined });
        const words = await run(["printf", "%s\\0", one, two, "-n", ""], { env });
        expect(words.output).toBe(`${one}\0${two}\0-n\0\0`);
      }),
      { numRuns: 8 },
    );
  });

  test.skipIf(missing)("read exactly the input they are given, and nothing without it", async () => {
    const { run } = openPlace(flavour);
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const sum = await run("sha256sum", { stdin: bytes });
    const { createHash } = await import("node:crypto");
    expect(sum.output).toContain(createHash("sha256").update(bytes).digest("hex"));
    expect((await run("cat; echo end")).output).toBe("end\n");
    expect((await run("cat", { stdin: "open" })).output).toBe("open");
    expect((await run("cat", { stdin: "", env: { BIG: "y".repeat(4_000) } })).output).toBe("");
    const long = `: ${"x".repeat(100_000)}\ncat; echo long`;
    expect((await run(long, { stdin: "in " })).output).toBe("in long\n");
  });

  test.skipIf(missing)("keep stdout and stderr apart when asked, and run argument vectors", async () => {
    const { run } = openPlace(flavour);
    expect(await run("echo out; echo err >&2; exit 2", { separateStderr: true })).toMatchObject({
      output: "out\n",
      stderr: "err\n",
      exitCode: 2,
    });
    const vector = await run(["sh", "-c", 'printf %s "$1" >&2; exit 7', "sh", "a 'b' $c"], {
      separateStderr: true,
    });
    expect(vector).toMatchObject({ output: "", stderr: "a 'b' $c", exitCode: 7 });
    expect(vector.cwd).toBeUndefined();
    expect((await run(["no-such-program"])).exitCode).toBe(127);
    const bytes = await run("printf 'a\\377b'; printf '\\303' >&2; printf '\\251' >&2", {
      separateStderr: true,
    });
    expect(bytes).toMatchObject({ output: "a\ufffdb", stderr: "é" });
  });

  test.skipIf(missing)("are refused in words when they cannot run", async () => {
    const { run, root } = openPlace(flavour);
    const gone = join(root, "gone");
    expect(isMissingFolder(await errorOf(run("pwd", { cwd: gone })), gone)).toBe(true);
    writeFileSync(join(root, "file"), "");
    await expect(run("pwd", { cwd: join(root, "file") })).rejects.toThrow(/it is not a folder/);
    await expect(run("pwd", { cwd: "relative" })).rejects.toThrow(/absolute/);
    await expect(run("echo \0")).rejects.toThrow(/NUL/);
    await expect(run([])).rejects.toThrow(/empty/);
    await expect(run("true", { env: { "BAD-NAME": "" } })).rejects.toThrow(/not a valid variable name/);
    await expect(run("true", { env: { BIG: "x".repeat(200_000) } })).rejects.toThrow(/too large to start/);
    const odd = join(root, " odd 'name'\n$x");
    mkdirSync(odd);
    expect(await run("pwd", { cwd: odd })).toMatchObject({ output: `${odd}\n`, cwd: odd });
    expect((await run(`rm -r "$PWD"; echo still here`, { cwd: odd })).output).toBe("still here\n");
  });

  test.skipIf(missing)("end within moments although a grandchild keeps the streams", async () => {
    const { run } = openPlace(flavour);
    const started = performance.now();
    const result = await run("sleep 60 & echo $!");
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(result.stillRunning?.map(({ command }) => command)).toEqual(["sleep"]);
    process.kill(Number(result.output), "SIGKILL");
    const apart = await run("sleep 60 & echo $! >&2; exit 9", { separateStderr: true });
    expect(apart.exitCode).toBe(9);
    process.kill(Number(apart.stderr), "SIGKILL");
    const chatty = await run("yes & echo $! >&2; exit 1", { separateStderr: true });
    process.kill(Number(chatty.stderr), "SIGKILL");
    const replaced = await run("sleep 60 & echo $!; exec sh -c 'exit 5'");
    expect(replaced.exitCode).toBe(5);
    process.kill(Number(replaced.output), "SIGKILL");
  });

  test.skipIf(missing)(
    "are ended as whole trees on timeout and cancellation, with what they printed",
    async () => {
      const { run } = openPlace(flavour);
      const tree =
        "echo $HERMES_EXEC_ID; (setsid sleep 61 &) ; sh -c 'trap \"\" TERM; sleep 62; sleep 63' & sleep 64; echo no";
      const late = await run(tree, { timeoutMs: 400 });
      expect(late).toMatchObject({ exitCode: 124, timedOut: true, cancelled: false });
      expect(late.output).not.toContain("no\n");
      expect(processesWith(late.output.trim().slice(0, 36))).toEqual([]);
      const stop = new AbortController();
      let printed = "";
      const cancelled = await run(tree, {
        signal: stop.signal,
        onChunk: (chunk) => {
          printed += chunk;
          stop.abort();
        },
      });
      expect(cancelled).toMatchObject({ exitCode: 130, cancelled: true });
      expect(processesWith(printed.trim().slice(0, 36))).toEqual([]);
    },
  );

  test.skipIf(missing)("can be cancelled before they have begun", async () => {
    const { run, environment, root } = openPlace(flavour);
    expect(await run("echo no", { signal: AbortSignal.abort() })).toMatchObject({
      exitCode: 130,
      output: "",
    });
    await environment.connect();
    const stop = new AbortController();
    const running = run(`sleep 0.2; touch ${join(root, "made")}; sleep 65`, { signal: stop.signal });
    await wait(1);
    stop.abort();
    expect((await running).exitCode).toBe(130);
    expect(processesWith(root).length).toBe(0);
  });

  test.skipIf(missing)("keep head and tail of endless output", async () => {
    const { run } = openPlace(flavour);
    const result = await run("printf begin; head -c 20000000 /dev/zero | tr '\\0' x; printf end", {
      maxOutputChars: 1_000,
    });
    expect(result.totalBytes).toBe(20_000_008);
    expect(result.truncated).toBe(true);
    expect(result.output.startsWith("beginxxx")).toBe(true);
    expect(result.output.endsWith("xxxend")).toBe(true);
    expect(result.output.length).toBeLessThan(1_200);
  });

  test.skipIf(missing)("run side by side", async () => {
    const { run } = openPlace(flavour);
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        run(`sleep 0.1; echo ${index}; cat; exit ${index}`, { stdin: `${index}` }),
      ),
    );
    results.forEach((result, index) => {
      expect(result).toMatchObject({ output: `${index}\n${index}`, exitCode: index });
    });
  });

  test.skipIf(missing)(
    "get the operator's variables, which show in no process list and in no report",
    async () => {
      const { run, transport } = openPlace(flavour, { passthrough: { TOKEN: "s3cret-value" } });
      const result = await run('printf %s "$TOKEN"; tr "\\0" " " </proc/$PPID/cmdline; echo; env', {
        env: { OTHER: "hush-hush" },
      });
      expect(result.output.startsWith("s3cret-value")).toBe(true);
      const commandLines = transport.started.flat().join(" ");
      expect(commandLines).not.toContain("s3cret");
      expect(commandLines).not.toContain("hush-hush");
      expect(result.exported).toEqual({ OTHER: "hush-hush" });
      expect(result.output).toMatch(/^PAGER=cat$/m);
      expect(result.output).toMatch(/^AI_AGENT=hermes$/m);
      expect(result.output).not.toMatch(/NO_COLOR=/);
    },
  );

  test.skipIf(missing)("begin with the variables of a login shell where that is wanted", async () => {
    const { run, root, environment } = openPlace(flavour, { loginShell: true });
    writeFileSync(
      join(root, "home", ".profile"),
      "echo noise; export FROM_LOGIN='a b'; export PATH=$HOME/../bin:/extra\n",
    );
    const result = await run('echo "$FROM_LOGIN $PATH"');
    expect(result.output).toBe(`a b ${root}/home/../bin:/extra\n`);
    expect(result.exported).toEqual({});
    expect((await environment.describe()).facts).not.toHaveProperty("variables");
  });

  test.skipIf(missing)("are told of after close, which ends what runs", async () => {
    const { run, environment } = openPlace(flavour);
    let mark = "";
    const running = run("echo $HERMES_RUNTIME_ID; (setsid sleep 66 &); sleep 67", {
      onChunk: (text) => {
        mark += text;
      },
    });
    await until(() => mark.includes("\n"));
    await environment.close();
    expect((await running).exitCode).toBe(130);
    expect(processesWith(mark.trim())).toEqual([]);
    expect(await errorOf(run("true"))).toMatchObject({ code: "unavailable" });
  });
});

describe("what commands leave behind", () => {
  test("ends with the environment, unless closing ends everything by itself", async () => {
    const place = openPlace("bash");
    const { output } = await place.run("echo $HERMES_RUNTIME_ID; (setsid sleep 68 >/dev/null 2>&1 &)");
    expect(processesWith(output.trim()).length).toBe(1);
    await place.environment.close();
    expect(processesWith(output.trim())).toEqual([]);
  });
});

describe("the place itself", () => {
  test("is described, also when it cannot be reached", async () => {
    const { environment, transport, root } = openPlace("dash");
    expect(await environment.describe()).toMatchObject({
      ok: true,
      home: join(root, "home"),
      cwd: join(root, "home"),
      facts: { host: "there", shell: "sh" },
    });
    transport.broken = true;
    transport.refuse = "The host does not answer.";
    expect(await environment.describe()).toMatchObject({
      ok: false,
      reason: "The host does not answer.",
      fix: "Wait for it.",
    });
  });

  test("without a shell says so", async () => {
    const { environment, root } = openPlace("dash");
    rmSync(join(root, "bin", "sh"));
    const error = await errorOf(environment.connect());
    expect(ToolError.isInstance(error) && error.message).toMatch(/No shell could be started in there/);
  });

  test("whose login shell hangs is used without it", { timeout: 60_000 }, async () => {
    const { run, root } = openPlace("bash", { loginShell: true, loginLimitMs: 500 });
    writeFileSync(join(root, "home", ".profile"), 'echo $$ >"$HOME/pid"; sleep 300\n');
    expect((await run("echo works")).output).toBe("works\n");
    const pid = readFileSync(join(root, "home", "pid"), "utf8").trim();
    await until(() => !processesWith(root).includes(Number(pid)));
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
