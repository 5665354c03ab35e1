// The official SDK alone: a client, its own transport, one call after the other.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { oneByOne } from "../operations.mjs";

/**
 * `ownSession`: starts the server in a session of its own, as Hermes does so that it can end all a server has started.
 * On Linux, processes of one session get processor time together; without it that would be compared, not the calls.
 */
export async function open({ server, ownSession = false }) {
  const [command, ...args] = [...(ownSession ? ["setsid"] : []), process.execPath, server];
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  await client.listTools();
  const call = async (number) => {
    const text = `number ${number}`;
    const { content } = await client.callTool({ name: "echo", arguments: { text } });
    if (content[0]?.text !== text) throw new Error(`the SDK gave ${JSON.stringify(content)}`);
  };
  await call(0);
  return { operations: { oneByOne: oneByOne(call) }, close: () => client.close() };
}
