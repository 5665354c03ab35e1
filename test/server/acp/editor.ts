import { PassThrough, Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { serveAcpOverStreams } from "../../../src/server/acp/serve.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { onTestEnd, testRuntime } from "../../support/runtime.js";
import type { Step } from "../../support/scripted-model/scenario.js";
import { type ScriptedModel, startScriptedModel } from "../../support/scripted-model/server.js";

export interface Editor {
  readonly agent: acp.ClientContext;
  readonly updates: acp.SessionNotification[];
  readonly asked: acp.RequestPermissionRequest[];
  close(): void;
}

/** What a person in the editor answers; the first option that allows when left out. */
export type Person = (
  question: acp.RequestPermissionRequest,
) => acp.RequestPermissionResponse | Promise<acp.RequestPermissionResponse>;

export const allow: Person = ({ options }) => ({
  outcome: { outcome: "selected", optionId: options[0]?.optionId ?? "" },
});

/** The SDK's own client over two streams. */
export function openEditor(
  streams: { readonly input: Readable; readonly output: Writable },
  person: Person = allow,
): Editor {
  const updates: acp.SessionNotification[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  const connection = acp
    .client({ name: "test-editor" })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      return person(params);
    })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      updates.push(params);
    })
    .connect(
      acp.ndJsonStream(
        Writable.toWeb(streams.output),
        Readable.toWeb(streams.input) as ReadableStream<Uint8Array>,
      ),
    );
  return { agent: connection.agent, updates, asked, close: () => connection.close() };
}

export function modelSettings(model: ScriptedModel): Readonly<Record<string, string>> {
  return {
    HERMES_MODEL_PROVIDER: "compatible",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: model.url,
    HERMES_MODEL_API_KEY: "key",
  };
}

/** The agent behind an editor, both in this process. */
export async function editing(
  steps: readonly Step[],
  options: { readonly person?: Person; readonly tools?: readonly AnyTool[] } = {},
) {
  const model = await startScriptedModel({ steps });
  onTestEnd(() => model.close());
  const made = await testRuntime(options.tools ?? [], {
    builtins: true,
    env: { PATH: process.env.PATH, ...modelSettings(model) },
  });
  const connect = async (person = options.person) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const leave = new AbortController();
    const served = serveAcpOverStreams({
      runtime: made.runtime,
      input,
      output,
      signal: leave.signal,
    });
    const editor = openEditor({ input: output, output: input }, person);
    onTestEnd(async () => {
      leave.abort();
      await served;
    });
    await editor.agent.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
    return editor;
  };
  const editor = await connect();
  const { sessionId } = await editor.agent.request(acp.methods.agent.session.new, {
    cwd: made.cwd,
    mcpServers: [],
  });
  const prompt = (text: string, id = sessionId) =>
    editor.agent.request(acp.methods.agent.session.prompt, {
      sessionId: id,
      prompt: [{ type: "text", text }],
    });
  return { ...made, ...editor, model, connect, sessionId, prompt };
}
