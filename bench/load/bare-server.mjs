// A bare Node server that waits as long as it is asked to and answers with how long that was. Tools of the measured server
// call it, as they call services elsewhere; and it is called directly, by the same callers in the same minutes, so that
// what the machine and the generator do to a call can be told from what the runtime does.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import { fileURLToPath } from "node:url";

/** `times` grows by what each of its direct calls took beyond its wait, until it is stopped. */
export async function startBareServer({ inFlight, waitMs }) {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  const [{ port }] = await once(child, "message");
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const times = [];
  let stopped = false;
  const clients = Array.from({ length: inFlight }, async (_, client) => {
    await new Promise((resolve) => setTimeout(resolve, (client / inFlight) * 1_000));
    while (!stopped) {
      const started = performance.now();
      const waited = await bareCall({ port, agent, waitMs: waitMs() });
      times.push(performance.now() - started - waited);
    }
  });
  return {
    port,
    pid: child.pid,
    times,
    async stop() {
      stopped = true;
      await Promise.all(clients);
      agent.destroy();
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

function bareCall({ port, agent, waitMs }) {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, agent, path: `/?ms=${waitMs}` }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      incoming.once("end", () => resolve(JSON.parse(text).waited_ms));
    }).once("error", reject);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createServer(({ url }, response) => {
    const started = performance.now();
    const waitMs = Number(new URL(url, "http://localhost").searchParams.get("ms"));
    setTimeout(() => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ waited_ms: performance.now() - started }));
    }, waitMs);
  });
  // As services do; Node's own five seconds are over while a busy machine keeps a caller waiting.
  server.keepAliveTimeout = 65_000;
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
  process.once("disconnect", () => process.exit());
}
