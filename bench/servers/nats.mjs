// A real NATS server with JetStream on a free loopback port, gone after `stop`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Answers with { missing } when it is not installed. */
export async function startNats() {
  const program = ["/usr/sbin", "/usr/bin", "/usr/local/bin"]
    .map((folder) => join(folder, "nats-server"))
    .find((path) => existsSync(path));
  if (program === undefined) return { missing: "nats-server is not installed (Debian: nats-server)" };
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-nats-"));
  const port = await freePort();
  const server = spawn(program, ["-js", "-sd", folder, "-a", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore",
  });
  const stop = async () => {
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let left = 200; !(await answers(port)); left -= 1) {
    if (left === 0) {
      await stop();
      return { missing: "nats-server does not start" };
    }
    await delay(25);
  }
  return { server: `127.0.0.1:${port}`, pid: server.pid, stop };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
