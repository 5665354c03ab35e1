import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { withReadinessTable } from "../../src/check/readiness-table.js";
import { toolPages } from "../../src/check/tool-pages.js";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import type { AnyTool, CallContext } from "../../src/tool/tool.js";
import { startMailServer } from "../support/mail-server.js";
import { needs } from "../support/needs.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";
import { agentSession, talkativeModel } from "./agent-session.js";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../docs/tools");
const tools: readonly AnyTool[] = await Promise.all(
  builtinManifest.map(async ({ load }) => (await load()).default),
);

describe("docs/tools", () => {
  it("says what the tools say (UPDATE_DOCS=1 rewrites it)", () => {
    const pages = toolPages(tools);
    if (process.env.UPDATE_DOCS === "1") {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (const [name, text] of pages) writeFileSync(join(folder, name), text);
    }
    const found = existsSync(folder) ? readdirSync(folder).sort() : [];
    expect(found).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages)
      expect([name, readFileSync(join(folder, name), "utf8")]).toEqual([name, text]);
  });
});

describe("README", () => {
  it("says which tools are ready at once, after one command, with a key (UPDATE_DOCS=1 rewrites it)", () => {
    const file = join(folder, "../../README.md");
    const fresh = withReadinessTable(readFileSync(file, "utf8"), builtinManifest);
    if (process.env.UPDATE_DOCS === "1") writeFileSync(file, fresh);
    expect(readFileSync(file, "utf8")).toBe(fresh);
    for (const { name } of builtinManifest) expect(fresh).toContain(`\`${name}\``);
  });
});

describe("worked examples", () => {
  it("every tool has one that shows something", () => {
    const without = tools.filter(({ examples }) => (examples ?? []).length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
    const empty = tools.flatMap((tool) =>
      (tool.examples ?? []).filter(({ result }) => Object.keys(result).length === 0).map(() => tool.name),
    );
    expect(empty).toEqual([]);
  });

  const examples = tools.flatMap(({ name, host, examples = [] }) =>
    examples.map((example) => ({ name, host, title: example.title, example })),
  );
  it.for(examples)("$name: $title", { timeout: 60_000 }, async ({ name, host, example }, { skip }) => {
    needs({ skip }, ...(example.programs ?? []));
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
  });
});

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
