import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runningWith } from "../sandbox/support.js";

const TAG = "HERMES_TEST_TAG";
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hermes-exit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  // For what is not bundled: the part that makes terminals is native.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const entry = join(root, "src/env/local/local.ts");
  const bundle = await rolldown({ input: entry, platform: "node", external: /^@lydell|^@xterm/ });
  await bundle.write({ file: join(folder, "local.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
});

async function script(text: string): Promise<string> {
  const file = join(folder, `${randomUUID()}.mjs`);
  await writeFile(file, text);
  return file;
}

/** Everything the system knows, with its parent: also what has ended and waits to be collected. */
function processes(): readonly { pid: number; parent: number; state: string; name: string }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state = "", parent = ""] = line.slice(line.lastIndexOf(")") + 2).split(" ");
      const command = line.slice(line.indexOf("(") + 1, line.lastIndexOf(")"));
      return [{ pid: Number(name), parent: Number(parent), state, name: command }];
    } catch {
      return [];
    }
  });
}

const ENDING_IN_THE_MIDDLE = `
import { createLocalEnvironment } from "./local.mjs";
const local = createLocalEnvironment({ launcher: process.argv[2] === "launcher" });
let seen = "";
local.exec({
  command: "echo $$; sleep 300 & echo $!; wait",
  cwd: "/", timeoutMs: 300_000, signal: new AbortController().signal,
  onChunk(chunk) {
    process.stdout.write(chunk);
    seen += chunk;
    if (seen.trim().split("\\n").length === 2) process.exit(0);
  },
});
`;

test.each(["launcher", "no launcher"])(
  "a runtime that exits in the middle of a command takes the command with it (%s)",
  async (mode) => {
    const file = await script(ENDING_IN_THE_MIDDLE);
    const { stdout } = await promisify(execFile)(process.execPath, [file, mode], { timeout: 20_000 });
    const pids = stdout.trim().split("\n").map(Number);
    expect(pids).toHaveLength(2);
    const alive = () => processes().filter(({ pid }) => pids.includes(pid));
    await expect.poll(alive, { timeout: 5_000 }).toEqual([]);
  },
);

/** Fifty of many kinds: plain, with children, in sessions of their own, orphaned, deaf to TERM, without variables. */
const BUSY = `
import { createLocalEnvironment } from "./local.mjs";
const local = createLocalEnvironment();
const env = { ${TAG}: process.argv[2] };
const kinds = [
  "sleep 300",
  "sleep 300 & sleep 300 & wait",
  "setsid sleep 300 & wait",
  "(setsid sleep 300 &) ; (setsid setsid bash -c 'sleep 300; :' &) ; sleep 300",
  "trap '' TERM HUP INT; (trap '' TERM; setsid bash -c 'trap \\"\\" TERM; while :; do sleep 1; done' &) ; while :; do sleep 1; done",
  "(env -i setsid sleep 300.77 &) ; sleep 300",
];
let ready = 0;
for (let index = 0; index < 50; index += 1) {
  const command = "echo up; " + kinds[index % kinds.length];
  let told = false;
  await local.spawn({ command, cwd: "/", env, onOutput() { if (!told) ready += 1; told = true; } });
}
await local.exec({ command: "(setsid sleep 300 &) ; echo hi", cwd: "/", env, timeoutMs: 9000, signal: new AbortController().signal });
await local.spawn({ command: "(setsid sleep 300 &) ; echo up; sleep 300", cwd: "/", env, pty: { columns: 80, rows: 24 }, onOutput() {} });
const poll = setInterval(() => {
  if (ready < 50) return;
  clearInterval(poll);
  setTimeout(() => console.log("busy"), 300);
}, 10);
`;

describe.runIf(process.platform === "linux")("a runtime that is killed", () => {
  async function busy(tag: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [await script(BUSY), tag], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout?.on("data", (bytes) => {
      output += bytes;
    });
    await expect.poll(() => output, { timeout: 20_000 }).toBe("busy\n");
    return child;
  }

  test("takes fifty background programs and a terminal with it, and leaves nothing to be collected", async () => {
    const tag = randomUUID();
    const before = new Set(processes().map(({ pid }) => pid));
    const child = await busy(tag);
    const family = new Set([child.pid]);
    const rows = processes().filter(({ pid }) => !before.has(pid));
    for (let grown = true; grown; ) {
      grown = false;
      for (const { pid, parent } of rows) {
        if (family.has(parent) && !family.has(pid)) {
          family.add(pid);
          grown = true;
        }
      }
    }
    expect(runningWith(TAG, tag).length).toBeGreaterThan(72);
    expect(family.size).toBeGreaterThan(80);
    child.kill("SIGKILL");
    const left = () => processes().filter(({ pid, name }) => family.has(pid) && name !== "node");
    await expect.poll(left, { timeout: 10_000 }).toEqual([]);
    expect(runningWith(TAG, tag)).toEqual([]);
  }, 60_000);
});
