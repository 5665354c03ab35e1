// @needs sshd ssh
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SshOptions } from "../../src/env/ssh/options.js";
import { runningWith } from "../sandbox/support.js";
import { sshTerminalMissing } from "../support/ssh-server.js";
import { eventually, optionsFor, ownSocketFolders, processesWith, serverForTest } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-ssh-death-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the given programs one after the other, says so, and does nothing more. */
const SCRIPT = `
import { SshTransport } from "./transport.mjs";
const { options, programs } = JSON.parse(process.argv[2]);
const transport = new SshTransport(options);
for (const program of programs) {
  const started = await transport.start({ ...program, onStdout() {}, onStderr() {} });
  if (program.awaited) await started.ended;
}
console.log("ready");
`;

/** Leaves commands of all kinds running there. */
const COMMANDS_SCRIPT = `
import { createSshEnvironment } from "./ssh.mjs";
const { options, variable } = JSON.parse(process.argv[2]);
const environment = await createSshEnvironment(options);
const signal = new AbortController().signal;
const request = { cwd: "/", env: { LEFT_THERE: variable }, timeoutMs: 600000, signal };
void environment.exec({ ...request, command: "sleep 600" });
void environment.exec({ ...request, command: "setsid sleep 600 & trap '' TERM HUP; sleep 600" });
await environment.spawn({ ...request, command: "sleep 600", onOutput() {} });
await environment.exec({ ...request, command: "(setsid sleep 600 &) ; true" });
console.log("ready");
`;

const CLOSING_SCRIPT = `
import { createSshEnvironment } from "./ssh.mjs";
const { options } = JSON.parse(process.argv[2]);
const environment = await createSshEnvironment(options);
const signal = new AbortController().signal;
await environment.exec({ command: "true", cwd: "/", timeoutMs: 20000, signal });
await environment.close();
console.log("closed");
`;

describe("a runtime that ends", () => {
  beforeAll(async () => {
    for (const name of ["transport", "ssh"]) {
      const entry = fileURLToPath(new URL(`../../src/env/ssh/${name}.ts`, import.meta.url));
      const bundle = await rolldown({ input: entry, platform: "node" });
      await bundle.write({ file: join(folder, `${name}.mjs`), format: "esm", codeSplitting: false });
      await bundle.close();
    }
    writeFileSync(join(folder, "main.mjs"), SCRIPT);
    writeFileSync(join(folder, "commands.mjs"), COMMANDS_SCRIPT);
    writeFileSync(join(folder, "closing.mjs"), CLOSING_SCRIPT);
  });

  it.each([
    ["in a folder of the settings", (options: SshOptions) => options],
    [
      "in a folder of its own",
      (options: SshOptions) => ({ ...options, controlDir: join(options.controlDir, "x".repeat(90)) }),
    ],
  ])("by kill -9 leaves no ssh process and no socket %s", async (_, adapt) => {
    const server = await serverForTest();
    const options = adapt(optionsFor(server));
    const runtime = start(options, [
      { argv: ["cat"], stdin: "open" },
      ...(sshTerminalMissing() === undefined
        ? [{ argv: ["cat"], stdin: "open", pty: { columns: 80, rows: 24 } }]
        : []),
    ]);
    await saidReady(runtime);
    expect(processesWith(server.configFile)).not.toEqual([]);
    runtime.kill("SIGKILL");
    expect(await eventually(() => processesWith(server.configFile).length === 0)).toBe(true);
    expect(await eventually(() => server.connections().length === 0)).toBe(true);
    expect(readdirSync(join(server.folder, "ctl"))).toEqual([]);
    expect(await eventually(() => ownSocketFolders(runtime.pid ?? 0).length === 0)).toBe(true);
  });

  it("by kill -9 takes along what it started on the host", async () => {
    const server = await serverForTest();
    const variable = randomUUID();
    const job = JSON.stringify({ options: optionsFor(server), variable });
    const runtime = spawn(process.execPath, [join(folder, "commands.mjs"), job], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await saidReady(runtime);
    expect(runningWith("LEFT_THERE", variable).length).toBeGreaterThan(5);
    runtime.kill("SIGKILL");
    expect(await eventually(() => runningWith("LEFT_THERE", variable).length === 0)).toBe(true);
  });

  it("can wait for its environment to be closed, also when it does nothing else", async () => {
    const server = await serverForTest();
    const job = JSON.stringify({ options: optionsFor(server) });
    const runtime = spawn(process.execPath, [join(folder, "closing.mjs"), job], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const said = await new Promise((resolve) => runtime.stdout?.once("data", resolve).once("end", resolve));
    expect(String(said)).toBe("closed\n");
  });

  it("is not kept alive by a connection that nobody uses", async () => {
    const server = await serverForTest();
    const runtime = start(optionsFor(server), [{ argv: ["true"], awaited: true }]);
    const code = await new Promise((resolve) => runtime.once("exit", resolve));
    expect(code).toBe(0);
    expect(await eventually(() => processesWith(server.configFile).length === 0)).toBe(true);
  });
});

function start(options: SshOptions, programs: readonly object[]): ChildProcess {
  const job = JSON.stringify({ options, programs });
  return spawn(process.execPath, [join(folder, "main.mjs"), job], { stdio: ["ignore", "pipe", "inherit"] });
}

async function saidReady(runtime: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    runtime.stdout?.once("data", () => resolve());
    runtime.once("exit", () => reject(new Error("it ended too early")));
  });
}
