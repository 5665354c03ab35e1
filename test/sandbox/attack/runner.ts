// Inside the cage, without any rights: runs each row it is given in a session of its own. One JSON object per line in both
// directions.
import { readdirSync, readlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { createLocalEnvironment } from "../../../src/env/local/local.js";
import type { RunnerOrder, RunnerReady, RunnerRow, RunnerSettings } from "./protocol.js";

const settings: RunnerSettings = JSON.parse(process.argv[2] ?? "{}");

const pids = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
const ours = new Set(pids());

/** What a row has left running must not count for the next one. */
function endOthers(): void {
  for (let round = 0; round < 50; round += 1) {
    const others = pids().filter((pid) => !ours.has(pid));
    if (others.length === 0) return;
    for (const pid of others) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Gone already.
      }
    }
  }
}

function say(message: RunnerReady | RunnerRow): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const BASE = {
  cwd: settings.workspace,
  workspace: settings.workspace,
  timeoutMs: settings.timeoutMs,
  signal: new AbortController().signal,
  maxOutputChars: 400_000,
};
const { HOME: home, PATH, USER, LANG, XDG_RUNTIME_DIR } = process.env;
const environmentOf = () =>
  createLocalEnvironment({
    env: { HOME: home, PATH, USER, LANG, XDG_RUNTIME_DIR },
    sandbox: {
      mode: settings.guarded ? "guard" : "off",
      hidden: [settings.hermesHome],
      visible: [`${settings.hermesHome}/cache/spillover`],
    },
  });

/** Which file system a command sees: one of its own when bubblewrap holds it. */
async function heldBy(): Promise<string> {
  const local = environmentOf();
  const { output, unguarded } = await local.exec({ ...BASE, command: "readlink /proc/self/ns/mnt" });
  await local.close();
  if (unguarded !== undefined) return unguarded;
  return output.trim() === readlinkSync("/proc/self/ns/mnt") ? "no namespace" : "namespaces";
}

say({ ready: true, heldBy: await heldBy() });
endOthers();
let local = environmentOf();
for await (const line of createInterface({ input: process.stdin })) {
  const { command, fresh } = JSON.parse(line) as RunnerOrder;
  if (fresh) {
    await local.close().catch(() => {});
    endOthers();
    local = environmentOf();
  }
  let answer: Partial<RunnerRow> = {};
  try {
    const {
      output,
      stderr,
      exitCode,
      timedOut,
      sandbox,
      exported = {},
    } = await local.exec({ ...BASE, command });
    answer = { exitCode, timedOut, output: output + stderr, level: sandbox?.level };
    // What a row leaves for the next command (PATH, LD_PRELOAD, BASH_ENV …) works there.
    if (Object.keys(exported).length > 0) {
      const next = await local.exec({
        ...BASE,
        command: "ls >/dev/null; git status >/dev/null; :",
        env: exported,
      });
      answer = { ...answer, output: `${answer.output}\n${next.output}` };
    }
  } catch (error) {
    answer = { failed: String(error) };
  }
  say({ exitCode: -1, timedOut: false, output: "", level: undefined, sent: "", talked: [], ...answer });
}
process.exit(0);
