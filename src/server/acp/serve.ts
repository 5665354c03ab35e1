import { Readable, Writable } from "node:stream";
import { Agents } from "../../agent/agents.js";
import type { Runtime } from "../../runtime/runtime.js";
import { EditorAgent } from "./editor-agent.js";

/** Speaks the Agent Client Protocol over two streams until the editor closes them or `signal` says so. */
export async function serveAcpOverStreams(options: {
  readonly runtime: Runtime;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { runtime, input, output, signal } = options;
  const sdk = await import("@agentclientprotocol/sdk");
  const agents = new Agents(runtime);
  const editor = new EditorAgent({ runtime, agents, sdk });
  const { agent, methods, ndJsonStream } = sdk;
  const { session } = methods.agent;
  const connection = agent({ name: "hermes-tools" })
    .onRequest(methods.agent.initialize, () => editor.initialize())
    .onRequest(session.new, ({ params, client }) => editor.create(params, client))
    .onRequest(session.load, ({ params, client }) => editor.load(params, client))
    .onRequest(session.resume, ({ params, client }) => editor.resume(params, client))
    .onRequest(session.list, ({ params }) => editor.list(params))
    .onRequest(session.close, ({ params }) => editor.close(params))
    .onRequest(session.prompt, ({ params, signal: request }) => editor.prompt(params, request))
    .onNotification(session.cancel, ({ params }) => editor.cancel(params))
    .connect(ndJsonStream(Writable.toWeb(output), Readable.toWeb(input) as ReadableStream<Uint8Array>));
  const stop = () => connection.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    // An editor that breaks the connection has left as well.
    await connection.closed.catch(() => undefined);
  } finally {
    signal.removeEventListener("abort", stop);
    await editor.closeAll();
    await agents.close();
  }
}
