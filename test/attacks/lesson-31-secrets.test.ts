import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeResults, parseRequest, ToolError, ToolResult, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { tempDir, testRuntime } from "../support/runtime.js";
import { SECRET, secretEnv, tool } from "./support.js";

async function leaky(subject: AnyTool, options: Parameters<typeof testRuntime>[1] = {}) {
  const home = tempDir();
  return {
    ...(await testRuntime([subject], { home, env: secretEnv(home), journal: true, ...options })),
    home,
  };
}

/** Everything a folder holds, as one text. */
function contentOf(folder: string): string {
  let all = "";
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) all += readFileSync(join(entry.parentPath, entry.name), "latin1");
  }
  return all;
}

const base64 = Buffer.from(SECRET).toString("base64");

const ways: [string, () => unknown][] = [
  ["text", () => `the key is ${SECRET}!`],
  ["JSON text", () => JSON.stringify({ key: SECRET })],
  ["JSON text that says error", () => JSON.stringify({ error: "no", detail: SECRET })],
  ["an object", () => ({ key: SECRET })],
  ["a key of an object", () => ({ [SECRET]: 1 })],
  ["deep inside", () => ({ a: [{ b: [`x${SECRET}y`] }] })],
  ["a Map", () => new Map([["key", SECRET]])],
  ["an Error that is returned", () => new Error(SECRET)],
  ["base64", () => ({ blob: base64 })],
  ["percent-encoded", () => `https://h/?k=${encodeURIComponent(SECRET)}`],
  [
    "an output beside harmless content",
    () =>
      new ToolResult({ success: true, output: { key: SECRET }, content: [{ type: "text", text: "fine" }] }),
  ],
  [
    "a failed result",
    () =>
      new ToolResult({
        success: false,
        error: `bad key ${SECRET}`,
        hint: `was ${SECRET}`,
        output: { key: SECRET },
      }),
  ],
  [
    "a resource",
    () =>
      new ToolResult({ success: true, content: [{ type: "resource", uri: `x://${SECRET}`, text: SECRET }] }),
  ],
  [
    "a multimodal envelope",
    () => ({ _multimodal: true, content: [{ type: "text", text: SECRET }], text_summary: SECRET }),
  ],
  ["a result large enough to be saved", () => `${"x".repeat(150_000)}\n${SECRET}\n${"y".repeat(150_000)}`],
  [
    "an exception",
    () => {
      throw new Error(`connect to https://user:${SECRET}@host failed`);
    },
  ],
  [
    "an exception with a cause",
    () => {
      throw new Error("outer", { cause: new Error(SECRET) });
    },
  ],
  [
    "a ToolError",
    () => {
      throw new ToolError(`no ${SECRET}`, { hint: `try ${SECRET}`, details: { SECRET } });
    },
  ],
  [
    "a ToolError in colour",
    () => {
      throw new ToolError(`no ${SECRET.slice(0, 9)}\x1b[0m${SECRET.slice(9)}`);
    },
  ],
  [
    "an object that is thrown",
    () => {
      throw { token: SECRET };
    },
  ],
];

