import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { RuntimeOptions } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";
import { onTestEnd, type TestRuntime, tempDir, testRuntime } from "../../support/runtime.js";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface TestServer {
  readonly base: string;
  readonly seen: Seen[];
}

export type Answering = (request: Seen, response: ServerResponse) => void;

/** A real server on a free port; without `answer` it echoes what it was sent. */
export async function startServer(answer?: Answering): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const got = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    seen.push(got);
    if (answer !== undefined) return answer(got, response);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(got));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

export interface YamlRuntime extends TestRuntime {
  /** One call; the structured result, or the error as thrown text. */
  call(name: string, args?: Readonly<Record<string, unknown>>): ReturnType<Session["call"]>;
  write(file: string, text: string): void;
  reload(): Promise<void>;
}
type Session = Awaited<ReturnType<TestRuntime["runtime"]["openSession"]>>;

/** A runtime whose tool folder holds these files, and that may reach this machine. */
export async function yamlRuntime(
  files: Readonly<Record<string, string>>,
  options: Partial<RuntimeOptions> & {
    readonly variables?: Readonly<Record<string, string>>;
    readonly tools?: readonly AnyTool[];
  } = {},
): Promise<YamlRuntime> {
  const home = options.home ?? tempDir();
  const folder = join(home, "tools");
  mkdirSync(folder);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  for (const [file, text] of Object.entries(files)) write(file, text);
  const { variables = {}, tools = [], ...rest } = options;
  const made = await testRuntime(tools, {
    home,
    userTools: true,
    yolo: true,
    flags: { "security.allow_private_urls": true },
    env: { PATH: process.env.PATH, HOME: home, ...variables },
    ...rest,
  });
  return {
    ...made,
    write,
    reload: () => made.runtime.sources.refresh(made.runtime.config),
    async call(name, args = {}) {
      const session = await made.runtime.openSession();
      onTestEnd(() => session.close());
      return session.call({ name, arguments: args });
    },
  };
}
