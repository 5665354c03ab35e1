import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { onTestEnd, tempDir } from "../../support/runtime.js";
import { caller, mcpRuntime, SCRIPTABLE, scriptable, textOf, until } from "./support.js";

const PROGRAMS = fileURLToPath(new URL("../../../src/sources/mcp/server-programs.ts", import.meta.url));

/** State and parent of a process; undefined when it is gone. */
function look(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent = ""] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

test.runIf(process.platform === "linux")(
  "a server program that ends for nobody is gone soon after the runtime was killed",
  async () => {
    const folder = tempDir();
    const bundle = await rolldown({ input: PROGRAMS, platform: "node" });
    await bundle.write({ file: join(folder, "programs.mjs"), format: "esm", codeSplitting: false });
    await bundle.close();
    const file = join(folder, "runtime.mjs");
    await writeFile(
      file,
      `import { ServerPrograms } from "./programs.mjs";
       const [command, ...args] = process.argv.slice(2);
       const env = { PATH: process.env.PATH };
       const program = await new ServerPrograms().start({ command, args, env, cwd: "/" });
       program.stderr.once("data", () => console.log(program.pid));`,
    );
    const server = [process.execPath, SCRIPTABLE, JSON.stringify({ stubborn: true })];
    const runtime = spawn(process.execPath, [file, ...server], { stdio: ["ignore", "pipe", "inherit"] });
    onTestEnd(() => void runtime.kill("SIGKILL"));
    const [line] = await once(createInterface({ input: runtime.stdout }), "line");
    const pid = Number(line);
    expect(look(pid)).toBeDefined();
    runtime.kill("SIGKILL");
    await expect.poll(() => look(pid), { timeout: 5_000 }).toBeUndefined();
  },
);

test.runIf(process.platform === "linux")(
  "servers are started again, and nothing of the old ones is left, when what starts them was killed",
  async () => {
    const { runtime, source } = await mcpRuntime({ one: scriptable(), two: scriptable() });
    const call = await caller(runtime);
    const pidOf = async (name: string) => Number(textOf(await call(`mcp_${name}_act`, { do: "pid" })));
    const before = [await pidOf("one"), await pidOf("two")];
    const parents = new Set(before.map((pid) => look(pid)?.parent));
    const [launcher = process.pid] = parents;
    // Without Perl, Node itself starts them.
    if (launcher === process.pid) return;
    expect(parents.size).toBe(1);
    process.kill(launcher, "SIGKILL");
    for (const name of ["one", "two"])
      await until(source, name, ({ state, restarts }) => state === "ready" && restarts === 1);
    const after = [await pidOf("one"), await pidOf("two")];
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    await expect.poll(() => before.map(look), { timeout: 5_000 }).toEqual([undefined, undefined]);
  },
);
