// `hermes serve` in a process of its own, and calls to it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";

/** A server with a home of its own, and a note in the folder it works in. */
export async function startServer({ dist, home, sockets, nodeArgs = [], env = {} }) {
  await mkdir(join(home, "work"));
  await writeFile(join(home, "work", "note.txt"), "a line of text\n".repeat(400));
  const program = [join(dist, "cli", "main.js"), "serve", "--port", "0", "--json"];
  const child = spawn(process.execPath, [...nodeArgs, ...program], {
    cwd: join(home, "work"),
    env: { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: join(home, "hermes"), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await Promise.race([
    once(child.stdout.setEncoding("utf8"), "data"),
    once(child, "exit").then(([code]) => {
      throw new Error(`hermes serve ended with exit code ${code}; its messages are above.`);
    }),
  ]);
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

/** One call, which must succeed; answers with the content of its result. */
export async function post({ server, session, call }) {
  const body = JSON.stringify({ tool_calls: [{ id: "1", type: "function", function: call }] });
  const answer = await ask({ server, method: "POST", path: "/v1/tool_calls", session, body });
  const { tool_results: [result] = [] } = JSON.parse(answer.text);
  const failed = result?.content?.error ?? (answer.status === 200 ? undefined : answer.text);
  if (failed !== undefined && failed !== null) throw new Error(`${call.name}: ${JSON.stringify(failed)}`);
  return result.content;
}

/** Any request to the server: its status and text. */
export function ask({ server, method = "GET", path, body = "", session }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        agent: server.agent,
        method,
        path,
        headers: {
          authorization: `Bearer ${server.token}`,
          "content-length": Buffer.byteLength(body),
          ...(session !== undefined && { "x-hermes-session": session }),
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
    // The server closes a connection that was idle for long, and may do so just as it is used again.
    outgoing.once("error", (error) => {
      if (error.code !== "ECONNRESET" || !outgoing.reusedSocket) return reject(error);
      ask({ server, method, path, body, session }).then(resolve, reject);
    });
    outgoing.end(body);
  });
}
