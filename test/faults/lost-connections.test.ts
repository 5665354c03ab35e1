import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Environment } from "../../src/env/environment.js";
import { ToolError } from "../../src/tool/errors.js";
import { sshServerMissing, startSshServer } from "../support/ssh-server.js";
import { FULL } from "./support.js";

const never = new AbortController().signal;

function run(environment: Environment, command: string, onChunk?: (chunk: string) => void) {
  return environment.exec({
    command,
    cwd: "/",
    timeoutMs: 60_000,
    signal: never,
    ...(onChunk !== undefined && { onChunk }),
  });
}

/** Runs a command, breaks the connection once it has begun, and tells how long the error took. */
async function errorAfter(environment: Environment, cut: () => unknown): Promise<number> {
  let cutAt = 0;
  const error: unknown = await run(environment, "echo begun; sleep 60", () => {
    cutAt ||= performance.now();
    cut();
  }).catch((problem: unknown) => problem);
  expect(ToolError.isInstance(error) && error.code, String(error)).toBe("unavailable");
  return performance.now() - cutAt;
}

async function sshHost() {
  const server = await startSshServer();
  onTestFinished(() => server.stop());
  const { createSshEnvironment } = await import("../../src/env/ssh/ssh.js");
  const environment = await createSshEnvironment({
    host: server.host,
    port: server.port,
    user: server.user,
    keyFile: server.keyFile,
    knownHostsFile: server.knownHostsFile,
    configFile: server.configFile,
    controlDir: join(server.folder, "control"),
  });
  onTestFinished(() => environment.close());
  return { server, environment };
}

test("an ssh connection that breaks in the middle of a command is an error within 15 s, and the next call works", async (context) => {
  const missing = sshServerMissing();
  if (missing !== undefined) context.skip(missing);
  const { server, environment } = await sshHost();
  expect(await errorAfter(environment, () => server.cut())).toBeLessThan(15_000);
  expect((await run(environment, "echo again")).output).toBe("again\n");
}, 60_000);

// The server looks alive and never answers: only waiting can tell, so it takes its time.
if (FULL) {
  test("an ssh connection that goes silent is an error within 15 s, and the next call works", async (context) => {
    const missing = sshServerMissing();
    if (missing !== undefined) context.skip(missing);
    const { server, environment } = await sshHost();
    expect(await errorAfter(environment, () => server.freeze())).toBeLessThan(15_000);
    server.thaw();
    expect((await run(environment, "echo again")).output).toBe("again\n");
  }, 60_000);
}
