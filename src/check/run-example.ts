import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { isRecord } from "../base/record.js";
import { findProgram } from "../env/find-program.js";
import { createRuntime } from "../runtime/create-runtime.js";
import type { TodoItem } from "../tool/host-capabilities.js";
import type { ToolExample } from "../tool/tool.js";

export type ExampleOutcome =
  | { readonly state: "worked" }
  | { readonly state: "left out"; readonly why: string }
  | { readonly state: "failed"; readonly why: string };

/**
 * Runs a worked example of a built-in tool as its page shows it: in a folder, a home and an environment of its own, with
 * the pages it names on a server of this machine. What is asked is allowed, since the arguments are known.
 */
export async function runExample(options: {
  readonly tool: string;
  readonly example: ToolExample;
  /** Everything it leaves is in a new folder below. */
  readonly scratch: string;
  /** Called with the home that was made for it. */
  prepareHome(home: string): void;
}): Promise<ExampleOutcome> {
  const { tool, example, scratch } = options;
  const why = reasonAgainst(example);
  if (why !== undefined) return { state: "left out", why };
  const folder = mkdtempSync(join(scratch, "example-"));
  const [home, cwd] = [join(folder, "home"), join(folder, "work")];
  mkdirSync(cwd);
  options.prepareHome(home);
  const server = example.pages === undefined ? undefined : await served(example.pages);
  const here = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll("{server}", server?.address ?? "")
        .replaceAll("{folder}", cwd),
    ) as T;
  const runtime = await createRuntime({
    home,
    cwd,
    systemDir: join(folder, "no-system"),
    userTools: false,
    journal: false,
    // Nothing of the person's desktop or keys.
    env: { PATH: process.env.PATH, HOME: home, ...example.env },
    flags: { "security.allowed_hosts": ["127.0.0.1"], ...here(example.settings ?? {}) },
  });
  try {
    for (const [path, text] of Object.entries(example.files ?? {})) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    const session = await runtime.openSession({
      approver: { ask: async () => "once" },
      ask: async ({ choices }) => choices?.[0],
      host: { todos: todoList() },
    });
    for (const call of example.before ?? []) {
      const { error } = await session.call({ name: call.name, arguments: here(call.arguments) });
      if (error !== undefined) return { state: "failed", why: `${call.name} before it: ${error.message}` };
    }
    const { error, structured } = await session.call({ name: tool, arguments: here(example.arguments) });
    if (error !== undefined) return { state: "failed", why: error.message };
    return isPart(here(example.result), structured)
      ? { state: "worked" }
      : { state: "failed", why: `it gave ${JSON.stringify(structured)?.slice(0, 300)}` };
  } finally {
    await runtime.close();
    await server?.close();
  }
}

function reasonAgainst({ programs = [], ...example }: ToolExample): string | undefined {
  const missing = programs.filter((program) => findProgram(program, process.env) === undefined);
  if (missing.length > 0) return `not found on PATH: ${missing.join(", ")}`;
  return JSON.stringify(example).includes("{mail}") ? "it needs a mail server" : undefined;
}

async function served(pages: Readonly<Record<string, string>>) {
  const server: Server = createServer((request, response) => {
    const body = pages[request.url ?? ""];
    const type = body?.startsWith("<") === true ? "text/html" : "text/plain";
    response.writeHead(body === undefined ? 404 : 200, { "content-type": type }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Everything of `expected` is in `found`; lists are as long as expected. */
function isPart(expected: unknown, found: unknown): boolean {
  if (Array.isArray(expected))
    return (
      Array.isArray(found) &&
      found.length === expected.length &&
      expected.every((value, at) => isPart(value, found[at]))
    );
  if (isRecord(expected))
    return isRecord(found) && Object.entries(expected).every(([key, value]) => isPart(value, found[key]));
  return Object.is(expected, found);
}

function todoList() {
  let items: readonly TodoItem[] = [];
  return {
    read: () => items,
    write: (next: readonly TodoItem[]) => {
      items = next;
    },
  };
}
