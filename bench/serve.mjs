// `hermes serve` in a process of its own, and calls to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";

/** A server with a home of its own, and a note in the folder it works in. */
export async function startServer({ dist, home, sockets }) {
  await mkdir(join(home, "work"));
  await writeFile(join(home, "work", "note.txt"), "a line of text\n".repeat(400));
  const child = spawn(process.execPath, [join(dist, "cli", "main.js"), "serve", "--port", "0", "--json"], {
    cwd: join(home, "work"),
    env: { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: join(home, "hermes") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const { port, token_file } = JSON.parse(line);
  const token = (await readFile(token_file, "utf8")).trim();
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  return {
    port,
    pid: child.pid,
    token,
    agent,
    async stop() {
      agent.destroy();
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** One call, which must succeed. */
export async function post({ server, session, call }) {
  const body = JSON.stringify({ tool_calls: [{ id: "1", type: "function", function: call }] });
  const answer = await new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        agent: server.agent,
        method: "POST",
        path: "/v1/tool_calls",
        headers: {
          authorization: `Bearer ${server.token}`,
          "content-length": Buffer.byteLength(body),
          "x-hermes-session": session,
        },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (piece) => {
          text += piece;
        });
        incoming.once("end", () => resolve({ status: incoming.statusCode, text }));
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
  const { tool_results: [result] = [] } = JSON.parse(answer.text);
  const failed = result?.content?.error ?? (answer.status === 200 ? undefined : answer.text);
  if (failed !== undefined && failed !== null) throw new Error(`${call.name}: ${JSON.stringify(failed)}`);
}
