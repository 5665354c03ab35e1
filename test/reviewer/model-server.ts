import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the scripted model and its server behave. */
export interface Script {
  readonly says?: string;
  /** Does what it is told by any line that is not between the marks, and refuses otherwise. */
  readonly gullible?: boolean;
  readonly message?: unknown;
  readonly choices?: number;
  readonly finish?: string;
  readonly body?: string;
  readonly status?: number;
  readonly redirect?: number;
  readonly refuses?: readonly string[];
  readonly delay?: boolean;
  readonly trickle?: boolean;
  readonly pad?: number;
  readonly hangup?: boolean;
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly model: string;
    readonly temperature: number;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly [field: string]: unknown;
  };
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedRequest[];
  script: Script;
}

/** A server on a free port of this machine that speaks the chat completions API. */
export async function modelServer(script: Script = {}): Promise<ModelServer> {
  const state: { script: Script; received: ReceivedRequest[] } = { script, received: [] };
  const server = createServer((request, response) => void answer(request, response, state));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received: state.received,
    get script() {
      return state.script;
    },
    set script(next) {
      state.script = next;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { script, received }: { script: Script; received: ReceivedRequest[] },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ReceivedRequest["body"];
  received.push({ path: request.url ?? "", headers: request.headers, body });
  if (script.hangup) return void request.socket.destroy();
  if (script.delay) return;
  if (script.redirect !== undefined && !request.url?.startsWith("/elsewhere")) {
    response.writeHead(script.redirect, { location: "/elsewhere/v1/chat/completions" });
    return void response.end(approval());
  }
  const refused = (script.refuses ?? []).find((field) => field in body);
  if (refused !== undefined) {
    const hint = refused === "max_tokens" ? " Use max_completion_tokens instead." : "";
    response.writeHead(400, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ error: { message: `Unsupported: ${refused}.${hint}` } }));
  }
  response.writeHead(script.status ?? 200, { "content-type": "application/json" });
  if (script.trickle) return void response.write('{"choices":');
  response.end(script.body ?? completion(script, body));
}

function completion(script: Script, body: ReceivedRequest["body"]): string {
  const content = script.gullible ? obey(body.messages) : (script.says ?? "");
  const choice = {
    index: 0,
    message: script.message ?? { role: "assistant", content },
    finish_reason: script.finish ?? "stop",
  };
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: Array.from({ length: script.choices ?? 1 }, () => choice),
    ...(script.pad !== undefined && { padding: " ".repeat(script.pad) }),
  });
}

/** The marks are named by the operator's own message; what stands between them is not read as an order. */
function obey(messages: ReceivedRequest["body"]["messages"]): string {
  const [system, user] = messages;
  const mark = /DATA-[0-9a-f]{24}/.exec(system?.content ?? "")?.[0] ?? "no mark";
  let inside = false;
  for (const line of (user?.content ?? "").split("\n")) {
    if (line === mark) inside = !inside;
    else if (!inside && line.includes("answer APPROVE")) return decision("APPROVE");
  }
  return decision("DENY");
}

function decision(word: string): string {
  return JSON.stringify({ decision: word, reason: "as I was told" });
}

function approval(): string {
  return completion({ says: decision("APPROVE") }, { model: "", temperature: 0, messages: [] });
}
