// Starts an MCP server when it is told to, says when it has answered, and ends it: what a start does to everybody else on
// the machine when nothing of ours takes part in it.
import { spawn } from "node:child_process";
import { once } from "node:events";

const [command, ...args] = process.argv.slice(2);

process.on("message", async () => {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`);
  await once(server.stdout, "data");
  server.kill("SIGKILL");
  await once(server, "close");
  process.send("ended");
});
