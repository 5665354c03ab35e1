// @needs sshd ssh
import { describe, expect, it } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { createSshEnvironment } from "../../src/env/ssh/ssh.js";
import { onTestEnd } from "../support/runtime.js";
import type { SshServer } from "../support/ssh-server.js";
import { eventually, optionsFor, processesWith, serverForTest } from "./support.js";

/** The limit for noticing a cut connection, and what the test itself needs. */
const NOTICED_MS = 15_000;

describe("a connection that is cut", () => {
  it.each([
    ["because the server's process is killed", (server: SshServer) => server.cut(), () => {}],
    [
      "because nothing arrives any more",
      (server: SshServer) => server.freeze(),
      (server: SshServer) => server.thaw(),
    ],
  ])(
    "%s is an error within 15 s; the next call works and ends what was left",
    async (_, cut, restore) => {
      const server = await serverForTest();
      const environment = await environmentForTest(server);
      const sleeper = "7654.25";
      const running = exec(environment, `echo begun; sleep ${sleeper}`);
      running.catch(() => {});
      await eventually(() => processesWith(`sleep ${sleeper}`).length > 0);
      const background = await environment.spawn({
        command: `sleep ${sleeper}; true`,
        cwd: "/",
        onOutput: () => {},
      });

      const since = performance.now();
      cut(server);
      await expect(running).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining("lost"),
      });
      expect(await background.ended).toHaveProperty("lost");
      expect(performance.now() - since).toBeLessThan(NOTICED_MS);

      restore(server);
      expect((await exec(environment, "echo back")).output).toBe("back\n");
      expect(await eventually(() => processesWith(sleeper).length === 0)).toBe(true);
    },
    NOTICED_MS + 15_000,
  );

  it("while nothing runs does not even show", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server);
    server.cut();
    await eventually(() => server.connections().length === 0);
    await eventually(async () => (await environment.describe()).ok);
    expect((await exec(environment, "echo here")).output).toBe("here\n");
  });

  it("for good makes every call an error that says why, and closing does not wait for it", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server);
    await server.down();
    await expect(exec(environment, "echo local?")).rejects.toMatchObject({ code: "unavailable" });
    await expect(exec(environment, "echo local?")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("before the login"),
    });
    expect(await environment.describe()).toMatchObject({
      ok: false,
      reason: expect.stringContaining("before the login"),
    });
    await environment.close();
  });
});

async function environmentForTest(server: SshServer): Promise<Environment> {
  const environment = await createSshEnvironment(optionsFor(server));
  onTestEnd(() => environment.close());
  return environment;
}

function exec(environment: Environment, command: string, more: Partial<ExecRequest> = {}) {
  return environment.exec({
    command,
    cwd: "/",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  });
}