describe("lesson 31: a secret the runtime knows reaches nobody", () => {
  it.each(ways)("%s", async (_what, make) => {
    const { runtime, home, logged } = await leaky(tool("leak", () => make() as string));
    const events: string[] = [];
    runtime.events.on((event) => void events.push(JSON.stringify(event)));
    const session = await runtime.openSession();
    const request = parseRequest({ tool_calls: [{ id: "1", name: "leak", arguments: { x: SECRET } }] });
    if ("code" in request) throw new Error(request.message);
    const results = await session.callAll(request.calls);
    const seen = [
      JSON.stringify(results),
      JSON.stringify(encodeResults(request, results)),
      ...events,
      ...logged,
    ];
    await runtime.close();
    seen.push(contentOf(home));
    for (const text of seen) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(base64);
    }
  });

  it("progress, arguments, effects and the decision are masked too", async () => {
    const subject = tool(
      "leak",
      (_args, ctx) => {
        ctx.progress({ message: `with ${SECRET}`, chunk: SECRET });
        return "done";
      },
      { effects: () => [{ action: "file:write", resource: `/nowhere/${SECRET}`, mode: "write" }] },
    );
    const { runtime, home } = await leaky(subject);
    const events: string[] = [];
    runtime.events.on((event) => void events.push(JSON.stringify(event)));
    const asked: string[] = [];
    const session = await runtime.openSession({
      approver: {
        async ask(request) {
          asked.push(request.tool);
          return "once";
        },
      },
    });
    const result = await session.call({ name: "leak", arguments: { x: SECRET } });
    const wrong = await session.call({ name: `leak_${SECRET}`, arguments: { x: SECRET } });
    await runtime.close();
    expect(asked).toEqual(["leak"]);
    for (const text of [JSON.stringify(result), wrong.error?.message ?? "", ...events, contentOf(home)]) {
      expect(text).not.toContain(SECRET);
    }
  });

  it("hooks cannot bring a secret back into a result", async () => {
    const { runtime, home } = await leaky(tool("plain", () => "nothing secret"));
    runtime.hooks.on("transform_tool_result", () => `now with ${SECRET}`);
    runtime.hooks.on("pre_tool_call", ({ args }) => ({ action: "modify", args: { ...args, x: SECRET } }));
    const session = await runtime.openSession();
    const result = await session.call({ name: "plain" });
    runtime.hooks.on("pre_tool_call", () => ({ action: "block", message: `because ${SECRET}` }));
    const blocked = await session.call({ name: "plain" });
    await runtime.close();
    expect(textOf(result.content)).toContain("now with [REDACTED");
    expect(JSON.stringify([result, blocked])).not.toContain(SECRET);
    expect(contentOf(home)).not.toContain(SECRET);
  });

  it("a check, a dynamic schema and a failed policy do not tell it either", async () => {
    const subject = tool("checked", () => "x", {
      checkFn: () => ({ ok: false, reason: `key ${SECRET} was refused`, fix: `replace ${SECRET}` }),
    });
    const { runtime } = await leaky(subject, { journal: false });
    const session = await runtime.openSession();
    expect(JSON.stringify(await session.call({ name: "checked" }))).not.toContain(SECRET);
    const listed = JSON.stringify(await runtime.listTools());
    expect(listed).not.toContain(SECRET);
  });

  it("what is written to files is never altered, and reading it back masks it", async () => {
    const home = tempDir();
    const { runtime, cwd } = await testRuntime([], { home, env: secretEnv(home), builtins: true });
    const session = await runtime.openSession();
    const content = `key: ${SECRET}\nb64: ${base64}\n`;
    await session.call({ name: "write_file", arguments: { path: "conf.txt", content } });
    expect(readFileSync(join(cwd, "conf.txt"), "utf8")).toBe(content);
    await session.call({
      name: "patch",
      arguments: { path: "conf.txt", old_string: `key: ${SECRET}`, new_string: `token: ${SECRET}` },
    });
    expect(readFileSync(join(cwd, "conf.txt"), "utf8")).toBe(content.replace("key", "token"));
    const results = await session.callAll([
      { name: "read_file", arguments: { path: "conf.txt" } },
      { name: "search_files", arguments: { pattern: "token" } },
      {
        name: "terminal",
        arguments: { command: "cat conf.txt; base64 -w0 conf.txt" },
      },
    ]);
    for (const result of results) {
      expect(result.ok).toBe(true);
      expect(JSON.stringify(result)).not.toContain(SECRET);
    }
  });

  it("a child process does not get the secret at all", async () => {
    const home = tempDir();
    const { runtime } = await testRuntime([], { home, env: secretEnv(home), builtins: true });
    const session = await runtime.openSession();
    const result = await session.call({
      name: "terminal",
      arguments: {
        command: "env | grep -c ATTACK_API_KEY; tr '\\0' '\\n' < /proc/$$/environ | grep -c ATTACK; true",
      },
    });
    expect((result.structured as { output: string }).output.trim()).toBe("0\n0");
  });

  it("a value from a .env file of the home is known as well", async () => {
    const home = tempDir();
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, ".env"), "SOME_SETTING=plain-but-private-value-77\n", { mode: 0o600 });
    const { runtime } = await testRuntime([tool("leak", () => "it is plain-but-private-value-77")], { home });
    const session = await runtime.openSession();
    expect(textOf((await session.call({ name: "leak" })).content)).toBe("it is [REDACTED:SOME_SETTING]");
  });
});
