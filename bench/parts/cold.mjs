// Whole processes: how long they take from nothing to the last byte, and how much memory they hold at most.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanEnvironment } from "../coordinate.mjs";
import { ratio, summary } from "../statistics.mjs";
import { peakMemory } from "./peak-memory.mjs";

export async function measureCold({ dist, withPeers, effort }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const { commands, leftOut } = coldCommands({ dist, folder, withPeers });
    for (const command of Object.values(commands)) check(command);
    const samples = Object.fromEntries(Object.keys(commands).map((id) => [id, []]));
    for (let round = 0; round < effort.spawns; round += 1) {
      for (const [id, command] of Object.entries(commands)) {
        if (command.slow && round >= effort.slowSpawns) continue;
        samples[id].push(milliseconds(command, round));
      }
    }
    const versusNode = Object.keys(commands).filter((id) => id !== "node");
    const memory = memoryOf(commands, effort);
    return {
      milliseconds: Object.fromEntries(Object.entries(samples).map(([id, values]) => [id, summary(values)])),
      megabytes: Object.fromEntries(
        Object.entries(memory).map(([id, values]) => [id, summary(values.map((bytes) => bytes / 1e6))]),
      ),
      ratios: {
        ...Object.fromEntries(versusNode.map((id) => [`${id} / node`, ratio(samples[id], samples.node)])),
        "memory of tools list / node": ratio(memory["hermes tools list"], memory.node),
      },
      leftOut,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Commands by the name they have in the results; `says` is what their output must contain. */
function coldCommands({ dist, folder, withPeers }) {
  const main = join(dist, "cli", "main.js");
  const warmHome = join(folder, "home");
  const hermes = (args, says) => ({
    program: process.execPath,
    args: [main, ...args],
    says,
    env: () => ({ HERMES_HOME: warmHome }),
    folder,
  });
  const sleep = hermes(["call", "sleep", "seconds=0"], "waited");
  const commands = {
    node: { program: process.execPath, args: ["-e", "0"], says: "", env: () => ({}), folder },
    "hermes --version": hermes(["--version"], "."),
    "hermes tools list": hermes(["tools", "list"], "terminal"),
    "hermes call sleep": sleep,
    "hermes call sleep, first run": {
      ...sleep,
      env: (round) => ({ HERMES_HOME: join(folder, `home-${round}`) }),
    },
  };
  const leftOut = {};
  if (!withPeers) return { commands, leftOut };
  const peerHome = { HOME: folder, XDG_CACHE_HOME: "", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" };
  for (const [id, find] of Object.entries({ "gemini --version": gemini, "opencode --version": opencode })) {
    const found = find();
    if ("missing" in found) leftOut[id] = found.missing;
    else commands[id] = { ...found, says: ".", slow: true, env: () => peerHome, folder };
  }
  return { commands, leftOut };
}

function gemini() {
  const manifest = benchModule("@google/gemini-cli/package.json");
  if (!existsSync(manifest)) return { missing: "@google/gemini-cli is not installed" };
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  return { program: process.execPath, args: [join(dirname(manifest), bin.gemini), "--version"] };
}

/** Its launcher is put in place by an install script, which is not run here; the program itself needs none. */
function opencode() {
  const program = benchModule("opencode-linux-x64/bin/opencode");
  if (!existsSync(program)) return { missing: "it is pinned for Linux on x64 only (opencode-linux-x64)" };
  return { program, args: ["--version"] };
}

function benchModule(path) {
  return join(fileURLToPath(new URL("../node_modules/", import.meta.url)), path);
}

/** Run once untimed: warms the disk cache and proves that the command does what its name says. */
function check({ program, args, says, env, folder }) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: folder,
    env: cleanEnvironment(env("check")),
    encoding: "utf8",
  });
  if (status === 0 && stdout.includes(says)) return;
  const why = error?.message ?? `exit code ${status}, ${stderr.slice(-500)} ${stdout.slice(0, 200)}`;
  throw new Error(`${program} ${args.join(" ")} did not work: ${why}`);
}

function milliseconds({ program, args, env, folder }, round) {
  const options = { cwd: folder, env: cleanEnvironment(env(round)), stdio: "ignore" };
  const started = process.hrtime.bigint();
  const { status } = spawnSync(program, args, options);
  const elapsed = Number(process.hrtime.bigint() - started) / 1e6;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with exit code ${status}`);
  return elapsed;
}

function memoryOf(commands, { slowSpawns }) {
  const watched = ["node", "hermes --version", "hermes tools list", "hermes call sleep"];
  const memory = Object.fromEntries(watched.map((id) => [id, []]));
  for (let round = 0; round < slowSpawns; round += 1) {
    for (const id of watched) {
      const { program, args, env, folder } = commands[id];
      memory[id].push(peakMemory({ program, args, cwd: folder, env: cleanEnvironment(env("memory")) }));
    }
  }
  return memory;
}
