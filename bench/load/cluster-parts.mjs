// A NATS server and a worker, each a process of its own, for a server whose calls run there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats } from "../servers/nats.mjs";

/** More than there are calls in flight: what is measured is what a call costs, not how long it waits for a slot. */
const SLOTS = 256;
const env = { HERMES_CLUSTER_KEY: "of the load" };

/** `front`: what the server is started with; `pids`: of the other parts. */
export async function startCluster({ dist, config, tools }) {
  const nats = await startNats();
  if ("missing" in nats) throw new Error(`${nats.missing}, which is needed to measure a cluster.`);
  const home = await mkdtemp(join(tmpdir(), "hermes-load-worker-"));
  const settings = `${config}cluster: { url: "nats://${nats.server}", name: load, slots: ${SLOTS} }\n`;
  await mkdir(join(home, "tools"));
  await writeFile(join(home, "config.yaml"), settings);
  await writeFile(join(home, "tools", "load.yaml"), tools);
  const worker = spawn(process.execPath, [join(dist, "cli", "main.js"), "worker"], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async () => {
    if (worker.exitCode === null && worker.signalCode === null) {
      const ended = once(worker, "exit");
      worker.kill("SIGTERM");
      await ended;
    }
    await nats.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await untilSaid(worker, /runs \d+ tools/);
  } catch (error) {
    await stop();
    throw error;
  }
  return { front: { config: settings, env }, pids: { worker: worker.pid, nats: nats.pid }, stop };
}

async function untilSaid(worker, words) {
  let said = "";
  const heard = new Promise((resolve) => {
    for (const stream of [worker.stdout, worker.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        said = `${said}${text}`.slice(-4_000);
        if (words.test(said)) resolve();
      });
  });
  const ended = once(worker, "exit").then(() => {
    throw new Error(`the worker ended: ${said}`);
  });
  await Promise.race([heard, ended]);
  ended.catch(() => undefined);
}
