import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { onTestEnd } from "../support/runtime.js";
import { main, plainEnvironment, tempFolder, until } from "./hermes.js";
import { needsTerminal } from "./terminal.js";

/** A server on a terminal of its own. */
async function serverOn(line: (serve: string) => string, { skip }: TestContext) {
  needsTerminal(skip);
  const home = tempFolder();
  mkdirSync(join(home, "tools"));
  const env = { ...plainEnvironment(home), HERMES_HOME: home, TERM: "xterm", SHELL: "/bin/bash" };
  const serve = `"${process.execPath}" "${main}" serve --port 0`;
  const terminal = spawn("script", ["-qefc", line(serve), "/dev/null"], { cwd: home, env, stdio: "pipe" });
  let screen = "";
  terminal.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    screen += chunk;
  });
  const noted = () =>
    JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as { url: string; pid: number };
  onTestEnd(async () => {
    process.kill(noted().pid, "SIGKILL");
    terminal.kill("SIGKILL");
  });
  await until(() => screen.includes("Ctrl-C stops it"), "the server is up");
  const change = (name: string) =>
    writeFileSync(
      join(home, `tools/${name}.yaml`),
      `tools:\n  - name: ${name}\n    description: Says hello\n    type: command\n    command: [echo, hello]\n`,
    );
  return { change, type: (keys: string) => terminal.stdin.write(keys), screen: () => screen, noted };
}

describe("a change while a server runs in a terminal", () => {
  it("is taken up with y; any other key asks again", async (context) => {
    const { change, type, screen } = await serverOn((serve) => serve, context);
    const asked = () => screen().match(/Take it up\? y \/ n/g)?.length ?? 0;
    change("hello");
    await until(() => asked() === 1, "the question");
    type("?");
    await until(() => asked() === 2, "the question once more");
    expect(screen().match(/not in force: .*hello\.yaml/g)).toHaveLength(2);
    expect(screen()).not.toContain("Reloaded");
    type("y");
    await until(() => screen().includes("Reloaded tools/hello.yaml"), "it is taken up");
  }, 30_000);

  it("does not stop a server in the background", async (context) => {
    const { change, screen, noted } = await serverOn((serve) => `bash -mc '${serve} & wait'`, context);
    change("hello");
    await until(() => screen().includes("hello.yaml"), "it is told");
    await until(() => /changes accept/.test(screen()), "what to do is told");
    const { url } = noted();
    const answer = await fetch(new URL("/healthz", url), { signal: AbortSignal.timeout(5_000) });
    expect(answer.ok).toBe(true);
  }, 30_000);
});
