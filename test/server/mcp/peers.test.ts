import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it } from "vitest";
import {
  hermes,
  linesOf,
  main,
  outcomeOf,
  plainEnvironment,
  root,
  start,
  tempFolder,
} from "../../cli/hermes.js";
import { startTokenProxy } from "../../conformance/mcp-server/token-proxy.js";
import { onTestEnd } from "../../support/runtime.js";
import { startServer, TOKEN } from "../support.js";
import { echo } from "../tools.js";
import { createClient, httpTransport } from "./support.js";

const inspector = join(root, "test/peers/node_modules/@modelcontextprotocol/inspector-cli/build/index.js");

interface WrittenServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The servers that the snippets of the documentation configure, as clients would read them. */
function writtenServers(): readonly WrittenServer[] {
  const text = readFileSync(join(root, "docs/mcp-server.md"), "utf8");
  return [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].flatMap(([, json = ""]) => {
    const { mcpServers, servers } = JSON.parse(json) as Record<string, Record<string, WrittenServer>>;
    return Object.values(mcpServers ?? servers ?? {});
  });
}

async function inspect(args: readonly string[]): Promise<unknown> {
  const home = tempFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [inspector, ...args], {
    cwd: home,
    env: plainEnvironment(home),
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout);
}

describe("the configuration snippets in the documentation", () => {
  it("start servers that list their tools", async () => {
    const written = writtenServers();
    const commands = new Set(
      written.flatMap(({ command, args }) =>
        command === undefined ? [] : [JSON.stringify([command, args])],
      ),
    );
    expect(commands.size).toBeGreaterThanOrEqual(2);
    await Promise.all(
      [...commands].map(async (text) => {
        const [command, args] = JSON.parse(text) as [string, string[]];
        expect(command).toBe("hermes");
        const home = tempFolder();
        const client = new Client(
          { name: "test", version: "1" },
          { versionNegotiation: { mode: { pin: "2026-07-28" } } },
        );
        onTestEnd(() => client.close());
        const env = plainEnvironment(home);
        await client.connect(
          new StdioClientTransport({ command: process.execPath, args: [main, ...args], env, cwd: home }),
        );
        const names = (await client.listTools()).tools.map(({ name }) => name);
        expect(names).toContain("read_file");
        expect(names.includes("terminal")).toBe(!args.includes("--toolsets"));
      }),
    );
    const { server } = await startServer([echo]);
    const addresses = written.filter(({ url }) => url !== undefined);
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    for (const { url = "", headers } of addresses) {
      expect(new URL(url).pathname).toBe("/mcp");
      expect(Object.keys(headers ?? {})).toEqual(["Authorization"]);
      expect(headers?.Authorization).toMatch(/^Bearer \$\{.+\}$/);
    }
    const client = createClient({ revision: "2025-11-25" });
    await client.connect(httpTransport(server.url));
    expect((await client.listTools()).tools).toHaveLength(1);
  });
});

const CHATTY = `import { registry } from "hermes-tools";
registry.register({
  name: "chatty",
  toolset: "chatty",
  schema: { description: "Prints.", parameters: { type: "object", properties: {} } },
  handler: () => {
    console.log("hello");
    process.stdout.write("not JSON at all");
    return "said";
  },
});
`;

describe("hermes mcp serve", () => {
  it("keeps its standard output for the protocol, whatever a tool prints, and ends with its client", async () => {
    const home = tempFolder();
    mkdirSync(join(home, "tools"));
    writeFileSync(join(home, "tools", "chatty.mjs"), CHATTY);
    const child = start(["mcp", "serve", "--toolsets", "chatty"], { home });
    const ended = outcomeOf(child);
    const send = (message: object) =>
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "chatty", arguments: {} } });
    let heard = "";
    child.stdout?.on("data", (chunk: string) => {
      heard += chunk;
      if (heard.includes('"id":2}')) child.stdin?.end();
    });
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(linesOf(stdout).map((line) => JSON.parse(line).id)).toEqual([1, 2]);
    expect(stdout).toContain("said");
    expect(stderr).toContain("hello");
    expect(stderr).toContain("not JSON at all");
  });

  it("says at once what is wrong with how it was started", async () => {
    const [unknown, dry] = await Promise.all([
      hermes(["mcp", "serve", "--toolsets", "no_such_toolset"]),
      hermes(["mcp", "serve", "--dry-run"]),
    ]);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("no_such_toolset"),
    });
    expect(dry).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--dry-run") });
  });
});

const missing = existsSync(inspector) ? undefined : "needs `npm ci` in test/peers";

describe.skipIf(missing !== undefined)(`MCP Inspector${missing === undefined ? "" : ` (${missing})`}`, () => {
  it("lists and calls over standard input and output, and over HTTP", async () => {
    // This version of the Inspector cannot send a token.
    const proxy = await startTokenProxy(TOKEN);
    onTestEnd(() => proxy.close());
    const { port } = await startServer([echo], { allowedHosts: [`127.0.0.1:${proxy.port}`] });
    proxy.sendTo(port);
    const stdio = [process.execPath, main, "mcp", "serve"];
    const http = [`http://127.0.0.1:${proxy.port}/mcp`, "--transport", "http"];
    const [listed, called, overHttp] = await Promise.all([
      inspect([...stdio, "--method", "tools/list"]),
      inspect([...stdio, "--method", "tools/call", "--tool-name", "todo"]),
      inspect([...http, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi"]),
    ]);
    const { tools } = listed as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain("terminal");
    expect(called).toHaveProperty("content");
    expect(overHttp).toMatchObject({ isError: false, structuredContent: { text: "hi" } });
  });
});
