import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { main } from "./hermes.js";

/** An engine that takes connections and never answers. */
async function silentEngine(): Promise<{ readonly host: string; asked(): number }> {
  const socket = join(tempDir(), "engine.sock");
  let asked = 0;
  const server = createServer((connection) => {
    asked += 1;
    connection.on("error", () => undefined);
    onTestEnd(() => void connection.destroy());
  });
  server.listen(socket);
  await once(server, "listening");
  onTestEnd(() => void server.close());
  return { host: `unix://${socket}`, asked: () => asked };
}

describe("TERM", () => {
  it.each([
    ["call", "read_file", "path=/etc/hostname"],
    ["env", "test", "docker"],
  ])("ends hermes %s within 5 s, whatever the engine does", async (...args) => {
    const engine = await silentEngine();
    const home = tempDir();
    const child = spawn(process.execPath, [main, "--env", "docker", ...args], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: join(home, "h"), DOCKER_HOST: engine.host },
      stdio: "ignore",
    });
    onTestEnd(() => void child.kill("SIGKILL"));
    const ended = once(child, "exit");
    while (engine.asked() === 0 && child.exitCode === null) await new Promise((go) => setTimeout(go, 20));
    expect(child.exitCode).toBe(null);
    const told = performance.now();
    child.kill("SIGTERM");
    const [code] = await ended;
    expect(performance.now() - told).toBeLessThan(5_000);
    expect(code).toBe(130);
  });
});
