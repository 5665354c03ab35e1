import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { AnyTool, CallContext, ToolExample } from "../../src/tool/tool.js";
import { startMailServer } from "../support/mail-server.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import { agentSession, talkativeModel } from "./agent-session.js";

type Example = ReturnType<typeof examplesOf>[number];

export function examplesOf(tools: readonly AnyTool[], chosen: (example: ToolExample) => boolean) {
  return tools.flatMap(({ name, host, examples = [] }) =>
    examples.filter(chosen).map((example) => ({ name, host, title: example.title, example })),
  );
}

/** A worked example through the whole path, with what it says lies there beforehand. */
export async function runExample({ name, host, example }: Example): Promise<void> {
  const server = example.pages === undefined ? undefined : await startPages(example.pages);
  const mail = JSON.stringify(example).includes("{mail}") ? await startMailServer() : undefined;
  const cwd = tempDir();
  const here = (value: unknown) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll("{server}", server ?? "")
        .replaceAll("{mail}", mail?.url ?? "")
        .replaceAll("{folder}", cwd),
    );
  const { runtime } = await testRuntime([], {
    cwd,
    builtins: true,
    ...(example.env !== undefined && { env: { PATH: process.env.PATH, ...example.env } }),
    flags: {
      "security.allowed_hosts": ["127.0.0.1"],
      ...(host !== undefined && (await talkativeModel())),
      ...here(example.settings ?? {}),
    },
  });
  for (const [path, text] of Object.entries(example.files ?? {})) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const ask: CallContext["ask"] = async ({ choices }) => choices?.[0];
  const session =
    host === undefined
      ? await runtime.openSession({ approver: { ask: async () => "once" }, ask })
      : await agentSession(runtime, ask);
  for (const call of [...(example.before ?? []), { name, arguments: example.arguments }]) {
    const result = await session.call({ name: call.name, arguments: here(call.arguments) });
    expect([call.name, result.error]).toEqual([call.name, undefined]);
    if (call.arguments === example.arguments) expect(result.structured).toMatchObject(example.result);
  }
}

async function startPages(pages: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => {
    const body = pages[request.url ?? ""];
    const type = body?.startsWith("<") === true ? "text/html" : "text/plain";
    response.writeHead(body === undefined ? 404 : 200, { "content-type": type }).end(body);
  });
  onTestEnd(() => new Promise((resolve) => void server.close(() => resolve())));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
